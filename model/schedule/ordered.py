"""Steps from an order: sends that say which others must be complete before, packed into steps.

Files of other people's tools have sends and an order among them, but no steps. Here each send gets
a route and the earliest step in which

* all sends that it comes after have ended in earlier steps,
* the port model lets its two nodes take part in it, and
* none of its links is in use, on whatever VC, so that no two sends of a step ever meet.

Sends of one unit, such as the two of an exchange, get the same step::

    send   source target  after        step      (full-duplex)
    0      0      1       -            1
    1      0      2       -            2         node 0 sends in step 1 already
    2      1      3       0            2

Sends with the longest chain behind them are placed first, then those with the longest route. A step
is a bit in one number for each port and link, so thousands of sends take about a second.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import chain, pairwise

import numpy as np

from ..base.circles import circle_ahead
from ..base.errors import InvalidInput
from ..base.pieces import offsets_of
from ..network.port_model import PortModel
from ..network.route_layers import layered_vcs, safe_routes
from ..network.topology import Topology
from .schedule import Schedule
from .table import Blocks


@dataclass(frozen=True, kw_only=True)
class OrderedSends:
    """Sends without steps: equally long columns, with a row for each send.

    ``source`` and ``target`` are nodes, ``blocks`` the blocks that a send carries, one or more, and
    ``after`` the rows of the sends that must be complete before it begins. ``unit`` numbers the
    units, from 0 on; left out, each row is one. ``combine`` are the rows whose sends combine at
    their target, left out where none does.
    """

    source: Sequence[int]
    target: Sequence[int]
    blocks: Sequence[Sequence[int]]
    after: Sequence[Sequence[int]]
    unit: Sequence[int] = ()
    combine: Sequence[bool] = ()

    @property
    def units(self) -> Sequence[int]:
        """The unit of each row."""
        return self.unit or range(len(self.source))

    def __len__(self) -> int:
        return len(self.source)


class CircleError(InvalidInput):
    """Sends wait for each other. ``circle`` has their rows, each before the one that it awaits."""

    def __init__(self, circle: list[int]) -> None:
        around = " after ".join(f"send {row}" for row in [*circle, circle[0]])
        super().__init__(f"order of sends must be without a circle, not {around}")
        self.circle = circle


def packed_schedule(
    topology: Topology,
    collective: str,
    algorithm: str,
    port_model: PortModel,
    root: int | None,
    blocks: Blocks,
    sends: OrderedSends,
    given_paths: Sequence[Sequence[int]] | None = None,
) -> Schedule:
    """The schedule of ``sends`` in as early steps as they fit, by step and row.

    Routes and VCs are those of :func:`.safe_routes`; or routes are ``given_paths``, lists of nodes,
    and VCs those of :func:`.layered_vcs`. The same sends give the same schedule.

    Raises :class:`CircleError` where the order is none, and :class:`InvalidInput` for a target that
    no path leads to. That the sends carry out the collective is for :meth:`.Schedule.check`.
    """
    source, target = np.array(sends.source, np.int32), np.array(sends.target, np.int32)
    if given_paths is None:
        path_offsets, path_nodes, vcs = safe_routes(topology, source, target)
    else:
        path_offsets = offsets_of(np.fromiter(map(len, given_paths), np.int64, len(sends)))
        path_nodes = np.fromiter(chain.from_iterable(given_paths), np.int32)
        vcs = layered_vcs(path_offsets, path_nodes)
    bounds, nodes = path_offsets.tolist(), path_nodes.tolist()
    paths = [nodes[begin:end] for begin, end in pairwise(bounds)]
    steps = np.array(_steps(sends, paths, port_model), np.int32)
    order = np.argsort(steps, kind="stable")
    rows = order.tolist()
    hops = np.split(vcs, bounds[1:-1] - np.arange(1, len(rows))) if rows else []
    carried = [sends.blocks[row] for row in rows]
    return Schedule(
        topology=topology,
        collective=collective,
        algorithm=algorithm,
        port_model=port_model,
        root=root,
        blocks=blocks,
        step=steps[order],
        source=source[order],
        target=target[order],
        path_offsets=offsets_of(np.diff(path_offsets)[order]),
        path_nodes=np.array([node for row in rows for node in paths[row]], np.int32),
        vcs=np.concatenate([np.zeros(0, np.int32), *(hops[row] for row in rows)]),
        block_offsets=offsets_of(np.fromiter(map(len, carried), np.int64, len(carried))),
        block_ids=np.fromiter(chain.from_iterable(carried), np.int32),
        combine=np.array(sends.combine, np.bool_)[order]
        if sends.combine
        else np.zeros(0, np.bool_),
    )


def _steps(sends: OrderedSends, paths: list[list[int]], port_model: PortModel) -> list[int]:
    """Choose the step of each send."""
    unit_of = list(sends.units)
    rows: list[list[int]] = [[] for _ in range(max(unit_of, default=-1) + 1)]
    for row, unit in enumerate(unit_of):
        rows[unit].append(row)
    before = [{unit_of[other] for row in unit for other in sends.after[row]} for unit in rows]
    behind: list[list[int]] = [[] for _ in before]
    for unit, others in enumerate(before):
        for other in others:
            behind[other].append(unit)
    urgency = _urgency(before, behind)
    calendar = _Calendar(port_model)
    steps = [0] * len(rows)
    missing = list(map(len, before))

    def key(unit: int) -> tuple[int, int, int]:
        return (-urgency[unit], -max(len(paths[row]) for row in rows[unit]), unit)

    ready = [key(unit) for unit, count in enumerate(missing) if not count]
    heapify(ready)
    while ready:
        unit = heappop(ready)[-1]
        earliest = 1 + max((steps[other] for other in before[unit]), default=0)
        steps[unit] = calendar.place([paths[row] for row in rows[unit]], earliest)
        for other in behind[unit]:
            missing[other] -= 1
            if not missing[other]:
                heappush(ready, key(other))
    return [steps[unit] for unit in unit_of]


def _urgency(before: list[set[int]], behind: list[list[int]]) -> list[int]:
    """Count the sends of the longest chain that waits for each send."""
    missing = [len(rows) for rows in behind]
    urgency = [0] * len(behind)
    last = [row for row, count in enumerate(missing) if not count]
    for row in last:  # grows as it is read
        for other in before[row]:
            urgency[other] = max(urgency[other], urgency[row] + 1)
            missing[other] -= 1
            if not missing[other]:
                last.append(other)
    if len(last) < len(behind):
        raise CircleError(_circle(before, {row for row, count in enumerate(missing) if count}))
    return urgency


def _circle(before: list[set[int]], waiting: set[int]) -> list[int]:
    """Find a circle, from its lowest row on; each of ``waiting`` is before another one of them."""
    followers = {other: row for row in sorted(waiting) for other in before[row] & waiting}
    lowest, *others = circle_ahead(followers)
    return [lowest, *reversed(others)]


class _Calendar:
    """Steps in which each node sends and receives and each link is in use, as bits of numbers.

    Bit s is step s. With all ports, links alone count: a port is one.
    """

    def __init__(self, port_model: PortModel) -> None:
        self._port_model = port_model
        self._sending: defaultdict[int, int] = defaultdict(int)
        self._receiving: defaultdict[int, int] = defaultdict(int)
        self._on_link: defaultdict[tuple[int, int], int] = defaultdict(int)
        self._pair: defaultdict[tuple[int, int], int] = defaultdict(int)

    def place(self, paths: list[list[int]], earliest: int) -> int:
        """Find the first step from ``earliest`` on in which a unit has its paths, and take it."""
        busy = 0
        for path in paths:
            busy |= self._nodes_busy(path[0], path[-1])
            for link in pairwise(path):
                busy |= self._on_link[link]
        free = ~(busy >> earliest)
        step = earliest + (free & -free).bit_length() - 1
        bit = 1 << step
        for path in paths:
            for link in pairwise(path):
                self._on_link[link] |= bit
            self._sending[path[0]] |= bit
            self._receiving[path[-1]] |= bit
            self._pair[path[0], path[-1]] |= bit
        return step

    def _nodes_busy(self, source: int, target: int) -> int:
        """Steps in which the port model forbids a send from ``source`` to ``target``."""
        if self._port_model is PortModel.ALL_PORT:
            return 0
        busy = self._sending[source] | self._receiving[target]
        others = self._receiving[source] | self._sending[target]
        if self._port_model is PortModel.HALF_DUPLEX:
            busy |= others
        elif self._port_model is PortModel.EXCHANGE:
            busy |= others & ~self._pair[target, source]
        return busy
