"""Parts of a network that are networks of their own: boxes of a grid, and any other nodes.

A box of a grid is a mesh, or a torus if the box spans whole wrapped axes. Any other part is the
whole network with all other nodes faulty.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.errors import InvalidInput, with_article
from ..base.texts import integers
from .faults import with_faults
from .topology import Topology, mesh, torus

Nodes = tuple[int, ...]

_SUBMESH = "submesh "


@dataclass(frozen=True, eq=False)
class GroupNetwork:
    """The network of a group; its node i is node ``nodes[i]`` of the whole network."""

    topology: Topology
    nodes: Nodes

    @property
    def members(self) -> Nodes:
        """The group's nodes, by their numbers in the whole network, ascending."""
        return tuple(sorted(self.nodes[node] for node in self.topology.working_nodes.tolist()))


def box_sides(text: str, topology: Topology) -> tuple[int, ...] | None:
    """Return the sides of the boxes that ``text`` names; None if it names no boxes.

    Raises :class:`.InvalidInput` for rows or columns of a network without exactly two axes.
    """
    if text in ("rows", "columns"):
        if len(topology.dims) != 2:
            raise InvalidInput.of(f"network for group {text}", "a grid of 2 axes", topology.label)
        width, height = topology.dims
        return (width, 1) if text == "rows" else (1, height)
    if text.startswith(_SUBMESH):
        return tuple(integers("group", "submesh and sides such as 4x4", text[len(_SUBMESH) :], "x"))
    return None


def boxes_of(topology: Topology, sides: Sequence[int], words: str) -> list[Nodes]:
    """Return the working nodes of each box of ``sides`` into which a grid is cut.

    Raises :class:`.InvalidInput`, which quotes ``words``, unless the network is a grid with sides
    that are multiples of ``sides``.
    """
    dims = topology.dims
    if not dims or len(sides) != len(dims):
        axes = "1 axis" if len(sides) == 1 else f"{len(sides)} axes"
        raise InvalidInput.of(f"network for {words}", f"a grid of {axes}", topology.label)
    for side, whole in zip(sides, dims, strict=True):
        if side < 1 or whole % side:
            allowed = f"of sides that divide those of {with_article(topology.plain_label)}"
            raise InvalidInput.of("group", allowed, words)
    places = topology.coordinates(np.arange(topology.nodes))
    boxes = np.ravel_multi_index(
        tuple((places // np.array(sides)).T),
        tuple(whole // side for whole, side in zip(dims, sides, strict=True)),
        order="F",
    )
    faulty = {*topology.faulty_nodes}
    groups = (np.flatnonzero(boxes == box).tolist() for box in range(int(boxes.max()) + 1))
    working = (tuple(node for node in nodes if node not in faulty) for nodes in groups)
    return [nodes for nodes in working if nodes]


def box_around(topology: Topology, nodes: Nodes) -> tuple[Nodes, Nodes] | None:
    """Return the smallest box of a grid with ``nodes``: its nodes, ascending, and its sides.

    None for a network that is no whole mesh, torus, line or ring.
    """
    if not topology.whole_grid or topology.kind not in ("mesh", "torus", "line", "ring"):
        return None
    places = topology.coordinates(np.arange(topology.nodes))
    low, high = places[list(nodes)].min(axis=0), places[list(nodes)].max(axis=0)
    inside = ((places >= low) & (places <= high)).all(axis=1)
    return tuple(np.flatnonzero(inside).tolist()), tuple((high - low + 1).tolist())


def part_of(topology: Topology, nodes: Nodes) -> GroupNetwork:
    """Return the network of a group of working ``nodes``."""
    around = box_around(topology, nodes)
    if around is not None and len(around[0]) == len(nodes):
        members, sides = around
        round_all = all(
            side == 1 or (axis in topology.wrapped and side == topology.dims[axis])
            for axis, side in enumerate(sides)
        )
        registers, rates = (
            None if table is None else table[list(members)]
            for table in (topology.link_registers_of, topology.link_rate_of)
        )
        box = replace(
            (torus if round_all else mesh)(sides),
            link_registers_of=registers,
            link_rate_of=rates,
        )
        return GroupNetwork(box, members)
    others = sorted({*range(topology.nodes)} - {*nodes} - {*topology.faulty_nodes})
    alone = with_faults(topology, others) if others else topology
    return GroupNetwork(alone, tuple(range(topology.nodes)))
