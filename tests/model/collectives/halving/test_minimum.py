"""The least TCD against brute force, the papers' figures and an exhaustive search."""

from functools import cache
from itertools import product
from math import prod

import numpy as np
import pytest
from helpers.exhaustive_tcd import least_tcds
from helpers.exhaustive_tcd_any_steps import least_tcds_in

from eyecast.model.collectives.halving.box_costs import least_steps
from eyecast.model.collectives.halving.eye import eye_broadcast, eyes
from eyecast.model.collectives.halving.eye_tcd import grid_eye_tcd_recursive
from eyecast.model.collectives.halving.minimum import (
    best_sources,
    minimum_broadcast,
    minimum_tcds,
    tcds_by_eye,
)
from eyecast.model.collectives.tree.broadcast import tree_broadcast
from eyecast.model.network.topology import hypercube, line, mesh, torus
from eyecast.model.schedule.broadcast_bounds import least_broadcast_steps

Node = tuple[int, ...]
LARGER = (8, 8), (4, 2, 8), (5, 5), (1, 8, 1, 4), (2, 3, 1, 3)


@pytest.mark.parametrize("sides", [(8,), (2, 2), (2, 2, 2), (4, 4), (2, 2, 4)])
def test_no_broadcast_in_as_few_steps_is_cheaper(sides: Node) -> None:
    """From any source, not even a broadcast whose sends may share links."""
    assert minimum_tcds(mesh(sides)).tolist() == least_tcds(sides)


@pytest.mark.parametrize("sides", [(8,), (4, 4)])
def test_no_broadcast_on_a_torus_is_cheaper_than_the_eye(sides: Node) -> None:
    """Cang & Wu claim this in 3-D, section 5; here the sends may even share links."""
    topology = torus(sides)
    assert least_tcds(sides, wrapped=True) == [eye_broadcast(topology, 0, 1).tcd] * topology.nodes


@pytest.mark.parametrize(
    "sides",
    [
        *((1,), (4, 4), (2,) * 4, (3, 3), (3, 4, 2)),
        *(pytest.param(sides, marks=pytest.mark.slow) for sides in LARGER),
    ],
)
def test_every_source_is_proved(sides: Node) -> None:
    topology = mesh(sides)
    tcds = minimum_tcds(topology)
    for source in range(topology.nodes):
        schedule = minimum_broadcast(topology, source, 3)
        schedule.check()
        assert schedule.tcd == tcds[source]
        assert schedule.steps == sum((side - 1).bit_length() for side in sides)
        assert schedule.largest_link_load <= 1


@pytest.mark.parametrize("sides", [(64, 64), (16, 16, 16), (8, 2, 4, 8)])
def test_drawn_sources_are_proved(sides: Node) -> None:
    topology = mesh(sides)
    tcds = minimum_tcds(topology)
    for source in np.random.default_rng(7).integers(0, topology.nodes, 4).tolist():
        schedule = minimum_broadcast(topology, source, 1)
        schedule.check()
        assert schedule.tcd == tcds[source]


def test_every_source_of_4x4() -> None:
    """Compare with Cang & Wu 1998, section 2; (1, 0), the mirror image of (0, 1), has 17."""
    quarter = minimum_tcds(mesh((4, 4))).reshape(4, 4)[:2, :2]
    assert quarter.tolist() == [[18, 16], [16, 15]]


@pytest.mark.parametrize(("axes", "k"), [(1, 7), (2, 2), (2, 5), (2, 8), (3, 2), (3, 4), (4, 3)])
def test_nothing_is_cheaper_than_from_an_eye(axes: int, k: int) -> None:
    """Check Corollary 1 of 1998 and Theorem 4 of 3-D for broadcasts by halving."""
    topology = mesh((2**k,) * axes)
    tcds = minimum_tcds(topology)
    assert tcds.min() == grid_eye_tcd_recursive(axes, k)
    assert set(eyes(topology)) <= set(best_sources(topology))


def test_eyes_are_not_the_only_best_sources() -> None:
    """In 8x8, the two nodes between each two of the four eyes are best sources too."""
    line_of_eyes, between = (2, 5), (3, 4)
    places = {*product(line_of_eyes, line_of_eyes)}
    places |= {*product(line_of_eyes, between), *product(between, line_of_eyes)}
    topology = mesh((8, 8))
    assert set(best_sources(topology)) == {topology.node_at(place) for place in places}


@pytest.mark.parametrize(
    ("sides", "least", "sources"),
    [
        *(((4, 4), 15, 4), ((8, 8), 69, 12), ((16, 16), 291, 12), ((32, 32), 1197, 28)),
        *(((4, 4, 4), 63, 8), ((8, 8, 8), 525, 32)),
    ],
)
def test_how_many_sources_are_the_best(sides: Node, least: int, sources: int) -> None:
    """The papers name only the four eyes (1998) and the eight eyes (3-D)."""
    topology = mesh(sides)
    assert minimum_tcds(topology).min() == least
    assert len(best_sources(topology)) == sources


@pytest.mark.parametrize(
    ("sides", "better", "largest", "total"),
    [
        ((2, 2), 0, 0, 0),
        ((4, 4), 4, 1, 4),
        ((8, 8), 40, 2, 60),
        ((16, 16), 216, 5, 600),
        ((32, 32), 964, 11, 5232),
        ((4, 4, 4), 32, 2, 48),
        ((8, 8, 8), 432, 6, 1360),
        ((16, 16, 16), 3936, 14, 27168),
    ],
)
def test_gain_over_the_eye_broadcast(sides: Node, better: int, largest: int, total: int) -> None:
    saved = tcds_by_eye(mesh(sides)) - minimum_tcds(mesh(sides))
    assert (np.count_nonzero(saved), saved.max(), saved.sum()) == (better, largest, total)
    assert (saved >= 0).all()
    assert saved.size == prod(sides)


def test_corner_of_8x8_is_no_cheaper() -> None:
    """Both papers give 79, and 318 for 16x16."""
    assert [minimum_tcds(mesh((side, side)))[0] for side in (4, 8, 16)] == [18, 79, 318]


@pytest.mark.parametrize(
    "sides",
    [
        (32, 64, 32),
        *(pytest.param(each, marks=pytest.mark.slow) for each in ((1024, 1024), (1 << 20,))),
    ],
)
def test_a_million_nodes(sides: Node) -> None:
    topology = mesh(sides)
    source = topology.nodes // 7
    schedule = minimum_broadcast(topology, source, 1)
    schedule.check()
    assert 1 << schedule.steps == topology.nodes
    assert schedule.tcd == minimum_tcds(topology)[source]


# ---- The least TCD by cuts of boxes of any sides, against recursion and searches in plain Python


FAR = 1 << 30


@cache
def cost(low: Node, sides: Node, steps: int, source: Node) -> int:
    """Return cost(box, s, p) by trying every axis, cut and q; FAR if the steps are too few."""
    if prod(sides) == 1:
        return 0
    if prod(sides) > 1 << steps:
        return FAR
    return min(
        cost(*own, steps - 1, source)
        + min(
            sum(abs(a - b) for a, b in zip(source, q, strict=True)) + cost(*other, steps - 1, q)
            for q in product(*(range(c, c + s) for c, s in zip(*other, strict=True)))
        )
        for own, other in cuts(low, sides, source)
    )


def cuts(low: Node, sides: Node, source: Node) -> list[tuple[tuple[Node, Node], ...]]:
    """Return the source's part and the other part, as corner and sides, for each axis and cut."""
    found = []
    for axis, side in enumerate(sides):
        for place in range(1, side):
            below = (low, (*sides[:axis], place, *sides[axis + 1 :]))
            corner = (*low[:axis], low[axis] + place, *low[axis + 1 :])
            above = (corner, (*sides[:axis], side - place, *sides[axis + 1 :]))
            found.append((below, above) if source[axis] < corner[axis] else (above, below))
    return found


@pytest.mark.parametrize(
    "sides",
    [
        *((side,) for side in (1, 2, 7, 11, 12, 16)),
        *((2, 3), (6, 2), (5, 5), (8, 4), (2, 3, 2), (1, 5, 3), (2, 2, 3, 1), (1, 4, 1, 2)),
    ],
)
def test_costs_are_the_recursion(sides: Node) -> None:
    found = minimum_tcds(mesh(sides)).reshape(sides[::-1])
    for source in product(*map(range, sides)):
        expected = cost((0,) * len(sides), sides, least_steps(sides), source)
        assert found[source[::-1]] == expected


@pytest.mark.parametrize(
    "sides", [*((n,) for n in (1, 3, 7, 9)), (2, 3), (3, 3), (3, 1, 3), (2, 2, 2)]
)
def test_no_broadcast_without_boxes_is_cheaper(sides: Node) -> None:
    """From any source, not even a broadcast without boxes whose sends may share links."""
    assert minimum_tcds(mesh(sides)).tolist() == least_tcds_in(sides, least_steps(sides))


@cache
def fewest(sides: Node) -> int:
    """Return the fewest steps of cuts down to single nodes, by trying all cuts."""
    if prod(sides) == 1:
        return 0
    return 1 + min(
        max(fewest(own[1]), fewest(other[1]))
        for own, other in cuts(sides, sides, (0,) * len(sides))
    )


@pytest.mark.parametrize("most", [(40,), (7, 7), (4, 4, 4), (3, 3, 3, 3)])
def test_steps_are_the_fewest_of_any_cuts(most: Node) -> None:
    for sides in product(*(range(1, side + 1) for side in most)):
        assert least_steps(sides) == fewest(sides)


@pytest.mark.parametrize(
    ("sides", "more"),
    [
        *(((6, 7), 0), ((3, 5), 1), ((3, 3, 3), 1)),
        pytest.param((5, 5, 5), 2, marks=pytest.mark.slow),
    ],
)
def test_steps_beside_the_fewest_of_any_broadcast(sides: Node, more: int) -> None:
    topology = mesh(sides)
    schedule = minimum_broadcast(topology, 0, 1)
    assert schedule.steps == least_broadcast_steps(topology.nodes) + more
    assert tree_broadcast(topology, 0, 1).steps == least_broadcast_steps(topology.nodes)


def test_drawn_meshes_are_proved() -> None:
    draw = np.random.default_rng(5)
    for _ in range(10):
        axes = int(draw.integers(1, 5))
        sides = tuple(draw.integers(1, (0, 60, 15, 7, 4)[axes], axes).tolist())
        topology = mesh(sides)
        source = int(draw.integers(topology.nodes))
        schedule = minimum_broadcast(topology, source, 1)
        schedule.check()
        assert schedule.tcd == minimum_tcds(topology)[source]


@pytest.mark.parametrize("sides", [(15, 15), (11, 13), (5, 6, 7)])
def test_a_larger_mesh_costs_no_less_where_steps_are_the_same(sides: Node) -> None:
    larger = (*sides[:-1], sides[-1] + 1)
    assert least_steps(larger) == least_steps(sides)
    assert minimum_tcds(mesh(sides)).min() < minimum_tcds(mesh(larger)).min()


def test_a_line_and_a_hypercube_are_meshes() -> None:
    assert (minimum_tcds(line(11)) == minimum_tcds(mesh((11, 1)))).all()
    assert (minimum_tcds(hypercube(5)) == 31).all()


def test_the_largest_mesh_whose_sides_are_no_powers_of_two() -> None:
    minimum_broadcast(mesh((2, 1023)), 1000, 1).check()
