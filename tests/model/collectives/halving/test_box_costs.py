"""The least TCD by cuts of boxes of any sides, against recursion and searches in plain Python."""

from functools import cache
from itertools import product
from math import prod

import numpy as np
import pytest
from helpers.exhaustive_tcd_any_steps import least_tcds_in
from helpers.refusals import refusal_of

from eyecast.model.collectives.halving.box_costs import least_steps
from eyecast.model.collectives.halving.minimum import MOST_NODES, minimum_broadcast, minimum_tcds
from eyecast.model.collectives.tree.broadcast import tree_broadcast
from eyecast.model.network.topology import hypercube, line, mesh
from eyecast.model.schedule.broadcast_bounds import least_broadcast_steps

Node = tuple[int, ...]
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
        *((side,) for side in (3, 5, 6, 7, 9, 11, 12)),
        *((2, 3), (3, 3), (3, 5), (6, 2), (4, 5), (5, 5)),
        *((2, 3, 2), (3, 3, 2), (1, 5, 3), (2, 2, 3, 1)),
        *((1,), (2,), (16,), (2, 2), (2, 4), (4, 4), (8, 4), (8, 8)),
        *((2, 4, 2), (4, 4, 4), (1, 4, 1, 2)),
    ],
)
def test_costs_are_the_recursion(sides: Node) -> None:
    found = minimum_tcds(mesh(sides)).reshape(sides[::-1])
    for source in product(*map(range, sides)):
        expected = cost((0,) * len(sides), sides, least_steps(sides), source)
        assert found[source[::-1]] == expected


@pytest.mark.parametrize(
    "sides", [*((n,) for n in range(1, 11)), (2, 3), (5, 2), (3, 3), (2, 4), (3, 1, 3), (2, 2, 2)]
)
def test_no_broadcast_in_as_few_steps_is_cheaper(sides: Node) -> None:
    """From any source, not even a broadcast without boxes whose sends may share links."""
    assert minimum_tcds(mesh(sides)).tolist() == least_tcds_in(sides, least_steps(sides))


@pytest.mark.slow
def test_no_broadcast_on_3x4_in_as_few_steps_is_cheaper() -> None:
    assert minimum_tcds(mesh((3, 4))).tolist() == least_tcds_in((3, 4), 4)


@cache
def fewest(sides: Node) -> int:
    """Return the fewest steps of cuts down to single nodes, by trying all cuts."""
    if prod(sides) == 1:
        return 0
    return 1 + min(
        max(fewest(own[1]), fewest(other[1]))
        for own, other in cuts(sides, sides, (0,) * len(sides))
    )


@pytest.mark.parametrize("most", [(40,), (9, 9), (5, 5, 5), (3, 3, 3, 3)])
def test_steps_are_the_fewest_of_any_cuts(most: Node) -> None:
    for sides in product(*(range(1, side + 1) for side in most)):
        assert least_steps(sides) == fewest(sides)


@pytest.mark.parametrize(
    ("sides", "more"),
    [
        *(((3, 3), 0), ((6, 7), 0), ((12, 12), 0)),
        *(((3, 5), 1), ((5, 5), 1), ((3, 3, 3), 1), ((5, 5, 5), 2)),
    ],
)
def test_steps_beside_the_fewest_of_any_broadcast(sides: Node, more: int) -> None:
    topology = mesh(sides)
    schedule = minimum_broadcast(topology, 0, 1)
    assert schedule.steps == least_broadcast_steps(topology.nodes) + more
    assert tree_broadcast(topology, 0, 1).steps == least_broadcast_steps(topology.nodes)


def test_drawn_meshes_are_proved() -> None:
    draw = np.random.default_rng(5)
    for _ in range(20):
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


def test_large_meshes_of_other_sides_are_refused() -> None:
    topology = mesh((46, 45))
    message = (
        f"network for the minimum broadcast must be a mesh of at most {MOST_NODES} nodes where a "
        "side is no power of two, not a 46x45 mesh"
    )
    for refused in (lambda: minimum_broadcast(topology, 0, 1), lambda: minimum_tcds(topology)):
        assert refusal_of(refused) == message
    minimum_broadcast(mesh((2, 1023)), 1000, 1).check()
