"""The fault-free regions of a 2-D mesh with fault blocks, in sequence.

Z. Jiang and J. Wu, "Fault-Tolerant Broadcasting in 2-D Wormhole-Routed Meshes", section 4.

The boundaries of the fault blocks (:mod:`.blocks`) cut the mesh into polygons. Vertical lines
through the corners of each polygon cut it into rectangles, its *regions*. Regions are in the order
of their polygons and, within one polygon, from left to right (Algorithm 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...network.topology import Topology
from ..halving.rectangle import eye_distance
from .blocks import NO_BLOCK, Boundaries, Grid, Node, Rectangle, fault_blocks

NO_REGION = -1


@dataclass(frozen=True, eq=False)
class FaultRegions:
    """A mesh cut at its fault blocks.

    ``regions`` are in sequence; a region is named by its index, from 0: the paper's region-1 is
    region 0. ``polygons[region]`` is the number of its polygon, from 0.
    """

    boundaries: Boundaries
    regions: tuple[Rectangle, ...]
    polygons: tuple[int, ...]

    @classmethod
    def of(cls, topology: Topology) -> FaultRegions:
        """Cut a mesh with faulty nodes; raises as :func:`.blocks.fault_blocks` does."""
        blocks = fault_blocks(topology)
        width, height = topology.dims
        boundaries = Boundaries((width, height), blocks)
        return cls(boundaries, *_regions(boundaries.polygons))

    @cached_property
    def region_numbers(self) -> Grid:
        """The region of each node, -1 for a node of a fault block."""
        numbers = np.full(self.boundaries.dims, NO_REGION, dtype=np.int32)
        for number, region in enumerate(self.regions):
            numbers[region.slices] = number
        return numbers

    def east(self, region: int) -> list[int]:
        """Return the regions with a node directly east of ``region``, ascending."""
        return self._beside(region, self.regions[region].right + 1)

    def west(self, region: int) -> list[int]:
        """Return the regions with a node directly west of ``region``, ascending."""
        return self._beside(region, self.regions[region].left - 1)

    def _beside(self, region: int, column: int) -> list[int]:
        if not 0 <= column < self.boundaries.dims[0]:
            return []
        rows = self.regions[region].slices[1]
        found: list[int] = np.unique(self.region_numbers[column, rows]).tolist()
        return [number for number in found if number != NO_REGION]

    def block_below(self, region: int) -> int:
        """Return the fault block directly south of ``region``, which is not on the mesh's edge.

        There is only one: between two blocks would be a column in which ``region`` does not end.
        """
        left, bottom = self.regions[region].left, self.regions[region].bottom
        return int(self.boundaries.block_numbers[left, bottom - 1])

    def eyes(self, region: int) -> list[Node]:
        """Return the eyes of a region (section 3.1), lower coordinates first."""
        place = self.regions[region]
        lines = []
        for low, high in ((place.left, place.right), (place.bottom, place.top)):
            inward = eye_distance(high - low + 1)
            lines.append(sorted({low + inward, high - inward}))
        return [(x, y) for y in lines[1] for x in lines[0]]


def _regions(polygons: Grid) -> tuple[tuple[Rectangle, ...], tuple[int, ...]]:
    """Return the regions in sequence and the polygon of each.

    In every column a polygon has the nodes of one interval. Its corners are where this interval
    changes from one column to the next.
    """
    above = np.pad(polygons, ((0, 0), (0, 1)), constant_values=NO_BLOCK)[:, 1:]
    below = np.pad(polygons, ((0, 0), (1, 0)), constant_values=NO_BLOCK)[:, :-1]
    columns, bottoms = np.nonzero((polygons != NO_BLOCK) & (below != polygons))
    tops = np.nonzero((polygons != NO_BLOCK) & (above != polygons))[1]
    owners = polygons[columns, bottoms]
    intervals = np.stack((owners, bottoms, tops, columns))[:, np.lexsort((columns, owners))]
    changes = np.diff(intervals[:3], axis=1, prepend=NO_BLOCK).any(axis=0)
    first = np.flatnonzero(changes)
    last = np.append(first[1:], columns.size) - 1
    found = np.stack((intervals[3, first], intervals[3, last], *intervals[1:3, first]), axis=1)
    return tuple(Rectangle(*row) for row in found.tolist()), tuple(intervals[0, first].tolist())
