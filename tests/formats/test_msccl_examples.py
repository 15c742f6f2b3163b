"""The examples of msccl-tools on the hardware: the results are the tables of the docs page.

``MSCCL_EXAMPLES`` names their folder ``examples/mscclang``, and ``msccl`` must be installed.
"""

import os
import re
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers.drawn_reductions import wrong_nodes
from helpers.processes import run_program

from eyecast import api
from eyecast.formats.format import Setting
from eyecast.formats.msccl_reader import read_msccl
from eyecast.model.base.errors import InvalidInput
from eyecast.model.base.files import InputFile
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.operators import BUILT_IN
from eyecast.model.network.topology import mesh
from eyecast.model.program.compiler import fit
from eyecast.model.schedule.schedule import Schedule
from eyecast.sim.verify import verify

pytest.importorskip("msccl.language", reason="msccl (microsoft/msccl-tools) is missing")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("MSCCL_EXAMPLES" not in os.environ, reason="MSCCL_EXAMPLES names no folder"),
]

PAGE = Path(api.__file__).parents[1] / "docs" / "msccl-examples.md"
OLD_CALLS = Path(__file__).parents[1] / "helpers" / "old_calls.py"
TRANSLATED = ("old calls", "8 GPUs")

LARGE = {
    "allreduce_1step 8 2": ((4, 2), "custom"),
    "allreduce_a100_allpairs 16 1": ((4, 4), "all-reduce"),
    "allreduce_a100_allpairs_v2 8 2": ((4, 2), "all-reduce"),
    "alltoall_allpairs 16 1": ((4, 4), "all-to-all"),
}
"""Larger cases with more GPUs and instances, only proved: mesh and collective."""


class Row(NamedTuple):
    """A row of a table of the page; ``found`` has the columns after the mesh."""

    example: str
    arguments: str
    mesh: str
    found: tuple[str, ...]

    @property
    def sides(self) -> tuple[int, ...]:
        return tuple(map(int, self.mesh.split("x")))


def rows(columns: int) -> list[Row]:
    """Return the rows of the page's table with this many columns."""
    lines = re.findall(r"^\| `(.*) \|$", PAGE.read_text(), re.MULTILINE)
    cells = [[cell.strip(" `") for cell in f"{line} ".split(" |")] for line in lines]
    return [Row(*each[:3], tuple(each[3:])) for each in cells if len(each) == columns]


@cache
def algorithms(example: str, arguments: str, *, translated: bool) -> list[str]:
    """Return the XML texts, one or more, that an example writes."""
    program = Path(os.environ["MSCCL_EXAMPLES"]) / f"{example}.py"
    script = [OLD_CALLS] if translated else []
    command = [sys.executable, *script, program, *arguments.split()]
    done = run_program(command, check=True)
    return re.findall(r"<algo .*?</algo>", done.stdout, re.DOTALL)


def read(text: str, sides: tuple[int, ...]) -> Schedule:
    setting = Setting(topology=mesh(sides), words=2)
    schedule = read_msccl(InputFile("a.xml", text.encode()), setting)
    schedule.check()
    return schedule


def schedules(sides: str) -> list[tuple[Row, Schedule]]:
    """Return the page's rows for a mesh, each with its schedule."""
    found: list[tuple[Row, Schedule]] = []
    places: defaultdict[tuple[str, str], int] = defaultdict(int)
    for row in rows(7):
        if row.mesh != sides:
            continue
        note, key = row.found[-1], (row.example, row.arguments)
        text = algorithms(*key, translated=note in TRANSLATED)[places[key]]
        places[key] += 1
        if note == "as custom":
            text = text.replace('coll="allreduce"', 'coll="custom"')
        found.append((row, read(text, row.sides)))
    return found


@pytest.mark.parametrize("sides", ["2x2", "4x2", "4x4", "8x8"])
def test_their_examples_run_on_the_hardware_with_right_sums(sides: str) -> None:
    pairs = schedules(sides)
    config = NetworkConfig(topology=pairs[0][1].topology, operators=(BUILT_IN["add"],))
    _, compiled = fit(config, [schedule for _, schedule in pairs])
    cases = [Case.of(each, timing="barrier", seed=seed) for seed, each in enumerate(compiled)]
    found = []
    for (row, schedule), result in zip(pairs, verify(cases), strict=True):
        assert all(check.agrees for check in result.checks), (row, result.checks)
        if schedule.blocks.reduced.any():
            assert wrong_nodes(result.case, result.measured.memory) == [], row
        measured = (schedule.collective, schedule.steps, result.measured.cycles)
        found.append(row._replace(found=(*map(str, measured), row.found[-1])))
    assert found == [row for row, _ in pairs]


def test_every_example_is_in_the_table() -> None:
    folder = Path(os.environ["MSCCL_EXAMPLES"])
    there = {str(each.relative_to(folder).with_suffix("")) for each in folder.glob("**/*.py")}
    assert {row.example for row in rows(7)} == there


def test_what_is_refused_is_refused_so() -> None:
    refused = rows(4)
    assert len(refused) == 3
    for row in refused:
        (text,) = algorithms(row.example, row.arguments, translated=False)
        with pytest.raises(InvalidInput, match=re.escape(row.found[0]) + "$"):
            read(text, row.sides)


@pytest.mark.parametrize("command", LARGE)
def test_larger_ones_are_proved(command: str) -> None:
    example, _, arguments = command.partition(" ")
    (text,) = algorithms(example, arguments, translated=False)
    sides, collective = LARGE[command]
    assert read(text, sides).collective == collective
