"""The eye broadcast: from any node of a 2^k x 2^k x ... mesh to all nodes, through the eyes.

S. Cang and J. Wu, "Minimizing Total Communication Distance of a Time-Step Optimal Broadcast in
Mesh Networks", 1998, is called *1998* below. Their "Time-Step Optimal Broadcasting in 3-D Meshes
with Minimum Total Communication Distance" is called *3-D*; its section 2 reviews 1998, and the rest
extends it to more dimensions. Equation numbers are those of 1998; those of 3-D are in
:mod:`.eye_tcd`.

**Eyes** (1998, Definition 2). The four nodes of a 2x2 mesh are its eyes. A 2^k x 2^k mesh consists
of four submeshes with four eyes each. In each submesh, the eye closest to the center of the mesh is
an eye of the mesh. In this 8x8 mesh ``1`` to ``4`` are its eyes and ``e`` the other eyes of its
submeshes::

      0 1 2 3 4 5 6 7  x
    0 . . . . . . . .
    1 . e e . . e e .       A single node counts as all four of its eyes, so 1x1 and 2x2 are
    2 . e 1 . . 2 e .       no special cases.
    3 . . . . . . . .
    4 . . . . . . . .       The sides of the eye-square 1-2-4-3 have a_k = 3 links.
    5 . e 3 . . 4 e .
    6 . e e . . e e .
    7 . . . . . . . .
    y

**Algorithm 1** (1998, section 3), with the mesh turned so that the source is in the upper-left
submesh:

1. The source sends to eye 2.
2. Eye 2 sends to eye 4; the source sends to eye 3, or to the upper-left eye of the lower-left
   submesh if that is closer.
3. Each submesh now has one node with the message, and does the same.

Choices that the papers leave open:

* "Rotate the mesh" would exchange x and y for half of the submeshes. Here the mesh is reflected
  instead, left to right and top to bottom, so the first send of each level always goes along x
  first. 3-D, section 2, gives 17 from (1, 0) and 16 from (0, 1) in a 4x4 mesh, as counted here.
* "Closer" has no ties: both candidates are in one row, a_(k-1) links apart, which is odd for
  k > 1; for k = 1 they are one node.
* The papers give no routes. Along x first and then y, no two sends of a step share a link, from any
  source: sends of different submeshes stay in their submeshes. Of the two sends of a second step,
  one stays in the left half of its submesh and one in the right half. The same holds for y first.
  Both were counted for every source for k <= 5.
* The example of 1998, section 2, sends from (0, 0) of an 8x8 mesh to (5, 1), (1, 5) and (5, 5), at
  a TCD of 79. Algorithm 1 sends to (5, 2), (1, 5) and (5, 5), also at 79, as in 3-D, section 2.

Theorem 2 of 1998, that no broadcast in 2k steps costs less, is wrong away from the eyes
(``docs/errata.md``); :mod:`.minimum` has the least TCD.

**d dimensions** (3-D, sections 3 and 4). A mesh with d axes of 2^k has 2^d eyes, at both
coordinates of :func:`eye_line` on each axis. Each level takes d steps. In step *i* every node that
has the message sends across axis *i*. The target's coordinate is

* on axis *i* that of the eyes on the other side;
* on the axes not yet cut that of the mesh's eyes on the sender's side;
* on the axes already cut the closer of its submesh's two eye coordinates on that side.

In two dimensions this is Algorithm 1, in three Algorithm 2 (steps 3 and 4). Its second and third
steps go along the paper's z and y, here along axis 1 and axis 2. From an eye all sends are
straight, which is Algorithm 3. The routes go along axis 0 first, then axis 1, and so on. They share
no link in a step: :mod:`.boxes`. The scan of Fig. 5 of 3-D has lost its numbers, so the tests use
Theorem 1 instead.

**Tori** (3-D, section 5). All nodes are alike, so nodes are numbered so that the source is an eye.
The paper claims without proof that this is the least for a torus. An exhaustive search agrees for
rings of 8 and 16; in 4x4 and 4x4x4 the TCD is one link for each node, the least possible.
"""

from itertools import product
from math import log2

import numpy as np
import numpy.typing as npt

from ...base.arrays import Int32s
from ...network.topology import Topology
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared, rooted
from .boxes import Broadcast, Numbering, doubling_schedule, node_numbers


def eye_square_side(k: int) -> int:
    """Return a_k, the links along a side of the eye-square, in closed form (Eq. 2).

    The scan of 1998 has lost the factor 1/3, which Eq. 1 of 3-D has. Holds for k = 0 too.
    """
    return ((1 << k) - _sign(k)) // 3


def eye_square_side_recursive(k: int) -> int:
    """Return a_k by recursion (Eq. 1): a_k = 2^(k-1) - a_(k-1), from a_0 = 0.

    The paper starts from a_1 = 1, which the recursion gives.
    """
    return (1 << k - 1) - eye_square_side_recursive(k - 1) if k else 0


def eye_line(k: int) -> tuple[int, int]:
    """Return the two coordinates of eyes along either axis, ``low, high`` (3-D, section 2.1).

    Eye 1 is (low, low), eye 2 (high, low), eye 3 (low, high) and eye 4 (high, high).
    """
    return ((2 << k) + _sign(k) - 3) // 6, ((4 << k) - _sign(k) - 3) // 6


def eyes(topology: Topology) -> tuple[int, ...]:
    """Return the eyes of a d-dimensional 2^k mesh: eye 1 first, then those along axis 0, and so on.

    If eyes coincide, as in 1x1, each is listed once. In a torus every node is an eye.
    """
    k = _levels(topology)
    if topology.wrapped:
        return tuple(range(topology.nodes))
    corners = (corner[::-1] for corner in product(eye_line(k), repeat=len(topology.dims)))
    return tuple(dict.fromkeys(topology.node_at(corner) for corner in corners))


def _sign(k: int) -> int:
    """Return (-1)^k."""
    return 1 - 2 * (k % 2)


def eye_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast ``words`` words from the node ``source`` of a d-dimensional 2^k mesh or torus.

    Uses Algorithm 1 in two dimensions, Algorithm 2 in three (Algorithm 3 from an eye), and section
    4 of 3-D in d. The schedule has d k steps and is half-duplex. Raises :class:`.InvalidInput` for
    any other topology, a source outside it and a message without words.
    """
    k = _levels(topology)
    broadcast = Broadcast(topology, "eye", source, words)
    axes = len(topology.dims)
    numbering = Numbering.of(topology, source, (eye_line(k)[0],) * axes)
    reached = np.empty((axes, topology.nodes), dtype=np.int32)
    reached[:, 0] = numbering.start
    holders = 1
    for level in range(k, 0, -1):
        across, after_cut, before_cut = _target_coordinates(k, level)
        for cut in range(axes):
            for axis in range(axes):
                table = across if axis == cut else after_cut if axis < cut else before_cut
                reached[axis, holders : 2 * holders] = table[reached[axis, :holders]]
            holders *= 2
    return doubling_schedule(broadcast, numbering, node_numbers(topology.dims, reached))


def _levels(topology: Topology) -> int:
    """Return the k of a mesh or torus whose sides are all 2^k."""
    side = topology.dims[0] if topology.dims else 0
    equal = set(topology.dims) == {side} and side.bit_count() == 1
    if equal and topology.whole_grid:
        return side.bit_length() - 1
    allowed = "a mesh or torus with sides of 2^k (8, 4x4, 8x8x8, ...)"
    if topology.without_faults is not None:
        allowed = "a mesh or torus without faults"
    elif topology.whole_grid:
        axes = len(topology.dims)
        kind = "torus" if topology.wrapped else "mesh"
        examples = ", ".join("x".join([str(1 << k)] * axes) for k in range(4))
        nearest = "x".join([str(1 << int(log2(topology.nodes) / axes + 0.5))] * axes)
        allowed = f"a {' x '.join(['2^k'] * axes)} {kind} ({examples}, ...)"
        allowed += f", of which the nearest is {nearest}"
    raise topology.refusal("the eye broadcast", allowed)


def _target_coordinates(k: int, level: int) -> tuple[Int32s, Int32s, Int32s]:
    """Return the target's coordinates for sends in submeshes of side 2^level.

    Three tables of shape (2^k,), by the sender's coordinate: on the axis of the cut; on the axes
    that this level has cut before, where the closer of two eye coordinates is taken; and on the
    axes that it has not cut yet.
    """
    coordinates = np.arange(1 << k, dtype=np.int32)
    last = (1 << level) - 1
    corner = coordinates & ~last
    local = coordinates & last
    far = 2 * local > last
    near = np.where(far, last - local, local)
    low, high = eye_line(level)
    inner = eye_line(level - 1)[0]
    closer = np.where(np.abs(near - inner) < np.abs(near - low), inner, low)

    def turned_back(line: int | npt.NDArray[np.int64]) -> Int32s:
        return (corner + np.where(far, last - line, line)).astype(np.int32)

    return turned_back(high), turned_back(closer), turned_back(low)


def eye_tcd_recursive(k: int) -> int:
    """Return D_k(E_k), the TCD of Algorithm 1 from an eye, by recursion (Eq. 3) from D_0 = 0."""
    return 3 * eye_square_side(k) + 4 * eye_tcd_recursive(k - 1) if k else 0


def eye_tcd(k: int) -> int:
    """Return D_k(E_k) in closed form (Eq. 10; Eq. 3 of 3-D), by Corollary 1 the optimum.

    >>> [eye_tcd(k) for k in range(7)]
    [0, 3, 15, 69, 291, 1197, 4851]
    """
    return ((6 << 2 * k) - _sign(k)) // 5 - (1 << k)


def source_excess(k: int, u: int, v: int) -> int:
    """Return f_k(u, v), the source's excess over an eye in the first two steps, in links (Eq. 5).

    ``u`` and ``v`` lead from eye 1 towards the corner of its submesh, left and up. The six regions
    differ in the signs of u and v and in whether u > a_(k-1)/2, where the second send of the source
    goes to the upper-left eye. The paper bounds u and v by 2^(k-1) - 1 - a_k/2, which leaves out
    the outermost row and column, at 2^(k-1) - 1/2 - a_k/2; they belong to the same regions.
    """
    inner = eye_square_side(k - 1)
    along_x = 2 * max(u, 0) if 2 * u <= inner else u + abs(u - inner)
    return along_x + 2 * max(v, 0)


def source_tcd(k: int, x: int, y: int) -> int:
    """Return D_k(S), the TCD of Algorithm 1 from the node (x, y) (Eqs. 4 and 5), from D_0 = 0.

    D_k(S) = f_k(S) + 3 a_k + D_(k-1)(S) + 3 D_(k-1)(E_(k-1)): the source goes on in its own
    submesh, and the other three start from eyes. The paper starts from k = 2; k = 1 obeys too.
    """
    if k == 0:
        return 0
    x, y = (min(c, (1 << k) - 1 - c) for c in (x, y))
    eye = eye_line(k)[0]
    first_two = source_excess(k, eye - x, eye - y) + 3 * eye_square_side(k)
    return first_two + source_tcd(k - 1, x, y) + 3 * eye_tcd(k - 1)


def corner_tcd_recursive(k: int) -> int:
    """Return D_k(0, 0), the TCD of Algorithm 1 from a corner, by recursion (Eq. 8) from 0 and 3."""
    if k < 2:
        return 3 * k
    first_two = (5 << k - 1) - 2 - 2 * eye_square_side(k - 1)
    return first_two + corner_tcd_recursive(k - 1) + 3 * eye_tcd(k - 1)


def corner_tcd(k: int) -> int:
    """Return D_k(0, 0) in closed form (Eq. 9): 6/5 4^k + 4/3 2^k - 2k - (-1)^k/30 - 5/2.

    The scan has lost the fractions; these were derived from Eq. 8 by summing it.

    >>> [corner_tcd(k) for k in range(5)]
    [0, 3, 18, 79, 318]
    """
    return ((36 << 2 * k) + (40 << k) - 60 * k - _sign(k) - 75) // 30


FIRST = "the nearest eye of the other half (from an eye, a broadcast crosses the fewest links)"

ALGORITHM = Declared(
    Collective.BROADCAST,
    "eye",
    rooted(eye_broadcast),
    networks="meshes and tori of equal sides 2^k",
    steps="log2 N",
    paper="Cang & Wu 1998",
    landmarks=eyes,
    first=FIRST,
)
