"""A network with a controller in Icarus, by a plain Verilog bench written from the page."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.command import Command
from helpers.engine_host import expected_rows, program_words, rows_before
from helpers.processes import needs, run_program
from helpers.programs import simulated, words

from eyecast.model.network.config_file import identity
from eyecast.model.program.file import read_program
from eyecast.model.program.program import Program
from eyecast.sim.verilog import network_verilog

pytestmark = needs("iverilog")

BENCH = Path(__file__).with_name("engine_bench.v")
MESSAGE, TABLE, CONTROLLER = range(3)
BASE = 3
RUNS = 2


def loads(program: Program, *, barrier: bool) -> list[str]:
    """Return a line of ``writes.hex`` for each word to load program 1 from ``BASE`` on."""
    tables = list(program_words(program))
    entry = [BASE, max(map(len, tables)), int(barrier), 1000]
    writes = [
        *(
            (node, MESSAGE, *each)
            for node, row in enumerate(words(program).tolist())
            for each in enumerate(row)
        ),
        *((node, TABLE, *each) for node, row in enumerate(tables) for each in enumerate(row, BASE)),
        *((0, CONTROLLER, *each) for each in enumerate(entry, 12)),
        (0, CONTROLLER, 1, identity(program.config)),
    ]
    return [f"{node:04x}{space:04x}{at:04x}{word:016x}" for node, space, at, word in writes]


@pytest.mark.parametrize(
    ("options", "collective", "timing"),
    [
        pytest.param(("--mesh", "2x2"), ("--source", "0,0"), "barrier", marks=pytest.mark.slow),
        pytest.param(
            ("--torus", "3x2", "--vcs", "2", "--barrier-registers", "3"),
            ("--collective", "all-gather", "--algorithm", "ring"),
            "self-timed",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["mesh", "torus"],
)
def test_icarus_runs_a_program_twice(
    eyecast: Command, options: tuple[str, ...], collective: tuple[str, ...], timing: str
) -> None:
    network = (*options, "--message-words", "16", "--programs", "2")
    assert eyecast("verilog", *network, "-o", "network.v").status == 0
    assert eyecast("program", *network, *collective, "--words", "2", "-o", "p.json").status == 0
    program = read_program("p.json")
    base = Program.from_rows(
        replace(program.config, programs=0), program.port_model, program.rows, program.receives
    )
    predicted, later = simulated(base, timing), program.config.mask_words
    # The same network, printing its flits.
    Path("network.v").write_text(network_verilog(program.config, trace=True))
    lines = loads(program, barrier=timing == "barrier")
    Path("writes.hex").write_text("\n".join(lines))
    ports = json.loads(Path("network.json").read_text())["ports"]
    width = {port["name"]: port["width"] for port in ports}
    macros = {
        "NODE_BITS": width["host__node"],
        "ADDRESS_BITS": width["host__address"],
        "FLIT_WIDTH": width["host__read_data"],
        "NODES": program.config.topology.nodes,
        "MESSAGE_WORDS": program.config.message_words,
        "WRITES": len(lines),
        "CYCLE_LIMIT": 2000,
        "RUNS": RUNS,
    }
    given = [f"-D{name}={value}" for name, value in macros.items()]
    compiler = ["iverilog", "-g2012", *given, "-o", "bench", BENCH, "network.v"]
    subprocess.run(compiler, check=True)
    bench = run_program(["vvp", "-n", "bench"], check=True)
    seen = Path("seen.txt").read_text().splitlines()
    runs = [seen[: len(seen) // RUNS], seen[len(seen) // RUNS :]]
    for end, *memory in runs:
        assert end == f"1 0 {predicted.cycles + later}"
        # int() refuses an x, which stands for an undefined bit.
        held = [[int(word, 16) for word in line.split()] for line in memory]
        assert held == predicted.memory.tolist()
    rows = [
        tuple(map(int, line.split())) for line in bench.stdout.splitlines() if line[0].isdigit()
    ]
    half = len(rows) // RUNS
    for each in (rows[:half], rows[half:]):
        assert rows_before(sorted(each), predicted.cycles + later) == expected_rows(
            predicted, later
        )
