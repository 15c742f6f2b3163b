  // A Wishbone initiator.
  localparam [BITS/8-1:0] ALL_BYTES = {(BITS / 8) {1'b1}};
  reg wb_cyc_i = 0, wb_stb_i = 0, wb_we_i = 0;
  reg [BUS_ADDRESS_BITS-1:0] wb_adr_i = 0;
  reg [BITS/8-1:0] wb_sel_i = 0;
  reg [BITS-1:0] wb_dat_i = 0;
  wire [BITS-1:0] wb_dat_o;
  wire wb_ack_o, wb_err_o, wb_stall_o;
  reg response;
  reg [BITS-1:0] answer;

  function response_to(input [1:0] why);
    response_to = why != 0;
  endfunction

  task access(input writes_it, input [31:0] address, input [63:0] word,
              input [BITS/8-1:0] bytes);
    begin
      waited = 0;
      next_vary;
      wb_cyc_i = 1;
      // The cycle may begin before the access.
      repeat (vary[1:0]) begin
        @(negedge clk);
        check(wb_ack_o === 0 && wb_err_o === 0, "an answer without an access");
      end
      wb_stb_i = 1;
      wb_we_i = writes_it;
      wb_adr_i = address;
      wb_dat_i = word;
      wb_sel_i = bytes;
      #1;
      while (wb_ack_o !== 1 && wb_err_o !== 1) begin
        check(wb_ack_o === 0 && wb_err_o === 0 && wb_stall_o === 1, "ack, err or stall is wrong");
        wait_cycle;
      end
      check((wb_ack_o ^ wb_err_o) === 1 && wb_stall_o === 0, "ack, err or stall is wrong");
      response = wb_err_o;
      answer = wb_dat_o;
      if (starts) begin_watch(1);
      @(negedge clk);
      check(wb_ack_o === 0 && wb_err_o === 0, "an answer for more than one cycle");
      wb_stb_i = 0;
      wb_cyc_i = 0;
      @(negedge clk);
    end
  endtask

  // Begin an access, and wait for some cycles, or for its answer.
  wire answers = wb_ack_o || wb_err_o;
  task begin_access(input writes_it, input [31:0] address, input [63:0] word,
                    input integer cycles);
    begin
      wb_cyc_i = 1;
      wb_stb_i = 1;
      wb_we_i = writes_it;
      wb_adr_i = address;
      wb_dat_i = word;
      wb_sel_i = ALL_BYTES;
      repeat (cycles) if (answers !== 1) @(negedge clk);
    end
  endtask

  task leave_access;
    begin
      wb_cyc_i = 0;
      wb_stb_i = 0;
    end
  endtask

  // An access that is given up after some cycles is not answered, nor is the next one by its answer.
  integer given_up;
  task check_bus;
    for (given_up = 1; given_up < 12; given_up = given_up + 1) begin
      begin_access(0, byte_address(CONTROLLER, 0, IDENTITY_AT), 0, given_up);
      leave_access;
      repeat (12) begin
        #1 check(answers === 0, "an answer outside of a cycle");
        @(negedge clk);
        check(answers === 0, "an answer outside of a cycle");
      end
      read_word(CONTROLLER, 0, IMAGE_AT, 0);
      begin_access(0, byte_address(STATUS, FIRST_NODE, 0), 0, given_up);
      leave_access;
      @(negedge clk);
      read_word(CONTROLLER, 0, IDENTITY_AT, IDENTITY);
    end
  endtask
