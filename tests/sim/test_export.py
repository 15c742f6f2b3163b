"""The exported Verilog in Icarus, where unset values are undefined, by a plain Verilog bench.

Verilator has no undefined values, and evaluates everything once at the beginning. The bench knows
what a user knows: the ports listed beside the export, and docs/router.md.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest
from helpers.circuits import example as circuits_example
from helpers.command import Command
from helpers.export_bench import BENCH, network_macros, write_line
from helpers.processes import needs
from helpers.programs import encoded, simulated, words
from helpers.router_page import blocks, host_words, section

from eyecast.model.program.file import read_program
from eyecast.model.program.program import Program

pytestmark = needs("iverilog")

MESSAGE, TABLE, EXPECTED = range(3)
"""Spaces of the host port."""

SLACK = 20
"""Cycles beyond the prediction after which a run counts as hanging."""

TORUS = ("--torus", "4x2", "--vcs", "2", "--message-words", "8")
FAULTY = ("--line", "3", "--faulty-node", "2", "--message-words", "8")
"""The hardware of the faulty last node is complete: it is loaded, and keeps the loaded words."""
SWITCHES = ("--graph", "pair.json", "--message-words", "8")
"""Two nodes and a switch between them, which is a separate module and is not loaded."""
PAIR = {"kind": "graph", "neighbor": [[-1, 1, -1], [-1, 0, 2], [-1, 1, -1]], "switches": [1]}

STREAMS = (*TORUS[:4], "--message-words", "64", "--flit-width", "16", "--streams")
"""A network in which ``window`` is in a later control word than ``source_address``."""

TREE = ("--source", "0", "--algorithm", "tree", "--words", "5")
ALL_GATHER = ("--collective", "all-gather", "--algorithm", "recursive-doubling", "--words", "1")
RINGS = ("--collective", "all-gather", "--algorithm", "stream-ring", "--words", "4")


def loads(program: Program) -> list[str]:
    """Return a line of ``writes.hex`` for each word of message, table and expectations."""
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
            lines += [write_line(node, space, at, word) for at, word in enumerate(loaded)]
    return lines


def run_bench(standard: str, macros: dict[str, int], *defined: str) -> list[str]:
    """Compile and run the bench with ``network.v``; return the lines that it writes."""
    given = [f"-D{name}={value}" for name, value in macros.items()]
    given += [f"-D{name}" for name in defined]
    compiler = ["iverilog", f"-g{standard}", *given, "-o", "bench", BENCH, "network.v"]
    subprocess.run(compiler, check=True)
    subprocess.run(["vvp", "-n", "bench"], check=True)
    return Path("seen.txt").read_text().splitlines()


class Case:
    """A network and a program as files in the current folder, and the expected run."""

    def __init__(
        self,
        eyecast: Command,
        network: tuple[str, ...],
        collective: tuple[str, ...],
        timing: str,
    ) -> None:
        Path("pair.json").write_text(json.dumps(PAIR))
        assert eyecast("verilog", *network, "-o", "network.v").status == 0
        assert eyecast("program", *network, *collective, "-o", "program.json").status == 0
        self.program = read_program("program.json")
        self.predicted, lines = simulated(self.program, timing), loads(self.program)
        assert self.predicted.finished
        Path("writes.hex").write_text("\n".join(lines))
        self.macros = network_macros(self.program.config) | {
            "WRITES": len(lines),
            "CYCLE_LIMIT": self.predicted.cycles + SLACK,
            "BARRIER": int(timing == "barrier"),
        }

    def require(self, seen: list[str]) -> None:
        """Compare the lines that the bench writes with the prediction."""
        end, flags, *memory = seen
        assert end == f"1 0 {self.predicted.cycles}"
        config = self.program.config
        assert flags.split() == ["0" * (config.flit_width // 4)] * config.topology.nodes
        # int() refuses an x, which stands for an undefined bit.
        words = [[int(word, 16) for word in line.split()] for line in memory]
        assert words == self.predicted.memory.tolist()


def without_power_up_values() -> None:
    """Remove the initial values of all registers from ``network.v``."""
    text, removed = re.subn(
        r"^  initial \w+ = .*;\n", "", Path("network.v").read_text(), flags=re.MULTILINE
    )
    Path("network.v").write_text(text)
    assert removed > 40


@pytest.mark.parametrize(
    ("network", "collective", "timing", "standards"),
    [
        pytest.param(TORUS, ALL_GATHER, "self-timed", ["2012"], marks=pytest.mark.slow),
        pytest.param(FAULTY, TREE, "barrier", ["2005", "2005-sv", "2009"], marks=pytest.mark.slow),
        (SWITCHES, TREE, "self-timed", ["2005", "2012"]),
    ],
    ids=["torus", "faulty node", "switches"],
)
def test_icarus_sees_what_is_predicted(
    eyecast: Command,
    network: tuple[str, ...],
    collective: tuple[str, ...],
    timing: str,
    standards: list[str],
) -> None:
    case = Case(eyecast, network, collective, timing)
    for standard in standards:
        case.require(run_bench(standard, case.macros))


@pytest.mark.slow
@pytest.mark.parametrize("defined", [(), ("SYNTHESIS",)], ids=["simulated", "as in silicon"])
def test_icarus_sees_what_the_page_says_of_circuits(
    eyecast: Command, defined: tuple[str, ...]
) -> None:
    network = ("--line", "3", "--message-words", "8", "--circuits")
    assert eyecast("verilog", *network, "-o", "network.v").status == 0
    if defined:
        without_power_up_values()
    _, written, _ = blocks(section("### Cycles"))
    config = circuits_example().config
    # Every word of the memories, so that none is undefined.
    lines = [write_line(node, MESSAGE, at, 0) for node in range(3) for at in range(8)]
    lines += [write_line(*each) for each in host_words(written)]
    Path("writes.hex").write_text("\n".join(lines))
    macros = {"WRITES": len(lines), "CYCLE_LIMIT": 9 + SLACK, "BARRIER": 0}
    end, flags, *memory = run_bench("2012", network_macros(config) | macros, *defined)
    assert end == "1 0 9"
    assert flags.split() == ["0" * 8] * 3
    assert [[int(word, 16) for word in line.split()] for line in memory] == (
        [[0xA1, 0xA2, 0, 0, 0, 0, 0, 0]] * 3
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "collective", "timing"),
    [
        (TORUS, ALL_GATHER, "self-timed"),
        (SWITCHES, TREE, "self-timed"),
        (STREAMS, RINGS, "barrier"),
    ],
    ids=["torus", "switches", "streams"],
)
def test_reset_alone_sets_all_that_matters(
    eyecast: Command, network: tuple[str, ...], collective: tuple[str, ...], timing: str
) -> None:
    """At power-up no register and no memory has a value, as in silicon."""
    case = Case(eyecast, network, collective, timing)
    without_power_up_values()
    case.require(run_bench("2012", case.macros, "SYNTHESIS"))
