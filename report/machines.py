"""A machine's run for a page: its chart, and flits of links by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.workload.chart import COMPUTE, Chart
from ..model.workload.run import MachineRun, WorkloadRun
from ..model.workload.tables import Table, cycles_table, links_table, path_table
from ..picture.palette import COLOR_OF_KIND
from .flits import bin_width
from .packing import Pack

_UNKNOWN = dict.fromkeys(
    (
        *("collective", "root", "trace", "stalled", "program", "run_tables", "contributions"),
        *("deadlock", "memory", "origins", "difference"),
    )
)
"""Parts that only the page of a program has."""


@dataclass(frozen=True)
class ShownMachine:
    """A machine's run for a page.

    Attributes
    ----------
    about
        A sentence on the machine.
    flits
        For each program, the flits that leave each node by each port: shape (nodes, ports).
    runs
        Program, first cycle and end of each run.

    """

    chart: Chart
    about: str
    tables: Sequence[Table]
    flits: Sequence[npt.NDArray[np.int64]]
    runs: Sequence[tuple[int, int, int]]


def machine_of(found: WorkloadRun, name: str, run: MachineRun) -> ShownMachine:
    """Return the run of a workload on the machine called ``name``."""
    costs = list(dict.fromkeys(found.costs))
    numbers = {cost: number for number, cost in enumerate(costs)}
    runs = []
    for cost, rows in zip(found.costs, found.workload.rows_of_calls, strict=True):
        begin, end = (int(each[rows[0]]) for each in (run.timeline.start, run.timeline.end))
        runs.append((numbers[cost], begin, end))
    tables = cycles_table(found), path_table(_MACHINES[name], run), links_table(found)
    return ShownMachine(run.chart, _ABOUT[name], tables, [cost.flits for cost in costs], runs)


def pack_machine(pack: Pack, machine: ShownMachine, nodes: int) -> dict[str, Any]:
    """Pack a machine's run on a network of ``nodes``."""
    end = max(1, machine.chart.cycles)
    return {
        **_UNKNOWN,
        "name": machine.chart.machine,
        "title": "",
        "timing": "",
        "about": [machine.about],
        "cycles": end,
        "finished": True,
        "steps": {"first": [], "end": []},
        "measures": [],
        "loads": _pack_loads(pack, machine, end),
        "timeline": _pack_timeline(pack, machine.chart),
        "flags": {},
        "waiting": [],
        "held": pack.column(np.zeros(nodes, np.int64)),
        "tables": [_shown(each) for each in machine.tables],
        "notes": [],
    }


_MACHINES = {"engine": "engine", "ideal": "ideal machine"}
_ABOUT = {
    "engine": "The engine runs one program at a time: a collective, a message, or several of the "
    "same shape that share no link.",
    "ideal": "On the ideal machine a collective or message starts when it shares no link and no "
    "port with a running one.",
}


def _shown(table: Table) -> dict[str, Any]:
    """Return a table as texts."""
    rows = [[_text(cell) for cell in row] for row in table.rows]
    return {"title": table.title, "columns": table.columns, "rows": rows, "wrong": []}


def _text(cell: object) -> str:
    return f"{cell:,}" if isinstance(cell, int) else "" if cell is None else str(cell)


def _pack_timeline(pack: Pack, chart: Chart) -> dict[str, Any]:
    """Pack the bars of all ranks."""
    bars, kinds = chart.bars, chart.kinds
    numbers = {kind: number for number, kind in enumerate((COMPUTE, *kinds))}
    listed = {name: number for number, name in enumerate(dict.fromkeys(bar.name for bar in bars))}
    columns = {
        "rank": [bar.rank for bar in bars],
        "begin": [bar.begin for bar in bars],
        "cycles": [bar.end - bar.begin for bar in bars],
        "name": [listed[bar.name] for bar in bars],
        "kind": [numbers[bar.kind] for bar in bars],
    }
    packed = {name: pack.column(np.array(each, np.int64)) for name, each in columns.items()}
    colors = [COLOR_OF_KIND.get(kind) for kind in kinds]
    told = {"ranks": chart.ranks, "names": list(listed), "kinds": kinds, "colors": colors}
    return {**told, **packed}


def _pack_loads(pack: Pack, machine: ShownMachine, end: int) -> dict[str, Any]:
    """Pack the flits of each output in each bin; those of a run spread evenly over its cycles."""
    lines = np.flatnonzero(sum(machine.flits, np.zeros(1, np.int64)))
    width = bin_width(len(lines), end)
    bins = -(-end // width)
    edges = np.arange(bins + 1) * width
    done = np.zeros((len(machine.flits), bins + 1))
    for program, begin, ends in machine.runs:
        done[program] += np.clip((edges - begin) / (ends - begin), 0, 1)
    before = np.zeros((bins + 1, len(lines)))
    for runs, flits in zip(done, machine.flits, strict=True):
        before += np.outer(runs, flits.ravel()[lines])
    counts = np.diff(np.rint(before).astype(np.int64), axis=0)
    return {
        "rows": int(counts.sum()),
        "width": width,
        "bins": bins,
        "lines": pack.column(lines),
        "counts": pack.column(counts.ravel()),
        "steps": None,
    }
