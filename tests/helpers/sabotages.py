"""Changes of the Verilog that break a component, by the component and the configuration."""

SABOTAGES: dict[tuple[str, str], dict[str, str]] = {
    ("credits", "depth 2"): {
        "assign overflow = earn & places[1];": "assign overflow = earn | places[1];",
        "if (spend ^ earn) begin": "if (spend | earn) begin",
    },
    ("buffer", "depth 2, memory"): {
        "if (stored ^ pop) begin": "if (stored | pop) begin",
        "assign overflow = write & used[1];": "assign overflow = write & used[0];",
    },
    ("arbiter", "3 ports, 2 VCs, to a link"): {
        "!is_high_3, wins_0[0] & !is_high}};": "!is_high_3, wins_0[0] | !is_high}};",
        "both = (|requests__1) & credited[1];": "both = (|requests__1) | credited[1];",
    },
    ("input port", "3 ports, 2 VCs, depth 2, input 1"): {
        "(!following & !delivered) ?": "(!following | !delivered) ?",
        "following = |(under_way & link__valid);": "following = |under_way;",
    },
    ("output", "3 ports, 1 VC, depth 2, port 1"): {
        "if (spend ^ earn) begin": "if (spend | earn) begin",
        "(grant[0] ? values__0 : 14'h0) | (grant[1]": "(grant[0] ? values__0 : 14'h0) & (grant[1]",
    },
    ("link", "depth 2, 0 registers"): {
        "assign overflow = earn & places[1];": "assign overflow = earn | places[1];",
        "if (stored ^ pop) begin": "if (stored | pop) begin",
    },
    ("router", "3 ports, 1 VC, depth 2"): {
        "assign overflow = earn & places[1];": "assign overflow = earn | places[1];",
        "assign overflow = write & used[1];": "assign overflow = write | used[1];",
    },
    ("router", "3 ports, 1 VC, depth 2, input 1"): {
        "holding <= !front__flit__tail;": "holding <= front__flit__tail;",
        "(!(take & front__flit__tail)) & !used_up;": "(!(take | front__flit__tail)) & !used_up;",
    },
    ("router without arbitration", "3 ports, 1 VC"): {
        "if (!arrival_0__following) begin": "if (arrival_0__following) begin",
        "(grant[0] ? values__0 : 14'h0) | (grant[1]": "(grant[0] ? values__0 : 14'h0) & (grant[1]",
    },
    ("receiver", "2 VCs"): {
        "(|ejection__valid) & !ejection__flit": "(|ejection__valid) | !ejection__flit",
        "(message__address + {1'h0, fits});": "(message__address - {1'h0, fits});",
    },
    ("step keeper", "7 steps"): {
        "assign finished = !flagged & progress__all_done;": "assign finished = progress__all_done;",
        "assign over = !flagged & progress__step_done;": "assign over = progress__step_done;",
    },
    ("router of circuits", "3 ports, add"): {
        "(|(first & valid)) & (|(second & valid))": "(|(first & valid)) | (|(second & valid))",
        "assign first_both_3 = joins &": "assign first_both_3 = joins |",
    },
    ("sender", "1 VC"): {
        "injected = wanted & vc & credits_0__available;": "injected = wanted & vc;",
        "kept__left - {2'h0, word_leaves};": "kept__left - {2'h0, payload};",
    },
    ("sender of streams", "1 lane, 1 VC, 3 words"): {
        "there <= !row__stream | come__0__last | further;": "there <= 1'h1;",
        "kept__streamed__ahead + 4'h1;": "kept__streamed__ahead + 4'h2;",
    },
    ("table", "3 words, parity"): {
        "read__beyond = place > {3'h0,": "read__beyond = place >= {3'h0,",
        "assign read__damaged = ^read_port__data;": "assign read__damaged = 1'h0;",
    },
    ("parity", "sender"): {
        "(injector__injected & !row__payload);": "injector__injected;",
        "row__payload & message__damaged);": "message__damaged);",
    },
    ("parity", "combiner, D = 0"): {
        "assign damaged = looks_0 & reads__0__damaged;": "assign damaged = reads__0__damaged;",
        "looks_0 <= combines & !kept_0_both;": "looks_0 <= combines;",
    },
    ("parity", "controller and tile"): {
        "host__damaged = shown & reads__0": "host__damaged = reads__0",
        "assign damaged = host__damaged | tile__read_damaged;": "assign damaged = host__damaged;",
    },
    ("parity", "run table"): {
        "advance & active_both & ahead_damaged;": "active_both & ahead_damaged;",
        "ahead_damaged <= ^read_port__data;": "ahead_damaged <= ^read_port__data[20:0];",
    },
    ("run table", "3 entries"): {
        "last <= active & (left == 10'h2);": "last <= active & (left == 10'h1);",
        "address <= base + 2'h1;": "address <= base;",
    },
    ("arrival record", "3 steps"): {
        "assign step_received = !missing[step];": "assign step_received = 1'h1;",
        "arrived <= arrived | arriving;": "arrived <= arriving;",
    },
    ("doorbell", "2 lanes, 3 steps"): {
        "arrived_both = waiting_value & (-waiting_value);": "arrived_both = waiting_value;",
        "waiting <= waiting_value & ~arrived_both;": "waiting <= waiting & ~arrived_both;",
    },
    ("word count", "3 words, 3 steps"): {
        "come__last <= written & (step == clock__step);": "come__last <= written;",
        "come__last & !come__before_both};": "come__last};",
    },
    ("word count", "combined, D = 1, 2 VCs"): {
        "written <= register_8;": "written <= message__enable;",
        "arrival__step <= register_5;": "arrival__step <= step_now;",
    },
    ("barrier", "9 nodes, 2 registers"): {
        "!advance & (!(|advanced));": "!advance;",
        "advance <= over_0_0 & !finished_0_0 &": "advance <= over_0_0 &",
    },
    ("combiner", "or, D = 1, 2 VCs"): {
        "assign accept = !accept_any;": "assign accept = 1'h1;",
        "is_kept_0 ? kept_0 : reads__0__word;": "reads__0__word;",
    },
    ("combiner", "or, D = 0, 1 VC"): {
        "is_kept_0 ? kept_0 : reads__0__word;": "reads__0__word;",
        "kept_0 <= stored__0__word;": "kept_0 <= words__0__word;",
    },
    ("tile port and shared memory", "3 words"): {
        "assign tile_write_ready = write_free & !host_writes;": "assign tile_write_ready = 1'h1;",
        "& (tile_write__address < 2'h3);": "& (tile_write__address < 2'h2);",
    },
    ("tile port and shared memory", "3 words, parity"): {
        "tile_read__damaged = !beyond & reads__0": "tile_read__damaged = reads__0",
        "{^host_word, host_word} :": "{1'h0, host_word} :",
    },
    ("run control", "32 bits"): {
        "run <= queued ? next_run : offered;": "run <= offered;",
        "culprit <= nodes__first_unfinished;": "culprit <= nodes__first_flagged;",
    },
    ("AXI4-Lite", "32 bits"): {
        "bus__awvalid & bus__wvalid & !bus__bvalid;": "bus__awvalid & bus__wvalid;",
        "may_read = bus__arvalid & !bus__rvalid;": "may_read = bus__arvalid;",
    },
    ("Wishbone", "32 bits"): {
        "assign bus__ack_o = bus__ack_o_register & bus__cyc_i": "assign bus__ack_o = bus__cyc_i",
        "access__answered & !refused_unequal;": "access__answered;",
    },
    ("AXI-Stream", "writer, 4 words"): {
        "stream__tready = !inside_ | now__beyond | ready;": "stream__tready = 1'h1;",
        "inside_ <= !stream__tlast;": "inside_ <= 1'h1;",
    },
    ("AXI-Stream", "reader, up to 4 words"): {
        "stream__tvalid = stream__tvalid_register | waits;": "stream__tvalid = waits;",
        "kept <= waits ? kept : data;": "kept <= data;",
    },
}

_ANY_TIME = ("((awake & access__valid) ?", "((awake | access__valid) ?")
_TWO_AT_ONCE = ("fsm_state <= WAIT;", "fsm_state <= ASK;")

CLAIMS = {
    ("AXI4-Lite", "32 bits"): {
        ("else if (bus__bready)", "else if (1'h1)"): "b_stays one_b_for_each_request",
        ("else if (bus__rready)", "else if (1'h1)"): "r_stays one_r_for_each_request",
        ("bus__awvalid & bus__wvalid & !bus__bvalid;", "bus__awvalid & bus__wvalid;"): (
            "no_second_b"
        ),
        ("may_read = bus__arvalid & !bus__rvalid;", "may_read = bus__arvalid;"): "no_second_r",
        ("assign bus__wready = bus__awready;", "assign bus__wready = 1'h1;"): "address_with_data",
        ("else if (host__ready)", "else if (1'h1)"): "request_stays",
        _ANY_TIME: "requests_are_of_the_bus",
        _TWO_AT_ONCE: "one_request_at_a_time",
        ("access__access__answered & !access__access__write;", "access__access__answered;"): (
            "write_in_its_cycle"
        ),
    },
    ("Wishbone", "32 bits"): {
        ("access__answered & !refused_unequal;", "access__answered;"): "one_kind_of_answer",
        (
            "assign bus__err_o = refused & bus__cyc_i & bus__stb_i;",
            "assign bus__err_o = refused;",
        ): ("answer_of_an_access"),
        (
            "assign bus__ack_o = bus__ack_o_register & bus__cyc_i",
            "assign bus__ack_o = bus__cyc_i",
        ): ("no_answer_at_once one_cycle_for_each_answer stalled_until_the_answer"),
        ("bus__dat_o <= access__access__read_data;", "bus__dat_o <= 32'h0;"): "data_of_the_answer",
        _ANY_TIME: "requests_are_of_the_bus",
        _TWO_AT_ONCE: "one_request_at_a_time",
    },
    ("AXI-Stream", "reader, up to 4 words"): {("waits ? kept : data);", "data);"): "beats_stay"},
    ("router of circuits", "3 ports"): {
        ("valid = |(chosen_0 & arrived);", "valid = |chosen_0;"): "word_if_taken_0",
        ("valid = |outputs__1__valid_both;", "valid = |chosen_1;"): "word_if_taken_1",
        ("valid = |outputs__2__valid_both;", "valid = |chosen_2;"): "word_if_taken_2",
        ("crossbar_0__values = {word_2, word_1}", "crossbar_0__values = {word_1, word_2}"): (
            "word_of_its_input_0"
        ),
        ("{word_2, inputs__0__word};", "{inputs__0__word, word_2};"): "word_of_its_input_1",
        ("{word_1, inputs__0__word};", "{inputs__0__word, word_1};"): "word_of_its_input_2",
    },
}
"""Changes that break what components with exported assertions ensure, and the claims they break."""
