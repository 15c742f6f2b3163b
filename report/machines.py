"""A workload's run on one machine for a page: its timeline, and flits of links by time."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.workload.costs import Cost
from ..model.workload.run import MachineRun, WorkloadRun
from ..model.workload.tables import Table, cycles_table, links_table, path_table
from ..model.workload.workload import KINDS, NO_CALL
from .flits import bin_width
from .packing import Pack

_UNKNOWN = dict.fromkeys(
    (
        *("collective", "root", "trace", "stalled", "program", "run_tables", "contributions"),
        *("deadlock", "memory", "origins", "difference"),
    )
)
"""Parts that only the page of a program has."""


def pack_machine(pack: Pack, found: WorkloadRun, name: str, run: MachineRun) -> dict[str, Any]:
    """Pack the run of a workload on the machine called ``name``."""
    end = max(1, run.cycles)
    tables = cycles_table(found), path_table(_MACHINES[name], run), links_table(found)
    return {
        **_UNKNOWN,
        "name": name,
        "title": "",
        "timing": "",
        "about": [_ABOUT[name]],
        "cycles": end,
        "finished": True,
        "steps": {"first": [], "end": []},
        "measures": [],
        "loads": _pack_loads(pack, found, run, end),
        "timeline": _pack_timeline(pack, run),
        "flags": {},
        "waiting": [],
        "held": pack.column(np.zeros(found.workload.topology.nodes, np.int64)),
        "tables": [_shown(each) for each in tables],
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


def _pack_timeline(pack: Pack, run: MachineRun) -> dict[str, Any]:
    """Pack the bars of all ranks."""
    workload, bars = run.workload, run.bars
    kinds = sorted({call.kind for call in workload.calls}, key=KINDS.index)
    numbers = {kind: number for number, kind in enumerate(kinds, 1)}
    calls = [int(workload.call[bar.row]) for bar in bars]
    names = [workload.names[bar.row] for bar in bars]
    listed = {name: number for number, name in enumerate(dict.fromkeys(names))}
    columns = {
        "rank": [bar.rank for bar in bars],
        "begin": [bar.begin for bar in bars],
        "cycles": [bar.end - bar.begin for bar in bars],
        "name": [listed[name] for name in names],
        "kind": [0 if call == NO_CALL else numbers[workload.calls[call].kind] for call in calls],
    }
    packed = {name: pack.column(np.array(each, np.int64)) for name, each in columns.items()}
    return {"ranks": workload.ranks, "names": list(listed), "kinds": kinds, **packed}


def _pack_loads(pack: Pack, found: WorkloadRun, run: MachineRun, end: int) -> dict[str, Any]:
    """Pack the flits of each output in each bin; those of a call spread evenly over its cycles."""
    lines = np.flatnonzero(found.link_flits)
    width = bin_width(len(lines), end)
    bins = -(-end // width)
    edges = np.arange(bins + 1) * width
    done: defaultdict[Cost, npt.NDArray[np.float64]] = defaultdict(lambda: np.zeros(bins + 1))
    times = run.timeline
    for cost, rows in zip(found.costs, found.workload.rows_of_calls, strict=True):
        begin, ends = times.start[rows[0]], times.end[rows[0]]
        done[cost] += np.clip((edges - begin) / (ends - begin), 0, 1)
    before = np.zeros((bins + 1, len(lines)))
    for cost, calls in done.items():
        before += np.outer(calls, cost.flits.ravel()[lines])
    counts = np.diff(np.rint(before).astype(np.int64), axis=0)
    return {
        "rows": int(counts.sum()),
        "width": width,
        "bins": bins,
        "lines": pack.column(lines),
        "counts": pack.column(counts.ravel()),
        "steps": None,
    }
