"""Eye-to-eye unicasts between the fault-free regions of a mesh, around its fault blocks.

Z. Jiang and J. Wu, "Fault-Tolerant Broadcasting in 2-D Wormhole-Routed Meshes", section 4,
Algorithm 5 and the text after it. A message from region s to region e of the sequence goes

* **up the sequence** (s < e) from region to region eastward, always to the last region not after e.
  If all regions there are after e, a block is in the way: the virtual channel path of the block
  under e leads up to the south edge of e;
* **down the sequence** (s > e) from region to region westward, always to the first region not
  before e. If these regions do not lead to e, the message first takes the virtual channel path of
  the block under s, down to a region that leads to e.

In each region the message goes along x, then along y to the closest node of the next region. Links
of a virtual channel path have VC 1, all others VC 0. One virtual channel path is always enough: the
paper does not prove this, but the tests check it.

Points in which the paper is vague or wrong:

* On the way down the paper always takes the first eligible region, which may be a dead end: from
  region-8 to region-2 of its own Fig. 8 this is region-3, which leads only to region-1. The path in
  the paper begins with the virtual channel path to region-6. So here a virtual channel path is
  taken whenever the regions alone do not lead to the end.
* The first eligible region is also wrong for leaving that path. In the 4x7 mesh with the faults
  1,1 and 1,5 and 2,3 the path from region-5 to region-2 passes region-3 and then region-4; region-3
  leads only to region-1. Here the path is left for the first region that leads to the end.
* The message ends at the eye of the last region that is closest to the source. Two eyes may be
  equally close: from 4,6 to region-2 these are 3,1 and 5,1. The paper takes 5,1, which is closer to
  the node at which the message enters the region.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .blocks import Node
from .regions import NO_REGION, FaultRegions

VCS = 2
"""Number of VCs that paths use: 0, and 1 on virtual channel paths."""


@dataclass(frozen=True)
class RegionPath:
    """The ``regions`` that a unicast passes, both ends included; each touches the next.

    If ``block`` is not None, one pair does not touch: the block's virtual channel path joins it.
    This is the last pair on the way up the sequence and the first pair on the way down.
    """

    regions: tuple[int, ...]
    block: int | None = None


def region_path(mesh: FaultRegions, start: int, end: int) -> RegionPath:
    """Return the regions on the path from region ``start`` to region ``end``."""
    path = _touching(mesh, start, end)
    if path[-1] == end:
        return RegionPath(path)
    if start < end:
        return RegionPath((*path, end), mesh.block_below(end))
    block = mesh.block_below(start)
    landings = sorted(r for r in _contacts(mesh, block) if end <= r < start)
    ways = (_touching(mesh, landing, end) for landing in landings)
    return RegionPath((start, *next(way for way in ways if way[-1] == end)), block)


def _touching(mesh: FaultRegions, start: int, end: int) -> tuple[int, ...]:
    """Return the touching regions from ``start`` on, until ``end`` or a dead end."""
    path = [start]
    while path[-1] != end:
        if start < end:
            eligible = [region for region in mesh.east(path[-1]) if region <= end][-1:]
        else:
            eligible = [region for region in mesh.west(path[-1]) if region >= end][:1]
        if not eligible:
            break
        path += eligible
    return tuple(path)


def _contacts(mesh: FaultRegions, block: int) -> dict[int, list[Node]]:
    """Return the regions just west of L4 of ``block``, with the nodes of L4 that each touches."""
    rows = np.arange(mesh.boundaries.blocks[block].bottom)
    columns = mesh.boundaries.first_right[block, rows]
    regions = mesh.region_numbers[columns - 1, rows].tolist()
    found: dict[int, list[Node]] = {}
    for region, node in zip(
        regions, zip(columns.tolist(), rows.tolist(), strict=True), strict=True
    ):
        if region != NO_REGION:
            found.setdefault(region, []).append(node)
    return found


class Walk:
    """A path under construction: its ``nodes`` and the VC of each link."""

    def __init__(self, start: Node) -> None:
        self.nodes = [start]
        self.vcs: list[int] = []

    @property
    def at(self) -> Node:
        """The last node."""
        return self.nodes[-1]

    def to_column(self, column: int, vc: int = 0) -> None:
        """Extend the path along x to ``column``."""
        x, y = self.at
        self._append([(place, y) for place in _after(x, column)], vc)

    def to_row(self, row: int) -> None:
        """Extend the path along y to ``row``."""
        x, y = self.at
        self._append([(x, place) for place in _after(y, row)], 0)

    def follow(self, channel_path: list[Node], end: Node) -> None:
        """Extend the path along a virtual channel path to ``end``."""
        here, there = channel_path.index(self.at), channel_path.index(end)
        self._append([channel_path[place] for place in _after(here, there)], 1)

    def _append(self, nodes: list[Node], vc: int) -> None:
        self.nodes += nodes
        self.vcs += [vc] * len(nodes)


def _after(begin: int, end: int) -> range:
    """Return the numbers after ``begin`` up or down to ``end``, ``end`` included."""
    step = 1 if end > begin else -1
    return range(begin + step, end + step, step)


def unicast(mesh: FaultRegions, source: Node, start: int, end: int) -> Walk:
    """Return the path of Algorithm 5 from ``source`` in region ``start`` to an eye of ``end``."""
    walk = Walk(source)
    path = region_path(mesh, start, end)
    hops = list(pairwise(path.regions))
    if path.block is None:
        _cross(mesh, walk, hops)
    elif start < end:
        _cross(mesh, walk, hops[:-1])
        _climb(mesh, walk, *hops[-1], path.block)
    else:
        _descend(mesh, walk, *hops[0], path.block)
        _cross(mesh, walk, hops[1:])
    entry = walk.at
    eye = min(mesh.eyes(end), key=lambda eye: (distance(source, eye), distance(entry, eye)))
    on_channel_path = path.block is not None and start < end
    walk.to_column(eye[0], vc=int(on_channel_path))
    walk.to_row(eye[1])
    return walk


def _cross(mesh: FaultRegions, walk: Walk, hops: list[tuple[int, int]]) -> None:
    """Extend the path from region to region where they touch."""
    for here, there in hops:
        place, following = mesh.regions[here], mesh.regions[there]
        eastward = place.right < following.left
        walk.to_column(place.right if eastward else place.left)
        walk.to_row(min(max(walk.at[1], following.bottom), following.top))
        walk.to_column(following.left if eastward else following.right)


def _climb(mesh: FaultRegions, walk: Walk, here: int, there: int, block: int) -> None:
    """Extend the path up the virtual channel path to the south-east corner of ``there``."""
    walk.to_column(mesh.regions[here].right)
    row = walk.at[1]
    column, row = min(_contacts(mesh, block)[here], key=lambda node: abs(node[1] - row))
    walk.to_row(row)
    walk.to_column(column)
    corner = mesh.regions[there].right, mesh.regions[there].bottom
    walk.follow(mesh.boundaries.channel_path(block), corner)


def _descend(mesh: FaultRegions, walk: Walk, here: int, there: int, block: int) -> None:
    """Extend the path down the virtual channel path of ``block`` until it touches ``there``."""
    walk.to_row(mesh.regions[here].bottom)
    walk.follow(mesh.boundaries.channel_path(block), _contacts(mesh, block)[there][-1])
    walk.to_column(mesh.regions[there].right)


def distance(a: Node, b: Node) -> int:
    """Return the number of links between two nodes of a mesh without faults."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1])
