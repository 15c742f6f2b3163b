  // The network has no tile ports.
  reg disturbed = 0;
  task watch_tiles; begin end endtask
  task settle_tiles; begin end endtask
  task tiles_at_end; begin end endtask
  task tiles_at_stop; begin end endtask
  task begin_tiles; begin end endtask
