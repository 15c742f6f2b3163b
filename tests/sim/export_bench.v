// Loads an exported network through its host port, runs it once and writes what it saw, as
// docs/router.md, section 6, tells a user to. Widths and counts come as macros (-D). Reads
// writes.hex, a line for each word to load; writes seen.txt: done, error and cycle, then a line of
// words for each node: its flags and then its message memory. With the macro DUMP it records every
// signal in the file of that name.

`timescale 1ns / 1ns

module export_bench;
  // A line of writes.hex: node, space and address in 16 bits each, then the word.
  reg [111:0] writes[0:`WRITES - 1];
  // Reset is there from the first instant on.
  reg clk = 0, rst = 1, host__write = 0;
  reg [`NODE_BITS-1:0] host__node = 0;
  reg [1:0] host__space = 0;
  reg [`ADDRESS_BITS-1:0] host__address = 0;
  reg [`FLIT_WIDTH-1:0] host__write_data = 0;
  wire [`FLIT_WIDTH-1:0] host__read_data;
  wire [31:0] cycle;
  wire done, error;
  integer file, node, word, waited;

  eyecast_network network (
      .clk(clk),
      .rst(rst),
      .barrier(1'b`BARRIER),
      .half_duplex(1'b0),
      .host__node(host__node),
      .host__space(host__space),
      .host__address(host__address),
      .host__write(host__write),
      .host__write_data(host__write_data),
      .host__read_data(host__read_data),
      .done(done),
      .error(error),
      .cycle(cycle)
  );

  always #5 clk = ~clk;

  task load;
    begin
      for (word = 0; word < `WRITES; word = word + 1) begin
        {host__node, host__space, host__address} = {
          writes[word][96+:`NODE_BITS], writes[word][80+:2], writes[word][64+:`ADDRESS_BITS]
        };
        host__write_data = writes[word][`FLIT_WIDTH-1:0];
        host__write = 1;
        @(negedge clk);
      end
      host__write = 0;
      @(negedge clk);
    end
  endtask

  // The word is at the port two clock edges after its address.
  task read(input integer of_node, input integer space, input integer address);
    begin
      host__node = of_node;
      host__space = space;
      host__address = address;
      repeat (2) @(negedge clk);
      $fwrite(file, " %h", host__read_data);
    end
  endtask

`ifdef DUMP
  initial begin
    $dumpfile(`DUMP);
    $dumpvars;
  end
`endif

  initial begin
    $readmemh("writes.hex", writes);
    @(negedge clk);
    load;
    rst = 0;
    @(negedge clk);
    for (waited = 0; done !== 1 && waited < `CYCLE_LIMIT; waited = waited + 1) @(negedge clk);
    file = $fopen("seen.txt");
    $fwrite(file, "%b %b %0d\n", done, error, cycle);
    for (node = 0; node < `NODES; node = node + 1) read(node, 3, 0);
    $fwrite(file, "\n");
    rst = 1;
    for (node = 0; node < `NODES; node = node + 1) begin
      for (word = 0; word < `MESSAGE_WORDS; word = word + 1) read(node, 0, word);
      $fwrite(file, "\n");
    end
    $fclose(file);
    $finish;
  end
endmodule
