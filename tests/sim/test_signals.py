"""Registers read from a recording of all signals, cycle by cycle, only during the run."""

from pathlib import Path

import pytest

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line
from eyecast.sim.signals import read_registers
from eyecast.waves.registers import Change

CONFIG = NetworkConfig(topology=line(1))
NAMES = {
    "a": ("tile_0.network_interface.steps", "clock__step"),
    "b": ("tile_0", "over"),
    "c": ("tile_0", "advance"),
    "d": ("tile_0.network_interface.lane_0", "sender_state"),
    "e": ("tile_0.network_interface.lane_0", "progress__begins"),
    "f": ("", "clk"),
    "g": ("tile_0", "rst"),
    "h": ("tile_0", "cycle"),
    "other": ("tile_0", "valid"),
}


def recording(folder: Path, rows: list[dict[str, int]]) -> Path:
    """Write a recording; each row has the values that change with a rising edge."""
    lines = []
    for code, (scope, name) in NAMES.items():
        scopes = ["eyecast_network", *filter(None, scope.split("."))]
        lines += [f"$scope module {each} $end" for each in scopes]
        lines.append(f"  $var wire 4 {code} {name} [3:0] $end")
        lines += ["$upscope $end"] * len(scopes)
    lines += ["$enddefinitions $end", ""]
    for time, row in enumerate(rows):
        lines += [f"#{2 * time}", "1f", *(f"b{value:b} {code}" for code, value in row.items())]
        lines += [f"#{2 * time + 1}", "0f"]
    path = folder / "signals.vcd"
    path.write_text("\n".join([*lines, f"#{2 * len(rows)}", ""]))
    return path


def test_what_was_before_and_after_the_run_is_left_out(tmp_path):
    rows = [
        # A simulator begins with arbitrary values; then the network is loaded.
        {"a": 7, "b": 1, "c": 1, "d": 3, "e": 1, "g": 0, "h": 0},
        {"g": 1, "a": 1, "b": 0, "c": 0, "d": 0, "e": 0},
        {"g": 0, "h": 0},
        {"h": 1, "d": 1, "e": 1, "other": 1},
        {"h": 2, "d": 3, "e": 0, "other": 0},
        {"h": 3, "e": 1},
        # Rows that begin in successive cycles are counted separately.
        {"h": 4, "a": 2, "b": 1},
        {"h": 5, "c": 1, "a": 9},
        # Memories are read in reset again.
        {"g": 1, "h": 0, "a": 1, "b": 0},
    ]
    found = read_registers(recording(tmp_path, rows), CONFIG, 5)
    assert [register.name for register in found.registers] == [
        *("step", "step_over", "barrier", "sender", "row")
    ]
    assert [Change(*each) for each in found.changes] == [
        *(Change(0, number, value) for number, value in enumerate((1, 0, 0, 0, 0))),
        *(Change(1, 3, 1), Change(1, 4, 1), Change(2, 3, 3), Change(3, 4, 2)),
        *(Change(4, 0, 2), Change(4, 1, 1), Change(4, 4, 3)),
    ]


def test_a_recording_of_another_network_is_an_error(tmp_path):
    path = recording(tmp_path, [])
    with pytest.raises(ValueError, match=r"must have a signal eyecast_network\.tile_1"):
        read_registers(path, NetworkConfig(topology=line(2)), 5)
