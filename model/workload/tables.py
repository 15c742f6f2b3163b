"""Tables of a workload's run, for the terminal and for pages."""

from __future__ import annotations

from typing import NamedTuple

from ..base.texts import counted
from .run import MachineRun, WorkloadRun
from .workload import WORD_BYTES

_MOST_PARTS, _MOST_LINKS = 10, 5
"""Most rows of the critical path, and of the links."""

_COLUMNS = {
    "compute": "compute, mean of ranks",
    "communication": "communication, mean of ranks",
    "exposed": "exposed communication, mean",
}


class Table(NamedTuple):
    """Rows of numbers and words below a title and the names of their columns."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]


def title_of(found: WorkloadRun) -> str:
    """Return the file's name, its size, and the network."""
    workload = found.workload
    size = f"{counted(workload.ranks, 'rank')}, {counted(workload.rows, 'operation')}"
    routers = "circuits" if found.circuits else "packets"
    usual = workload.word_bytes == WORD_BYTES
    words = "" if usual else f", words of {counted(workload.word_bytes, 'byte')}"
    return f"{workload.name}: {size}, {workload.topology.label}, {routers}{words}"


def cycles_table(found: WorkloadRun) -> Table:
    """Return the cycles of both machines beside the lower bound."""
    machines = [each for _, each in found.machines]
    return Table(
        title_of(found),
        ("cycles", "engine", "ideal", "lower bound"),
        [
            ("end", *(each.cycles for each in machines), found.bound),
            *(
                (words, *(f"{each.mean(column):,.1f}" for each in machines), None)
                for column, words in _COLUMNS.items()
            ),
            ("critical path computes", *(each.path_compute for each in machines), None),
        ],
    )


def path_table(name: str, run: MachineRun) -> Table:
    """Return the longest parts of the critical path on the machine called ``name``."""
    parts = sorted(run.path, key=lambda part: part[1] - part[2])[:_MOST_PARTS]
    return Table(
        f"critical path on the {name}: the longest {len(parts)} of {len(run.path)} parts",
        ("what", "begins", "cycles"),
        [
            (run.workload.item_name(item), start, end - start)
            for item, start, end in sorted(parts, key=lambda part: part[1])
        ],
    )


def links_table(found: WorkloadRun) -> Table:
    """Return the links with the most flits."""
    links = found.busiest_links(_MOST_LINKS)
    cycles = max(1, found.engine.cycles)
    return Table(
        "busiest links",
        ("from", "to", "flits", "of the engine's time"),
        [(*link, f"{link[2] / cycles:.0%}") for link in links],
    )
