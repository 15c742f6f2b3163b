"""The exported Verilog in Icarus, where all that is not set is undefined, by a plain Verilog bench.

Verilator knows no undefined state, and evaluates everything once at the beginning. The bench is
told what a user is told: the ports listed beside the export, and the words of docs/router.md.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers.command import Command
from helpers.programs import encoded, simulated, words

from eyecast.model.program.file import read_program
from eyecast.model.program.program import Program

pytestmark = pytest.mark.skipif(
    shutil.which("iverilog") is None, reason="iverilog must be on PATH: install iverilog"
)

BENCH = Path(__file__).with_name("export_bench.v")
MESSAGE, TABLE, EXPECTED = range(3)
"""Spaces of the host port."""

SLACK = 20
"""Cycles after which a run is taken to hang, beyond those that it should take."""

MESH = ("--mesh", "4x4", "--message-words", "8")
TORUS = ("--torus", "4x2", "--vcs", "2", "--message-words", "8")
FAULTY = ("--line", "3", "--faulty-node", "2", "--message-words", "8")
"""Its last node is as whole as the others: it is loaded, and keeps what it is loaded with."""
SWITCHES = ("--graph", "pair.json", "--message-words", "8")
"""Two nodes, and a switch between them: it is a module of its own, which is not loaded."""
PAIR = {"kind": "graph", "neighbor": [[-1, 1, -1], [-1, 0, 2], [-1, 1, -1]], "switches": [1]}

TREE = ("--source", "0", "--algorithm", "tree", "--flits", "5")
BROADCAST = ("--source", "0,0", "--flits", "5")
ALL_GATHER = ("--collective", "all-gather", "--algorithm", "recursive-doubling", "--flits", "1")


def loads(program: Program) -> list[str]:
    """A line of the bench's ``writes.hex`` for each word of message, table and expectations."""
    lines = []
    for node, (message, rows, receives) in enumerate(
        zip(words(program).tolist(), program.rows, program.receives, strict=True)
    ):
        table, expected = encoded(program.config, rows, receives)
        for space, loaded in (
            (MESSAGE, message),
            (TABLE, table),
            (EXPECTED, expected),
        ):
            lines += [f"{node:04x}{space:04x}{at:04x}{word:016x}" for at, word in enumerate(loaded)]
    return lines


def network_macros(program: Program) -> dict[str, int]:
    """What the bench has to know of the network, its widths from the list beside the export."""
    ports = json.loads(Path("network.json").read_text())["ports"]
    width = {port["name"]: port["width"] for port in ports}
    return {
        "NODE_BITS": width["host__node"],
        "ADDRESS_BITS": width["host__address"],
        "FLIT_WIDTH": width["host__read_data"],
        "NODES": program.config.topology.nodes,
        "MESSAGE_WORDS": program.config.message_words,
    }


def run_bench(standard: str, macros: dict[str, int]) -> list[str]:
    """Compile and run the bench and ``network.v``; the lines that it writes."""
    given = [f"-D{name}={value}" for name, value in macros.items()]
    compiler = ["iverilog", f"-g{standard}", *given, "-o", "bench", BENCH, "network.v"]
    subprocess.run(compiler, check=True)
    subprocess.run(["vvp", "-n", "bench"], check=True)
    return Path("seen.txt").read_text().splitlines()


@pytest.mark.parametrize(
    ("network", "collective", "timing", "standards"),
    [
        (MESH, BROADCAST, "barrier", ["2012"]),
        (TORUS, ALL_GATHER, "self-timed", ["2012"]),
        (FAULTY, TREE, "barrier", ["2005", "2005-sv", "2009"]),
        pytest.param(SWITCHES, TREE, "self-timed", ["2005", "2012"], marks=pytest.mark.slow),
    ],
    ids=["mesh", "torus", "faulty node", "switches"],
)
def test_icarus_sees_what_is_predicted(
    eyecast: Command,
    network: tuple[str, ...],
    collective: tuple[str, ...],
    timing: str,
    standards: list[str],
) -> None:
    Path("pair.json").write_text(json.dumps(PAIR))
    assert eyecast("verilog", *network, "-o", "network.v").status == 0
    assert eyecast("program", *network, *collective, "-o", "program.json").status == 0
    program = read_program("program.json")
    predicted, lines = simulated(program, timing), loads(program)
    assert predicted.finished
    Path("writes.hex").write_text("\n".join(lines))
    macros = network_macros(program) | {
        "WRITES": len(lines),
        "CYCLE_LIMIT": predicted.cycles + SLACK,
        "BARRIER": int(timing == "barrier"),
    }
    for standard in standards:
        end, flags, *memory = run_bench(standard, macros)
        assert end == f"1 0 {predicted.cycles}", standard
        assert flags.split() == ["00000000"] * program.config.topology.nodes
        # Hexadecimal, and an x is no digit.
        seen = [[int(word, 16) for word in line.split()] for line in memory]
        assert seen == predicted.memory.tolist()
