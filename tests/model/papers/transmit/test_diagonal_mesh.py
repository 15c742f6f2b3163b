"""Algorithm TA, Table I as printed, and better coverings of a square."""

import csv
from collections.abc import Sequence

import numpy as np
import pytest
from helpers.refusals import refusal_of

from eyecast.model.network.named_graphs import diagonal_mesh
from eyecast.model.network.topology import mesh
from eyecast.model.papers.items.ho_hsu_sung import TABLE_1
from eyecast.model.papers.transmit import diagonal_mesh as diagonal_mesh_module
from eyecast.model.papers.transmit.covering import (
    Square,
    cover_plan,
    cover_square,
    square_balls,
    squares_plan,
)
from eyecast.model.papers.transmit.diagonal_mesh import (
    LARGEST_BY_HAND,
    Row,
    squares_along,
    steps_missing,
    ta_plan,
    ta_squares,
    ta_time,
    table_1_row,
)
from eyecast.model.papers.transmit.search import best_plan

LAST = 732
"""The last side in Table I."""

ONE_TOO_MANY = (37, 38, 42, *range(149, 153), 157, 158, *range(386, 391), 397, 398)
"""Sides for which m in Table I is 1 more than by step (5): it is that of the row before."""

OTHERS = {
    8: ("4+1,2,,", "4+1,,,"),
    11: ("5+1,2,,", "5+1,,,"),
    27: ("9,2,,", "9,3,15,1"),
    31: ("10,2,,", "10,3,15,2"),
    36: ("11,3,12,4", "11,3,16,3"),
    41: ("12,3,13,5", "12,3,17,4"),
    147: ("28,3,59,20", "28,4,75,16"),
    156: ("29+1,4,80,17+2", "29+1,4,80,17+1"),
}
"""All other rows that differ: the printed values, and those by the paper's text."""


def printed() -> dict[int, list[str]]:
    with TABLE_1.open(newline="") as file:
        return {int(row[0]): row[1:] for row in list(csv.reader(file))[1:]}


def as_printed(row: Row) -> list[str]:
    more = f"+{row.more}" if row.more else ""
    inner = ["", ""] if row.inner is None else [f"{row.inner}", f"{row.inner_time}{more}"]
    return [f"{row.time}{more}", f"{row.m or ''}", *inner]


def area_bound(side: int) -> int:
    """Return the least t with (4t^3 - t) / 3 >= n^2."""
    return next(t for t in range(1, side + 1) if 4 * t**3 - t >= 3 * side**2)


def covers(side: int, squares: Sequence[Square], time: int) -> bool:
    """Tell whether squares of different odd sides below 2 ``time`` cover the whole square."""
    sides = [square.side for square in squares]
    assert len(set(sides)) == len(sides)
    assert all(each % 2 and 0 < each < 2 * time for each in sides)
    nodes = np.zeros((side, side), dtype=bool)
    for size, x, y in squares:
        assert min(x, y) >= 0
        nodes[y : y + size, x : x + size] = True
    return bool(nodes.all())


# ---- Table I --------------------------------------------------------------------------------


def test_table_1_is_whole() -> None:
    assert list(printed()) == list(range(1, LAST + 1))


def test_table_1_but_for_the_rows_that_are_wrong() -> None:
    table = printed()
    differ = {side for side in table if as_printed(table_1_row(side)) != table[side]}
    assert differ == {*ONE_TOO_MANY, *OTHERS}
    for side, (paper, text) in OTHERS.items():
        assert (",".join(table[side]), ",".join(as_printed(table_1_row(side)))) == (paper, text)
    for side in ONE_TOO_MANY:
        m = int(table[side][1])
        assert int(table[side - 1][1]) == m
        assert squares_along(side, table_1_row(side).time) == m - 1


def test_printed_rows_agree_with_themselves() -> None:
    """The n and t with a hat follow from the printed t and m, except in three rows."""
    wrong = set()
    for side, (time_text, m_text, inner, inner_time) in printed().items():
        time, *more = map(int, time_text.split("+"))
        if inner:
            m = int(m_text)
            left = f"{time - 4 * m + 4}" + (f"+{more[0]}" if more else "")
            if (int(inner), inner_time) != (side - 4 * time + 16 * m - 24, left):
                wrong.add(side)
    assert wrong == {36, 41, 156}


def test_steps_added_against_equation_5() -> None:
    """Compare the paper's sets A and Q without A with equation (5) by the text's formulas."""
    differ = {
        side: (table_1_row(side).more, steps_missing(side))
        for side in range(LARGEST_BY_HAND + 1, LAST + 1)
        if table_1_row(side).more != steps_missing(side)
    }
    needless = dict.fromkeys((149, 150, 151, 152, 157, 158), (1, 0))
    assert differ == {50: (2, 1), 147: (0, 2), 156: (1, 2), **needless}


def test_steps_added_by_the_printed_rows() -> None:
    """With the printed m the paper adds too much for 50 and too little for 156."""
    differ = {}
    for side, (_, _, inner, inner_time) in printed().items():
        if inner and side > LARGEST_BY_HAND:
            time, *_ = map(int, inner_time.split("+"))
            least = next(more for more in range(9) if (time + more) ** 3 >= int(inner) ** 2)
            if least != table_1_row(side).more:
                differ[side] = (table_1_row(side).more, least)
    assert differ == {50: (2, 1), 156: (1, 2)}


def test_time_is_the_root_rounded_up() -> None:
    for side in range(1, LAST + 1):
        time = table_1_row(side).time
        assert time**3 >= side**2 > (time - 1) ** 3
    assert [ta_time(side) for side in (8, 11, 45, 46, 163, 400)] == [5, 6, 13, 15, 32, 55]


# ---- Algorithm TA ---------------------------------------------------------------------------


SOME = [*range(1, 50), *range(50, LAST, 31), LAST]


@pytest.mark.parametrize(
    "sides", [SOME, pytest.param(range(1, LAST + 1), marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_algorithm_ta_covers_the_mesh(sides: Sequence[int]) -> None:
    for side in sides:
        if side != 147:
            assert covers(side, ta_squares(side), ta_time(side)), side


def test_algorithm_ta_has_no_end_for_147() -> None:
    assert refusal_of(ta_squares, 147) == (
        "steps of Algorithm TA must be enough for the 51 x 51 nodes left, which have no m (step "
        "5), not 4"
    )


def test_step_5_has_one_square_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """By Lemma 2's sums for odd m, three squares are enough, and then no step is added."""
    by_lemma_2 = {}
    for side in range(LARGEST_BY_HAND + 1, LAST + 1):
        row = table_1_row(side)
        sums = {m: 2 * row.time * m - (4 * m * m - 8 * m + (9 if m % 2 else 10)) for m in range(9)}
        least = next((m for m in range(2, 9) if sums[m] >= side), None)
        if row.m is not None and row.m != least:
            by_lemma_2[side] = (row.time, int(printed()[side][1]), row.m, least)
    assert by_lemma_2 == {
        147: (28, 3, 4, 3),
        153: (29, 4, 4, 3),
        159: (30, 4, 4, 3),
        165: (31, 4, 4, 3),
    }
    monkeypatch.setattr(
        diagonal_mesh_module,
        "squares_along",
        lambda side, time: 3 if side in by_lemma_2 else squares_along(side, time),
    )
    monkeypatch.setattr(diagonal_mesh_module, "_more", lambda _: 0)
    for side, (time, *_) in by_lemma_2.items():
        assert covers(side, ta_squares(side), time)


@pytest.mark.parametrize("side", [60, 100, 163, 320, 500, 732])
def test_lemma_2(side: int) -> None:
    """Check the sums of the squares' sides along top, left, right and bottom."""
    row = table_1_row(side)
    t, m = row.time + row.more, row.m or 0
    border = ta_squares(side)[: 4 * m - 4]
    sums = [
        sum(size for size, _, y in border if y == 0),
        sum(size for size, x, _ in border if x == 0),
        sum(size for size, x, _ in border if x + size == side),
        sum(size for size, _, y in border if y + size == side),
    ]
    less = (9, 9, 7, 7) if m % 2 else (6, 8, 8, 10)
    assert sums == [2 * t * m - (4 * m * m - 8 * m + each) for each in less]


@pytest.mark.parametrize("side", [1, 8, 10, 45, 46, 163, 300])
def test_plans_of_algorithm_ta(side: int) -> None:
    plan = ta_plan(diagonal_mesh(side))
    assert plan.claim == (ta_time(side), None)
    assert plan.time == ta_time(side)
    assert plan.work <= plan.time


# ---- Coverings ------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [*range(1, 8), 20, 45, 64, 88])
def test_no_more_than_one_step_above_the_area(side: int) -> None:
    plan = cover_plan(diagonal_mesh(side))
    assert area_bound(side) <= plan.time <= min(area_bound(side) + 1, ta_time(side))
    assert plan.work <= plan.time


def test_what_the_paper_solves_by_hand() -> None:
    """All sides up to 45 can be covered in the steps that the paper claims."""
    for side in range(1, LARGEST_BY_HAND + 1):
        squares = cover_square(side, ta_time(side))
        assert squares is not None
        assert covers(side, squares, ta_time(side))


@pytest.mark.slow
def test_goal_for_all_sides_up_to_100() -> None:
    for side in range(1, 101):
        assert cover_plan(diagonal_mesh(side)).time <= area_bound(side) + 1


@pytest.mark.slow
def test_never_worse_than_the_paper() -> None:
    for side in range(101, LAST + 1, 16):
        time = area_bound(side)
        while (squares := cover_square(side, time)) is None:
            time += 1
        assert time <= ta_time(side)
        assert covers(side, squares, time)


@pytest.mark.parametrize("side", [150, 732])
def test_large_sides_are_better_than_the_paper(side: int) -> None:
    squares = cover_square(side, ta_time(side) - 2)
    assert squares is not None
    assert covers(side, squares, ta_time(side) - 2)


def test_coverings_with_fewer_squares() -> None:
    squares = cover_square(45, 13, 8)
    assert squares is not None
    assert min(square.side for square in squares) >= 2 * 13 - 1 - 2 * 7
    assert covers(45, squares, 13)
    # By area: 9 squares of 1, 3, ... in 5 steps do not cover 13 x 13.
    assert cover_square(13, 5) is None
    assert cover_square(8, 4) is None


@pytest.mark.parametrize("side", [1, 2, 5, 8, 11])
def test_as_good_as_the_search_can_prove(side: int) -> None:
    plan = cover_plan(diagonal_mesh(side))
    answer = best_plan(diagonal_mesh(side), 60, known=[plan])
    assert answer.proved
    assert answer.plan.cost == plan.cost


def test_squares_are_balls() -> None:
    assert square_balls(6) == [1, 9, 25, 36]
    squares = [Square(7, 0, 0), Square(5, 4, 4), Square(1, 8, 3), Square(3, 6, 1)]
    plan = squares_plan(diagonal_mesh(9), squares, 4, "four")
    assert plan.sends == ((1, 3 + 9 * 3), (2, 6 + 9 * 6), (3, 7 + 9 * 2), (4, 8 + 9 * 3))
    reached = {node for node, step in enumerate(plan.arrival.tolist()) if step <= 4}
    assert reached == {
        x + 9 * y
        for size, left, top in squares
        for x in range(left, left + size)
        for y in range(top, top + size)
    }


def test_other_networks_are_refused() -> None:
    expected = "network must be a diagonal-mesh without faults, not a 3x3 mesh"
    assert refusal_of(cover_plan, mesh((3, 3))) == refusal_of(ta_plan, mesh((3, 3))) == expected
    assert refusal_of(cover_plan, diagonal_mesh(1025)) == (
        "side of a diagonal mesh to be covered must be 1 to 1024, not 1025"
    )
    assert refusal_of(table_1_row, 0) == "side of diagonal mesh must be at least 1, not 0"
