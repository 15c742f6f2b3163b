"""All-gather by levels, where links between parts of a network are slower than those within.

Nodes that links faster than the slowest join are a *part*, such as a chiplet. Each node first
exchanges its block with the nodes at its own place in the other parts. Then each part turns a ring,
which brings all blocks to all its nodes. So few words cross the slow links: those of the other
parts, once for each part::

    2x2 chiplets      1. along the rows of chiplets         every other place: columns first,
                      2. along the columns of chiplets      so that all slow links are busy
                      3. round the ring of each chiplet

Backwards it is a reduce-scatter that combines within parts first. With all ports a block has two
halves: they cross the parts in the two orders, and turn the ring in both directions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Self

import numpy as np

from ...base.arrays import Numbers
from ...base.errors import require_range
from ...base.ragged import even_shares
from ...network.faults import with_faults
from ...network.links import directed_links
from ...network.port_model import PortModel
from ...network.topology import Topology, mesh
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.rounds import RoundSend, schedule_of_rounds
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared
from ..grid.rings import ring_order
from ..reductions.bounds import parts_joined
from ..streaming.rings import ring_of_all

NAME = "hierarchy"


def hierarchical_all_gather(topology: Topology, words: int, *, all_port: bool = False) -> Schedule:
    """Bring ``words`` words of each working node to all: between parts, then in the ring of each.

    Raises :class:`.InvalidInput` for blocks without words, and for a network without slower links,
    or with parts of different sizes.
    """
    require_range("words", words, 1)
    levels = _Levels.of(topology)
    halves = [share for share in even_shares(words, 2 if all_port else 1).tolist() if share]
    nodes = sorted(levels.place)
    blocks = Blocks(
        np.tile(nodes, len(halves)),
        (None,) * (len(nodes) * len(halves)),
        np.repeat(halves, len(nodes)),
    )
    number = {node: block for block, node in enumerate(nodes)}
    rounds = [
        [
            send._replace(blocks=[number[node] + half * len(nodes) for node in send.blocks])
            for half, sends in enumerate(each)
            for send in sends
        ]
        for each in zip(*(levels.rounds(half) for half in range(len(halves))), strict=True)
    ]
    ports = PortModel.ALL_PORT if all_port else PortModel.FULL_DUPLEX
    name = Collective.ALL_GATHER
    return schedule_of_rounds(topology, name, NAME, ports, None, blocks, rounds)


@dataclass(frozen=True)
class _Levels:
    """The place of each node in its rings: that of its part, and those across the parts.

    ``sides`` are the lengths of the rings: of the part's first, then of each axis of parts.
    ``place`` has a node's place in each of its rings.
    """

    sides: tuple[int, ...]
    place: dict[int, tuple[int, ...]]

    @classmethod
    def of(cls, topology: Topology) -> Self:
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
        boxes = _boxes(topology, parts)
        if boxes is None:
            rings = [
                _ring(with_faults(topology, np.setdiff1d(working, part).tolist())) for part in parts
            ]
            across: list[tuple[int, ...]] = [(number,) for number in range(len(parts))]
            sides: tuple[int, ...] = (len(parts),)
        else:
            shape, across, sides = boxes
            ring = _ring(mesh(shape))
            rings = [part[ring].tolist() for part in parts]
        place: dict[int, tuple[int, ...]] = {
            node: (own, *where)
            for nodes, where in zip(rings, across, strict=True)
            for own, node in enumerate(nodes)
        }
        return cls((int(sizes[0]), *sides), place)

    def rounds(self, half: int) -> Iterator[list[RoundSend]]:
        """Yield the rounds of a half of all blocks; a block has the number of its node."""
        node_at = {place: node for node, place in self.place.items()}
        part, *across = range(len(self.sides))
        for phase in range(len(self.sides)):
            longest = max(self.sides[1:]) if phase < len(across) else self.sides[0]
            for step in range(longest - 1):
                sends = []
                for place, node in node_at.items():
                    turned = across[::-1] if (place[0] + half) % 2 else across
                    axis, done = [*turned, part][phase], turned[:phase]
                    if step < self.sides[axis] - 1:
                        to = self._along(place, axis, -1 if half else 1)
                        come_from = self._along(place, axis, step if half else -step)
                        choices = (
                            range(side) if each in done else (come_from[each],)
                            for each, side in enumerate(self.sides)
                        )
                        carried = [node_at[each] for each in product(*choices)]
                        sends.append(RoundSend(node, node_at[to], carried))
                yield sends

    def _along(self, place: tuple[int, ...], axis: int, by: int) -> tuple[int, ...]:
        """Return the place ``by`` places up the ring of ``axis``."""
        at = (place[axis] + by) % self.sides[axis]
        return (*place[:axis], at, *place[axis + 1 :])


def _ring(topology: Topology) -> list[int]:
    """Return the working nodes of a part in the order of a ring through them."""
    nodes: list[int] = topology.working_nodes.tolist()
    if len(nodes) == 2:
        return nodes
    return [path[0] for path in ring_of_all(NAME, topology)[0]]


def _boxes(
    topology: Topology, parts: list[Numbers]
) -> tuple[tuple[int, ...], list[tuple[int, ...]], tuple[int, ...]] | None:
    """Return the shape of parts that are equal boxes of a grid, their places, and all sides.

    The place of a part is that in the ring of each axis of parts. Returns None for other parts.
    """
    if not topology.whole_grid:
        return None
    places = [topology.coordinates(part) for part in parts]
    firsts = np.array([each.min(axis=0) for each in places])
    lasts = np.array([each.max(axis=0) for each in places])
    shape = lasts[0] - firsts[0] + 1
    if (lasts - firsts + 1 != shape).any() or shape.prod() != len(parts[0]):
        return None
    across = firsts // shape
    sides = across.max(axis=0) + 1
    axes = [axis for axis, side in enumerate(sides.tolist()) if side > 1]
    orders = {axis: ring_order(int(sides[axis]), axis in topology.wrapped) for axis in axes}
    rank = {axis: np.argsort(order).tolist() for axis, order in orders.items()}
    found = [tuple(rank[axis][place[axis]] for axis in axes) for place in across.tolist()]
    return tuple(shape.tolist()), found, tuple(sides[axes].tolist())


ALGORITHM = Declared(
    Collective.ALL_GATHER,
    NAME,
    lambda asked: hierarchical_all_gather(asked.topology, asked.words, all_port=asked.all_port),
    networks="equal parts joined by slower links, such as chiplets",
    steps="those of rings of parts, then a ring in each part",
    takes=("all_port",),
    ports=(ONE, ALL),
)
