// A bench that checks itself: it loads the image through the host port, starts the program, and
// compares with the vectors beside it, which are what the cycle model says:
//
//   writes.hex   node, space, address and word of every write that loads the program
//   flits.hex    cycle, node, port, VC, marks and data of every flit that leaves a router
//   words.hex    node, address and word of the message memories after the run
//
// Every flit must leave in its cycle and none besides, "done" must come in its cycle, and no node
// may have a flag. It ends with PASS, or with FAIL and a status that is not 0.

module bench;
@PARAMETERS@

  reg [31:0] write_node, write_address, flit_cycle, word_node, word_address;
  reg [7:0] write_space;
  reg [63:0] write_word, word_expected;
  reg [135:0] writes[0:WRITES-1];
  reg [151:0] flits[0:FLITS];
  reg [127:0] words[0:WORDS];

  reg clk = 0, rst = 1;
  reg host__valid = 0, host__write = 0;
  reg [1:0] host__space = 0;
  reg [NODE_BITS-1:0] host__node = 0;
  reg [ADDRESS_BITS-1:0] host__address = 0;
  reg [WIDTH-1:0] host__write_data = 0;
  wire host__ready, host__answered, busy, done, error, interrupt;
  wire [1:0] host__refusal;
  wire [WIDTH-1:0] host__read_data;
  wire [31:0] cycle;

  eyecast_network network (
@PORTS@
  );

  // What leaves each output: its flit with two marks above, and a bit for each VC.
  wire [OUTPUTS*VCS-1:0] valid;
  wire [OUTPUTS*(WIDTH+2)-1:0] flit;
  wire [OUTPUTS*32-1:0] place;
@PROBES@

  always #5 clk = ~clk;

  integer faults = 0;
  // The cycle of the run, once it has been started; before that it is less than 0.
  integer now = 0;
  integer seen = 0;
  integer output_number, vc, number;
  reg running = 0;
  reg [151:0] leaves;

  task fault;
    begin
      faults = faults + 1;
      if (faults == 20) $display("and so on");
    end
  endtask

  // In the middle of each cycle of the run.
  always @(negedge clk)
    if (running) begin
      for (output_number = 0; output_number < OUTPUTS; output_number = output_number + 1)
        for (vc = 0; vc < VCS; vc = vc + 1)
          if (valid[output_number*VCS+vc] !== 1'b0) begin
            leaves = {
              now,
              place[output_number*32+:32],
              vc[7:0],
              6'b0,
              flit[output_number*(WIDTH+2)+WIDTH+:2],
              {(72 - WIDTH) {1'b0}},
              flit[output_number*(WIDTH+2)+:WIDTH]
            };
            if (seen >= FLITS || leaves !== flits[seen]) begin
              if (faults < 20)
                $display("cycle %0d: flit %0d is %h, not %h", now, seen, leaves, flits[seen]);
              fault;
            end
            seen = seen + 1;
          end
      flit_cycle = flits[seen][151:120];
      if (seen < FLITS && now >= 0 && flit_cycle <= now) begin
        if (faults < 20) $display("cycle %0d: flit %0d has not left: %h", now, seen, flits[seen]);
        fault;
        seen = seen + 1;
      end
      if (done !== (now >= CYCLES + DONE_AFTER) || error !== 1'b0 || busy !== !done) begin
        if (faults < 20)
          $display("cycle %0d: done %b, error %b, busy %b", now, done, error, busy);
        fault;
      end
      now = now + 1;
    end

  // Asks for a word, or writes one; the answer is there when the task ends, in that cycle.
  task request(input writes_it, input [31:0] node, input [1:0] space, input [31:0] address,
               input [63:0] word);
    begin
      host__valid = 1;
      host__write = writes_it;
      host__node = node[NODE_BITS-1:0];
      host__space = space;
      host__address = address[ADDRESS_BITS-1:0];
      host__write_data = word[WIDTH-1:0];
      while (host__ready !== 1'b1) @(negedge clk);
      @(negedge clk);
      host__valid = 0;
      while (host__answered !== 1'b1) @(negedge clk);
      if (host__refusal !== 2'b0) begin
        $display("refused with %0d: node %0d, space %0d, address %0d", host__refusal, node, space,
                 address);
        fault;
      end
    end
  endtask

  task expect_word(input [31:0] node, input [1:0] space, input [31:0] address, input [63:0] word);
    begin
      @(negedge clk);
      request(0, node, space, address, 0);
      if (host__read_data !== word[WIDTH-1:0]) begin
        $display("node %0d, space %0d, address %0d: %h, not %h", node, space, address,
                 host__read_data, word[WIDTH-1:0]);
        fault;
      end
    end
  endtask

  initial begin
    $readmemh("writes.hex", writes);
    $readmemh("flits.hex", flits);
    $readmemh("words.hex", words);
    repeat (4) @(negedge clk);
    rst = 0;
    repeat (4) @(negedge clk);
    expect_word(0, 2, 0, IDENTITY);
    for (number = 0; number < WRITES; number = number + 1) begin
      {write_node, write_space, write_address, write_word} = writes[number];
      @(negedge clk);
      request(1, write_node, write_space[1:0], write_address, write_word);
    end
    @(negedge clk);
    request(1, 0, 2, 2, 1 + 256 * PROGRAM);
    // The cycle of the answer; the next one is the first that is looked at.
    now = 1 - ANSWER_TO_CYCLE_0;
    @(posedge clk);
    running = 1;
    while (now <= CYCLES + DONE_AFTER + 2) @(negedge clk);
    if (cycle !== CYCLES) begin
      $display("%0d cycles, not %0d", cycle, CYCLES);
      fault;
    end
    for (number = 0; number < NODES; number = number + 1) expect_word(number, 3, 0, 0);
    for (number = 0; number < WORDS; number = number + 1) begin
      {word_node, word_address, word_expected} = words[number];
      expect_word(word_node, 0, word_address, word_expected);
    end
    if (faults == 0 && seen == FLITS) begin
      $display("PASS: %0d cycles, %0d flits, %0d words", CYCLES, FLITS, WORDS);
      $finish;
    end else begin
      $display("FAIL: %0d faults", faults);
      $fatal(1);
    end
  end

  // Should a request never be answered.
  initial begin
    repeat (MOST_CYCLES) @(negedge clk);
    $display("FAIL: the bench waits without end");
    $fatal(1);
  end
endmodule
