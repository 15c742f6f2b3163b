"""The eye broadcast: from any node of a 2^k x 2^k mesh to all, in 2k steps, by way of the eyes.

S. Cang and J. Wu, "Minimizing Total Communication Distance of a Time-Step Optimal Broadcast in
Mesh Networks", 1998, is called *1998* below; section 2 of their "Time-Step Optimal Broadcasting in
3-D Meshes with Minimum Total Communication Distance", called *3-D*, reviews it. Equation numbers
are those of 1998.

**Eyes** (1998, Definition 2). The four nodes of a 2x2 mesh are its eyes. A 2^k x 2^k mesh consists
of four submeshes with four eyes each; of these sixteen, the one of each submesh that is closest to
the center of the mesh is an eye of the mesh. The 8x8 mesh, ``1`` to ``4`` its eyes and ``e`` the
other eyes of its submeshes::

      0 1 2 3 4 5 6 7  x
    0 . . . . . . . .
    1 . e e . . e e .       A single node is its own eye, four times over, so that 1x1 and 2x2
    2 . e 1 . . 2 e .       are no special cases.
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

What the papers leave open, and what holds here:

* "Rotate the mesh" would exchange x and y for half of the submeshes. Here the mesh is reflected
  instead, left to right and top to bottom, so that the first send of each level always goes along
  x first. 3-D, section 2, gives 17 from (1, 0) and 16 from (0, 1) in a 4x4 mesh, as counted here.
* "Closer" has no ties: both candidates are in one row, a_(k-1) links apart, which is odd for
  k > 1; for k = 1 they are one node.
* The routes are not given. Along x first and then y, no two sends of a step share a link, whatever
  the source: sends of different submeshes stay in their submeshes, and of the two sends of a second
  step one stays in the left half and the other in the right half of its submesh. The same holds
  for y first. Counted for every source for k <= 5, both ways.
* The example of 1998, section 2, sends from (0, 0) of an 8x8 mesh to (5, 1), (1, 5) and (5, 5), at
  a TCD of 79. Algorithm 1 sends to (5, 2), (1, 5) and (5, 5), also at 79, as in 3-D, section 2.

Theorem 2 of 1998 says that no broadcast in 2k steps from the same source has a smaller TCD. This is
wrong away from the eyes: mirroring the 4x4 mesh in its diagonal turns the broadcast from (0, 1),
which costs 16, into one from (1, 0), for which Algorithm 1 takes 17. (The proof begins with 17 for
both nodes; section 2 of the same paper has 16.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .errors import InvalidInput, require_range
from .routes import dimension_order
from .schedule import Blocks, Schedule
from .topology import Topology

Coordinates = npt.NDArray[np.int32]
"""Nodes as (x, y): shape (nodes, 2)."""


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
    """Return the eyes of a 2^k x 2^k mesh, eye 1 first; those of 1x1 and 2x2 once each."""
    low, high = eye_line(_levels(topology))
    corners = ((low, low), (high, low), (low, high), (high, high))
    return tuple(dict.fromkeys(topology.node_at(corner) for corner in corners))


def _sign(k: int) -> int:
    """Return (-1)^k."""
    return 1 - 2 * (k % 2)


def eye_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast ``words`` words from the node ``source`` of a 2^k x 2^k mesh by Algorithm 1.

    The schedule has 2k steps and is half-duplex. Raises :class:`InvalidInput` for any other
    topology, a source outside it and a message without words.
    """
    k = _levels(topology)
    require_range("source", source, 0, topology.nodes - 1)
    blocks = Blocks.of_broadcast(source, words)

    holders = topology.coordinates([source]).astype(np.int32)
    sources, targets, steps = [holders[:0]], [holders[:0]], [np.empty(0, np.int32)]
    for level in range(k, 0, -1):
        second, third, fourth = _targets(holders, level)
        sources += [holders, holders, second]
        targets += [second, third, fourth]
        first_step = 2 * (k - level) + 1
        steps += [np.full(len(holders), first_step + later, np.int32) for later in (0, 1, 1)]
        holders = np.concatenate((holders, second, third, fourth))

    source_nodes = _nodes(topology, np.concatenate(sources))
    target_nodes = _nodes(topology, np.concatenate(targets))
    path_offsets, path_nodes = dimension_order(topology, source_nodes, target_nodes)
    sends = source_nodes.size
    return Schedule(
        topology=topology,
        collective="broadcast",
        algorithm="eye",
        port_model="half-duplex",
        root=source,
        blocks=blocks,
        step=np.concatenate(steps),
        source=source_nodes,
        target=target_nodes,
        path_offsets=path_offsets,
        path_nodes=path_nodes,
        vcs=np.zeros(path_nodes.size - sends, dtype=np.int32),
        block_offsets=np.arange(sends + 1),
        block_ids=np.zeros(sends, dtype=np.int32),
    )


def _levels(topology: Topology) -> int:
    """Return the k of a 2^k x 2^k mesh."""
    k = (topology.nodes.bit_length() - 1) // 2
    whole_mesh = topology.kind == "mesh" and topology.without_faults is None
    if whole_mesh and topology.dims == (1 << k, 1 << k):
        return k
    allowed = "a 2^k x 2^k mesh (1x1, 2x2, 4x4, 8x8, ...)"
    if topology.kind == "mesh" and len(topology.dims) == 2:
        side = 1 << topology.nodes.bit_length() // 2
        allowed += f", of which the nearest is {side}x{side}"
    raise InvalidInput.of("network for the eye broadcast", allowed, f"a {topology.label}")


def _targets(holders: Coordinates, k: int) -> tuple[Coordinates, Coordinates, Coordinates]:
    """Return the targets of the first two steps of all 2^k x 2^k submeshes at once.

    ``holders`` has the one node of each submesh that has the message, its source. The targets are,
    in this order, eye 2, that of the source's second send, and eye 4.
    """
    side = 1 << k
    corner = holders & -side
    local = holders & (side - 1)
    far = local >= side // 2
    near = np.where(far, side - 1 - local, local)

    def turned_back(x: int | npt.NDArray[np.int32], y: int) -> Coordinates:
        there = np.empty_like(holders)
        there[:, 0], there[:, 1] = x, y
        there[far] = side - 1 - there[far]
        there += corner
        return there

    low, high = eye_line(k)
    inner = eye_line(k - 1)[0]
    x = near[:, 0]
    closer = np.where(np.abs(x - inner) < np.abs(x - low), inner, low)
    third = turned_back(closer.astype(np.int32), high)
    return turned_back(high, low), third, turned_back(high, high)


def _nodes(topology: Topology, coordinates: Coordinates) -> npt.NDArray[np.int32]:
    return coordinates[:, 0] + topology.dims[0] * coordinates[:, 1]


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
    """Return f_k(u, v), the links that a source costs beyond an eye in the first two steps (Eq. 5).

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
