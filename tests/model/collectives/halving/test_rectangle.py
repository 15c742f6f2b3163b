"""The eye broadcast in meshes of any sides, against a literal section 3 of Jiang & Wu."""

from itertools import product
from math import prod

import numpy as np
import pytest
from helpers.eyes import Node, Sends, distance, sends_of

from eyecast.model.collectives.halving.eye import eye_broadcast, eye_line, eye_square_side, eye_tcd
from eyecast.model.collectives.halving.eye_tcd import grid_eye_tcd, grid_eye_tcd_recursive
from eyecast.model.collectives.halving.rectangle import (
    eye_distance,
    eye_link,
    rectangle_broadcast,
    rectangle_eyes,
    rectangle_steps,
    rectangle_tcd,
)
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus


def sends_by_definition(low: Node, sides: Node, source: Node, step: int = 1) -> Sends:
    """Return (step, source, target) of each send of Algorithm 2 in a box, then in its halves."""
    if prod(sides) == 1:
        return set()
    axis = sides.index(max(sides))
    larger = -(-sides[axis] // 2)
    smaller = sides[axis] - larger
    in_upper = source[axis] - low[axis] >= larger
    first, second = (smaller, larger) if in_upper else (larger, smaller)
    lower_half = low, (*sides[:axis], first, *sides[axis + 1 :])
    upper_low = (*low[:axis], low[axis] + first, *low[axis + 1 :])
    upper_half = upper_low, (*sides[:axis], second, *sides[axis + 1 :])
    own, other = (upper_half, lower_half) if in_upper else (lower_half, upper_half)
    eye = min(eyes_of(*other), key=lambda node: distance(source, node))
    return {
        (step, source, eye),
        *sends_by_definition(*own, source, step + 1),
        *sends_by_definition(*other, eye, step + 1),
    }


def eyes_of(low: Node, sides: Node) -> list[Node]:
    """Return the eyes of a box, those with lower coordinates first."""
    lines = []
    for corner, side in zip(low, sides, strict=True):
        from_end = distance_by_definition(side)
        lines.append(sorted({corner + from_end, corner + side - 1 - from_end}))
    return list(product(*lines))


def distance_by_definition(k: int) -> int:
    """Return D_k of the paper."""
    return 0 if k == 1 else -(-k // 2) - 1 - distance_by_definition(-(-k // 2))


MESHES = [
    *((1,), (7,), (1, 1), (1, 9), (2, 3), (5, 5), (7, 8), (6, 11)),
    *((2, 5, 4), (3, 1, 6, 2)),
]


@pytest.mark.parametrize("sides", MESHES)
def test_sends_are_those_of_algorithm_2(sides: Node) -> None:
    topology = mesh(sides)
    for source in product(*map(range, sides)):
        schedule = rectangle_broadcast(topology, topology.node_at(source), 1)
        assert sends_of(schedule) == sends_by_definition((0,) * len(sides), sides, source)


@pytest.mark.parametrize("sides", MESHES)
def test_every_source_is_proved(sides: Node) -> None:
    topology = mesh(sides)
    from_eyes = {rectangle_broadcast(topology, eye, 1).tcd for eye in rectangle_eyes(topology)}
    assert from_eyes == {rectangle_tcd(sides)}
    for source in range(topology.nodes):
        schedule = rectangle_broadcast(topology, source, 1)
        schedule.check()
        assert schedule.steps == rectangle_steps(sides)
        assert schedule.largest_link_load <= 1


@pytest.mark.parametrize("sides", [*MESHES, (6, 10)])
def test_every_node_of_a_torus_is_an_eye(sides: Node) -> None:
    topology = torus(sides)
    for source in range(0, topology.nodes, max(1, topology.nodes // 8)):
        schedule = rectangle_broadcast(topology, source, 1)
        schedule.check()
        assert (schedule.tcd, schedule.steps) == (rectangle_tcd(sides), rectangle_steps(sides))


@pytest.mark.parametrize("sides", [(8, 8), (2,) * 4, (16,)])
def test_in_2_k_meshes_it_is_the_eye_broadcast(sides: Node) -> None:
    topology = mesh(sides)
    for source in range(topology.nodes):
        same = [make(topology, source, 1) for make in (rectangle_broadcast, eye_broadcast)]
        assert sends_of(same[0]) == sends_of(same[1])


def test_eyes_of_2_k_axes_are_those_of_cang_and_wu() -> None:
    """Check Eqs. 1 to 4."""
    for k in range(20):
        assert eye_distance(2**k) == eye_line(k)[0]
    for k in range(1, 20):
        assert eye_link(2**k) == eye_square_side(k)


def test_lemma_1() -> None:
    """D and A never fall as the side grows; D grows by 1 at most."""
    distances = np.array([eye_distance(k) for k in range(1, 5000)])
    assert set(np.diff(distances).tolist()) == {0, 1}
    assert min(np.diff([eye_link(k) for k in range(2, 5000)])) == 0


def test_theorems_1_and_2_are_wrong() -> None:
    below = [k for k in range(1, 100) if eye_distance(k) < (k - 1) // 3]
    above = [k for k in range(1, 100) if eye_distance(k) > (k + 1) // 3]
    assert (below, above) == ([22, 70, 82, 85, 86, 88, 94], [43])
    assert (eye_distance(22), eye_distance(43)) == (6, 15)
    below = [m for m in range(2, 100) if eye_link(m) < (m - 1) // 3]
    above = [m for m in range(2, 100) if eye_link(m) > 1 - -m // 3]
    assert (below, above) == ([43, 44], [86, 87])
    assert (eye_link(43), eye_link(86)) == (13, 31)
    assert (1366 - 1) // 3 - eye_distance(1366) == eye_distance(2731) - (2731 + 1) // 3 == 2


def test_theorem_3() -> None:
    """ED is at most OD_k, and never falls as a side grows."""
    tcds = np.array([[rectangle_tcd((m, n)) for n in range(1, 65)] for m in range(1, 65)])
    assert (np.diff(tcds, axis=0) >= 0).all()
    assert (tcds == tcds.T).all()
    for m, n in product(range(1, 65), repeat=2):
        assert tcds[m - 1, n - 1] <= eye_tcd((max(m, n) - 1).bit_length())


def test_theorem_3_in_more_dimensions() -> None:
    for sides in [*product(range(1, 10), repeat=3), *product(range(1, 6), repeat=4)]:
        bound = grid_eye_tcd(len(sides), (max(sides) - 1).bit_length())
        assert rectangle_tcd(sides) <= bound
        for axis in range(len(sides)):
            longer = (*sides[:axis], sides[axis] + 1, *sides[axis + 1 :])
            assert rectangle_tcd(sides) <= rectangle_tcd(longer)
    for axes, k in product(range(1, 6), range(5)):
        assert rectangle_tcd((2**k,) * axes) == grid_eye_tcd_recursive(axes, k)


@pytest.mark.parametrize("topology", [line(13), ring(13), hypercube(5)])
def test_other_grids(topology: Topology) -> None:
    for source in range(topology.nodes):
        rectangle_broadcast(topology, source, 1).check()


@pytest.mark.parametrize(
    "topology", [torus((300, 90)), pytest.param(mesh((99, 99, 99)), marks=pytest.mark.slow)]
)
def test_a_million_nodes(topology: Topology) -> None:
    schedule = rectangle_broadcast(topology, 12_345, 1)
    schedule.check()
    assert schedule.steps == rectangle_steps(topology.dims)
    assert schedule.tcd >= rectangle_tcd(topology.dims)


def test_more_steps_than_a_broadcast_needs() -> None:
    assert rectangle_steps((5, 5)) == 6
    assert rectangle_broadcast(mesh((5, 5)), 0, 1).steps == 6
