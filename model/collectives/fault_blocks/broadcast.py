"""Broadcast in a 2-D mesh with fault blocks: between its fault-free regions, then within each.

Z. Jiang and J. Wu, "Fault-Tolerant Broadcasting in 2-D Wormhole-Routed Meshes", section 4.
**Algorithm 6**:

1. The mesh is cut at its fault blocks into a sequence of rectangular regions
   (:mod:`.blocks`, :mod:`.regions`).
2. The source sends to the closest eye of its region, unless it is an eye.
3. That eye sends to an eye of the middle region of the sequence. Each half does the same, until
   every region has the message at an eye (Algorithm 4; the paths are those of :mod:`.unicasts`).
4. Each region does the broadcast of section 3 from its eye (:mod:`..halving.rectangle`).

Disabled nodes, which are not faulty but in a fault block, are in no region. The paper does not
serve them. So the schedule owes the message only to the enabled nodes; if there are disabled nodes,
it is no broadcast but custom (:mod:`...schedule.promises`).

**No two sends of a step share a channel.** Theorem 5 says so, and with the VCs of :mod:`.unicasts`
it is true. In a step the sends are in ranges of the sequence, at last in single regions, which have
no region in common.

* A link with VC 0 lies in a region of the range, or begins or ends at the west end of such a
  region, where a virtual channel path is entered or left. No other range has such a link.
* Let two ranges use the virtual channel paths of blocks f and g, the range that is earlier in the
  sequence that of f. It has a region right of the boundary of f, so all regions of the later range
  are right of the boundary of f too. The blocks f and g differ, as only one range has regions on
  both sides of a boundary. Boundaries that meet in a row stay together below this row. If the paths
  had a common link, the later range would enter or leave its path below this row, in a region left
  of the boundary of g, and so left of that of f: a contradiction.

The tests check that routes of random fault sets have no circle of waiting channels
(:mod:`...program.deadlock`). But two VCs of a link share its one flit per cycle, and a range may
send through regions of another range::

    y = 2   . 2 . . .       5x3 mesh, # faulty, source 2,0. Step 4: 1,2 (2) sends to 1,0 (1) by the
        1   . # 3 # .       virtual channel path 2,2 -> 2,1 -> 2,0, while 2,1 (3) sends to 3,0 (4)
        0   . 1 . 4 .       on VC 0 of the link 2,1 -> 2,0.

With VC 0 alone both messages would share a channel, so the virtual channels are needed. With them
the messages still slow each other down. This is the smallest mesh in which this happens.

Where the paper is vague or errs:

* Algorithm 4 gives its halves as r_s to r_floor((s+d)/2) and r_ceil((s+d)/2) to r_d. With an odd
  number of regions both halves have the middle one. Table 1 cuts [1, 5] into [1, 2] and [3, 5];
  like there, our second half has one more. Algorithm 4 has the sender in the first half; in Table 1
  region-4 sends to region-2. So the send goes to the region at the cut, on the other side.
* The paper calls a node on the edge of a polygon a *corner* if all its four neighbors are in the
  polygon. By that, 4,5 and 7,5 of Fig. 8 are no corners: 4,4 is faulty, and 8,5 is in another
  polygon. Here a corner is where the rows of a polygon change from one column to the next. With
  this definition Theorem 4 holds.
* A source that is no eye has the message before its region's broadcast reaches it. The send to it
  is left out; its own sends remain.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...base.arrays import Int32s
from ...base.errors import InvalidInput, require_range
from ...base.ragged import offsets_of
from ...network.topology import Topology, mesh
from ...schedule.blocks import Blocks
from ...schedule.builder import one_block_schedule
from ...schedule.collective import Collective
from ...schedule.promises import broadcast_name
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared, rooted
from ..halving.rectangle import rectangle_broadcast, rectangle_steps, rectangle_tcd
from .blocks import NO_BLOCK, Node
from .regions import NO_REGION, FaultRegions
from .unicasts import Walk, distance, unicast


def most_steps(dims: tuple[int, ...], blocks: int) -> int:
    """Return the bound on the steps with this number of fault blocks (Theorem 6).

    >>> most_steps((10, 13), 3)
    13
    """
    return 1 + (3 * blocks).bit_length() + rectangle_steps(dims)


def most_tcd(dims: tuple[int, int], blocks: int) -> int:
    """Return the bound on the TCD with this number of fault blocks (Theorem 6)."""
    m, n = dims
    regions = 3 * blocks + 1
    return regions * (2 * m + 2 * n + rectangle_tcd(dims) - m * n) + m * n + 3 * blocks


def theorem_6_bounds(topology: Topology) -> dict[str, int]:
    """Return the most ``steps`` and the most ``tcd`` from any source (Theorem 6)."""
    blocks = len(FaultRegions.of(topology).boundaries.blocks)
    width, height = topology.dims
    return {
        "steps": most_steps(topology.dims, blocks),
        "tcd": most_tcd((width, height), blocks),
    }


def region_eyes(topology: Topology) -> tuple[int, ...]:
    """Return the eyes of all regions; raises as :func:`.blocks.fault_blocks` does."""
    regions = FaultRegions.of(topology)
    numbers = range(len(regions.regions))
    return tuple(topology.node_at(eye) for number in numbers for eye in regions.eyes(number))


def jiang_wu_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast ``words`` words from ``source`` in a 2-D mesh with faulty nodes off its edge.

    The schedule is half-duplex and uses at most :data:`.unicasts.VCS` VCs. Its block is owed to
    the nodes outside of fault blocks. Raises :class:`InvalidInput` for any other network, for
    faulty links or a faulty node on the edge of the mesh, for a source in a fault block or outside
    the mesh, and for a message without words.
    """
    regions = FaultRegions.of(topology)
    _require_source(topology, regions, source)
    blocks = Blocks.of_broadcast(source, words)
    if regions.boundaries.blocks:
        enabled = np.flatnonzero(regions.region_numbers.ravel(order="F") != NO_REGION)
        blocks = Blocks(blocks.owner, (tuple(enabled.tolist()),), blocks.words)
    return _schedule(topology, blocks, _sends(topology, regions, source))


def _require_source(topology: Topology, regions: FaultRegions, source: int) -> None:
    require_range("source", source, 0, topology.nodes - 1)
    if source in topology.faulty_nodes:
        raise InvalidInput.of("source", "a node that is not faulty", source)
    block = regions.boundaries.block_numbers.ravel(order="F")[source]
    if block != NO_BLOCK:
        allowed = "a node outside of fault blocks for jiang-wu (use tree instead)"
        where = f"{source}, disabled in the block {regions.boundaries.blocks[block]}"
        raise InvalidInput.of("source", allowed, where)


def region_sends(regions: int, start: int) -> Iterator[tuple[int, int, int]]:
    """Yield (step, from, to) for each send between regions; region ``start`` has the message.

    Steps count from 1; all sends of a step come before those of the next (Algorithm 4).

    >>> list(region_sends(5, 3))
    [(1, 3, 1), (2, 1, 0), (2, 3, 2), (3, 3, 4)]
    """
    ranges = [(0, regions, start)]
    step = 0
    while ranges := [each for each in ranges if each[1] - each[0] > 1]:
        step += 1
        halves = []
        for begin, end, sender in ranges:
            cut = (begin + end) // 2
            receiver = cut if sender < cut else cut - 1
            yield step, sender, receiver
            lower, upper = sorted((sender, receiver))
            halves += [(begin, cut, lower), (cut, end, upper)]
        ranges = halves


class _Sends(NamedTuple):
    """A table of sends: ``step`` and ``lengths`` (nodes of each path), shape (sends,).

    ``path_nodes`` and ``vcs`` are as in :class:`.Schedule`.
    """

    step: Int32s
    lengths: npt.NDArray[np.int64]
    path_nodes: Int32s
    vcs: Int32s


def _sends(topology: Topology, regions: FaultRegions, source: int) -> list[_Sends]:
    """Return the sends of Algorithm 6: those between regions first, then those of each region."""
    x, y = topology.coordinates(source).tolist()
    home = int(regions.region_numbers[x, y])
    walk = Walk((x, y))
    eye = min(regions.eyes(home), key=lambda eye: distance((x, y), eye))
    walk.to_column(eye[0])
    walk.to_row(eye[1])
    walks = [(1, walk)] if walk.vcs else []
    eyes = {home: eye}
    last = len(walks)
    before = last
    for step, sender, receiver in region_sends(len(regions.regions), home):
        walk = unicast(regions, eyes[sender], sender, receiver)
        eyes[receiver] = walk.at
        last = before + step
        walks.append((last, walk))
    within = (_within(topology, regions, region, eye, source) for region, eye in eyes.items())
    later = [sends._replace(step=sends.step + last) for sends in within]
    return [_of_walks(topology, walks), *later]


def _of_walks(topology: Topology, walks: list[tuple[int, Walk]]) -> _Sends:
    width = topology.dims[0]
    nodes = [x + width * y for _, walk in walks for x, y in walk.nodes]
    return _Sends(
        np.array([step for step, _ in walks], np.int32),
        np.array([len(walk.nodes) for _, walk in walks], np.int64),
        np.array(nodes, np.int32),
        np.array([vc for _, walk in walks for vc in walk.vcs], np.int32),
    )


def _within(
    topology: Topology, regions: FaultRegions, region: int, eye: Node, source: int
) -> _Sends:
    """Return the sends of one region's broadcast from its eye, without one to ``source``."""
    place = regions.regions[region]
    whole = mesh(place.sides)
    start = whole.node_at((eye[0] - place.left, eye[1] - place.bottom))
    schedule = rectangle_broadcast(whole, start, 1)
    columns, rows = whole.coordinates(schedule.path_nodes).T
    path_nodes = (place.left + columns + topology.dims[0] * (place.bottom + rows)).astype(np.int32)
    lengths = np.diff(schedule.path_offsets)
    kept = path_nodes[schedule.path_offsets[1:] - 1] != source
    path_nodes = path_nodes[np.repeat(kept, lengths)]
    lengths = lengths[kept]
    vcs = np.zeros(path_nodes.size - lengths.size, np.int32)
    return _Sends(schedule.step[kept], lengths, path_nodes, vcs)


def _schedule(topology: Topology, blocks: Blocks, sends: list[_Sends]) -> Schedule:
    step, lengths, path_nodes, vcs = map(np.concatenate, zip(*sends, strict=True))
    path_offsets = offsets_of(lengths)
    return one_block_schedule(
        "jiang-wu",
        topology,
        blocks,
        step,
        path_offsets,
        path_nodes,
        vcs=vcs,
        collective=broadcast_name(topology, blocks),
    )


ALGORITHM = Declared(
    Collective.BROADCAST,
    "jiang-wu",
    rooted(jiang_wu_broadcast),
    networks="2-D meshes, also with faults off the edge",
    steps="depends on the faults",
    paper="Jiang & Wu, section 4",
    landmarks=region_eyes,
    leaves_out="disabled nodes of fault blocks",
    most=theorem_6_bounds,
)
