"""Windows of a workload: the programs that the engine runs one after another, to be run on RTL."""

from __future__ import annotations

from itertools import groupby

from ..base.errors import InvalidInput, require_range
from ..collectives.groups import side_by_side
from ..compare.case import Case
from ..network.config import Timing
from ..program.certified import Room
from ..schedule.schedule import Schedule
from .run import WorkloadRun

_TIMING = ("programs", "circuits", "operators", "streams", "steps", "vcs")
"""Parameters of the network on which the cycles of its programs depend."""

MOST_CALLS = 1 << 12
"""Most calls of a window."""


def window(found: WorkloadRun, first: str | None, count: int) -> list[Schedule]:
    """Return a schedule for each program of ``count`` calls, in the order of the engine.

    The window begins with the call named ``first``; None for the first of all. Calls that share a
    program are one schedule. A call in pieces has its longest program, and then a shorter one.
    Raises :class:`.InvalidInput` for an unknown name, and for a workload without calls.
    """
    require_range("operations", count, 1, MOST_CALLS)
    workload, start = found.workload, found.engine.timeline.start
    begins = [int(start[rows[0]]) for rows in workload.rows_of_calls]
    order = sorted(range(len(begins)), key=lambda call: (begins[call], call))
    names = [workload.calls[call].name for call in order]
    if not names or first not in (None, *names):
        allowed = "the name of a collective or message" if names else "left out: there is none"
        raise InvalidInput.of("first operation", allowed, first)
    begin = 0 if first is None else names.index(first)
    made = []
    for _, together in groupby(order[begin : begin + count], key=begins.__getitem__):
        costs = [found.costs[call] for call in together]
        for schedules in zip(*(cost.schedules for cost in costs), strict=True):
            parts = [(cost.part, each) for cost, each in zip(costs, schedules, strict=True)]
            made.append(side_by_side(workload.topology, parts))
            made[-1].check()
    return made


def cases(found: WorkloadRun, first: str | None, count: int) -> list[Case]:
    """Return the predicted runs of a window's programs, with payloads of their own.

    Their network has the parameters of the one on which the workload runs.
    """
    schedules = window(found, first, count)
    parameters = {name: getattr(found.config, name) for name in (*_TIMING, "message_words")}
    compiled = Room(parameters).compile(schedules)
    return [
        Case.of(each, timing=Timing.BARRIER, seed=number) for number, each in enumerate(compiled)
    ]
