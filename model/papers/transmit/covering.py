"""Covering a square with the squares of sides 1, 3, ..., 2t - 1: transmitting on a diagonal mesh.

A ball of radius r in a diagonal mesh is a square of side 2r + 1. So t steps are enough for the host
if squares of sides 2t - 1, 2t - 3, ... down to 1, one of each, cover the mesh (Ho, Hsu & Sung 1996,
section 5; :mod:`.diagonal_mesh` has the paper's own covering). These squares must have at least the
area of the mesh: (4t^3 - t) / 3, the sum 1 + 9 + ... + (2t - 1)^2, must be n^2 or more.

The search fills the mesh from below. All nodes below the *skyline* are covered. The next square
goes to the lowest part of the skyline (the leftmost, if several are the lowest), at its left or its
right end::

                            .-------.
    |___     __|            |  new  |__|        the area of a square that is covered already, or
    |   |___|  |            '---|___|  |        outside the mesh, is its waste; the waste of all
    |__________|            |__________|        squares must be at most (4t^3 - t) / 3 - n^2

A beam search keeps the best few placements of one, two, three ... squares: those with little waste
for the covered area, and with few new steps in the skyline. This rule is a heuristic that works
well; :class:`.plan.Plan` counts every result again.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...base.compiled import compiled
from ...base.errors import require_range
from ...network.topology import Topology
from .plan import Plan, counted_time, counted_work, require_kind

_Table = npt.NDArray[np.int64]
_Row = npt.NDArray[np.int32]

LARGEST_COVERED = 1024
"""The largest side of a diagonal mesh for which a covering is searched."""

_STEP_COST = 0.5
"""A new step in the skyline counts as this much waste for each unit of the square's side."""

_CELLS = 150_000
"""Skylines in memory at once, in columns: the wider the mesh, the fewer are kept."""

_MOST_KEPT = 2000

_EAGERNESS = (1.5, 0.7)
"""Multiples of the average waste that are accepted for early progress; tried in turn."""


class Square(NamedTuple):
    """A square of the covering: its side and its lowest corner.

    It may stick out of the mesh only if it is larger than the mesh, and then its corner is 0.
    """

    side: int
    x: int
    y: int


def square_balls(side: int) -> list[int]:
    """Return the most nodes within r links of a node of a diagonal mesh, by r, up to all nodes."""
    return [min(2 * radius + 1, side) ** 2 for radius in range(side // 2 + 1)]


def cover_plan(topology: Topology) -> Plan:
    """Return the best plan found for a diagonal mesh: the least time, and few sends for that time.

    Raises :class:`.InvalidInput` for a side above :data:`LARGEST_COVERED`, where it takes minutes.
    """
    require_kind(topology, "diagonal-mesh")
    side = topology.dims[0]
    require_range("side of a diagonal mesh to be covered", side, 1, LARGEST_COVERED)
    time = counted_time(square_balls(side), side * side)
    while (squares := cover_square(side, time)) is None:
        time += 1
    least = counted_work(square_balls(side), side * side, time)
    while len(squares) > least:
        fewer = cover_square(side, time, len(squares) - 1)
        if fewer is None:
            break
        squares = fewer
    return squares_plan(topology, squares, time, "covering")


def squares_plan(topology: Topology, squares: Sequence[Square], time: int, scheme: str) -> Plan:
    """Return the plan that sends to the middles of ``squares``, the largest first, from step 1 on.

    Each square is covered in ``time`` steps if the i-th largest has a side of at most
    2 (time - i) + 1, as it has where the sides are different odd numbers below 2 time.
    """
    side = topology.dims[0]
    ordered = sorted(squares, reverse=True)
    middles = (
        min(square.x + square.side // 2, side - 1)
        + side * min(square.y + square.side // 2, side - 1)
        for square in ordered
    )
    return Plan.of_centres(topology, middles, scheme)


def cover_square(side: int, time: int, sends: int | None = None) -> list[Square] | None:
    """Return a covering of ``side`` x ``side`` nodes with the squares of ``sends`` sends.

    They have the sides 2 time - 1, 2 time - 3, ... and are ``time`` by default; some may be left
    over. None if none is found, which proves nothing.
    """
    sizes = np.arange(2 * time - 1, 0, -2)[:sends]
    budget = int((sizes**2).sum()) - side * side
    kept = min(_MOST_KEPT, max(20, _CELLS // side))
    if budget >= 0:
        for eagerness in _EAGERNESS:
            squares = _Beam(side, sizes, budget, kept, eagerness).squares()
            if squares is not None:
                return squares
    return None


class _Beam:
    """The partial coverings that are kept, all of the same number of squares."""

    def __init__(
        self, side: int, sizes: npt.NDArray[np.int64], budget: int, kept: int, eagerness: float
    ) -> None:
        self._side, self._sizes, self._budget, self._kept = side, sizes, budget, kept
        self._worth = eagerness * budget / side**2
        self._skylines = np.zeros((1, side), np.int32)
        self._used = np.zeros((1, len(sizes)), np.bool_)
        self._waste = np.zeros(1, np.int64)
        self._history: list[_Table] = []

    def squares(self) -> list[Square] | None:
        """Return the squares of the first complete covering, or None if none is found."""
        for _ in self._sizes:
            moves, scores = self._moves()
            if not len(moves):
                return None
            # The order in which equal ones were found, so that each run finds the same.
            moves = moves[np.argsort(scores, kind="stable")[: 2 * self._kept]]
            self._place(moves)
            done = np.flatnonzero((self._skylines >= self._side).all(axis=1))
            if done.size:
                return list(self._placed(int(done[0])))
        return None

    def _moves(self) -> tuple[_Table, npt.NDArray[np.float64]]:
        """Return all next squares as rows (covering, size, x, y, waste), and how good each is."""
        most = 2 * len(self._sizes) * len(self._skylines)
        moves, scores = np.empty((most, 5), np.int64), np.empty(most)
        limits = self._budget, self._worth
        state = self._skylines, self._used, self._waste
        count = _list_moves(*state, self._sizes, *limits, moves, scores)
        return moves[:count], scores[:count]

    def _place(self, moves: _Table) -> None:
        """Carry out ``moves``, the best first, until enough different coverings are kept."""
        parents = moves[:, 0]
        skylines, used = self._skylines[parents], self._used[parents]
        used[np.arange(len(moves)), moves[:, 1]] = True
        _raise_skylines(skylines, self._sizes, moves)
        # The same squares under the same skyline, placed in another order, once.
        looks = np.concatenate((skylines, used.astype(np.int32)), axis=1)
        firsts = np.unique(looks @ _weights(looks.shape[1]), return_index=True)[1]
        chosen = np.sort(firsts)[: self._kept]
        self._skylines, self._used = skylines[chosen], used[chosen]
        self._waste = moves[chosen, 4]
        self._history.append(moves[chosen])

    def _placed(self, place: int) -> Iterator[Square]:
        """Yield the squares of the covering at ``place``, the last one first."""
        for moves in reversed(self._history):
            place, size, x, y = moves[place, :4].tolist()
            yield Square(int(self._sizes[size]), x, y)


def _weights(length: int) -> _Table:
    """Return hash weights: two different rows have equal hashes with a chance of about 2^-64."""
    return np.random.default_rng(0).integers(1 << 62, size=length)


@compiled
def _list_moves(
    skylines: _Row,
    used: npt.NDArray[np.bool_],
    waste: _Table,
    sizes: _Table,
    budget: int,
    worth: float,
    moves: _Table,
    scores: npt.NDArray[np.float64],
) -> int:
    """Write all next squares of all coverings to ``moves``, and return how many there are."""
    side = skylines.shape[1]
    count = 0
    for covering in range(len(skylines)):
        skyline = skylines[covering]
        covered = skyline.sum()
        low, begin, end = _lowest(skyline)
        for which in range(sizes.size):
            size = sizes[which]
            at_left, at_right = max(0, min(begin, side - size)), max(0, min(end, side) - size)
            for turn in range(2):
                x = at_right if turn else at_left
                if used[covering, which] or (turn and at_right == at_left):
                    continue
                y = max(0, min(low, side - size))
                gain, steps = _gain(skyline, x, y, size)
                spoilt = waste[covering] + size * size - gain
                if spoilt <= budget:
                    # One by one: compiled in no time, other than ``moves[count] = ...``.
                    moves[count, 0], moves[count, 1] = covering, which
                    moves[count, 2], moves[count, 3], moves[count, 4] = x, y, spoilt
                    roughness = _STEP_COST * (steps - 1) * size
                    scores[count] = spoilt - worth * (covered + gain) + roughness
                    count += 1
    return count


@compiled
def _lowest(skyline: _Row) -> tuple[int, int, int]:
    """Return the lowest height of ``skyline``, and begin and end of its leftmost part there."""
    low = skyline.min()
    begin = 0
    while skyline[begin] != low:
        begin += 1
    end = begin
    while end < skyline.size and skyline[end] == low:
        end += 1
    return low, begin, end


@compiled
def _gain(skyline: _Row, x: int, y: int, size: int) -> tuple[int, int]:
    """Nodes that a square newly covers, and its ends, 0 to 2, that are not level with others."""
    side = skyline.size
    end, top = min(side, x + size), min(side, y + size)
    gain = 0
    for column in range(x, end):
        gain += max(0, top - skyline[column])
    beyond_left = side if x == 0 else skyline[x - 1]
    beyond_right = side if end == side else skyline[end]
    return gain, (beyond_left != top) + (beyond_right != top)


@compiled
def _raise_skylines(skylines: _Row, sizes: _Table, moves: _Table) -> None:
    """Raise each skyline by the square that its row of ``moves`` places."""
    side = skylines.shape[1]
    for place in range(len(moves)):
        size, x, y = sizes[moves[place, 1]], moves[place, 2], moves[place, 3]
        top = min(side, y + size)
        for column in range(x, min(side, x + size)):
            skylines[place, column] = max(skylines[place, column], top)
