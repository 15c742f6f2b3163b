// A system around the engine of a package: a PicoRV32, its memory, and an AXI4-Lite bus. The
// processor's program controls pauses of the bus, resets of the system, and the hold of tile 0.

// A channel of the bus: it opens in a drawn cycle for a waiting transfer, and closes behind it.
module pause (
    input wire clk,
    input wire rst,
    input wire pauses,
    input wire drawn,
    input wire valid,
    output wire valid_behind,
    input wire ready,
    output wire ready_behind
);
  reg open;
  assign valid_behind = valid & (open | !pauses);
  assign ready_behind = ready & (open | !pauses);
  always @(posedge clk)
    if (rst | (valid_behind & ready)) open <= 1'b0;
    else open <= open | (valid & drawn);
endmodule

module processor;
  localparam [29:0] CONSOLE = 0, END = 1, CYCLES = 2, WRITES = 3, RESET_IN = 4, PAUSES = 5,
      HOLD = 6, INTERRUPT = 7;
  reg clk = 1'b0, pauses = 1'b0, hold = 1'b0;
  reg [31:0] cycles = 32'd0, writes = 32'd0, reset_in = 32'd2;
  reg [15:0] drawn = 16'h1;
  wire rst = reset_in == 32'd1;
  always #5 clk = !clk;

  wire trap, valid, reads_next, engine_ready, interrupt;
  wire [31:0] address, next_address, word, memory_word, engine_word;
  wire [3:0] strobe;
  wire at_memory = valid & address[31:30] == 2'd0;
  wire at_system = valid & address[31:30] == 2'd1;
  wire at_engine = valid & address[31];
  wire [31:0] system_word = address[29:2] == CYCLES ? cycles
      : address[29:2] == WRITES ? writes : {31'd0, interrupt};

  picorv32 #(
      .ENABLE_COUNTERS(0), .BARREL_SHIFTER(1), .ENABLE_FAST_MUL(1), .ENABLE_IRQ(1),
      .ENABLE_IRQ_TIMER(0), .LATCHED_IRQ(0), .STACKADDR(65536)
  ) core (
      .clk(clk), .resetn(!rst), .trap(trap), .irq({28'd0, interrupt, 3'd0}),
      .mem_valid(valid), .mem_addr(address), .mem_wdata(word), .mem_wstrb(strobe),
      .mem_la_read(reads_next), .mem_la_addr(next_address),
      .mem_ready(at_memory | at_system | (at_engine & engine_ready)),
      .mem_rdata(at_engine ? engine_word : at_system ? system_word : memory_word),
      .pcpi_wr(1'b0), .pcpi_rd(32'd0), .pcpi_wait(1'b0), .pcpi_ready(1'b0)
  );
  core_memory memory (
      .clk(clk), .reads(reads_next), .read_address(next_address[31:2]),
      .address(address[31:2]), .write(at_memory ? strobe : 4'd0), .write_data(word),
      .read_data(memory_word)
  );

  // Valid and ready of AW, W, AR, B and R: before and behind the channel that pauses.
  wire [4:0] valid_before, valid_behind, ready_before, ready_behind;
  pause channels[4:0] (
      .clk(clk), .rst(rst), .pauses(pauses), .drawn(drawn[4:0] & drawn[9:5]),
      .valid(valid_before), .valid_behind(valid_behind),
      .ready(ready_before), .ready_behind(ready_behind)
  );
  picorv32_axi_adapter adapter (
      .clk(clk), .resetn(!rst),
      .mem_valid(at_engine), .mem_ready(engine_ready), .mem_addr(address),
      .mem_wdata(word), .mem_wstrb(strobe), .mem_instr(1'b0),
      .mem_axi_awvalid(valid_before[0]), .mem_axi_awready(ready_behind[0]),
      .mem_axi_wvalid(valid_before[1]), .mem_axi_wready(ready_behind[1]),
      .mem_axi_arvalid(valid_before[2]), .mem_axi_arready(ready_behind[2]),
      .mem_axi_bvalid(valid_behind[3]), .mem_axi_bready(ready_before[3]),
      .mem_axi_rvalid(valid_behind[4]), .mem_axi_rready(ready_before[4])
  );
  eyecast_engine engine (
      .clk(clk), .rst(rst), .interrupt(interrupt), .tile_0__hold(hold),
      .s_axi_awaddr(address), .s_axi_awvalid(valid_behind[0]), .s_axi_awready(ready_before[0]),
      .s_axi_wdata(word), .s_axi_wvalid(valid_behind[1]), .s_axi_wready(ready_before[1]),
      .s_axi_araddr(address), .s_axi_arvalid(valid_behind[2]), .s_axi_arready(ready_before[2]),
      .s_axi_bvalid(valid_before[3]), .s_axi_bready(ready_behind[3]),
      .s_axi_rvalid(valid_before[4]), .s_axi_rready(ready_behind[4]),
      .s_axi_wstrb(strobe), .s_axi_rdata(engine_word)
  );

  always @(posedge clk) begin
    cycles <= cycles + 32'd1;
    drawn <= {drawn[14:0], drawn[15] ^ drawn[13] ^ drawn[12] ^ drawn[10]};
    if (valid_behind[0] & ready_before[0]) writes <= writes + 32'd1;
    if (reset_in != 32'd0) reset_in <= reset_in - 32'd1;
    if (at_system & strobe != 4'd0)
      case (address[29:2])
        CONSOLE: $write("%c", word[7:0]);
        END: $finish(0);
        RESET_IN: reset_in <= word;
        PAUSES: pauses <= word[0];
        HOLD: hold <= word[0];
        default: $stop;
      endcase
    if (trap & !rst) $fatal(1, "the processor has trapped");
    if (cycles == 32'd50_000_000) $fatal(1, "the program does not end");
  end
endmodule
