  // The network has no tile ports.
  reg disturbed = 0;
  task watch_tiles; begin end endtask
  task settle_tiles; begin end endtask
  task tiles_at_end; begin end endtask
  task tiles_at_stop; begin end endtask
  task begin_tiles; begin end endtask
  task ask_for(input integer node, input [31:0] address, input integer count); begin end endtask
  task take(input integer node, input [63:0] word, input last, input beyond); begin end endtask
