"""Collectives by levels: within parts of a network, then between them.

Nodes that links faster than the slowest join are a *part*, such as a chiplet; or a user names the
levels (:meth:`_Levels.of`). In an all-gather each node first exchanges its block with the nodes at
its own place in the other parts. Then each part turns a ring, which brings all blocks to all its
nodes. So few words cross the slow links: those of the other parts, once for each part::

    2x2 chiplets      1. along the rows of chiplets         every other place: columns first,
                      2. along the columns of chiplets      so that all slow links are busy
                      3. round the ring of each chiplet

Backwards it is a reduce-scatter that combines within parts first. A broadcast goes through the same
rings by doubling. In an all-to-all a node sends to each other one of a ring all blocks for the
nodes behind it. With all ports a block has two halves: they cross the parts in the two orders, and
turn the rings in both directions.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from math import lcm
from typing import Self

import numpy as np

from ...base.arrays import Numbers
from ...base.errors import InvalidInput, require_range
from ...base.ragged import even_shares
from ...network.boxes import box_sides, boxes_of, part_of
from ...network.faults import with_faults
from ...network.links import directed_links
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.rounds import RoundSend, schedule_of_rounds
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared
from ..declared.request import Request
from ..grid.rings import ring_order
from ..reductions.bounds import parts_joined
from ..streaming.rings import ring_of_all

NAME = "hierarchy"

Place = tuple[int, ...]
Round = list[RoundSend]


def by_levels(collective: Collective, asked: Request) -> Schedule:
    """Return a broadcast, an all-gather or an all-to-all by levels.

    Raises :class:`.InvalidInput` for blocks without words, for an order that names no levels, and
    without an order for a network without slower links, or with parts of different sizes.
    """
    require_range("words", asked.words, 1)
    if asked.source is not None:
        asked.topology.require_working("source", asked.source)
    levels = _Levels.of(asked.topology, asked.order)
    shares = even_shares(asked.words, 2 if asked.all_port else 1).tolist()
    halves = [share for share in shares if share]
    nodes, root = sorted(levels.place), asked.source
    ends: list[tuple[int, tuple[int, ...] | None]]
    if collective == Collective.ALL_TO_ALL:
        ends = [(begin, (end,)) for begin in nodes for end in nodes]
        rounds = [[*levels.exchanges(half)] for half in range(len(halves))]
    elif root is not None:
        ends, rounds = (
            [(root, None)],
            [[*levels.doublings(root, half)] for half in range(len(halves))],
        )
    else:
        ends = [(node, None) for node in nodes]
        rounds = [[*levels.turns(half)] for half in range(len(halves))]
    both = [
        [
            send._replace(blocks=[block + half * len(ends) for block in send.blocks])
            for half, sends in enumerate(each)
            for send in sends
        ]
        for each in zip(*rounds, strict=True)
    ]
    owners, owed = zip(*ends * len(halves), strict=True)
    blocks = Blocks(np.array(owners, np.int32), owed, np.repeat(halves, len(ends)))
    ports = PortModel.ALL_PORT if asked.all_port else PortModel.FULL_DUPLEX
    return schedule_of_rounds(asked.topology, collective, NAME, ports, root, blocks, both)


@dataclass(frozen=True)
class _Levels:
    """The place of each node in its rings: that of its part, and those across the parts.

    ``sides`` are the lengths of the rings. ``levels`` has the rings of each level, the parts'
    first. ``place`` has a node's place in each of its rings. ``number`` has, for a place, a number
    for each level: if it is odd, the node passes the rings of the level in reverse order.
    """

    sides: tuple[int, ...]
    levels: tuple[tuple[int, ...], ...]
    place: dict[int, Place]
    number: dict[Place, Place] = field(default_factory=dict)

    @classmethod
    def of(cls, topology: Topology, order: str | None) -> Self:
        """Return the levels that ``order`` gives, the innermost first; without, those of the links.

        ``order`` names boxes, such as "rows,columns" or "submesh 2x2,submesh 4x4", each of which
        joins those before it, or lists nodes by level: "[[0, 1], [2, 3]]" are two parts of two.
        """
        if order is None:
            return cls._of_links(topology)
        return cls._listed(topology, order) if order[:1] == "[" else cls._named(topology, order)

    @classmethod
    def _listed(cls, topology: Topology, order: str) -> Self:
        """Return the levels of nested lists of nodes."""
        try:
            nodes = np.array(json.loads(order))
        except (ValueError, RecursionError):
            nodes = np.zeros(0)
        whole = nodes.ndim >= 2 and nodes.dtype.kind == "i"
        if not whole or sorted(nodes.ravel().tolist()) != topology.working_nodes.tolist():
            allowed = "lists of equally long lists with each working node once, as [[0, 1], [2, 3]]"
            raise InvalidInput.of("order", allowed, order)
        places = {int(node): index[::-1] for index, node in np.ndenumerate(nodes)}
        return cls(nodes.shape[::-1], tuple((axis,) for axis in range(nodes.ndim)), places)

    @classmethod
    def _named(cls, topology: Topology, order: str) -> Self:
        """Return the levels of boxes of a grid without faults."""
        if not topology.whole_grid:
            raise topology.refusal(f"levels {order}", "a grid without faults")
        boxes = [(1,) * len(topology.dims)]
        for name in order.split(","):
            try:
                sides = box_sides(name, topology)
                boxes_of(topology, sides or boxes[0], name)
            except InvalidInput as error:
                raise error.between("order: ") from error
            if sides is None:
                allowed = "rows, columns or 'submesh AxB', one or more joined by a comma, or lists"
                raise InvalidInput.of("order", allowed, repr(order))
            boxes.append(tuple(map(lcm, boxes[-1], sides)))
        return cls._of_boxes(topology, [*dict.fromkeys((*boxes[1:], topology.dims))])

    @classmethod
    def _of_boxes(cls, topology: Topology, boxes: Sequence[tuple[int, ...]]) -> Self:
        """Return the levels of nested boxes with these sides, the last that of the whole grid."""
        if len(boxes) < 2:
            raise InvalidInput.of(
                "order", "levels of which the first is a part of the grid", "all of it"
            )
        at = topology.coordinates(np.arange(topology.nodes))
        part = part_of(topology, boxes_of(topology, boxes[0], "levels")[0])
        ring = [part.nodes[node] for node in _ring(part.topology)]
        # The node of the first box at the place that each node has in its box.
        alike = (topology.node_at(tuple(each)) for each in (at % boxes[0]).tolist())
        sides = [len(ring)]
        levels: list[Place] = [(0,)]
        columns = [np.array([ring.index(node) for node in alike])]
        # Neighbors in a box differ in the sum of their coordinates there, by one.
        numbers = np.stack([(at % box).sum(axis=1) for box in ((1,), *boxes[:-1])], axis=1)
        for small, large in pairwise(boxes):
            first = len(sides)
            for axis, (short, long) in enumerate(zip(small, large, strict=True)):
                if long > short:
                    whole = axis in topology.wrapped and long == topology.dims[axis]
                    rank = np.argsort(ring_order(long // short, whole))
                    columns.append(rank[at[:, axis] % long // short])
                    sides.append(long // short)
            levels.append(tuple(range(first, len(sides))))
        places = [*map(tuple, np.stack(columns, axis=1).tolist())]
        number = dict(zip(places, map(tuple, numbers.tolist()), strict=True))
        return cls(tuple(sides), tuple(levels), dict(enumerate(places)), number)

    @classmethod
    def _of_links(cls, topology: Topology) -> Self:
        """Find the parts of ``topology`` and their rings, or refuse it."""
        begins, ends = directed_links(topology)
        registers = topology.registers_of(0)
        cost = topology.rates * (1 + registers.max()) + registers
        of_link = cost[begins, topology.ports_between(begins, ends)]
        fast = of_link < of_link.max(initial=0)
        joined = parts_joined(topology.nodes, begins[fast], ends[fast])
        working = topology.working_nodes
        labels, sizes = np.unique(joined[working], return_counts=True)
        if len(labels) < 2 or len({*sizes.tolist()}) > 1 or sizes[0] < 2:
            allowed = "one with equal parts of two nodes or more, joined by slower links"
            raise topology.refusal(NAME, allowed)
        parts = [working[joined[working] == label] for label in labels]
        shape = _shape(topology, parts)
        if shape is not None:
            return cls._of_boxes(topology, [shape, topology.dims])
        rings = (
            _ring(with_faults(topology, np.setdiff1d(working, part).tolist())) for part in parts
        )
        places: dict[int, Place] = {
            node: (own, number)
            for number, ring in enumerate(rings)
            for own, node in enumerate(ring)
        }
        return cls((int(sizes[0]), len(parts)), ((0,), (1,)), places)

    def _phases(self, place: Place, half: int) -> list[int]:
        """Return the rings in the order in which a node's blocks pass them: the parts' last."""
        numbers = self.number.get(place, (0,) * len(self.levels))
        levels = [*zip(self.levels, numbers, strict=True)]
        return [
            axis
            for rings, number in levels[::-1]
            for axis in rings[:: -1 if (number + half) % 2 else 1]
        ]

    def _lengths(self) -> list[int]:
        """Return the length of the longest ring of each phase."""
        return [
            max(self.sides[axis] for axis in level) for level in self.levels[::-1] for _ in level
        ]

    def turns(self, half: int) -> Iterator[Round]:
        """Yield the rounds of a half of an all-gather; a block has the number of its node."""
        node_at, way = self._node_at, -1 if half else 1
        number = self._rank
        for phase, longest in enumerate(self._lengths()):
            for step in range(longest - 1):
                sends = []
                for place, node in node_at.items():
                    phases = self._phases(place, half)
                    axis, done = phases[phase], phases[:phase]
                    if step < self.sides[axis] - 1:
                        come_from = self._along(place, axis, -way * step)
                        carried = self._places(come_from, done)
                        to = node_at[self._along(place, axis, way)]
                        sends.append(
                            RoundSend(node, to, [number[node_at[each]] for each in carried])
                        )
                yield sends

    def doublings(self, root: int, half: int) -> Iterator[Round]:
        """Yield the rounds of a half of a broadcast, in which the nodes that have it double."""
        node_at, way, origin = self._node_at, -1 if half else 1, self.place[root]
        phases = self._phases(origin, half)
        for phase, axis in enumerate(phases):
            side = self.sides[axis]
            have = self._places(origin, phases[:phase])
            for far in (1 << bit for bit in reversed(range((side - 1).bit_length()))):
                yield [
                    RoundSend(
                        node_at[self._along(place, axis, way * by)],
                        node_at[self._along(place, axis, way * (by + far))],
                        [0],
                    )
                    for place in have
                    for by in range(0, side - far, 2 * far)
                ]

    def exchanges(self, half: int) -> Iterator[Round]:
        """Yield the rounds of a half of an all-to-all: block i * N + j is from node i to node j."""
        node_at, way = self._node_at, -1 if half else 1
        number = self._rank
        for phase, longest in enumerate(self._lengths()):
            for by in range(1, longest):
                sends = []
                for place, node in node_at.items():
                    phases = self._phases(place, half)
                    axis, done = phases[phase], phases[:phase]
                    if by < self.sides[axis]:
                        to = self._along(place, axis, way * by)
                        carried = [
                            number[node_at[begin]] * len(number) + number[node_at[end]]
                            for begin in self._places(place, done)
                            for end in self._places(to, phases[phase + 1 :])
                        ]
                        sends.append(RoundSend(node, node_at[to], carried))
                yield sends

    @property
    def _rank(self) -> dict[int, int]:
        return {node: rank for rank, node in enumerate(sorted(self.place))}

    @property
    def _node_at(self) -> dict[Place, int]:
        return {place: node for node, place in self.place.items()}

    def _places(self, place: Place, free: Sequence[int]) -> list[Place]:
        """Return the places that differ from ``place`` only on the rings ``free``."""
        choices = (
            range(side) if axis in free else (place[axis],) for axis, side in enumerate(self.sides)
        )
        return [*product(*choices)]

    def _along(self, place: Place, axis: int, by: int) -> Place:
        """Return the place ``by`` places up the ring of ``axis``."""
        at = (place[axis] + by) % self.sides[axis]
        return (*place[:axis], at, *place[axis + 1 :])


def _ring(topology: Topology) -> list[int]:
    """Return the working nodes of a part in the order of a ring through them."""
    nodes: list[int] = topology.working_nodes.tolist()
    if len(nodes) <= 2:
        return nodes
    return [path[0] for path in ring_of_all(NAME, topology)[0]]


def _shape(topology: Topology, parts: list[Numbers]) -> tuple[int, ...] | None:
    """Return the sides of parts that are equal boxes of a grid; None for other parts."""
    if not topology.whole_grid:
        return None
    places = [topology.coordinates(part) for part in parts]
    firsts = np.array([each.min(axis=0) for each in places])
    lasts = np.array([each.max(axis=0) for each in places])
    shape = lasts[0] - firsts[0] + 1
    if (lasts - firsts + 1 != shape).any() or shape.prod() != len(parts[0]):
        return None
    return tuple(shape.tolist())


def _declared(collective: Collective, steps: str) -> Declared:
    return Declared(
        collective,
        NAME,
        lambda asked: by_levels(collective, asked),
        networks="equal parts joined by slower links, such as chiplets, or any levels of an order",
        steps=steps,
        takes=("all_port", "order"),
        ports=(ONE, ALL),
    )


ALGORITHMS = (
    _declared(Collective.ALL_GATHER, "those of rings of parts, then a ring in each part"),
    _declared(Collective.BROADCAST, "⌈log2 n⌉ for each ring of n parts, then for each part"),
    _declared(Collective.ALL_TO_ALL, "n - 1 for each ring of n parts, then for each part"),
)
