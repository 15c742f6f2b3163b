"""Programs of a workload, which the engine runs one after another: a window of them, or all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from ..collectives.groups import side_by_side
from ..compare.case import Case
from ..network.config import MOST_PROGRAMS, NetworkConfig, Timing
from ..program.certified import Room
from ..program.compiler import Compiled
from ..schedule.schedule import Schedule
from .costs import LAUNCH
from .run import WorkloadRun

_TIMING = ("circuits", "operators", "streams", "steps", "vcs")
"""Parameters of the network on which the cycles of its programs depend."""

MOST_CALLS = 1 << 12
"""Most calls of a window."""


class _Planned(NamedTuple):
    """A program's schedule, and the cycles for which the tile of each node holds it."""

    schedule: Schedule
    hold: npt.NDArray[np.int64]


def _window(found: WorkloadRun, first: str | None, count: int) -> list[_Planned]:
    """Return the programs of ``count`` calls, in the order of the engine.

    The window begins with the call named ``first``; None for the first of all. Calls that share a
    program are one schedule. A call in pieces has its longest program, and then a shorter one.
    Raises :class:`.InvalidInput` for an unknown name, and for a workload without calls.
    """
    require_range("operations", count, 1, MOST_CALLS)
    order = [call for together in _launches(found) for call in together]
    names = [found.workload.calls[call].name for call in order]
    if not names or first not in (None, *names):
        allowed = "the name of a collective or message" if names else "left out: there is none"
        raise InvalidInput.of("first operation", allowed, first)
    begin = 0 if first is None else names.index(first)
    shown, planned, free = {*order[begin : begin + count]}, list[_Planned](), 0
    for together in _launches(found):
        calls = [call for call in together if call in shown]
        hold = _hold(found, calls, free)
        for piece in range(len(found.costs[calls[0]].schedules) if calls else 0):
            # The tiles wait for the first piece alone.
            planned.append(_Planned(_program(found, calls, piece), hold if not piece else 0 * hold))
        rows = found.workload.rows_of_calls[together[0]]
        free = int(found.engine.timeline.end[rows[0]])
    return planned


def _hold(found: WorkloadRun, calls: Sequence[int], free: int) -> npt.NDArray[np.int64]:
    """Return for how long each node's tile computes after the begin of a program.

    The program begins when the first rank of its ``calls`` has computed what it needs, and the
    engine is ``free``. Shape (nodes,).
    """
    workload, able = found.workload, found.engine.timeline.able
    hold = np.zeros(workload.topology.nodes, np.int64)
    rows = [row for call in calls for row in workload.rows_of_calls[call]]
    if rows:
        begin = max(free, int(able[rows].min()))
        # Tiles count from the run's cycle 0; with circuits, from the first cycle of *starting*.
        before = 1 if found.circuits else LAUNCH - 1
        hold[workload.nodes[workload.rank[rows]]] = np.maximum(0, able[rows] - begin - before)
    return hold


def _launches(found: WorkloadRun) -> list[list[int]]:
    """Return the calls that start together on the engine, in the order of their start."""
    start, rows = found.engine.timeline.start, found.workload.rows_of_calls
    begins = [int(start[each[0]]) for each in rows]
    order = sorted(range(len(begins)), key=lambda call: (begins[call], call))
    return [list(together) for _, together in groupby(order, key=begins.__getitem__)]


def _program(found: WorkloadRun, calls: Sequence[int], piece: int) -> Schedule:
    """Return the schedule of one piece of calls that start together."""
    costs = [found.costs[call] for call in calls]
    parts = [(cost.part, cost.schedules[piece]) for cost in costs]
    made = side_by_side(found.workload.topology, parts)
    made.check()
    return made


class EngineRun(NamedTuple):
    """A run of the engine: the number of its program, and the name of its first call."""

    program: int
    name: str


def engine_programs(found: WorkloadRun) -> tuple[list[Schedule], list[EngineRun]]:
    """Return the different programs of a workload, and the engine's runs of them in order.

    Raises :class:`.InvalidInput` for more programs than a controller keeps.
    """
    numbers, schedules, runs = dict[object, int](), list[Schedule](), list[EngineRun]()
    for calls in _launches(found):
        costs = [found.costs[call] for call in calls]
        name = found.workload.calls[calls[0]].name
        for piece, count in enumerate(costs[0].counts):
            key = piece, frozenset((cost.shape, cost.part.nodes) for cost in costs)
            number = numbers.setdefault(key, len(schedules))
            if number == len(schedules):
                schedules.append(_program(found, calls, piece))
            runs += [EngineRun(number, name)] * count
    if not 0 < len(schedules) <= MOST_PROGRAMS:
        raise InvalidInput.of(
            f"programs of {found.workload.name}",
            f"1 to {MOST_PROGRAMS}, which a controller keeps",
            len(schedules),
        )
    return schedules, runs


def compiled(
    found: WorkloadRun, schedules: Sequence[Schedule], room: Room | None = None
) -> list[Compiled]:
    """Compile schedules for the network on which the workload runs, or ``room`` like it."""
    room = room or Room({"programs": 1})
    parameters = {name: getattr(found.config, name) for name in (*_TIMING, "message_words")}
    asked = room.parameters.get("flit_width", NetworkConfig.flit_width)
    parameters["flit_width"] = max(asked, found.workload.flit_width)
    return replace(room, parameters={**room.parameters, **parameters}).compile(schedules)


def compiled_together(
    found: WorkloadRun, schedules: Sequence[Schedule], room: Room
) -> list[Compiled]:
    """Compile schedules as :func:`compiled`, for a network that keeps all of them."""
    programs = max(room.parameters["programs"], len(schedules))
    room = replace(room, parameters={**room.parameters, "programs": programs})
    made = compiled(found, schedules, room)
    words = max(room.parameters["table_words"], sum(each.table_words for each in made))
    if "table_words" in room.fixed:
        return made
    whole = replace(room, parameters={**room.parameters, "table_words": words})
    return compiled(found, schedules, whole)


def cases(found: WorkloadRun, first: str | None, count: int) -> list[Case]:
    """Return the predicted runs of a window's programs, with payloads of their own.

    A program begins when the first of its ranks is ready; the tiles of the others hold their nodes
    while they compute (docs/router.md, section 17).
    """
    planned = _window(found, first, count)
    holds = any(each.hold.any() for each in planned)
    room = Room({"programs": 1, "tile_ports": holds})
    made = compiled(found, [each.schedule for each in planned], room)
    return [
        Case.of(one, timing=Timing.BARRIER, seed=number, hold=each.hold if holds else None)
        for number, (one, each) in enumerate(zip(made, planned, strict=True))
    ]
