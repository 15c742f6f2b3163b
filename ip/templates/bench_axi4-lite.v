  // An AXI4-Lite manager.
  localparam [BITS/8-1:0] ALL_BYTES = {(BITS / 8) {1'b1}};
  reg [BUS_ADDRESS_BITS-1:0] s_axi_awaddr = 0, s_axi_araddr = 0;
  reg [2:0] s_axi_awprot = 0, s_axi_arprot = 0;
  reg [BITS-1:0] s_axi_wdata = 0;
  reg [BITS/8-1:0] s_axi_wstrb = 0;
  reg s_axi_awvalid = 0, s_axi_wvalid = 0, s_axi_bready = 0, s_axi_arvalid = 0, s_axi_rready = 0;
  wire s_axi_awready, s_axi_wready, s_axi_bvalid, s_axi_arready, s_axi_rvalid;
  wire [1:0] s_axi_bresp, s_axi_rresp;
  wire [BITS-1:0] s_axi_rdata;
  reg [1:0] response;
  reg [BITS-1:0] answer;

  function [1:0] response_to(input [1:0] why);
    response_to = why == 0 ? 2'd0 : why == NO_SUCH_WORD ? 2'd3 : 2'd2;
  endfunction

  task access(input writes_it, input [31:0] address, input [63:0] word,
              input [BITS/8-1:0] bytes);
    begin
      waited = 0;
      next_vary;
      s_axi_awprot = vary[2:0];
      s_axi_arprot = vary[3:1];
      if (writes_it) begin
        // The address first, the word first, or both in one cycle.
        s_axi_awvalid = vary[1:0] != 1;
        s_axi_wvalid = vary[1:0] != 2;
        s_axi_awaddr = s_axi_awvalid ? address : ~address;
        s_axi_wdata = s_axi_wvalid ? word : ~word;
        s_axi_wstrb = s_axi_wvalid ? bytes : ~bytes;
        if (!s_axi_awvalid || !s_axi_wvalid) begin
          repeat (2) begin
            @(negedge clk);
            check(s_axi_awready === 0 && s_axi_wready === 0, "ready for half of a write");
          end
          s_axi_awvalid = 1;
          s_axi_wvalid = 1;
          s_axi_awaddr = address;
          s_axi_wdata = word;
          s_axi_wstrb = bytes;
        end
        while (s_axi_awready !== 1 || s_axi_wready !== 1) begin
          check(s_axi_awready === 0 && s_axi_wready === 0, "awready and wready differ");
          check(s_axi_bvalid === 0, "bvalid before the write");
          wait_cycle;
        end
        if (starts) begin_watch(0);
        @(negedge clk);
        s_axi_awvalid = 0;
        s_axi_wvalid = 0;
        response = s_axi_bresp;
        answer = 0;
        repeat (1 + vary[4:3]) begin
          check(s_axi_bvalid === 1 && s_axi_bresp === response, "bvalid or bresp does not stay");
          check(s_axi_awready === 0 && s_axi_wready === 0, "ready for more than one cycle");
          @(negedge clk);
        end
        while (s_axi_bvalid !== 1) wait_cycle;
        s_axi_bready = 1;
        @(negedge clk);
        s_axi_bready = 0;
        check(s_axi_bvalid === 0, "bvalid after the response was taken");
      end else begin
        s_axi_araddr = address;
        s_axi_arvalid = 1;
        while (s_axi_arready !== 1) begin
          check(s_axi_rvalid === 0, "rvalid before the read");
          wait_cycle;
        end
        @(negedge clk);
        s_axi_arvalid = 0;
        response = s_axi_rresp;
        answer = s_axi_rdata;
        repeat (1 + vary[4:3]) begin
          check(s_axi_rvalid === 1 && s_axi_rresp === response && s_axi_rdata === answer,
                "rvalid, rresp or rdata does not stay");
          check(s_axi_arready === 0, "arready for more than one cycle");
          @(negedge clk);
        end
        while (s_axi_rvalid !== 1) wait_cycle;
        s_axi_rready = 1;
        @(negedge clk);
        s_axi_rready = 0;
        check(s_axi_rvalid === 0, "rvalid after the answer was taken");
      end
    end
  endtask

  // Begin an access, and wait for some cycles, without taking its answer.
  wire answers = s_axi_bvalid || s_axi_rvalid;
  task begin_access(input writes_it, input [31:0] address, input [63:0] word,
                    input integer cycles);
    begin
      s_axi_awaddr = address;
      s_axi_araddr = address;
      s_axi_wdata = word;
      s_axi_wstrb = ALL_BYTES;
      s_axi_awvalid = writes_it;
      s_axi_wvalid = writes_it;
      s_axi_arvalid = !writes_it;
      repeat (cycles) begin
        answer[0] = s_axi_awready || s_axi_arready;
        @(negedge clk);
        if (answer[0]) leave_access;
      end
    end
  endtask

  task leave_access;
    {s_axi_awvalid, s_axi_wvalid, s_axi_arvalid} = 0;
  endtask

  // A read and a write in one cycle: the write begins, the read follows. A second write waits until
  // the response to the first has been taken.
  task check_bus;
    begin
      waited = 0;
      s_axi_awaddr = byte_address(CONTROLLER, 0, IMAGE_AT);
      s_axi_araddr = s_axi_awaddr;
      s_axi_wdata = 5;
      s_axi_wstrb = ALL_BYTES;
      s_axi_awvalid = 1;
      s_axi_wvalid = 1;
      s_axi_arvalid = 1;
      while (s_axi_awready !== 1) begin
        check(s_axi_arready === 0, "a read before the write");
        wait_cycle;
      end
      @(negedge clk);
      while (s_axi_arready !== 1) wait_cycle;
      check(s_axi_awready === 0, "a write before the last response");
      @(negedge clk);
      s_axi_arvalid = 0;
      check(s_axi_rvalid === 1 && s_axi_rdata === 5 && s_axi_rresp === 0, "a read at once");
      repeat (30) begin
        check(s_axi_awready === 0 && s_axi_bvalid === 1, "a write before the last response");
        @(negedge clk);
      end
      s_axi_awvalid = 0;
      s_axi_wvalid = 0;
      s_axi_bready = 1;
      s_axi_rready = 1;
      @(negedge clk);
      s_axi_bready = 0;
      s_axi_rready = 0;
      check(s_axi_rvalid === 0 && s_axi_bvalid === 0, "an answer after it was taken");
    end
  endtask
