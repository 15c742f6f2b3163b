"""Fault blocks of a 2-D mesh, and the boundary of each through the mesh.

Z. Jiang and J. Wu, "Fault-Tolerant Broadcasting in 2-D Wormhole-Routed Meshes", sections 2.1 and 4.

A node that is not faulty is *disabled* if it has disabled or faulty neighbors in both dimensions
(Definition 1). Disabled and faulty nodes that are connected are a fault block. No fault may be on
the edge of the mesh; then every block is a rectangle, and the nodes around it are all enabled.

The *boundary* of a block goes up the line L3 west of the block and down the line L4 east of it. If
the boundary meets another block, it turns: going down, to the east side of that block; going up, to
the west side. So it leads from the top of the mesh to the bottom and cuts the mesh in two::

    y = 7   l l l r r r r r r      #  the block [3:4, 4:5]; L3 is x = 2 and L4 is x = 5
        6   l l l v v v r r r      +  another block, [4:6, 1:2], which L4 meets
        5   l l l # # v r r r      l  left of the boundary of #
        4   l l l # # v r r r      r  right of the boundary of #
        3   l l l l l v v v r      v  also right: the virtual channel path of #, along the
        2   l l l l + + + v r         north edge of the block, then down L4
        1   l l l l + + + v r
        0   l l l l l l l v r

Boundaries merge and never cross. So the blocks have an order: of two blocks, the one left of the
other's boundary comes first. Here + comes first.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...base.errors import InvalidInput
from ...network.topology import Topology

Grid = npt.NDArray[np.int32]
"""A number for each node of a mesh, by its coordinates: shape (width, height)."""

Node = tuple[int, int]
"""The coordinates (x, y) of a node."""

NO_BLOCK = -1


@dataclass(frozen=True, order=True)
class Rectangle:
    """The nodes of columns ``left`` to ``right`` and rows ``bottom`` to ``top``, all included."""

    left: int
    right: int
    bottom: int
    top: int

    def __str__(self) -> str:
        """Write it as the paper does: "[2:6, 2:4]"."""
        return f"[{self.left}:{self.right}, {self.bottom}:{self.top}]"

    @property
    def sides(self) -> tuple[int, int]:
        """The numbers of columns and rows."""
        return self.right - self.left + 1, self.top - self.bottom + 1

    @property
    def slices(self) -> tuple[slice, slice]:
        """The rectangle's nodes in a :data:`Grid`."""
        return slice(self.left, self.right + 1), slice(self.bottom, self.top + 1)


def fault_blocks(topology: Topology) -> tuple[Rectangle, ...]:
    """Return the fault blocks of a 2-D mesh with faulty nodes, from left to right (Definition 1).

    Raises :class:`InvalidInput` for any other network, for faulty links and for a faulty node on
    the edge of the mesh.
    """
    _require_blocks(topology)
    inside = np.zeros(topology.dims, dtype=bool)
    columns, rows = topology.coordinates(np.array(topology.faulty_nodes, dtype=np.int64)).T
    inside[columns, rows] = True
    disable(inside)
    # A block's corners are the nodes without a neighbor in it on two sides.
    west, east, south, north = _neighbors(inside)
    lefts, bottoms = np.nonzero(inside & ~west & ~south)
    outside_above = inside & ~north
    outside_right = inside & ~east
    return tuple(
        Rectangle(
            left,
            left + int(outside_right[left:, bottom].argmax()),
            bottom,
            bottom + int(outside_above[left, bottom:].argmax()),
        )
        for left, bottom in zip(lefts.tolist(), bottoms.tolist(), strict=True)
    )


def disable(inside: npt.NDArray[np.bool_]) -> None:
    """Disable nodes by Definition 1 until no more can be disabled.

    ``inside`` is a mask of the faulty nodes, shape (width, height); disabled nodes are added to it.
    """
    while True:
        west, east, south, north = _neighbors(inside)
        disabled = ~inside & (west | east) & (south | north)
        if not disabled.any():
            return
        inside |= disabled


def _neighbors(inside: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], ...]:
    """Return four masks: whether each node's west, east, south and north neighbor is ``inside``."""
    padded = np.pad(inside, 1)
    return padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]


def _require_blocks(topology: Topology) -> None:
    if topology.kind != "mesh" or len(topology.dims) != 2:
        raise topology.refusal("jiang-wu", "a 2-D mesh (use tree instead)")
    for begin, end in topology.faulty_links[:1]:
        raise InvalidInput.of(
            "faulty links for jiang-wu",
            "none (use tree instead)",
            f"{_named(topology, begin)}:{_named(topology, end)}",
        )
    for node in topology.faulty_nodes:
        pairs = zip(topology.coordinates(node).tolist(), topology.dims, strict=True)
        if any(place in {0, side - 1} for place, side in pairs):
            allowed = "off the edge of the mesh (use tree instead)"
            raise InvalidInput.of("faulty node for jiang-wu", allowed, _named(topology, node))


def _named(topology: Topology, node: int) -> str:
    return ",".join(map(str, topology.coordinates(node).tolist()))


@dataclass(frozen=True, eq=False)
class Boundaries:
    """The boundaries of the fault ``blocks`` of a mesh with sides ``dims``."""

    dims: tuple[int, int]
    blocks: tuple[Rectangle, ...]

    @cached_property
    def block_numbers(self) -> Grid:
        """The index in ``blocks`` of each node's block, -1 for an enabled node."""
        numbers = np.full(self.dims, NO_BLOCK, dtype=np.int32)
        for number, block in enumerate(self.blocks):
            numbers[block.slices] = number
        return numbers

    @cached_property
    def first_right(self) -> Grid:
        """The first column right of each block's boundary in each row: shape (blocks, height).

        Columns of the block itself count as left of its boundary.
        """
        corners = np.array([(b.left, b.right, b.top) for b in self.blocks], dtype=np.int32)
        lefts, rights, tops = corners.reshape(-1, 3).T
        width, height = self.dims
        plain = np.repeat(np.arange(width, dtype=np.int32)[:, np.newaxis], height, axis=1)
        enabled = self.block_numbers == NO_BLOCK
        # The column past a node's block; its own column if it is in none (-1 takes the appended 0).
        past_east = np.where(enabled, plain, np.append(rights + 1, 0)[self.block_numbers])
        past_west = np.where(enabled, plain, np.append(lefts - 1, 0)[self.block_numbers])
        columns = np.empty((len(self.blocks), height), dtype=np.int32)
        line = rights + 1
        for row in reversed(range(height)):
            line = np.where(row <= tops, past_east[line, row], rights + 1)
            columns[:, row] = line
        line = lefts - 1
        for row in range(height):
            line = np.where(row > tops, past_west[line, row], lefts - 1)
            columns[:, row] = np.where(row > tops, line + 1, columns[:, row])
        return columns

    @cached_property
    def polygons(self) -> Grid:
        """The number of boundaries that each node is right of; -1 for a node of a block.

        Nodes with the same number are a fault-free polygon. So polygons are numbered from left to
        right, in the order of the blocks between them, as by Algorithm 3.
        """
        width, height = self.dims
        crossed = np.zeros((width + 1, height), dtype=np.int32)
        np.add.at(crossed, (self.first_right, np.arange(height)), 1)
        polygons = np.cumsum(crossed, axis=0, dtype=np.int32)[:width]
        return np.where(self.block_numbers == NO_BLOCK, polygons, NO_BLOCK)

    def channel_path(self, block: int) -> list[Node]:
        """Return the virtual channel path of the block with this index.

        The path begins at the node north of the block's first column and ends in row 0.
        """
        column, top = self.blocks[block].left, self.blocks[block].top
        path = [(column, top + 1)]
        for row in reversed(range(top + 1)):
            following = int(self.first_right[block, row])
            path += [(x, row + 1) for x in range(column + 1, following + 1)]
            column = following
            path.append((column, row))
        return path
