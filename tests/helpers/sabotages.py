"""Changes of the Verilog that break a component, by the component and the configuration."""

from __future__ import annotations

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
        "assign both = (|requests__1) & credited[1];": "assign both = (|requests__1) | credited[1];",
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
        "(|ejection__valid) & !ejection__flit__head;": "(|ejection__valid) | !ejection__flit__head;",
        "(message__address + {1'h0, fits});": "(message__address - {1'h0, fits});",
    },
    ("step keeper", "7 steps"): {
        "assign finished = !flagged & progress__all_done;": "assign finished = progress__all_done;",
        "assign over = !flagged & progress__step_done;": "assign over = progress__step_done;",
    },
}
