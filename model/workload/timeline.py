"""Timelines: when each row of a workload begins and ends, on one of two machines.

Rules of both machines, at every cycle t:

1. A row is *able* when all rows that it is after have ended. A row of 0 cycles without a call ends
   as soon as it is able.
2. A rank computes one row at a time. A free rank takes, of its able rows, the one that was able
   first; of equal ones, the first of the file.
3. A call is *ready* when all its rows are able. Ready calls start in the order of a *policy*:
   ``first-come`` takes the one that was ready first, ``urgent`` the one with the longest path to
   the end of the workload; of equal ones, the one ready first, then the first of the file.
4. The rows of a call end when the call ends.

The machines differ in which ready calls start in cycle t:

*engine*
    One network with one controller, which runs one program at a time. If it is free, it takes the
    first ready call, and with it every further ready call of the same shape, or message of the same
    words, that shares no link and no port with those taken: they are one program. All of them end
    with the longest.
*ideal*
    Every ready call, in order, that shares no link and no port with a running call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput
from .costs import Cost
from .workload import NO_CALL, Workload


class Machine(StrEnum):
    """The machines on which a workload runs."""

    ENGINE = "engine"
    IDEAL = "ideal"


class Policy(StrEnum):
    """Orders in which ready calls start."""

    FIRST_COME = "first-come"
    URGENT = "urgent"

    @classmethod
    def named(cls, name: str) -> Policy:
        """Return the policy of this name; refuse any other."""
        if name not in tuple(cls):
            raise InvalidInput.unknown("policy", cls, name)
        return cls(name)


@dataclass(frozen=True, eq=False)
class Timeline:
    """Begin and end of all rows and calls, in cycles.

    ``able``, ``start`` and ``end`` have shape (rows,): a row begins in cycle ``start`` and has
    ended in cycle ``end``. ``cause[item]`` is the item whose end began an item of
    :attr:`.Workload.items`; -1 for one that begins in cycle 0.
    """

    machine: Machine
    able: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    cause: npt.NDArray[np.int64]

    @property
    def cycles(self) -> int:
        """Cycles until the last row has ended."""
        return int(self.end.max(initial=0))


def timeline(
    workload: Workload, costs: Sequence[Cost], machine: Machine, policy: Policy
) -> Timeline:
    """Return the timeline of a checked ``workload``; ``costs`` has the cost of each call."""
    return _Run(workload, costs, machine, policy).run()


class _Run:
    """A run in the making. Events are ends of rows that compute, and of calls."""

    def __init__(
        self, workload: Workload, costs: Sequence[Cost], machine: Machine, policy: Policy
    ) -> None:
        self._workload, self._costs, self._machine = workload, costs, machine
        self._rank, self._cycles = workload.rank.tolist(), workload.cycles.tolist()
        self._call, self._after = workload.call.tolist(), _followers(workload)
        self._item = workload.items.tolist()
        self._missing = np.diff(workload.after_offsets).tolist()
        self._waiting = [len(rows) for rows in workload.rows_of_calls]
        rows, calls = workload.rows, len(costs)
        self._able, self._start, self._end = ([-1] * rows for _ in range(3))
        self._cause = [-1] * (rows + calls)
        self._last: list[int] = [-1] * rows
        """The item that ended last of those that each row is after."""
        self._queues: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        self._computing: dict[int, int] = {}
        """The last row that each rank computed, while it computes and when it is free again."""
        self._busy: set[int] = set()
        self._ready: list[tuple[tuple[int, int, int], int]] = []
        self._running: list[int] = []
        self._freed: list[int] = []
        """Calls that run, and calls that ended in this cycle."""
        self._events: list[tuple[int, int]] = []
        self._urgency = [0] * calls
        if policy is Policy.URGENT:
            paths = workload.remaining([cost.cycles for cost in costs])
            self._urgency = (-paths[rows:]).tolist()

    def run(self) -> Timeline:
        """Return the timeline."""
        now, ended = 0, self._begin(row for row, count in enumerate(self._missing) if not count)
        while True:
            self._follow(now, ended)
            self._compute(now)
            self._communicate(now)
            if not self._events:
                break
            now, ended = self._events[0][0], []
            self._freed = []
            while self._events and self._events[0][0] == now:
                ended += self._finish(heappop(self._events)[1], now)
        columns = (self._able, self._start, self._end, self._cause)
        return Timeline(self._machine, *(np.array(column, np.int64) for column in columns))

    def _begin(self, rows: Iterable[int]) -> list[int]:
        """Return the rows of 0 cycles that end in cycle 0, after all ``rows`` have become able."""
        return [row for row in rows if self._become_able(row, 0)]

    def _become_able(self, row: int, now: int) -> bool:
        """Note that a row is able; return whether it ends at once."""
        self._able[row] = now
        call = self._call[row]
        if call == NO_CALL:
            if self._cycles[row]:
                heappush(self._queues[self._rank[row]], (now, row))
                return False
            self._start[row] = self._end[row] = now
            self._cause[row] = self._last[row]
            return True
        self._waiting[call] -= 1
        # The last row to become able is why the call is ready.
        self._cause[self._workload.rows + call] = self._last[row]
        if not self._waiting[call]:
            self._ready.append(((self._urgency[call], now, call), call))
        return False

    def _follow(self, now: int, ended: list[int]) -> None:
        """Make the rows able that wait for the rows that have ended."""
        while ended:
            row = ended.pop()
            for follower in self._after[row]:
                self._missing[follower] -= 1
                self._last[follower] = self._item[row]
                if not self._missing[follower] and self._become_able(follower, now):
                    ended.append(follower)

    def _compute(self, now: int) -> None:
        """Let every free rank begin its next row."""
        for rank in [rank for rank, queue in self._queues.items() if queue]:
            if rank in self._busy:
                continue
            able, row = heappop(self._queues[rank])
            self._busy.add(rank)
            self._cause[row] = self._last[row] if able == now else self._computing[rank]
            self._computing[rank] = row
            self._start[row] = now
            heappush(self._events, (now + self._cycles[row], row))

    def _communicate(self, now: int) -> None:
        """Start the calls that the machine lets start."""
        if not self._ready or (self._machine is Machine.ENGINE and self._running):
            return
        self._ready.sort()
        used = 0
        for call in self._running:
            used |= self._costs[call].resources
        together = None
        taken, left = [], []
        for entry in self._ready:
            cost = self._costs[entry[1]]
            joins = self._machine is Machine.IDEAL or together in (None, cost.together)
            if not joins or used & cost.resources:
                left.append(entry)
                continue
            used, together = used | cost.resources, cost.together
            taken.append(entry)
        self._ready = left
        longest = max((self._costs[call].cycles for _, call in taken), default=0)
        for (_, ready, _), call in taken:
            engine = self._machine is Machine.ENGINE
            self._launch(call, ready, now, longest if engine else self._costs[call].cycles)

    def _launch(self, call: int, ready: int, now: int, cycles: int) -> None:
        """Start a call, which ends after ``cycles``."""
        item = self._workload.rows + call
        if ready < now:
            mine = self._costs[call].resources
            engine = self._machine is Machine.ENGINE
            before = (each for each in self._freed if engine or self._costs[each].resources & mine)
            self._cause[item] = self._workload.rows + next(before)
        self._running.append(call)
        for row in self._workload.rows_of_calls[call]:
            self._start[row] = now
        heappush(self._events, (now + cycles, item))

    def _finish(self, item: int, now: int) -> list[int]:
        """End an item; return its rows."""
        rows = [item]
        if item >= self._workload.rows:
            call = item - self._workload.rows
            self._running.remove(call)
            self._freed.append(call)
            rows = self._workload.rows_of_calls[call]
        else:
            self._busy.remove(self._rank[item])
        for row in rows:
            self._end[row] = now
        return list(rows)


def _followers(workload: Workload) -> list[list[int]]:
    """Return for each row the rows that are after it."""
    found: list[list[int]] = [[] for _ in range(workload.rows)]
    for row, other in zip(workload.waiting.tolist(), workload.after.tolist(), strict=True):
        found[other].append(row)
    return found


Segment = tuple[int, int, int]
"""An item with its first cycle and the cycle in which it has ended."""


def critical_path(workload: Workload, run: Timeline) -> list[Segment]:
    """Return the items that together take all cycles of the run, from the first to the last.

    Each begins in the cycle in which the one before it ends.
    """
    times = np.full((workload.rows + len(workload.calls), 2), 0, np.int64)
    times[workload.items] = np.stack((run.start, run.end), axis=1)
    at = int(workload.items[int(run.end.argmax())])
    path = []
    while at >= 0:
        path.append((at, int(times[at, 0]), int(times[at, 1])))
        at = int(run.cause[at])
    return [segment for segment in reversed(path) if segment[2] > segment[1]]


def cycles_of(starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> int:
    """Count the cycles in the union of intervals."""
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], ends[order]
    before = np.maximum.accumulate(np.append(0, ends))[:-1]
    return int(np.maximum(0, ends - np.maximum(starts, before)).sum())
