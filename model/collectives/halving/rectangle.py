"""The eye broadcast in a mesh or torus of any sides, from any node.

Z. Jiang and J. Wu, "Fault-Tolerant Broadcasting in 2-D Wormhole-Routed Meshes", section 3, extend
the eye broadcast to m x n meshes. On an axis of m nodes an eye is D_m links from one of its ends.
**Algorithm 2**, with the mesh turned so that the source is in the left half A::

      <---- A: ceil(m/2) ----><-- B: floor(m/2) -->
      . . . . . E . . . . . . | . . . E' . . . . .        E  is D_m from the left end and
                  <- D_ceil ->|<- D_floor ->              D_ceil(m/2) from the cut
                <------- A_m ------>

1. The source E sends to the closest eye E' of B.
2. A and B do the same, until they are single nodes.

The paper says m >= n, and its Fig. 5 cuts the longest axis, x if the sides are equal. So here each
box is cut across its longest axis, the first of equals.

Choices that the paper leaves open:

* *Other sources.* The paper's source is an eye. Here any source does the same. A source in the
  middle of an odd axis has the larger half on the side of coordinate 0. Of two equally far eyes it
  takes the one with the lower coordinate. Then in a 2^k mesh all sends are those of :mod:`.eye`,
  from every source.
* *More axes.* Section 3 does not depend on their number: an eye's distance from the ends, and the
  effect of a cut on it, concern one axis. The tests count that Theorem 3 holds with Eq. 16 of Cang
  & Wu (:func:`.eye_tcd.grid_eye_tcd`).
* *Tori.* As in Cang & Wu's 3-D paper, section 5: number the nodes so that the source is an eye.
* *Steps.* Every cut rounds the first half up, so every source takes ceil(lg m) + ceil(lg n) steps.
  For many meshes this is more than ceil(lg mn): 6 for 5x5, where 5 would be possible.

``docs/errata.md`` says where the paper errs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt

from ...network.topology import Topology
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared, rooted
from .boxes import Broadcast, Coordinates, Numbering, halving_schedule, node_numbers
from .eye import FIRST


@cache
def eye_distance(side: int) -> int:
    """Return D_k, the links from an eye to the nearer end of an axis of ``side`` nodes (3.1).

    >>> [eye_distance(side) for side in (1, 2, 5, 7, 8)]
    [0, 0, 1, 2, 2]
    """
    if side == 1:
        return 0
    half = (side + 1) // 2
    return half - 1 - eye_distance(half)


def eye_link(side: int) -> int:
    """Return A_m, the links from an eye to the closest eye of the other half (Eq. 6).

    ``side`` is at least 2.

    >>> [eye_link(side) for side in (2, 7, 22, 189)]
    [1, 3, 9, 62]
    """
    return 1 + eye_distance(side // 2) + eye_distance((side + 1) // 2)


def rectangle_eyes(topology: Topology) -> tuple[int, ...]:
    """Return the eyes of a mesh, each once, axis 0 first; in a torus all nodes are eyes."""
    _require_grid(topology)
    if topology.wrapped:
        return tuple(range(topology.nodes))
    lines = [(eye_distance(side), side - 1 - eye_distance(side)) for side in topology.dims]
    corners = (corner[::-1] for corner in product(*reversed(lines)))
    return tuple(dict.fromkeys(topology.node_at(corner) for corner in corners))


@cache
def rectangle_tcd(dims: tuple[int, ...]) -> int:
    """Return ED, the TCD from an eye, by the recursion in the proof of Theorem 3.

    >>> rectangle_tcd((7, 8)), rectangle_tcd((8, 8))
    (61, 69)
    """
    longest = max(dims)
    if longest == 1:
        return 0
    sides = sorted(dims)[:-1]
    halves = ((longest + 1) // 2, longest // 2)
    return eye_link(longest) + sum(rectangle_tcd(tuple(sorted([*sides, half]))) for half in halves)


def rectangle_steps(dims: tuple[int, ...]) -> int:
    """Return the steps from any source: the sum of ceil(lg side) over all axes (Theorem 6)."""
    return sum((side - 1).bit_length() for side in dims)


def rectangle_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast ``words`` words from ``source`` in a mesh or torus by Algorithm 2.

    The schedule is half-duplex. Raises :class:`.InvalidInput` for any other topology and one with
    faults, a source outside it and a message without words.
    """
    _require_grid(topology)
    broadcast = Broadcast(topology, "rectangle", source, words)
    dims = topology.dims
    eye = tuple(eye_distance(side) for side in dims)
    numbering = Numbering.of(topology, source, eye)
    boxes = _Boxes(
        np.zeros((len(dims), 1), dtype=np.int32),
        np.array([dims], dtype=np.int32).T,
        np.array([numbering.start], dtype=np.int32).T,
    )
    none = np.empty(0, dtype=np.int32)
    steps, sources, targets = [none], [none], [none]
    for step in range(1, rectangle_steps(dims) + 1):
        boxes = boxes.of_several_nodes()
        nodes = boxes.holders.shape[1]
        boxes = boxes.halved()
        steps.append(np.full(nodes, step, dtype=np.int32))
        sources.append(node_numbers(dims, boxes.holders[:, :nodes]))
        targets.append(node_numbers(dims, boxes.holders[:, nodes:]))
    return halving_schedule(
        broadcast,
        numbering,
        np.concatenate(steps),
        np.concatenate(sources),
        np.concatenate(targets),
    )


def _require_grid(topology: Topology) -> None:
    if not topology.whole_grid:
        allowed = "a mesh or torus"
        if topology.without_faults is not None:
            allowed += " without faults"
        raise topology.refusal("the rectangle broadcast", allowed)


@dataclass(frozen=True)
class _Boxes:
    """Boxes of nodes, each with one node that has the message.

    ``corners`` are the lowest coordinates of the boxes, ``sides`` their lengths and ``holders`` the
    coordinates of the nodes that have the message; shapes (axes, boxes).
    """

    corners: Coordinates
    sides: Coordinates
    holders: Coordinates

    def of_several_nodes(self) -> _Boxes:
        """Return the boxes that can be cut."""
        cut = self.sides.max(axis=0) > 1
        return _Boxes(self.corners[:, cut], self.sides[:, cut], self.holders[:, cut])

    def halved(self) -> _Boxes:
        """Return the halves A of all boxes, then the halves B; A's holders send to B's holders."""
        numbers = np.arange(self.sides.shape[1])
        axis = self.sides.argmax(axis=0)
        distances = _eye_distances(int(self.sides.max(initial=1)))

        local = self.holders - self.corners
        low = distances[self.sides]
        high = self.sides - 1 - low
        targets = np.where(local - low <= high - local, low, high)

        longest = self.sides[axis, numbers]
        larger = (longest + 1) // 2
        smaller = longest - larger
        turned = local[axis, numbers] >= larger
        near_eye = distances[smaller]
        targets[axis, numbers] = np.where(turned, smaller - 1 - near_eye, larger + near_eye)
        targets += self.corners

        sides, other_sides = self.sides.copy(), self.sides.copy()
        sides[axis, numbers], other_sides[axis, numbers] = larger, smaller
        corners, other_corners = self.corners.copy(), self.corners.copy()
        corners[axis, numbers] += np.where(turned, smaller, 0)
        other_corners[axis, numbers] += np.where(turned, 0, larger)
        return _Boxes(
            np.concatenate((corners, other_corners), axis=1),
            np.concatenate((sides, other_sides), axis=1),
            np.concatenate((self.holders, targets), axis=1),
        )


def _eye_distances(longest: int) -> npt.NDArray[np.int32]:
    """Return D_k for all k up to ``longest``: shape (longest + 1,), with 0 for k = 0."""
    distances = np.zeros(longest + 1, dtype=np.int32)
    for side in range(2, longest + 1):
        half = (side + 1) // 2
        distances[side] = half - 1 - distances[half]
    return distances


ALGORITHM = Declared(
    Collective.BROADCAST,
    "rectangle",
    rooted(rectangle_broadcast),
    networks="meshes and tori",
    steps="sum of ⌈log2 n⌉",
    paper="Jiang & Wu, section 3",
    landmarks=rectangle_eyes,
    first=FIRST,
)
