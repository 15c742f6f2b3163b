  // All tiles: each signal has a bit or a slice for every node. Switches have none.
  reg disturbed = 0;
  reg [NODES-1:0] hold = 0;
  wire [NODES-1:0] arrived, finished, core_runs;
  wire [NODES*STEP_BITS-1:0] node_step;
  wire [NODES*BELL_BITS-1:0] bell_value;
  wire [NODES*4-1:0] program_number;
  integer tile;

  // Doorbells of the run: their number, the sum of their steps, and that of their cycles, at each
  // node. Circuits tell an address instead of a step.
  integer bells[0:NODES-1];
  integer bell_values[0:NODES-1];
  integer bell_cycles[0:NODES-1];
  // Every packet of the run rings, at a tile whose packets all come by one port.
  reg bells_watched;
  // Nodes at which a packet has ended, the last cycle first.
  reg [NODES-1:0] ended_packets[0:BELL_AFTER];

@STREAMS@

  task watch_tiles;
    begin
      for (tile = 0; tile < NODES; tile = tile + 1)
        if (TILES[tile]) begin
          if (arrived[tile] !== 0) begin
            bells[tile] = bells[tile] + 1;
            bell_values[tile] = bell_values[tile] + bell_value[tile*BELL_BITS+:BELL_BITS];
            bell_cycles[tile] = bell_cycles[tile] + now;
          end
          if (bells_watched)
            check(arrived[tile] === ended_packets[BELL_AFTER][tile], "a doorbell is wrong");
          // Registers of the barrier may still show the previous run.
          check(now < -2 || core_runs[tile] === (now >= 0), "running is wrong");
          check(now < 0 || program_number[tile*4+:4] === PROGRAM, "program is wrong");
        end
      for (tile = BELL_AFTER; tile > 0; tile = tile - 1)
        ended_packets[tile] = ended_packets[tile-1];
      ended_packets[0] = 0;
      for (output_number = 0; output_number < OUTPUTS; output_number = output_number + 1)
        // A tail at port 0 of its router.
        if (|valid[output_number*VCS+:VCS] && flit[output_number*(WIDTH+2)+WIDTH+1] &&
            place[output_number*32+:16] == 0)
          ended_packets[0][place[output_number*32+16+:16]] = 1;
    end
  endtask

  task begin_tiles;
    begin
      for (tile = 0; tile < NODES; tile = tile + 1) begin
        bells[tile] = 0;
        bell_values[tile] = 0;
        bell_cycles[tile] = 0;
      end
      for (tile = 0; tile <= BELL_AFTER; tile = tile + 1) ended_packets[tile] = 0;
    end
  endtask

  task tiles_at_end;
    if (end_state == DONE) check((finished & TILES) === TILES, "finished is wrong");
  endtask

  task tiles_at_stop;
    begin
      check((core_runs & TILES) === 0, "running is wrong after a stop");
      check((finished & TILES) === 0 && (arrived & TILES) === 0, "a stopped tile has finished");
    end
  endtask

  // Tile values in nodes.hex after a run: node, step, doorbells and the sum of their steps. With
  // circuits: node, the sum of the doorbells' cycles, doorbells and the sum of their addresses.
  reg [127:0] nodes[0:TILE_LINES];
  initial $readmemh("nodes.hex", nodes);
  task compare_tiles(input integer first, input integer last);
    for (line = first; line < last; line = line + 1) begin
      {line_node, line_address, line_word} = nodes[line];
      if (CIRCUITS != 0)
        check(bell_cycles[line_node] === line_address, "doorbells in other cycles");
      else
        check(node_step[line_node*STEP_BITS+:STEP_BITS] === line_address[STEP_BITS-1:0],
              "step is wrong at a tile");
      check(bells[line_node] === line_word[63:32], "too many or too few doorbells");
      check(bell_values[line_node] === line_word[31:0], "doorbells of other packets");
    end
  endtask

  // `load` and `compare` by the tiles. Lines with consecutive addresses are one message, and those
  // of the pieces of a word are one word.
  reg [31:0] next_node, next_address;
  reg [64*PIECES-1:0] tile_word;
  integer message_words, piece;
  task load_by_tiles(input integer first, input integer last);
    for (line = first; line < last; line = line + PIECES) begin
      {line_node, line_space, line_address, line_word} = writes[line];
      line_address = line_address >> PIECE_BITS;
      for (piece = 0; piece < PIECES; piece = piece + 1)
        tile_word[64*piece+:64] = writes[line+piece][63:0];
      if (line == first || line_node != next_node || line_address != next_address)
        begin_message(line_node, line_address);
      next_node = line_node;
      next_address = line_address + 1;
      {line_node, line_space, line_address} = writes[line+PIECES][135:64];
      line_address = line_address >> PIECE_BITS;
      write_message(next_node, tile_word,
                    line + PIECES == last || line_node != next_node || line_address != next_address);
    end
  endtask

  task compare_by_tiles(input integer first, input integer last);
    for (line = first; line < last; line = line + PIECES) begin
      {line_node, line_space, line_address, line_word} = words[line];
      line_address = line_address >> PIECE_BITS;
      for (piece = 0; piece < PIECES; piece = piece + 1)
        tile_word[64*piece+:64] = words[line+piece][63:0];
      if (line == first || line_node != next_node || line_address != next_address) begin
        message_words = 1;
        while (line + PIECES * message_words < last &&
               words[line+PIECES*message_words][135:104] == line_node &&
               words[line+PIECES*message_words][95:64] ==
                   (line_address + message_words) << PIECE_BITS)
          message_words = message_words + 1;
        ask_for(line_node, line_address, message_words);
      end
      next_node = line_node;
      next_address = line_address + 1;
      message_words = message_words - 1;
      take(line_node, tile_word, message_words == 0, 0);
    end
  endtask

  // Hold a node back, load its message by its tile meanwhile, and release it in a cycle.
  task let_go(input integer node, input integer first, input integer last, input integer when);
    begin
      load_by_tiles(first, last);
      check(now < when, "the tile is slower than it should be");
      while (now < when) @(negedge clk);
      hold[node] = 0;
    end
  endtask
