  // AXI-Stream at each tile: messages to write, read commands, and the words that were read.
  reg [NODES-1:0] write_tvalid = 0, read_tvalid = 0, words_tready = 0;
  reg [STREAM_BITS-1:0] write_tdata = 0;
  reg write_tlast = 0;
  reg [31:0] read_tdata = 0;
  wire [NODES-1:0] write_tready, read_tready, words_tvalid, words_tlast, write_refused;
  wire [NODES*STREAM_BITS-1:0] words_tdata;
  wire [NODES*USER_BITS-1:0] words_tuser;
  reg [NODES-1:0] taken;
  reg [STREAM_BITS-1:0] kept;

  // While others use the memories, every tile reads two words again and again.
  always @(negedge clk)
    if (disturbed) begin
      next_vary;
      read_tdata = MESSAGE_WORDS > 1 ? 1 << 16 : 0;
      read_tvalid = TILES;
      words_tready = vary[0] ? TILES : 0;
    end

  task settle_tiles;
    begin
      @(negedge clk);
      read_tvalid = 0;
      words_tready = TILES;
      taken = 0;
      repeat (200)
        if (taken !== TILES) begin
          @(negedge clk);
          taken = read_tready & ~words_tvalid & TILES;
        end
      check(taken === TILES, "streams do not come to an end");
      repeat (4) @(negedge clk);
      check((words_tvalid & TILES) === 0, "more words than were asked for");
      words_tready = 0;
    end
  endtask

  task send_beat(input integer node, input [64*PIECES-1:0] word, input last);
    begin
      waited = 0;
      write_tdata = word;
      write_tlast = last;
      write_tvalid[node] = 1;
      #2;
      while (write_tready[node] !== 1) begin
        wait_cycle;
        #2;
      end
      @(negedge clk);
      write_tvalid[node] = 0;
      next_vary;
      if (vary[1:0] == 0) @(negedge clk);
    end
  endtask

  task begin_message(input integer node, input [31:0] address);
    send_beat(node, address, 0);
  endtask

  task write_message(input integer node, input [64*PIECES-1:0] word, input last);
    begin
      waited = 0;
      send_beat(node, word, last);
      check(write_refused[node] === 0, "a tile's word is refused");
    end
  endtask

  task ask_for(input integer node, input [31:0] address, input integer count);
    begin
      waited = 0;
      read_tdata = ((count - 1) << 16) | address[15:0];
      read_tvalid[node] = 1;
      #2;
      while (read_tready[node] !== 1) begin
        wait_cycle;
        #2;
      end
      @(negedge clk);
      read_tvalid[node] = 0;
    end
  endtask

  task take(input integer node, input [64*PIECES-1:0] word, input last, input beyond);
    begin
      waited = 0;
      next_vary;
      while (words_tvalid[node] !== 1) wait_cycle;
      kept = words_tdata[node*STREAM_BITS+:STREAM_BITS];
      // The word stays until it is taken.
      repeat (vary[1:0]) begin
        @(negedge clk);
        check(words_tvalid[node] === 1 && words_tdata[node*STREAM_BITS+:STREAM_BITS] === kept,
              "a word of a stream does not stay");
      end
      check(kept === word[STREAM_BITS-1:0], "a tile reads another word");
      check(words_tlast[node] === last, "tlast is wrong");
      check(|words_tuser[node*USER_BITS+:USER_BITS] === beyond, "tuser is wrong");
      words_tready[node] = 1;
      @(negedge clk);
      words_tready[node] = 0;
    end
  endtask

  // Words beyond the message memory: only the first of two words exists.
  task beyond_by_tile(input integer node);
    begin
      send_beat(node, MESSAGE_WORDS - 1, 0);
      write_message(node, {PIECES{64'h5a5a5a5a}} & {WIDTH{1'b1}}, 0);
      write_tdata = 1;
      write_tlast = 1;
      write_tvalid[node] = 1;
      #2 check(write_tready[node] === 1, "a word beyond the memory is not taken");
      @(negedge clk);
      check(write_refused[node] === 1, "write_refused is wrong");
      write_tvalid[node] = 0;
      @(negedge clk);
      check(write_refused[node] === 0, "write_refused is wrong");
      ask_for(node, MESSAGE_WORDS - 1, 2);
      take(node, {PIECES{64'h5a5a5a5a}} & {WIDTH{1'b1}}, 0, 0);
      take(node, 0, 1, 1);
    end
  endtask
