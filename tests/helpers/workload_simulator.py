"""A second simulator of workloads, written from the contract alone, and drawn workloads for it.

The contract: compute occupies its rank's tile, one at a time, in the order of readiness and then of
the file. A collective is ready on a rank when what it needs has ended there, and starts when all
members are ready. The *engine* runs one program at a time; ready groups of the same shape that
share nothing are one program, and messages of the same length are. It ends with the longest of
them. On the *ideal* machine whatever shares nothing runs at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

import numpy as np

from eyecast.model.network.boxes import GroupNetwork
from eyecast.model.network.topology import mesh
from eyecast.model.workload.costs import Cost
from eyecast.model.workload.workload import MESSAGE, Call, Rows, Workload


def drawn_workload(draw: Random) -> tuple[Workload, list[Cost]]:
    """Draw a workload of up to 6 ranks, and costs for its calls with drawn links and shapes."""
    ranks, rows = draw.randint(2, 6), Rows()
    for number in range(draw.randint(1, 16)):
        earlier = list(range(len(rows.rank)))
        if draw.random() < 0.5:
            new = [rows.compute(draw.randrange(ranks), draw.choice((0, 1, 2, 5, 9)), f"c{number}")]
        else:
            members = tuple(draw.sample(range(ranks), draw.randint(2, ranks)))
            call = Call("all-reduce", members, 4, f"g{number}")
            if draw.random() < 0.3:
                call = Call(MESSAGE, members[:2], 4, f"m{number}")
            new = [rows.take_part(rank, number, call) for rank in call.callers]
        for row in new:
            rows.after[row] += draw.sample(earlier, min(len(earlier), draw.randint(0, 3)))
    made = rows.workload("drawn", mesh((ranks, 1)), range(ranks))
    return made, [_drawn_cost(draw, call) for call in made.calls]


def _drawn_cost(draw: Random, call: Call) -> Cost:
    cycles = draw.choice((3, 4, 7))
    used = sum(1 << bit for bit in draw.sample(range(8), draw.randint(1, 4)))
    flits = np.zeros((1, 1), np.int64)
    shape, part = (cycles, draw.randrange(2)), GroupNetwork(mesh((1, 1)), (0,))
    together = MESSAGE if call.kind == MESSAGE else shape
    return Cost("drawn", cycles, (1,), flits, used, shape, together, draw.randint(0, 3), part, ())


@dataclass
class Simulator:
    """Runs cycle by cycle and looks at everything in each of them."""

    workload: Workload
    costs: Sequence[Cost]
    engine: bool
    urgent: bool
    able: dict[int, int] = field(default_factory=dict)
    start: dict[int, int] = field(default_factory=dict)
    end: dict[int, int] = field(default_factory=dict)
    on_network: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        offsets, after = self.workload.after_offsets.tolist(), self.workload.after.tolist()
        self.before = [after[begin:end] for begin, end in pairwise(offsets)]
        self.rank, self.call = self.workload.rank.tolist(), self.workload.call.tolist()
        self.cycles = self.workload.cycles.tolist()

    def run(self) -> tuple[list[int], list[int], list[int]]:
        """Return when each row was able, began and had ended."""
        rows = range(self.workload.rows)
        now = 0
        while len(self.end) < len(rows) or any(end > now for end in self.end.values()):
            self.on_network = {call: end for call, end in self.on_network.items() if end > now}
            self.note_able(now)
            for rank in range(self.workload.ranks):
                self.compute(rank, now)
            self.communicate(now)
            now += 1
        columns = (self.able, self.start, self.end)
        return tuple([column[row] for row in rows] for column in columns)  # type: ignore[return-value]

    def note_able(self, now: int) -> None:
        """Find the rows that are able now; a computation of no time ends with that."""
        found = True
        while found:
            found = False
            for row in range(self.workload.rows):
                met = all(self.end.get(need, now + 1) <= now for need in self.before[row])
                if row not in self.able and met:
                    self.able[row], found = now, True
                    if self.call[row] < 0 and not self.cycles[row]:
                        self.start[row] = self.end[row] = now

    def compute(self, rank: int, now: int) -> None:
        """Begin the next computation of a rank that computes nothing."""
        mine = [
            row
            for row in range(self.workload.rows)
            if self.rank[row] == rank and self.call[row] < 0
        ]
        if any(row in self.start and self.end[row] > now for row in mine):
            return
        waiting = [(self.able[row], row) for row in mine if row in self.able]
        waiting = [each for each in waiting if each[1] not in self.start]
        if waiting:
            row = min(waiting)[1]
            self.start[row], self.end[row] = now, now + self.cycles[row]

    def communicate(self, now: int) -> None:
        """Start calls."""
        ready = []
        for call, rows in enumerate(self.workload.rows_of_calls):
            if all(row in self.able and row not in self.start for row in rows):
                since = max(self.able[row] for row in rows)
                urgency = self.to_the_end(call) if self.urgent else 0
                ready.append((-urgency, since, call))
        together: list[int] = []
        for _, _, call in sorted(ready):
            if self.engine and self.on_network and not together:
                return
            if self.engine and together and not self.share(call, together[0]):
                continue
            mine = self.links(call)
            if any(mine & self.links(other) for other in self.on_network):
                continue
            together.append(call)
            self.on_network[call] = now + self.costs[call].cycles
        for call in together:
            if self.engine:
                self.on_network[call] = now + max(self.costs[each].cycles for each in together)
            for row in self.workload.rows_of_calls[call]:
                self.start[row], self.end[row] = now, self.on_network[call]

    def share(self, one: int, other: int) -> bool:
        """Return whether two calls may be one program."""
        messages = {self.workload.calls[each].kind == MESSAGE for each in (one, other)}
        return messages == {True} or (
            messages == {False} and self.costs[one].shape == self.costs[other].shape
        )

    def links(self, call: int) -> set[int]:
        """Return the links and ports of a call."""
        return {bit for bit in range(8) if self.costs[call].resources >> bit & 1}

    def to_the_end(self, call: int) -> int:
        """Return the longest time from the begin of a call to the end of everything."""
        behind = [
            row
            for row in range(self.workload.rows)
            if any(self.call[need] == call for need in self.before[row])
        ]
        return self.costs[call].cycles + max(map(self.from_row, behind), default=0)

    def from_row(self, row: int) -> int:
        """Return the longest time from the begin of a row to the end of everything."""
        if self.call[row] >= 0:
            return self.to_the_end(self.call[row])
        behind = [other for other in range(self.workload.rows) if row in self.before[other]]
        return self.cycles[row] + max(map(self.from_row, behind), default=0)
