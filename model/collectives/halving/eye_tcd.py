"""The TCD of the eye broadcast in any number of dimensions: theorems and equations of 3-D.

S. Cang and J. Wu, "Time-Step Optimal Broadcasting in 3-D Meshes with Minimum Total Communication
Distance", called *3-D* as in :mod:`.eye`, whose equations these are. A mesh has ``axes`` axes and
all its sides are 2^k. *Offsets* are how far a source is from the nearest eye on each axis, positive
towards the border: (u_k, v_k, w_k) in the paper. Its coordinate systems turn, so its second step
goes along z and its third along y; here step *i* of a level goes along axis *i* - 1, and (u, v, w)
belong to the axes 0, 1, 2.

The excess of a source over an eye in the d steps of a level is a sum over the axes, because
distance is. Take axis *i* (from 0) with offset u. Of the d sends of the source

* one crosses axis *i* and costs u more than a_k;
* *i* sends come before the cut of axis *i*, lead to the line of the eye and cost abs(u) each;
* d - 1 - *i* sends come after it, lead to the closer of two eyes of the submesh and cost the lesser
  of abs(u) and abs(u - a_(k-1)) each.

For d = 3 the sum is Eq. 7, for d = 2 it is f_k of the 2-D paper (:func:`.eye.source_excess`); the
paper gives no others. Eq. 4, the side of the eye-cube, is :func:`.eye.eye_square_side`.

``docs/errata.md`` says where the paper errs.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...base.errors import InvalidInput
from .eye import eye_line, eye_square_side

Costs = npt.NDArray[np.int64]


def grid_eye_tcd(axes: int, k: int) -> int:
    """Return MD_k(E_k), the TCD of Algorithm 3 from an eye, in closed form (Theorem 6, Eq. 16).

    Holds for two axes or more, and for k = 0 too. By Theorem 4 it is the least over all sources.
    Raises :class:`.InvalidInput` for fewer axes.

    >>> [grid_eye_tcd(3, k) for k in range(5)]
    [0, 7, 63, 525, 4235]
    """
    if axes < 2:
        raise InvalidInput.of("axes of Eq. 16", "at least 2", axes)
    submeshes, half = 1 << axes, (1 << axes - 1) - 1
    sign = 1 - 2 * (k % 2)
    terms = (3 << axes * (k + 1) - 1) - sign * half - (submeshes + 1 << k)
    return (submeshes - 1) * terms // (3 * (submeshes + 1) * half)


def grid_eye_tcd_recursive(axes: int, k: int) -> int:
    """Return MD_k(E_k) by recursion (Eqs. 6, 12 and 15; Eq. 14 is k = 1), from 0 for one node."""
    if k == 0:
        return 0
    sends = (1 << axes) - 1
    return sends * eye_square_side(k) + (1 << axes) * grid_eye_tcd_recursive(axes, k - 1)


def cube_eye_tcd(k: int) -> int:
    """Return OD_k, the TCD from an eye of a 3-D mesh, in closed form (Theorem 5, Eq. 13)."""
    return 7 * ((4 << 3 * k) - (1 - 2 * (k % 2)) - (3 << k)) // 27


def line_eye_tcd(k: int) -> int:
    """Return the TCD from an eye of a line of 2^k nodes: ((3k + 1) 2^k - (-1)^k) / 9.

    This is Eq. 15 for d = 1, where Eq. 16 is 0/0.

    >>> [line_eye_tcd(k) for k in range(5)]
    [0, 1, 3, 9, 23]
    """
    return (((3 * k + 1) << k) - (1 - 2 * (k % 2))) // 9


def cube_source_excess(k: int, u: int, v: int, w: int) -> int:
    """Return f_k(u, v, w) of a 3-D mesh (Definition 6, Eq. 7).

    The four regions differ in whether u and v are above a_(k-1)/2.
    """
    inner = eye_square_side(k - 1)
    along_u = 2 * abs(u) + u if 2 * u <= inner else abs(u) + 2 * abs(u - inner)
    along_v = 2 * abs(v) + v if 2 * v <= inner else 2 * abs(v) + abs(v - inner)
    return along_u + along_v + 2 * abs(w) + w


def cube_source_tcd(k: int, place: Sequence[int]) -> int:
    """Return D_k(S) of Algorithm 2 from the node at ``place`` of a 3-D mesh (Theorem 1).

    The nine regions differ in whether u and v are at most 0, at most a_(k-1)/2, or above.
    """
    if k == 0:
        return 0
    u, v, w = source_offsets(k, place)
    inner = eye_square_side(k - 1)
    along_u = -u if u <= 0 else 3 * u if 2 * u <= inner else u + 2 * abs(u - inner)
    along_v = -v if v <= 0 else 3 * v if 2 * v <= inner else 2 * v + abs(v - inner)
    first_three = along_u + along_v + 2 * abs(w) + w + 7 * eye_square_side(k)
    half = 1 << k - 1
    submesh = [coordinate % half for coordinate in place]
    return first_three + cube_source_tcd(k - 1, submesh) + 7 * grid_eye_tcd_recursive(3, k - 1)


def source_offsets(k: int, place: Sequence[int]) -> tuple[int, ...]:
    """Return how far ``place`` is from its submesh's eye on each axis, positive outwards."""
    last, low = (1 << k) - 1, eye_line(k)[0]
    return tuple(low - min(coordinate, last - coordinate) for coordinate in place)


SOURCE_REGIONS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
"""Names of the regions of a source: six in two dimensions, nine in three."""


def source_region(k: int, place: Sequence[int]) -> int:
    """Return the number of a source's region, from 0 on (1998, Fig. 6; in 3-D: 2000, Fig. 7)."""
    u, v, *more = source_offsets(k, place)
    inner = eye_square_side(k - 1)
    return 3 * _level(u, inner) + _level(v, inner) if more else 2 * _level(u, inner) + (v > 0)


def _level(offset: int, inner: int) -> int:
    """Return 0 for an offset up to 0, 1 up to half of ``inner``, and 2 above."""
    return 0 if offset <= 0 else 1 if 2 * offset <= inner else 2


def grid_source_excess(k: int, offsets: Sequence[int]) -> int:
    """Return f_k of a source at ``offsets``, one for each axis of the mesh.

    f_k is the source's excess over an eye in the first d steps, in links: Eq. 7 in d dimensions,
    derived at the top of this module.
    """
    return sum(
        int(_axis_excess(k, axis, len(offsets), np.array(offset)))
        for axis, offset in enumerate(offsets)
    )


def grid_source_tcd(k: int, place: Sequence[int]) -> int:
    """Return D_k(S) from the node at ``place``: the eye's, and f_i for all levels i (Eq. 11)."""
    levels = range(2, k + 1)
    excess = (
        grid_source_excess(i, source_offsets(i, [coordinate % (1 << i) for coordinate in place]))
        for i in levels
    )
    return grid_eye_tcd_recursive(len(place), k) + sum(excess)


def grid_source_tcds(axes: int, k: int) -> Costs:
    """Return D_k(S) from every node of the mesh: shape (nodes,), node 0 first.

    Computes :func:`grid_source_tcd` for all nodes together: f_i is a sum over the axes.
    """
    coordinates = np.arange(1 << k)
    total = np.full((1 << k,) * axes, grid_eye_tcd_recursive(axes, k), dtype=np.int64)
    for axis in range(axes):
        along = np.zeros(1 << k, dtype=np.int64)
        for level in range(2, k + 1):
            last = (1 << level) - 1
            local = coordinates & last
            offsets = eye_line(level)[0] - np.minimum(local, last - local)
            along += _axis_excess(level, axis, axes, offsets)
        total += along.reshape((-1,) + (1,) * (axes - 1 - axis))
    return total.ravel(order="F")


def _axis_excess(k: int, axis: int, axes: int, offsets: Costs) -> Costs:
    """Return the part of f_k that is due to one of the axes, for sources at ``offsets`` on it."""
    far = np.abs(offsets)
    closer = np.minimum(far, np.abs(offsets - eye_square_side(k - 1)))
    excess: Costs = offsets + axis * far + (axes - 1 - axis) * closer
    return excess
