// A self-checking bench. It loads programs through the bus, starts them, and compares the run with
// the vectors beside it, which the cycle model predicts:
//
//   writes.hex   node, space, address and word of every write
//   flits.hex    cycle, node, port, VC, marks and data of every flit that leaves a router
//   words.hex    node, space, address and word of every word that is read after a run
//
// Every flit must leave in its cycle, and no other flit may leave. The run must end in the
// predicted cycle, state and culprit. The bench ends with PASS, or with FAIL and a status other
// than 0. The list of the runs is at the end of this file.

// verilator coverage_off
module bench;
@PARAMETERS@

  localparam integer MOST_MESSAGES = 20;
  // Regions of the bus, states of the controller, commands, and reasons for refused accesses.
  localparam [1:0] CONTROLLER = 0, STATUS = 1, MESSAGE = 2, TABLE = 3;
  localparam [2:0] IDLE = 0, RUNNING = 2, DONE = 3, FAILED = 4, TIMED_OUT = 5;
  localparam [63:0] START = 1 + 256 * PROGRAM, STOP = 2, ACKNOWLEDGE = 3;
  localparam [1:0] NO_SUCH_WORD = 1, NOT_NOW = 2, DAMAGED = 3;
  // Words of the controller.
  localparam integer IDENTITY_AT = 0, IMAGE_AT = 1, COMMAND_AT = 2, RESULT_AT = 3, CYCLE_AT = 4;
  localparam integer QUEUED_AT = 5, ENABLE_AT = 6, REFUSED_AT = 7, ENTRY_AT = 8 + 4 * PROGRAM;
  // Another program than the package's own one, if there is one.
  localparam integer OTHER = PROGRAM == 0 ? 1 : 0;

  reg [135:0] writes[0:WRITES];
  reg [DATA_BITS+79:0] flits[0:FLITS];
  reg [135:0] words[0:WORDS];

  reg clk = 0, rst = 1;
  wire busy, done, error, interrupt;
  wire [31:0] cycle;

  integer faults = 0;
  // Expected values of the watched run: its flits, its last cycle, its end.
  integer first_flit, last_flit, end_cycle;
  reg [2:0] end_state;
  integer end_culprit, end_flags;
  // The cycle of the started run; less than 0 before its first cycle.
  integer now = 0;
  // Cycles for which a tile keeps this run from starting.
  integer late = 0;
  integer seen = 0;
  // Another run is queued, and follows at once.
  reg queued = 0;
  reg watched = 0;
  // The interrupt: whether it is enabled, whether an end is pending, and whether that changes.
  reg ended, interrupt_enabled = 0, untold = 0, changing = 1;
  // The next command starts a run.
  reg starts = 0;
  // Bits that change with every access, for signals that come early or late.
  reg [7:0] vary = 8'h5a;

  task fault;
    begin
      faults = faults + 1;
      if (faults == MOST_MESSAGES) $display("and so on");
      if (faults == 50 * MOST_MESSAGES) fail;
    end
  endtask

  // A line for each part of the bench, with what was wrong in the part before it.
  integer faults_before = 0;
  task begins(input [8*96-1:0] name);
    begin
      part_ends;
      $display("%0s", name);
    end
  endtask

  task part_ends;
    begin
      if (faults != faults_before) $display("  wrong: %0d faults", faults - faults_before);
      faults_before = faults;
    end
  endtask

  // A point of the network that no run of this bench reaches.
  task left(input [8*96-1:0] point);
    begin
      $display("no run reaches the point: %0s", point);
      fault;
    end
  endtask

  task fail;
    begin
      part_ends;
      $display("FAIL: %0d faults", faults);
      $fatal(1);
    end
  endtask

  // A fault that is told where `holds` is not 1. Each call has arguments of its own: several
  // processes look at their signals at the same time.
  task automatic check(input holds, input [8*40-1:0] what);
    if (holds !== 1'b1) begin
      if (faults < MOST_MESSAGES) $display("cycle %0d: %0s", now, what);
      fault;
    end
  endtask

  // A cycle of a waiting access, which is answered after MOST_WAIT cycles at most.
  integer waited;
  task wait_cycle;
    begin
      @(negedge clk);
      waited = waited + 1;
      if (waited > MOST_WAIT) begin
        $display("FAIL: an access is not answered, in cycle %0d, with %0d faults", now, faults);
        $fatal(1);
      end
    end
  endtask

  task next_vary;
    vary = {vary[6:0], vary[7] ^ vary[5] ^ vary[4] ^ vary[3]};
  endtask

  // In the cycle of the answer to a start: watching begins with the next cycle.
  task begin_watch(input integer cycles_since);
    begin
      now = 1 + cycles_since - ANSWER_TO_CYCLE_0 - late;
      late = 0;
      seen = first_flit;
      untold = 0;
      @(posedge clk);
      watched = 1;
    end
  endtask

@BUS@
@TILES@

  eyecast_engine engine (
@PORTS@
  );

  // Every output: its flit with two marks above, and a bit for each VC.
  wire [OUTPUTS*VCS-1:0] valid;
  wire [OUTPUTS*(WIDTH+2)-1:0] flit;
  wire [OUTPUTS*32-1:0] place;
@PROBES@

  always #5 clk = ~clk;

  // Every flit that leaves an output in this cycle, and the flits that should leave.
  integer output_number, vc;
  reg [DATA_BITS+79:0] leaves, expected;
  task watch_flits;
    begin
      for (output_number = 0; output_number < OUTPUTS; output_number = output_number + 1)
        for (vc = 0; vc < VCS; vc = vc + 1)
          if (valid[output_number*VCS+vc] !== 1'b0) begin
            leaves = {
              now,
              place[output_number*32+:32],
              vc[7:0],
              6'b0,
              flit[output_number*(WIDTH+2)+WIDTH+:2],
              {(DATA_BITS - WIDTH) {1'b0}},
              flit[output_number*(WIDTH+2)+:WIDTH]
            };
            expected = seen < last_flit ? flits[seen] : 0;
            if (seen >= last_flit || leaves !== expected) begin
              if (faults < MOST_MESSAGES)
                $display("cycle %0d: flit %0d is %h, not %h", now, seen, leaves, expected);
              fault;
            end
            seen = seen + 1;
          end
      if (seen < last_flit && now >= 0) begin
        expected = flits[seen];
        if ($signed(expected[DATA_BITS+79-:32]) <= now) begin
          if (faults < MOST_MESSAGES)
            $display("cycle %0d: flit %0d has not left: %h", now, seen, expected);
          fault;
          seen = seen + 1;
        end
      end
    end
  endtask

  // In the middle of each cycle of the run.
  always @(negedge clk)
    if (watched) begin
      if (end_state == DONE || now < end_cycle) watch_flits;
      ended = now >= end_cycle + DONE_AFTER;
      if (ended) untold = 1;
      if (done !== (ended && end_state == DONE) || error !== (ended && end_state != DONE) ||
          busy !== !ended || interrupt !== (untold && interrupt_enabled)) begin
        if (faults < MOST_MESSAGES)
          $display("cycle %0d: done %b, error %b, busy %b, interrupt %b", now, done, error, busy,
                   interrupt);
        fault;
      end
      // `cycle` is the cycle of the controller.
      if (now >= 0)
        check(cycle === (ended ? end_cycle : now < DONE_AFTER ? 0 : now + 1 - DONE_AFTER),
              "the port cycle is wrong");
      watch_tiles;
      // The queued run starts when this one is done.
      if (ended && queued) begin
        check(seen === last_flit, "flits are missing at the end of the run");
        queued = 0;
        begin_tiles;
        seen = first_flit;
        now = -ANSWER_TO_CYCLE_0;
      end else now = now + 1;
    end else
      check(changing || interrupt === (untold && interrupt_enabled), "the interrupt is wrong");

  function [31:0] byte_address(input [1:0] region, input [31:0] node, input [31:0] address);
    byte_address = (((region << NODE_BITS) + node) << ADDRESS_BITS) + address << PLACE_BITS;
  endfunction

  // An access that must be accepted. Spaces 0 and 1 are regions 2 and 3, and the reverse.
  task write_word(input [1:0] region, input [31:0] node, input [31:0] address, input [63:0] word);
    begin
      access(1, byte_address(region, node, address), word, ALL_BYTES);
      if (response !== 0 || answer !== 0) begin
        if (faults < MOST_MESSAGES)
          $display("refused: write to region %0d, node %0d, address %0d", region, node, address);
        fault;
      end
    end
  endtask

  task read_word(input [1:0] region, input [31:0] node, input [31:0] address, input [63:0] word);
    begin
      access(0, byte_address(region, node, address), 0, ALL_BYTES);
      if (response !== 0 || answer !== word[BITS-1:0]) begin
        if (faults < MOST_MESSAGES)
          $display("region %0d, node %0d, address %0d: %h (response %0d), not %h", region, node,
                   address, answer, response, word[BITS-1:0]);
        fault;
      end
    end
  endtask

  // An access that must be refused; the register `refused` must show it.
  task refuse(input writes_it, input [31:0] address, input [63:0] word, input [BITS/8-1:0] bytes,
              input [1:0] why);
    begin
      access(writes_it, address, word, bytes);
      if (response !== response_to(why)) begin
        if (faults < MOST_MESSAGES)
          $display("access to %h: response %0d, not %0d", address, response, response_to(why));
        fault;
      end
      check(answer === 0, "a refused access answers with a word");
      read_word(CONTROLLER, 0, REFUSED_AT, {address[31:2], why});
    end
  endtask

  task command(input [63:0] word);
    write_word(CONTROLLER, 0, COMMAND_AT, word);
  endtask

  // Acknowledge the end of a run; until the command is over, the outputs may change.
  task acknowledge;
    begin
      changing = 1;
      command(ACKNOWLEDGE);
      untold = 0;
      changing = 0;
    end
  endtask

  // Write the lines of writes.hex from `first` to `last` - 1.
  integer line;
  reg [31:0] line_node, line_address;
  reg [7:0] line_space;
  reg [63:0] line_word;
  task load(input integer first, input integer last);
    for (line = first; line < last; line = line + 1) begin
      {line_node, line_space, line_address, line_word} = writes[line];
      write_word(line_space[1:0] ^ 2'd2, line_node, line_address, line_word);
    end
  endtask

  // Read the lines of words.hex from `first` to `last` - 1.
  task compare(input integer first, input integer last);
    for (line = first; line < last; line = line + 1) begin
      {line_node, line_space, line_address, line_word} = words[line];
      read_word(line_space[1:0] ^ 2'd2, line_node, line_address, line_word);
    end
  endtask

  // Start the loaded program, and set the expected run.
  task start(input integer from_flit, input integer to_flit, input integer cycles,
             input [2:0] state, input integer culprit, input integer flags);
    begin
      first_flit = from_flit;
      last_flit = to_flit;
      end_cycle = cycles;
      end_state = state;
      end_culprit = culprit;
      end_flags = flags;
      begin_tiles;
      starts = 1;
      command(START);
      starts = 0;
    end
  endtask

  task finish;
    begin
      check_result;
      acknowledge;
    end
  endtask

  // Wait some cycles longer than the run, and check the controller's result.
  task check_result;
    begin
      while ((queued || now <= end_cycle + DONE_AFTER + AFTERWARDS) && now < 3 * MOST_RUN + 1000)
        @(negedge clk);
      check(!queued, "the queued run has not started");
      queued = 0;
      check(seen === last_flit, "flits are missing at the end of the run");
      read_word(CONTROLLER, 0, RESULT_AT,
                (end_culprit << 16) + (PROGRAM << 12) + ((end_state != DONE) << 11) +
                (end_state << 8) + end_flags);
      // The cycle of a run that has not begun is 0.
      read_word(CONTROLLER, 0, CYCLE_AT, end_cycle < 0 ? 0 : end_cycle);
      read_word(CONTROLLER, 0, QUEUED_AT, 0);
      watched = 0;
      tiles_at_end;
    end
  endtask

  // Reset the engine in a cycle of the run: its registers are as after power-on.
  task reset_in(input integer when);
    begin
      while (now < when) @(negedge clk);
      #1 watched = 0;
      queued = 0;
      changing = 1;
      untold = 0;
      interrupt_enabled = 0;
      rst = 1;
      @(negedge clk);
      rst = 0;
      check_reset;
      changing = 0;
    end
  endtask

  // An access may begin in the first cycle after a reset.
  task check_reset;
    begin
      read_word(CONTROLLER, 0, IDENTITY_AT, IDENTITY);
      repeat (4) begin
        @(negedge clk);
        check(busy === 0 && done === 0 && error === 0 && interrupt === 0 && cycle === 0,
              "the engine is not idle after a reset");
      end
      read_word(CONTROLLER, 1, 0, REVISION);
      read_word(CONTROLLER, 0, IMAGE_AT, 0);
      read_word(CONTROLLER, 0, RESULT_AT, 0);
      read_word(CONTROLLER, 0, CYCLE_AT, 0);
      read_word(CONTROLLER, 0, QUEUED_AT, 0);
      read_word(CONTROLLER, 0, ENABLE_AT, 0);
      read_word(CONTROLLER, 0, REFUSED_AT, 0);
      // The controller has forgotten its programs.
      read_word(CONTROLLER, 0, ENTRY_AT + 1, 0);
      write_word(CONTROLLER, 0, IMAGE_AT, IDENTITY);
      refuse(1, byte_address(CONTROLLER, 0, COMMAND_AT), START, ALL_BYTES, NOT_NOW);
      write_word(CONTROLLER, 0, IMAGE_AT, 0);
    end
  endtask

  // Resets in every cycle of a read and a write, and while their answers wait: of accesses that are
  // left before the reset, and of accepted and refused ones that are left in it. After most of them
  // another access begins at once.
  integer amid, at_once;
  task resets_amid_accesses;
    begin
      changing = 1;
      for (amid = 0; amid < 96; amid = amid + 1) begin
        if (amid % 4 == 3)
          begin_access(amid[2], byte_address(CONTROLLER, 0, COMMAND_AT), 0, amid / 8);
        else
          begin_access(amid[2], byte_address(CONTROLLER, 0, IMAGE_AT), IDENTITY, amid / 8);
        if (amid % 4 < 2) leave_access;
        rst = 1;
        @(negedge clk);
        rst = 0;
        leave_access;
        if (amid % 4 == 0) begin
          repeat (8) begin
            check(answers === 0, "an access before the reset is answered");
            @(negedge clk);
          end
          check_reset;
        end else begin
          vary = 8'h40;
          read_word(CONTROLLER, 0, IDENTITY_AT, IDENTITY);
          check(amid == 1 || waited == at_once, "an access after a reset takes longer");
          at_once = waited;
          read_word(CONTROLLER, 0, IMAGE_AT, 0);
        end
      end
      changing = 0;
    end
  endtask

  task reset_amid_a_start(input integer cycles);
    begin
      changing = 1;
      begin_access(1, byte_address(CONTROLLER, 0, COMMAND_AT), START, cycles);
      rst = 1;
      @(negedge clk);
      rst = 0;
      leave_access;
      check_reset;
      changing = 0;
    end
  endtask

  // Write the words of all entries of the directory, and read them: each has bits of its own.
  integer inverted;
  function [63:0] of_entry(input integer number);
    of_entry = (64'h9e3779b97f4a7c15 * (number + 1) ^ {64{inverted[0]}}) &
        ((number - 8) % 4 == 2 ? 64'h3 : {64{1'b1}} >> (WIDTH < 64 ? 64 - WIDTH : 0));
  endfunction

  task write_and_read_entries;
    for (inverted = 0; inverted < 2; inverted = inverted + 1) begin
      for (flipped = 8; flipped < 8 + 4 * PROGRAMS; flipped = flipped + 1)
        write_word(CONTROLLER, 0, flipped, of_entry(flipped));
      for (flipped = 8; flipped < 8 + 4 * PROGRAMS; flipped = flipped + 1)
        read_word(CONTROLLER, 0, flipped, of_entry(flipped));
    end
  endtask

  // Queue the same program after the running one.
  task queue_again;
    begin
      queued = 1;
      command(START);
      read_word(CONTROLLER, 0, QUEUED_AT, 1 + PROGRAM);
    end
  endtask

  // Writes to the first and the last word of a program that runs or is queued, and to its entry, are
  // refused; a write to the word behind is not.
  integer flipped, used;
  reg [31:0] base;
  task refuse_in_use(input integer which);
    begin
      for (flipped = 0; flipped < 4; flipped = flipped + 1)
        refuse(1, byte_address(CONTROLLER, 0, 8 + 4 * which + flipped), 0, ALL_BYTES, NOT_NOW);
      access(0, byte_address(CONTROLLER, 0, 8 + 4 * which), 0, ALL_BYTES);
      base = answer;
      access(0, byte_address(CONTROLLER, 0, 8 + 4 * which + 1), 0, ALL_BYTES);
      used = answer;
      refuse(1, byte_address(TABLE, FIRST_NODE, TABLE_STRIDE * base), 0, ALL_BYTES, NOT_NOW);
      refuse(1, byte_address(TABLE, FIRST_NODE, TABLE_STRIDE * (base + used - 1)), 0, ALL_BYTES,
             NOT_NOW);
      if (base + used < TABLE_WORDS)
        write_word(TABLE, FIRST_NODE, TABLE_STRIDE * (base + used), 0);
    end
  endtask

  // Stop a run that would never end: it leaves no trace and no interrupt.
  task stop;
    begin
      refuse_in_use(PROGRAM);
      if (PROGRAMS > 1) begin
        // Another program, which is queued, has the last word of the tables.
        write_word(CONTROLLER, 0, 8 + 4 * OTHER, TABLE_WORDS - 1);
        write_word(CONTROLLER, 0, 8 + 4 * OTHER + 1, 1);
        if (BASE + used < TABLE_WORDS)
          write_word(TABLE, FIRST_NODE, TABLE_STRIDE * (TABLE_WORDS - 1), 0);
        command(1 + 256 * OTHER);
        read_word(CONTROLLER, 0, QUEUED_AT, 1 + OTHER);
        refuse_in_use(OTHER);
      end else begin
        command(START);
        read_word(CONTROLLER, 0, QUEUED_AT, 1 + PROGRAM);
      end
      refuse(1, byte_address(CONTROLLER, 0, COMMAND_AT), START, ALL_BYTES, NOT_NOW);
      read_word(CONTROLLER, 0, RESULT_AT, (PROGRAM << 12) + (RUNNING << 8));
      watched = 0;
      command(STOP);
      read_word(CONTROLLER, 0, RESULT_AT, (PROGRAM << 12) + (IDLE << 8));
      read_word(CONTROLLER, 0, QUEUED_AT, 0);
      repeat (2 * ANSWER_TO_CYCLE_0 + 8) begin
        @(negedge clk);
        check(busy === 0 && done === 0 && error === 0, "a stopped engine is not idle");
      end
      tiles_at_stop;
    end
  endtask

  // Access the last word of a region, and then addresses behind the region. Behind the last word,
  // `gap` addresses of the region have no word.
  integer behind;
  reg [31:0] behind_address;
  task end_of_region(input writes_it, input [1:0] region, input [31:0] node, input integer size,
                     input integer gap);
    begin
      access(writes_it, byte_address(region, node, size - 1 - gap), 0, ALL_BYTES);
      check(response === 0, "the last word of a region is refused");
      for (behind = 0; behind <= ADDRESS_BITS; behind = behind + 1) begin
        behind_address = behind < ADDRESS_BITS ? 1 << behind : size;
        if (size <= behind_address && behind_address < 1 << ADDRESS_BITS)
          refuse(writes_it, byte_address(region, node, behind_address), 0, ALL_BYTES,
                 NO_SUCH_WORD);
      end
    end
  endtask

  task ends_of_regions;
    begin
      end_of_region(0, CONTROLLER, 0, CONTROLLER_SPACE, 0);
      end_of_region(1, CONTROLLER, 0, CONTROLLER_SPACE, 0);
      end_of_region(0, STATUS, FIRST_NODE, STATUS_SPACE, 0);
      end_of_region(0, MESSAGE, FIRST_NODE, MESSAGE_SPACE, (1 << PIECE_BITS) - PIECES);
      end_of_region(1, MESSAGE, FIRST_NODE, MESSAGE_SPACE, (1 << PIECE_BITS) - PIECES);
      end_of_region(1, TABLE, FIRST_NODE, TABLE_SPACE, ENTRY_GAP);
      // Between the tables of a node, or between the words of two entries.
      if (TABLE_GAP)
        refuse(1, byte_address(TABLE, FIRST_NODE, TABLE_GAP), 0, ALL_BYTES, NO_SUCH_WORD);
    end
  endtask

  // Accesses that are refused at any time, and accesses that change nothing.
  task refusals;
    begin
      for (flipped = 0; flipped < 8; flipped = flipped + 1) begin
        if (flipped != IMAGE_AT && flipped != COMMAND_AT && flipped != ENABLE_AT)
          refuse(1, byte_address(CONTROLLER, 0, flipped), 1, ALL_BYTES, NO_SUCH_WORD);
        if (flipped > 1)
          refuse(1, byte_address(CONTROLLER, 0, COMMAND_AT), 1 + (1 << flipped), ALL_BYTES,
                 NO_SUCH_WORD);
      end
      refuse(1, byte_address(CONTROLLER, 0, COMMAND_AT), 0, ALL_BYTES, NO_SUCH_WORD);
      refuse(1, byte_address(CONTROLLER, 0, COMMAND_AT), 4, ALL_BYTES, NO_SUCH_WORD);
      refuse(0, byte_address(CONTROLLER, 0, COMMAND_AT), 0, ALL_BYTES, NO_SUCH_WORD);
      refuse(1, byte_address(STATUS, 0, 0), 0, ALL_BYTES, NO_SUCH_WORD);
      refuse(0, byte_address(TABLE, FIRST_NODE, 0), 0, ALL_BYTES, NO_SUCH_WORD);
      if (PIECES < 1 << PIECE_BITS) begin
        refuse(0, byte_address(MESSAGE, FIRST_NODE, PIECES), 0, ALL_BYTES, NO_SUCH_WORD);
        refuse(1, byte_address(MESSAGE, FIRST_NODE, PIECES), 0, ALL_BYTES, NO_SUCH_WORD);
      end
      if (NODES < 1 << NODE_BITS)
        refuse(0, byte_address(STATUS, NODES, 0), 0, ALL_BYTES, NO_SUCH_WORD);
      for (flipped = 0; flipped < NODE_BITS; flipped = flipped + 1)
        refuse(0, byte_address(CONTROLLER, 1 << flipped, IMAGE_AT), 0, ALL_BYTES, NO_SUCH_WORD);
      // Parts of a word, and no part.
      for (flipped = 0; flipped < BITS / 8; flipped = flipped + 1)
        refuse(1, byte_address(CONTROLLER, 0, IMAGE_AT), 0, ALL_BYTES ^ (1 << flipped),
               NO_SUCH_WORD);
      access(1, byte_address(CONTROLLER, 0, IMAGE_AT), 0, 0);
      check(response === 0, "a write of no byte is refused");
      read_word(CONTROLLER, 0, IMAGE_AT, IDENTITY);
    end
  endtask

  // A word changes with its last piece alone: an interrupted word changes nothing, what is read in
  // between neither, and a last piece writes the pieces that the node was given last.
  task pieces_of_words;
    begin
      for (flipped = 0; flipped < PIECES; flipped = flipped + 1)
        write_word(MESSAGE, FIRST_NODE, flipped, 64'h0123456789abcdef << flipped);
      for (flipped = 0; flipped < PIECES - 1; flipped = flipped + 1)
        write_word(MESSAGE, FIRST_NODE, flipped, ~(64'h0123456789abcdef << flipped));
      for (flipped = 0; flipped < PIECES; flipped = flipped + 1)
        read_word(MESSAGE, FIRST_NODE, flipped, 64'h0123456789abcdef << flipped);
      write_word(MESSAGE, FIRST_NODE, (1 << PIECE_BITS) + PIECES - 1,
                 ~(64'h0123456789abcdef << (PIECES - 1)));
      for (flipped = 0; flipped < PIECES; flipped = flipped + 1)
        read_word(MESSAGE, FIRST_NODE, (1 << PIECE_BITS) + flipped,
                  ~(64'h0123456789abcdef << flipped));
    end
  endtask

  // Starts that are refused: of another network, of no program, of one beyond the tables.
  task refused_starts;
    begin
      for (flipped = 0; flipped < 32; flipped = flipped + 1) begin
        write_word(CONTROLLER, 0, IMAGE_AT, IDENTITY ^ (64'd1 << flipped));
        read_word(CONTROLLER, 0, IMAGE_AT, IDENTITY ^ (64'd1 << flipped));
        refuse(1, byte_address(CONTROLLER, 0, COMMAND_AT), START, ALL_BYTES, NOT_NOW);
      end
      write_word(CONTROLLER, 0, IMAGE_AT, IDENTITY);
      refuse(1, byte_address(CONTROLLER, 0, COMMAND_AT), 1 + 256 * PROGRAMS, ALL_BYTES, NOT_NOW);
      // Programs that begin behind the tables, and one that is longer than they.
      for (flipped = 0; flipped < 32; flipped = flipped + 1)
        if (32'd1 << flipped >= TABLE_WORDS) begin
          write_word(CONTROLLER, 0, ENTRY_AT, 32'd1 << flipped);
          write_word(CONTROLLER, 0, ENTRY_AT + 1, 1);
          refuse(1, byte_address(CONTROLLER, 0, COMMAND_AT), START, ALL_BYTES, NOT_NOW);
        end
      write_word(CONTROLLER, 0, ENTRY_AT, 0);
      write_word(CONTROLLER, 0, ENTRY_AT + 1, TABLE_WORDS + 1);
      refuse(1, byte_address(CONTROLLER, 0, COMMAND_AT), START, ALL_BYTES, NOT_NOW);
      write_word(CONTROLLER, 0, ENTRY_AT + 1, 0);
      refuse(1, byte_address(CONTROLLER, 0, COMMAND_AT), START, ALL_BYTES, NOT_NOW);
      check(busy === 0, "a start that is refused starts");
    end
  endtask

  // Read a status word and a word of a message while the program runs: no flit may leave at another
  // time. If no packet changes the word, it is known.
  task read_during_the_run(input integer node, input integer address, input [63:0] word,
                           input known);
    begin
      disturbed = 1;
      flipped = 0;
      while (now < end_cycle) begin
        access(0, byte_address(flipped[0] ? STATUS : MESSAGE, node, flipped[0] ? 0 : address), 0,
               ALL_BYTES);
        // The network has priority: a read that waits 64 cycles for the memory is refused.
        check(response === 0 || !flipped[0] && response === response_to(NOT_NOW),
              "a read during the run is refused");
        check(!known || response !== 0 || flipped[0] || answer === word[BITS-1:0],
              "a read during the run finds another word");
        flipped = flipped + 1;
      end
      disturbed = 0;
      settle_tiles;
    end
  endtask

  // A run that fails at a node, with at least one flag; its flits are not checked.
  task run_wrong(input integer node, input [7:0] flag);
    begin
      changing = 1;
      command(START);
      now = 0;
      while (busy === 1 && now < 2 * MOST_RUN) begin
        @(negedge clk);
        now = now + 1;
      end
      untold = 1;
      changing = 0;
      repeat (AFTERWARDS + 8) @(negedge clk);
      check(error === 1 && done === 0, "a wrong run does not fail");
      access(0, byte_address(CONTROLLER, 0, RESULT_AT), 0, ALL_BYTES);
      check((answer & ~(8'hff ^ flag)) ===
            (node << 16) + (PROGRAM << 12) + (1 << 11) + (FAILED << 8) + flag,
            "a wrong run has another result");
      acknowledge;
    end
  endtask

  // A reset amid a read that waits for a memory which the network keeps busy.
  task reset_amid_a_wait(input integer node);
    begin
      while (now < 8) @(negedge clk);
      begin_access(0, byte_address(MESSAGE, node, 0), 0, 40);
      leave_access;
      reset_in(0);
    end
  endtask

  // Read a memory twice that the network keeps busy: the reads are given up equally late.
  integer given_up_after;
  task read_in_vain(input integer node);
    begin
      while (now < 8) @(negedge clk);
      disturbed = 1;
      for (flipped = 0; flipped < 2; flipped = flipped + 1) begin
        access(0, byte_address(MESSAGE, node, 0), 0, ALL_BYTES);
        check(response === response_to(NOT_NOW) && answer === 0,
              "a read of a busy memory is not given up");
        check(flipped == 0 || waited == given_up_after, "a read is given up too early");
        given_up_after = waited;
      end
      disturbed = 0;
      settle_tiles;
    end
  endtask

  task enable_interrupt(input enabled);
    begin
      changing = 1;
      write_word(CONTROLLER, 0, ENABLE_AT, enabled);
      interrupt_enabled = enabled;
      changing = 0;
      read_word(CONTROLLER, 0, ENABLE_AT, enabled);
    end
  endtask

@PARITY@

  initial begin
    $readmemh("writes.hex", writes);
    $readmemh("flits.hex", flits);
    $readmemh("words.hex", words);
    // One cycle of reset is enough, whatever the registers hold after power-on.
    @(negedge clk);
    rst = 0;
    check_reset;
    changing = 0;
    check_bus;
    resets_amid_accesses;
    ends_of_regions;
@RUNS@
    if (faults == 0) begin
      $display("PASS: %0d runs, %0d cycles in the first, %0d flits", NUMBER_OF_RUNS, CYCLES,
               FLITS);
      $finish;
    end else fail;
  end

  // If an access is never answered.
  initial begin
    repeat (MOST_CYCLES) @(negedge clk);
    $display("FAIL: the bench waits without end, in cycle %0d of a run, with %0d faults", now,
             faults);
    $fatal(1);
  end
endmodule
