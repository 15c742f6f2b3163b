"""Runs of a workload on both machines, with what compute and communication take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..network.config import NetworkConfig
from ..network.node_names import node_name
from .chart import COMPUTE, Bar, Chart
from .costs import MEMORY_WORDS, Cost, Costs
from .timeline import Machine, Policy, Segment, Timeline, critical_path, cycles_of, timeline
from .workload import NO_CALL, Workload


class RankCycles(NamedTuple):
    """Cycles of one rank; ``compute`` + ``exposed`` + idle cycles are the end of the workload.

    ``communication`` counts cycles in which a collective or message of the rank runs, ``exposed``
    those of them in which the rank does not compute.
    """

    compute: int
    communication: int
    exposed: int


@dataclass(frozen=True, eq=False)
class MachineRun:
    """A workload's timeline on one machine; its ``cycles`` are the end."""

    workload: Workload
    timeline: Timeline

    @property
    def cycles(self) -> int:
        """Cycles until the last row has ended."""
        return self.timeline.cycles

    @cached_property
    def ranks(self) -> list[RankCycles]:
        """Compute, communication and exposed communication of each rank."""
        workload, times = self.workload, self.timeline
        starts: list[list[int]] = [[] for _ in range(workload.ranks)]
        calls: list[list[int]] = [[] for _ in range(workload.ranks)]
        for row in np.flatnonzero(workload.call == NO_CALL).tolist():
            starts[workload.rank[row]].append(row)
        for call, rows in zip(workload.calls, workload.rows_of_calls, strict=True):
            for rank in call.ranks:
                calls[rank].append(rows[0])
        found = []
        for own, shared in zip(starts, calls, strict=True):
            compute = cycles_of(times.start[own], times.end[own])
            both = own + shared
            busy = cycles_of(times.start[both], times.end[both])
            talks = cycles_of(times.start[shared], times.end[shared])
            found.append(RankCycles(compute, talks, busy - compute))
        return found

    @cached_property
    def chart(self) -> Chart:
        """The bars of all rows that take time; a message has a bar at its target, too."""
        workload, times, found = self.workload, self.timeline, list[Bar]()
        ends = times.end.tolist()
        for row in times.start.argsort(kind="stable").tolist():
            begin, number = int(times.start[row]), int(workload.call[row])
            ranks, kind, about = [int(workload.rank[row])], COMPUTE, dict[str, object]()
            if number != NO_CALL:
                call = workload.calls[number]
                ranks += call.ranks[len(call.callers) :]
                kind = call.kind
                about = {"kind": kind, "words": call.words, "ranks": list(call.ranks)}
            if ends[row] > begin:
                name = workload.names[row]
                found += [Bar(rank, begin, ends[row], name, kind, about) for rank in ranks]
        return Chart(str(times.machine), workload.ranks, self.cycles, found)

    def mean(self, column: str) -> float:
        """Return the mean over all ranks of a column of :attr:`ranks`."""
        values: list[int] = [getattr(each, column) for each in self.ranks]
        return sum(values) / len(values)

    @cached_property
    def path(self) -> list[Segment]:
        """The critical path: see :func:`.critical_path`."""
        return critical_path(self.workload, self.timeline)

    @property
    def path_compute(self) -> int:
        """Cycles of the critical path in which a rank computes."""
        rows = self.workload.rows
        return sum(end - start for item, start, end in self.path if item < rows)

    def to_json(self) -> dict[str, object]:
        """Return end, cycles of ranks and the critical path as JSON values."""
        return {
            "cycles": self.cycles,
            "ranks": [each._asdict() for each in self.ranks],
            "path": [
                {"what": self.workload.item_name(item), "start": start, "end": end}
                for item, start, end in self.path
            ],
        }


@dataclass(frozen=True, eq=False, repr=False)
class WorkloadRun:
    """A workload on both machines.

    Attributes
    ----------
    workload
        The workload.
    config
        The network that carries out all programs; None for a workload without calls.
    costs
        The cost of each call: its algorithm, cycles, pieces and lower bound.
    engine
        The run on one engine, which carries out one program at a time.
    ideal
        The run in which every call starts that shares no link and no port with a running one.
    bound
        The critical path with every call at its own lower bound, and without a wait for links or
        tiles; at least the compute of the busiest rank. No order and no algorithm ends earlier.
    """

    workload: Workload
    config: NetworkConfig | None
    costs: tuple[Cost, ...]
    engine: MachineRun
    ideal: MachineRun
    bound: int

    def __repr__(self) -> str:
        cycles = f"{self.engine.cycles} cycles, ideal {self.ideal.cycles}, least {self.bound}"
        return f"<{type(self).__name__}: {self.workload.name}, {cycles}>"

    @property
    def circuits(self) -> bool:
        """True if routers have circuits instead of packets."""
        return self.config is not None and self.config.circuits

    @property
    def machines(self) -> tuple[tuple[Machine, MachineRun], ...]:
        """Both machines, with their names."""
        return (Machine.ENGINE, self.engine), (Machine.IDEAL, self.ideal)

    @cached_property
    def link_flits(self) -> npt.NDArray[np.int64]:
        """Flits on each link: shape (nodes, ports); column 0 counts deliveries."""
        total = np.zeros(self.workload.topology.neighbor.shape, np.int64)
        for cost, count in Counter(self.costs).items():
            total += count * cost.flits
        return total

    def busiest_links(self, most: int) -> list[tuple[str, str, int]]:
        """Return up to ``most`` links with the most flits: from, to, flits."""
        topology, flits = self.workload.topology, self.link_flits.copy()
        flits[:, 0] = 0
        order = np.argsort(-flits, axis=None, kind="stable")[:most]
        links = np.unravel_index(order, flits.shape)
        return [
            (
                node_name(topology, int(node)),
                node_name(topology, int(topology.neighbor[node, port])),
                int(flits[node, port]),
            )
            for node, port in zip(*links, strict=True)
            if flits[node, port]
        ]

    def to_json(self) -> dict[str, object]:
        """Return both machines, the bound, the calls and the busiest links as JSON values."""
        workload = self.workload
        calls = [
            {
                "name": call.name,
                "kind": call.kind,
                "ranks": list(call.ranks),
                "words": call.words,
                "algorithm": cost.algorithm,
                "pieces": cost.pieces,
                "cycles": cost.cycles,
                "least": cost.bound,
            }
            for call, cost in zip(workload.calls, self.costs, strict=True)
        ]
        links = [
            {"from": source, "to": target, "flits": flits}
            for source, target, flits in self.busiest_links(10)
        ]
        return {
            "workload": workload.name,
            "ranks": workload.ranks,
            "nodes": workload.nodes.tolist(),
            "operations": workload.rows,
            "word_bytes": workload.word_bytes,
            "least": {"cycles": self.bound},
            **{str(name): each.to_json() for name, each in self.machines},
            "busiest_links": links,
            "calls": calls,
        }


def run_workload(
    workload: Workload,
    *,
    policy: str = Policy.FIRST_COME,
    circuits: bool = False,
    memory_words: int = MEMORY_WORDS,
    tell: Callable[[], object] = lambda: None,
) -> WorkloadRun:
    """Run a checked ``workload`` on both machines, by the order of a :class:`.Policy`.

    ``tell`` is called for each call, when its algorithm is known. Raises :class:`.InvalidInput` if
    the policy is unknown, or the network cannot carry out a call.
    """
    order = Policy.named(policy)
    known = Costs(
        workload.topology,
        circuits=circuits,
        memory_words=memory_words,
        flit_width=workload.flit_width,
    )
    costs = known.find([(call, workload.members(call)) for call in workload.calls], tell)
    engine, ideal = (
        MachineRun(workload, timeline(workload, costs, machine, order)) for machine in Machine
    )
    bound = least_cycles(workload, [cost.bound for cost in costs])
    config = known.config if costs else None
    return WorkloadRun(workload, config, tuple(costs), engine, ideal, bound)


def least_cycles(workload: Workload, bounds: Sequence[int]) -> int:
    """Return the least cycles of a workload whose calls take at least ``bounds``."""
    path = int(workload.longest_path(bounds).max(initial=0))
    computed = np.bincount(workload.rank, workload.cycles, workload.ranks)
    return max(path, int(computed.max(initial=0)))
