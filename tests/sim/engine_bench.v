// Loads program 1 into a network with a controller and runs it, as docs/router.md, section 16, tells
// a user to, and does so RUNS times without a reset. Widths and counts come as macros (-D). Reads
// writes.hex, a line for each word to load; writes seen.txt: a line for each request that was
// refused, and for each run done, error and cycle, then a line of words for each node, its message
// memory.

`timescale 1ns / 1ns

module engine_bench;
  // A line of writes.hex: node, space and address in 16 bits each, then the word.
  reg [111:0] writes[0:`WRITES - 1];
  // Reset is there from the first instant on.
  reg clk = 0, rst = 1, host__valid = 0, host__write = 0;
  reg [`NODE_BITS-1:0] host__node = 0;
  reg [1:0] host__space = 0;
  reg [`ADDRESS_BITS-1:0] host__address = 0;
  reg [`FLIT_WIDTH-1:0] host__write_data = 0;
  wire [`FLIT_WIDTH-1:0] host__read_data;
  wire [1:0] host__refusal;
  wire [31:0] cycle;
  wire host__ready, host__answered, busy, done, error, interrupt;
  integer file, node, word, waited, run;

  eyecast_network network (
      .clk(clk),
      .rst(rst),
      .busy(busy),
      .done(done),
      .error(error),
      .interrupt(interrupt),
      .cycle(cycle),
      .host__valid(host__valid),
      .host__ready(host__ready),
      .host__write(host__write),
      .host__space(host__space),
      .host__node(host__node),
      .host__address(host__address),
      .host__write_data(host__write_data),
      .host__answered(host__answered),
      .host__read_data(host__read_data),
      .host__refusal(host__refusal)
  );

  always #5 clk = ~clk;

  task request(input write, input integer of_node, input [1:0] space, input integer address,
               input [`FLIT_WIDTH-1:0] data);
    begin
      host__valid = 1;
      host__write = write;
      host__node = of_node;
      host__space = space;
      host__address = address;
      host__write_data = data;
      while (host__ready !== 1) @(negedge clk);
      @(negedge clk);
      host__valid = 0;
      while (host__answered !== 1) @(negedge clk);
      if (host__refusal !== 0) begin
        $fwrite(file, "refused %0d: %0d %0d %0d\n", host__refusal, of_node, space, address);
      end
    end
  endtask

  initial begin
    $readmemh("writes.hex", writes);
    file = $fopen("seen.txt");
    repeat (2) @(negedge clk);
    rst = 0;
    repeat (2) @(negedge clk);
    for (run = 0; run < `RUNS; run = run + 1) begin
      for (word = 0; word < `WRITES; word = word + 1) begin
        request(1, writes[word][96+:16], writes[word][80+:2], writes[word][64+:16],
                writes[word][`FLIT_WIDTH-1:0]);
        @(negedge clk);
      end
      // Start program 1.
      request(1, 0, 2, 2, 1 + 256);
      for (waited = 0; done !== 1 && waited < `CYCLE_LIMIT; waited = waited + 1) @(negedge clk);
      $fwrite(file, "%b %b %0d\n", done, error, cycle);
      for (node = 0; node < `NODES; node = node + 1) begin
        for (word = 0; word < `MESSAGE_WORDS; word = word + 1) begin
          @(negedge clk);
          request(0, node, 0, word, 0);
          $fwrite(file, " %h", host__read_data);
        end
        $fwrite(file, "\n");
      end
    end
    $fclose(file);
    $finish;
  end
endmodule
