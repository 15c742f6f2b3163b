"""Algorithm TA: transmitting on a diagonal mesh (Ho, Hsu & Sung 1996, section 5), and Table I.

The squares of sides 2t - 1, 2t - 3, ... are laid along the border of the n x n mesh, four at a
time, one to each side, until m of them cover each side. The uncovered rest fits into a square of
side ``inner``, for which ``inner_time`` steps are left, and is covered in the same way::

    .------.---.-------.      n      the side of the mesh
    |  1   | 8 |   3   |      t      the steps, ceil(n^(2/3)), or one or two more
    |      |   |       |      m      squares along each side: here 3
    |--.---'   '--.----|      inner  n - 4t + 16m - 24, the paper's n with a hat
    | 7|          | 6  |      inner_time   t - 4m + 4, the paper's t with a hat
    |--'.---.----.'----|
    | 4 | 5 |    2     |      1 is the largest square, 8 the smallest
    '---'---'----------'

Once n is 45 or less the paper solves the problem by hand; here :mod:`.covering` searches for
a covering in the same number of steps.

``docs/errata.md`` says where step (5) and Table I err.
"""

from collections.abc import Iterator
from itertools import count
from math import isqrt
from typing import NamedTuple

from ...base.errors import InvalidInput, require_range
from ...network.topology import Topology
from .covering import Square, cover_square, squares_plan
from .plan import Plan, require_kind

LARGEST_BY_HAND = 45
"""The side up to which the paper solves the problem by hand."""

_ONE_MORE = (
    *((8, 8), (11, 11), (47, 49), (55, 58), (63, 64), (149, 152), (156, 162), (167, 172)),
    *((178, 181), (189, 189), (383, 385), (395, 396)),
)
_TWO_MORE = ((46, 46), (50, 52), (148, 148), (153, 155), (163, 164))
"""Runs of sides, the first and the last of each, for which the paper adds two steps (its set Q
without A); ``_ONE_MORE`` has those for which it adds one (A, 8 and 11)."""


class Row(NamedTuple):
    """A row of Table I: side, steps, added steps, m, and the inner square; None for its dashes."""

    side: int
    time: int
    more: int
    m: int | None
    inner: int | None
    inner_time: int | None


def table_1_row(side: int) -> Row:
    """Return the row of Table I for a mesh of ``side``, by the rules in the text of the paper.

    ``inner_time`` does not count the added steps, as in the printed table. ``m`` is None if one
    square covers the mesh (step (4) of Algorithm TA), also with the step added for sides 8 and 11.
    ``inner`` is None if m squares along each side cover the whole mesh.
    """
    require_range("side of diagonal mesh", side, 1)
    time, more = _base_time(side), _more(side)
    if 2 * (time + more) - 1 >= side:
        return Row(side, time, more, None, None, None)
    m = squares_along(side, time)
    if m is None or _inner(side, time, m) <= 0:
        return Row(side, time, more, m, None, None)
    return Row(side, time, more, m, _inner(side, time, m), time - 4 * m + 4)


def ta_time(side: int) -> int:
    """Return the steps that Algorithm TA takes for a mesh of ``side``, by the paper's own sets."""
    return _base_time(side) + _more(side)


def steps_missing(side: int) -> int:
    """Count the steps beyond ceil(n^(2/3)) that equation (5) needs, so that the inner square fits.

    By the formulas alone this is the least d with (inner_time + d)^3 >= inner^2. The paper's sets A
    and Q are meant to give the same number for all sides that are not solved by hand.
    """
    row = table_1_row(side)
    if row.inner is None or row.inner_time is None:
        return 0
    inner, inner_time = row.inner, row.inner_time
    return next(more for more in count() if (inner_time + more) ** 3 >= inner**2)


def squares_along(side: int, time: int) -> int | None:
    """Step (5): m = ceil((4 + t - sqrt((4 + t)^2 - 4 (n + 10))) / 4), None where no m is real."""
    discriminant = (4 + time) ** 2 - 4 * (side + 10)
    if discriminant < 0:
        return None
    # The least m with 4m >= 4 + t - sqrt(...), in integers.
    return -(-(4 + time - isqrt(discriminant)) // 4)


def ta_squares(side: int) -> list[Square]:
    """Return the covering of Algorithm TA, in :func:`ta_time` steps.

    Raises :class:`InvalidInput` where the algorithm does not come to an end: for n = 147.
    """
    return list(_reduce(side, ta_time(side), _base_time(side), 0, 0))


def ta_plan(topology: Topology) -> Plan:
    """Return the plan of Algorithm TA for a diagonal mesh; refused as by :func:`ta_squares`."""
    require_kind(topology, "diagonal-mesh")
    side = topology.dims[0]
    time = ta_time(side)
    plan = squares_plan(topology, ta_squares(side), time, "Algorithm TA")
    return Plan(topology, plan.sends, plan.scheme, claim=(time, None))


def _reduce(side: int, time: int, m_time: int, x: int, y: int) -> Iterator[Square]:
    """TA(n, t): the squares that cover ``side`` nodes from (x, y) on, both ways, in ``time`` steps.

    m is found from ``m_time``: steps added come after step (5).
    """
    if side <= LARGEST_BY_HAND:
        squares = cover_square(side, time)
        if squares is None:
            allowed = f"enough for the {side} x {side} nodes left"
            raise InvalidInput.of("steps of Algorithm TA", allowed, time)
        yield from (Square(size, x + dx, y + dy) for size, dx, dy in squares)
        return
    if 2 * time - 1 >= side:
        yield Square(2 * time - 1, x, y)
        return
    m = squares_along(side, m_time)
    if m is None or time < 4 * m - 4:
        allowed = f"enough for the {side} x {side} nodes left, which have no m (step 5)"
        raise InvalidInput.of("steps of Algorithm TA", allowed, time)
    squares, (left, top) = _border(side, time, m)
    yield from (Square(size, x + dx, y + dy) for size, dx, dy in squares)
    inner = _inner(side, m_time, m)
    if inner > 0:
        inner_time = time - 4 * m + 4
        inset = min(left, side - inner), min(top, side - inner)
        yield from _reduce(inner, inner_time, inner_time, x + inset[0], y + inset[1])


def _border(side: int, time: int, m: int) -> tuple[list[Square], tuple[int, int]]:
    """The mesh arrangement: the 4m - 4 squares, and how far they reach in from left and top."""
    sizes = iter(range(2 * time - 1, 0, -2))
    far = {size: side - size for size in range(2 * time)}
    near = ("top", "left")
    left_top, right_bottom, right_top, left_bottom = (next(sizes) for _ in range(4))
    squares = [
        Square(left_top, 0, 0),
        Square(right_bottom, far[right_bottom], far[right_bottom]),
        Square(right_top, far[right_top], 0),
        Square(left_bottom, 0, far[left_bottom]),
    ]
    # Where the next square on each side begins, from left to right or from top to bottom.
    begin = {"top": left_top, "left": left_top, "right": right_top, "bottom": left_bottom}
    depth = {"top": right_top, "left": left_bottom}
    for turn in range(3, m + 1):
        order = (
            ("bottom", "right", "left", "top") if turn % 2 else ("top", "left", "right", "bottom")
        )
        for where, size in zip(order, sizes, strict=False):
            along, across = min(begin[where], far[size]), 0 if where in near else far[size]
            upright = where in ("left", "right")
            squares.append(Square(size, *((across, along) if upright else (along, across))))
            begin[where] += size
            depth[where] = size
    return squares, (depth["left"], depth["top"])


def _inner(side: int, time: int, m: int) -> int:
    """Return the paper's n with a hat."""
    return side - 4 * time + 16 * m - 24


def _base_time(side: int) -> int:
    """ceil(n^(2/3)): the least t with t^3 >= n^2."""
    time = int(side ** (2 / 3))
    while time**3 < side**2:
        time += 1
    while (time - 1) ** 3 >= side**2:
        time -= 1
    return time


def _more(side: int) -> int:
    """Return the steps that the paper adds."""
    return any(low <= side <= high for low, high in _ONE_MORE) + 2 * any(
        low <= side <= high for low, high in _TWO_MORE
    )
