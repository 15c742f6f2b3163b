"""Schedules from sends that have an order but no steps.

Files of other tools list sends, and the sends that must be complete before others begin. This
module gives each send a route and the earliest step in which

* all sends that it must follow have ended in earlier steps,
* the port model allows it at both of its nodes, and
* none of its links is in use on any VC, so that no two sends of a step meet.

Sends of one unit, such as the two of an exchange, get the same step, and VCs of their own where
they share a link::

    send   source target  after        step      (full-duplex)
    0      0      1       -            1
    1      0      2       -            2         node 0 already sends in step 1
    2      1      3       0            2

Sends with the longest chain of followers are placed first, then those with the most words, so that
long sends share a step, and then those with the longest route. Each port and link has one number,
with one bit for each step, so thousands of sends take about a second.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import chain, pairwise

import numpy as np

from ..base.arrays import Int32s
from ..base.errors import InvalidInput
from ..base.graph_cycles import circle_ahead
from ..base.ragged import offsets_of
from ..network.port_model import PortModel
from ..network.route_layers import layered_vcs, safe_routes
from ..network.topology import Topology
from .blocks import Blocks
from .builder import path_columns
from .schedule import Schedule


@dataclass(frozen=True, kw_only=True)
class OrderedSends:
    """Sends without steps: columns of equal length, with a row for each send.

    ``source`` and ``target`` are nodes, ``blocks`` the one or more blocks that a send carries, and
    ``after`` the rows of the sends that must be complete before it begins. ``unit`` is the unit of
    each row, numbered from 0; if empty, each row is a unit of its own. ``combine`` marks the rows
    that combine at their target; it may be empty if none does. ``not_before`` has the rows whose
    step a row may share, but not precede; it may be empty if no row has any.
    """

    source: Sequence[int]
    target: Sequence[int]
    blocks: Sequence[Sequence[int] | Int32s]
    after: Sequence[Sequence[int]]
    unit: Sequence[int] = ()
    combine: Sequence[bool] = ()
    not_before: Sequence[Sequence[int]] = ()

    @property
    def units(self) -> Sequence[int]:
        """The unit of each row."""
        return self.unit or range(len(self.source))

    def __len__(self) -> int:
        return len(self.source)


class CircleError(InvalidInput):
    """The error for a circle of sends: ``circle`` has their rows, each before the one it awaits."""

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
    other_paths: Sequence[Sequence[int]] | None = None,
) -> Schedule:
    """Return the schedule of ``sends`` in the earliest steps found, ordered by step and row.

    Routes and VCs are those of :func:`.safe_routes`. If ``given_paths`` (lists of nodes) are given,
    they are the routes, and VCs are those of :func:`.layered_vcs`. A unit takes its rows of
    ``other_paths`` instead if these are free in an earlier step. The result is deterministic.

    Raises :class:`CircleError` if sends wait in a circle, and :class:`.InvalidInput` if no path
    leads to a target. :meth:`.Schedule.check` proves that the sends carry out the collective.
    """
    source, target = np.array(sends.source, np.int32), np.array(sends.target, np.int32)
    if given_paths is None:
        path_offsets, path_nodes, vcs = safe_routes(topology, source, target)
    else:
        path_offsets = offsets_of(np.fromiter(map(len, given_paths), np.int64, len(sends)))
        path_nodes = np.fromiter(chain.from_iterable(given_paths), np.int32)
        vcs = layered_vcs(path_offsets, path_nodes)
    bounds, nodes = path_offsets.tolist(), path_nodes.tolist()
    paths: list[Sequence[int]] = [nodes[begin:end] for begin, end in pairwise(bounds)]
    ways = [paths] if other_paths is None else [paths, other_paths]
    words = [int(blocks.words[np.asarray(carried)].sum()) for carried in sends.blocks]
    chosen, way = _steps(sends, ways, words, port_model)
    if any(way):
        paths = [ways[number][row] for row, number in enumerate(way)]
        bounds = offsets_of([*map(len, paths)]).tolist()
        vcs = layered_vcs(np.array(bounds), np.fromiter(chain.from_iterable(paths), np.int32))
    vcs = _apart(sends, paths, vcs)
    steps = np.array(chosen, np.int32)
    order = np.argsort(steps, kind="stable")
    rows = order.tolist()
    hops = np.split(vcs, bounds[1:-1] - np.arange(1, len(rows))) if rows else []
    columns = path_columns([paths[row] for row in rows], [sends.blocks[row] for row in rows])
    columns["vcs"] = np.concatenate([np.zeros(0, np.int32), *(hops[row] for row in rows)])
    return Schedule(
        topology=topology,
        collective=collective,
        algorithm=algorithm,
        port_model=port_model,
        root=root,
        blocks=blocks,
        step=steps[order],
        combine=np.array(sends.combine, np.bool_)[order]
        if sends.combine
        else np.zeros(0, np.bool_),
        **columns,
    )


def in_turn(schedule: Schedule) -> Schedule:
    """Return the ``schedule`` of groups with the earliest steps in which no two of them meet.

    The sends of a group that share a step are a unit, and follow its units of earlier steps. Groups
    of trees for circuits that share nodes come one after the other: a router joins one sum at once.
    """
    group = schedule.blocks.group[schedule.block_ids[schedule.block_offsets[:-1]]]
    if schedule.circuits:
        turn = np.zeros(len(schedule.groups), np.int64)
        taken = np.zeros(schedule.topology.nodes, np.int64)
        for number, nodes in enumerate(map(list, schedule.groups)):
            turn[number] = taken[nodes].max()
            taken[nodes] = turn[number] + 1
        return replace(schedule, step=schedule.step + schedule.steps * turn[group])
    (of_unit, _), first, unit = np.unique(
        np.stack((group, schedule.step)), axis=1, return_index=True, return_inverse=True
    )
    follows = [False, *(of_unit[1:] == of_unit[:-1])]
    before = [[int(first[each - 1])] if other else [] for each, other in enumerate(follows)]
    paths = np.split(schedule.path_nodes, schedule.path_offsets[1:-1])
    sends = OrderedSends(
        source=schedule.source.tolist(),
        target=schedule.target.tolist(),
        blocks=(),
        after=[before[each] for each in unit.tolist()],
        unit=unit.tolist(),
    )
    ways = [[path.tolist() for path in paths]]
    steps, _ = _steps(sends, ways, schedule.send_words.tolist(), schedule.port_model)
    return replace(schedule, step=np.array(steps, np.int32))


def _apart(sends: OrderedSends, paths: Sequence[Sequence[int]], vcs: Int32s) -> Int32s:
    """Return the VCs with further ones for the paths of a unit that share a link with others."""
    level = [0] * len(paths)
    used: defaultdict[tuple[int, tuple[int, int]], int] = defaultdict(int)
    for row, unit in enumerate(sends.units):
        links = [(unit, link) for link in pairwise(paths[row])]
        level[row] = max(used[link] for link in links)
        used.update(dict.fromkeys(links, level[row] + 1))
    hops = np.fromiter(map(len, paths), np.int64, len(paths)) - 1
    of_hop = np.repeat(level, hops)
    for number in range(1, max(level, default=0) + 1):
        nodes = [paths[row] for row, each in enumerate(level) if each == number]
        more = layered_vcs(offsets_of([*map(len, nodes)]), np.array([*chain(*nodes)], np.int32))
        vcs = np.where(of_hop == number, 0, vcs)
        vcs[of_hop == number] = more + 1 + vcs.max()
    return vcs


def _steps(
    sends: OrderedSends,
    ways: Sequence[Sequence[Sequence[int]]],
    words: Sequence[int],
    port_model: PortModel,
) -> tuple[list[int], list[int]]:
    """Choose the step of each send, and the number of its path among ``ways``."""
    unit_of = list(sends.units)
    rows: list[list[int]] = [[] for _ in range(max(unit_of, default=-1) + 1)]
    for row, unit in enumerate(unit_of):
        rows[unit].append(row)
    after = [{unit_of[other] for row in unit for other in sends.after[row]} for unit in rows]
    before = after
    if sends.not_before:
        beside = [
            {unit_of[other] for row in unit for other in sends.not_before[row]} - {number}
            for number, unit in enumerate(rows)
        ]
        before = [one | other for one, other in zip(after, beside, strict=True)]
    behind: list[list[int]] = [[] for _ in before]
    for unit, others in enumerate(before):
        for other in others:
            behind[other].append(unit)
    urgency = _urgency(before, behind)
    calendar = _Calendar(port_model)
    steps, taken = [0] * len(rows), [0] * len(rows)
    missing = list(map(len, before))

    def key(unit: int) -> tuple[int, int, int, int]:
        longest = max(words[row] for row in rows[unit])
        farthest = max(len(ways[0][row]) for row in rows[unit])
        return -urgency[unit], -longest, -farthest, unit

    ready = [key(unit) for unit, count in enumerate(missing) if not count]
    heapify(ready)
    while ready:
        unit = heappop(ready)[-1]
        earliest = max((steps[other] + (other in after[unit]) for other in before[unit]), default=1)
        places = [[way[row] for row in rows[unit]] for way in ways]
        free = [calendar.first_free(paths, max(1, earliest)) for paths in places]
        steps[unit] = min(free)
        taken[unit] = free.index(steps[unit])
        calendar.take(places[taken[unit]], steps[unit])
        for other in behind[unit]:
            missing[other] -= 1
            if not missing[other]:
                heappush(ready, key(other))
    return [steps[unit] for unit in unit_of], [taken[unit] for unit in unit_of]


def _urgency(before: list[set[int]], behind: list[list[int]]) -> list[int]:
    """Return the length of the longest chain of units that wait for each unit."""
    missing = [len(rows) for rows in behind]
    urgency = [0] * len(behind)
    last = [row for row, count in enumerate(missing) if not count]
    for row in last:  # the loop appends to this list
        for other in before[row]:
            urgency[other] = max(urgency[other], urgency[row] + 1)
            missing[other] -= 1
            if not missing[other]:
                last.append(other)
    if len(last) < len(behind):
        raise CircleError(_circle(before, {row for row, count in enumerate(missing) if count}))
    return urgency


def _circle(before: list[set[int]], waiting: set[int]) -> list[int]:
    """Return a circle of rows from its lowest on; each of ``waiting`` is in or before a circle."""
    followers = {other: row for row in sorted(waiting) for other in before[row] & waiting}
    lowest, *others = circle_ahead(followers)
    return [lowest, *reversed(others)]


class _Calendar:
    """The steps in which each node sends and receives and each link is in use, as bits.

    Bit s is step s. With all ports only links count, because each port has one link.
    """

    def __init__(self, port_model: PortModel) -> None:
        self._port_model = port_model
        self._sending: defaultdict[int, int] = defaultdict(int)
        self._receiving: defaultdict[int, int] = defaultdict(int)
        self._on_link: defaultdict[tuple[int, int], int] = defaultdict(int)
        self._pair: defaultdict[tuple[int, int], int] = defaultdict(int)

    def first_free(self, paths: list[Sequence[int]], earliest: int) -> int:
        """Return the first step, from ``earliest`` on, in which all ``paths`` are free."""
        busy = 0
        for path in paths:
            busy |= self._nodes_busy(path[0], path[-1])
            for link in pairwise(path):
                busy |= self._on_link[link]
        free = ~(busy >> earliest)
        return earliest + (free & -free).bit_length() - 1

    def take(self, paths: list[Sequence[int]], step: int) -> None:
        """Reserve ``paths`` in ``step``."""
        bit = 1 << step
        for path in paths:
            for link in pairwise(path):
                self._on_link[link] |= bit
            self._sending[path[0]] |= bit
            self._receiving[path[-1]] |= bit
            self._pair[path[0], path[-1]] |= bit

    def _nodes_busy(self, source: int, target: int) -> int:
        """Return the steps, as bits, in which the port model forbids this send."""
        if self._port_model is PortModel.ALL_PORT:
            return 0
        busy = self._sending[source] | self._receiving[target]
        others = self._receiving[source] | self._sending[target]
        if self._port_model is PortModel.HALF_DUPLEX:
            busy |= others
        elif self._port_model is PortModel.EXCHANGE:
            busy |= others & ~self._pair[target, source]
        return busy
