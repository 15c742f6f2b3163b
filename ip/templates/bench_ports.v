  // The bare tile ports.
  reg [NODES-1:0] write_valid = 0, read_valid = 0;
  reg [MESSAGE_BITS-1:0] write_address = 0, read_address = 0;
  reg [WIDTH-1:0] write_data = 0;
  wire [NODES-1:0] write_ready, read_ready, read_answered;
  wire [NODES*WIDTH-1:0] read_data;
  reg [NODES-1:0] asked = 0;

  always @(negedge clk) begin
    // In the middle of a cycle: the request of the last cycle is answered.
    check((read_answered & TILES) === asked, "read_answered is wrong");
    if (disturbed) begin
      next_vary;
      read_valid = TILES;
      read_address = vary[0] % MESSAGE_WORDS;
    end
    #1 asked = read_valid & read_ready & TILES;
  end

  task settle_tiles;
    begin
      read_valid = 0;
      repeat (2) @(negedge clk);
    end
  endtask

  task begin_message(input integer node, input [31:0] address);
    write_address = address;
  endtask

  task write_message(input integer node, input [64*PIECES-1:0] word, input last);
    begin
      waited = 0;
      write_valid[node] = 1;
      write_data = word;
      #2;
      while (write_ready[node] !== 1) begin
        wait_cycle;
        #2;
      end
      @(negedge clk);
      write_valid[node] = 0;
      write_address = write_address + 1;
    end
  endtask

  task ask_for(input integer node, input [31:0] address, input integer count);
    read_address = address;
  endtask

  task take(input integer node, input [64*PIECES-1:0] word, input last, input beyond);
    begin
      waited = 0;
      read_valid[node] = 1;
      #2;
      while (read_ready[node] !== 1) begin
        wait_cycle;
        #2;
      end
      @(negedge clk);
      read_valid[node] = 0;
      check(read_answered[node] === 1 && read_data[node*WIDTH+:WIDTH] === word[WIDTH-1:0],
            "a tile reads another word");
      read_address = read_address + 1;
    end
  endtask

  // A word beyond the message memory is not written, and reads as 0.
  task beyond_by_tile(input integer node);
    if (MESSAGE_WORDS < 1 << MESSAGE_BITS) begin
      begin_message(node, MESSAGE_WORDS);
      write_message(node, {64 * PIECES{1'b1}}, 1);
      ask_for(node, MESSAGE_WORDS, 1);
      take(node, 0, 1, 1);
    end
  endtask
