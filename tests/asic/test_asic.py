"""Silicon: libraries, the simulation of netlists, layouts, and the kept measurements."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from helpers.command import Command, refusal

from eyecast.asic.activity import activity_of
from eyecast.asic.library import OSU018, PACKAGE_OF_OSU018, read_library, value_of
from eyecast.asic.measure import Synthesized
from eyecast.asic.measured import USUAL_WIDTH, measured_networks
from eyecast.asic.routed import TOOLS, draw, route, wires_of
from eyecast.asic.synthesis import TILE, areas_by_module, elaborate, macros_of, map_cells
from eyecast.asic.tables import guide_with
from eyecast.asic.timing import has_opensta, shortest_period
from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.sim.verilog import network_modules

SMALL = NetworkConfig(topology=mesh((2, 2)), contention_free=True, flit_width=16)

needs_library = pytest.mark.skipif(
    not (OSU018.exists() and find_spec("pyosys")),
    reason=f"Debian's {PACKAGE_OF_OSU018} and the wheel pyosys must be installed",
)
needs_qflow = pytest.mark.skipif(
    not all(map(shutil.which, TOOLS)), reason="Debian's qflow must be installed"
)

BITS = ("00", "01", "10", "11")
LIBERTY = """
library (tiny) {
  time_unit : "100ps"; capacitive_load_unit (2, "ff");
  cell (FILL) { area : 1; }
  cell (NAND_BIG) { area : 9; pin (A) {} pin (B) {} pin (Y) { function : "(!A) | (!B)"; } }
  cell ("NAND") {
    /* area : 2; */
    area : 4.5;
    pin (A) { direction : input; }
    pin (B) { direction : input; }
    pin (Y) { function : "!(A B)"; }
  }
  cell (NOR) {
    area : 3;
    pin (A) {
    }
    pin (B) {
    }
    pin (Y) {
      function : "!(A+B)";
    }
  }
  cell (BUF) {
    area : 5;
    pin (A) { direction : input; }
    pin (Y) { function : "A"; }
  }
}
"""


def test_a_library_has_its_gate_its_buffer_and_its_units(tmp_path: Path) -> None:
    path = tmp_path / "tiny.lib"
    path.write_text(LIBERTY.replace(" pin", "\n pin").replace("{ func", "{\n func"))
    library = read_library(path)
    assert (library.name, library.gate, library.buffer) == ("tiny", 4.5, "BUF")
    assert library.time == pytest.approx(1e-10)
    assert library.capacitance == pytest.approx(2e-15)


@pytest.mark.parametrize(
    ("function", "values"),
    [
        ("A(B)", "0001"),
        ("A'B' ", "1000"),
        ("A+!A^B", "1011"),
        ("!(!!A * (B|0)) & 1", "1110"),
        (f"{'(' * 300}A{')' * 300}", "0011"),
        *((wrong, None) for wrong in ("", "A 10", "C", "A B)", "A(", "A+", "3..4", "(" * 1999)),
    ],
)
def test_the_function_of_a_gate_has_a_value_or_none(function: str, values: str | None) -> None:
    found = [value_of(function, dict(zip("AB", bits, strict=True))) for bits in BITS]
    assert found == ([None] * 4 if values is None else [int(value) for value in values])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"100ps"', '"3..4ps"'),
        ('"100ps"', '"0ps"'),
        ('(2, "ff")', '(1e999, "ff")'),
        ("area : 4.5;", "area : 4.5e;"),
        ("area : 4.5;", f"area : {'9' * 400};"),
    ],
)
def test_a_library_with_damaged_numbers_is_refused(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "damaged.lib"
    text = LIBERTY.replace(" pin", "\n pin").replace("{ func", "{\n func")
    path.write_text(text.replace("area : 9;", "").replace(old, new))
    with pytest.raises(InvalidInput, match="liberty must be a Liberty file"):
        read_library(path)


def test_a_library_without_a_nand_gate_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.lib"
    path.write_text('library (tiny) { time_unit : "1ns"; }')
    with pytest.raises(InvalidInput, match=r"liberty must be a Liberty file with units, a NAND"):
        read_library(path)


def bits(net: int) -> dict[str, list[int]]:
    return {"bits": [net]}


def counter(folder: Path) -> None:
    """Write a netlist whose flip-flop toggles while ``enable`` is 1: its input is an AND gate."""
    cells = {
        "_1_": {"type": "$_NOT_", "connections": {"A": [4], "Y": [5]}},
        "_2_": {"type": "$_AND_", "connections": {"A": [3], "B": [5], "Y": [6]}},
        "_3_": {"type": "$_DFF_P_", "connections": {"C": [2], "D": [6], "Q": [4]}},
    }
    ports = {"clk": "input", "enable": "input", "q": "output"}
    names = {"clk": 2, "enable": 3, "q": 4, "n": 5, "d": 6}
    module = {
        "ports": {name: {"direction": way, **bits(names[name])} for name, way in ports.items()},
        "cells": cells,
        "netnames": {name: bits(net) for name, net in names.items()},
    }
    (folder / "gates.json").write_text(json.dumps({"modules": {"part": module}}))
    ways = {"Y": "output", "Q": "output"}
    for cell in cells.values():
        cell["port_directions"] = {pin: ways.get(pin, "input") for pin in cell["connections"]}
    (folder / "netlist.json").write_text(json.dumps({"modules": {"part": module}}))


def recording(folder: Path, outputs: str, *, enables: str = "0111") -> Path:
    """Write a recorded run: two cycles of reset, then a cycle for each output."""
    lines = [
        "$timescale 1ns $end",
        "$scope module eyecast_network $end",
        "$var wire 1 c clk $end",
        "$scope module tile_0 $end",
        "$var wire 1 r rst $end",
        "$var wire 32 n cycle $end",
        "$scope module part $end",
        "$var wire 1 e enable $end",
        "$var wire 1 q q $end",
        *["$upscope $end"] * 3,
        "$enddefinitions $end",
    ]
    values = [(1, 0, "0", "0"), (1, 0, "0", "0")]
    values += [(0, cycle, e, q) for cycle, (e, q) in enumerate(zip(enables, outputs, strict=True))]
    for place, (reset, cycle, enable, q) in enumerate(values):
        lines += [f"#{10 * place}", "1c", f"{reset}r", f"b{cycle:b} n", f"{enable}e", f"{q}q"]
        lines += [f"#{10 * place + 5}", "0c"]
    path = folder / "run.vcd"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_toggles_of_a_netlist_are_those_of_its_run(tmp_path: Path) -> None:
    counter(tmp_path)
    found = activity_of(tmp_path, recording(tmp_path, "0010"), "tile_0.part", 4)
    assert found.cycles == 4
    assert found.toggles == {"_1_": [2], "_2_": [3], "_3_": [2]}


def test_a_netlist_that_is_not_the_recorded_circuit_is_refused(tmp_path: Path) -> None:
    counter(tmp_path)
    with pytest.raises(RuntimeError, match="q is 0x1 in cycle 2, not 0x0"):
        activity_of(tmp_path, recording(tmp_path, "0000"), "tile_0.part", 4)


def test_the_wires_of_a_layout_are_read() -> None:
    text = """UNITS DISTANCE MICRONS 100 ;
NETS 1 ;
- a ( X Y )
+ ROUTED metal1 ( 100 200 ) ( 300 * )
  NEW metal2 ( 300 200 ) ( * 500 ) M2_M1
  NEW metal1 ( 300 500 ) M2_M1
;
END NETS
"""
    found = [(layer, wire.tolist()) for layer, wire in wires_of(text)]
    assert found == [("metal1", [[1, 2], [3, 2]]), ("metal2", [[3, 2], [3, 5]])]


def test_the_kept_table_has_twelve_variants_in_two_libraries() -> None:
    measured = measured_networks()
    by_library: dict[str, set[str]] = {}
    for each in measured:
        by_library.setdefault(each.library, set()).add(each.variant)
        assert each.cycles > 0
        assert all(part.with_setup and part.gates > 0 for part in each.parts.values())
        if each.flit_width == USUAL_WIDTH:
            assert each.energy["broadcast"].per_byte > 0
    first, second = by_library.values()
    assert first == second
    assert len(first) >= 12
    assert any("uniform" in each.energy for each in measured)


def test_only_memories_that_read_at_the_edge_are_macros() -> None:
    """The logic in front of a memory, ``eyecast_shared_memory``, belongs to the interface."""
    config = NetworkConfig(topology=mesh((2,)), programs=2, parity=True)
    found = macros_of(network_modules(config))
    assert found == {"eyecast_message_memory": (256, 33), "eyecast_table_memory": (64, 33)}


JOINED = {
    TILE: """
module eyecast_tile;
  eyecast_part router (
  );
  eyecast_interface network_interface (
  );
endmodule
""",
    "eyecast_part": """
module eyecast_part (
    input wire [1:0] linked,
    input wire a,
    output wire b
);
  wire [2:0] joined;
  assign joined = {1'h0, linked[1], 1'h0};
  assign b = a & joined[1];
endmodule
""",
}
"""A network whose router joins a bit of its constant input ``linked`` into another wire."""


@needs_library
def test_a_constant_input_reaches_wires_that_are_joined_from_its_bits(tmp_path: Path) -> None:
    elaborate(JOINED, "eyecast_part", tmp_path)
    logic = (tmp_path / "logic.il").read_text()
    assert "connect \\b \\a\n" in logic


CLOCKED = """
module eyecast_part (
    input wire clk,
    input wire a,
    output reg b
);
  always @(posedge clk) b <= ~(a & b);
endmodule
"""


@needs_library
def test_a_name_of_a_library_is_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts of yosys, ABC and OpenSTA have fixed file names, so a user's file has any name."""
    home, part = tmp_path / "a b", tmp_path / "part"
    home.mkdir()
    part.mkdir()
    named = home / "x; exec -- touch made } [exec touch made]"
    named.write_bytes(OSU018.read_bytes())
    library = read_library(named)
    elaborate(JOINED | {"eyecast_part": CLOCKED}, "eyecast_part", part)
    assert map_cells(part, library).cells == 2
    if has_opensta():
        assert shortest_period(part, library) > 0
    assert not list(tmp_path.rglob("made"))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(home))
    with pytest.raises(InvalidInput, match=r"temporary folder \(TMPDIR\) must be a path without"):
        map_cells(part, library)


def test_a_layout_needs_a_folder_and_a_library_a_file(eyecast: Command) -> None:
    expected = refusal("--route needs -o FOLDER, and no --liberty")
    assert eyecast("asic", "--mesh", "2x2", "--route") == expected
    found = eyecast("asic", "--mesh", "2x2", "--liberty", "none.lib")
    assert (found.status, found.errors) == (2, "eyecast: liberty must be a file, not none.lib\n")


def test_the_guide_has_the_kept_tables() -> None:
    text = (Path(__file__).parents[2] / "docs" / "guides" / "into-silicon.md").read_text()
    assert guide_with(text, measured_networks()) == text


@needs_library
@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "parameters"),
    [
        ("1 VC, depth 2", {}),
        ("without arbitration", {"contention_free": True}),
        ("circuits", {"circuits": True}),
    ],
)
def test_a_router_is_as_large_and_fast_as_it_was(
    tmp_path: Path, variant: str, parameters: dict[str, Any]
) -> None:
    """2 % allow for other versions of yosys and ABC; more needs ``make asic`` and a reason."""
    library = read_library(OSU018)
    kept = next(
        each.parts["router"]
        for each in measured_networks()
        if (each.variant, each.library) == (variant, library.name)
    )
    made = Synthesized(NetworkConfig(topology=mesh((8, 8)), **parameters), tmp_path / "parts")
    made.elaborate(["router"])
    found = made.map_part("router", library)
    assert found.area == pytest.approx(kept.area, rel=0.02)
    if found.with_setup:
        assert found.period == pytest.approx(kept.period, rel=0.05)


@needs_library
@pytest.mark.slow
def test_the_areas_of_modules_cover_the_router(tmp_path: Path) -> None:
    modules = network_modules(SMALL)
    found = areas_by_module(modules, "eyecast_direct_router", tmp_path, read_library(OSU018))
    assert found["eyecast_direct_router"][0] == 1
    assert found["eyecast_crossbar_mux"][0] == 5
    assert all(area >= 0 for _, area in found.values())


@needs_library
@needs_qflow
@pytest.mark.slow
def test_a_small_part_is_placed_and_routed_always_alike(tmp_path: Path) -> None:
    modules = network_modules(NetworkConfig(topology=mesh((2, 2))))
    logic = tmp_path / "logic"
    logic.mkdir()
    elaborate(modules, "eyecast_credit_counter", logic)
    routed, layout = route(logic, tmp_path / "routed")
    assert routed.cells > 5
    assert routed.wires > routed.width
    draw(layout, tmp_path / "layout.png")
    assert (tmp_path / "layout.png").stat().st_size > 5000
    again, second = route(logic, tmp_path / "again")
    assert (again, second.read_bytes()) == (routed, layout.read_bytes())
