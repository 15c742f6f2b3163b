"""The least TCD against brute force, the papers' figures and an exhaustive search."""

from itertools import product
from math import prod

import numpy as np
import pytest
from helpers.exhaustive_tcd import least_tcds
from helpers.refusals import refusal_of

from eyecast.model.base.errors import InvalidInput, with_article
from eyecast.model.collectives.halving.eye import eye_broadcast, eyes
from eyecast.model.collectives.halving.eye_tcd import grid_eye_tcd_recursive
from eyecast.model.collectives.halving.minimum import (
    best_sources,
    minimum_broadcast,
    minimum_tcds,
    tcds_by_eye,
)
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube, mesh, torus

Node = tuple[int, ...]


@pytest.mark.parametrize(
    "sides", [(8,), (2, 2), (2, 4), (2, 2, 2), (4, 4), (2, 8), (2, 2, 4), (2,) * 4, (16,)]
)
def test_no_broadcast_in_as_few_steps_is_cheaper(sides: Node) -> None:
    """From any source, not even a broadcast whose sends may share links."""
    assert minimum_tcds(mesh(sides)).tolist() == least_tcds(sides)


@pytest.mark.parametrize("sides", [(8,), (16,), (4, 4)])
def test_no_broadcast_on_a_torus_is_cheaper_than_the_eye(sides: Node) -> None:
    """Cang & Wu claim this in 3-D, section 5; here the sends may even share links."""
    topology = torus(sides)
    assert least_tcds(sides, wrapped=True) == [eye_broadcast(topology, 0, 1).tcd] * topology.nodes


@pytest.mark.parametrize(
    "sides",
    [
        *((1,), (2, 2), (4, 4), (8, 8), (16, 2), (4, 2, 8), (4, 4, 4), (2,) * 6, (1, 8, 1, 4)),
        *((3,), (13,), (2, 3), (3, 3), (5, 5), (3, 7), (6, 6)),
        *((3, 4, 2), (3, 3, 3), (5, 1, 3), (2, 3, 1, 3)),
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


@pytest.mark.parametrize("sides", [(64, 64), (128, 8), (16, 16, 16), (8, 2, 4, 8), (4096,)])
def test_drawn_sources_are_proved(sides: Node) -> None:
    topology = mesh(sides)
    tcds = minimum_tcds(topology)
    for source in np.random.default_rng(7).integers(0, topology.nodes, 10).tolist():
        schedule = minimum_broadcast(topology, source, 1)
        schedule.check()
        assert schedule.tcd == tcds[source]


@pytest.mark.parametrize(
    "sides",
    [
        *((8, 8), (4, 4, 4), (8, 8, 8), (4, 8, 4), (32, 32)),
        *((5, 5), (7, 7), (3, 5, 3), (6, 9), (3, 3, 3, 3)),
    ],
)
def test_costs_have_the_symmetry_of_the_mesh(sides: Node) -> None:
    found = minimum_tcds(mesh(sides)).reshape(sides[::-1])
    for axis in range(len(sides)):
        assert (np.flip(found, axis) == found).all()
    for first, second in product(range(len(sides)), repeat=2):
        if found.shape[first] == found.shape[second]:
            assert (found.swapaxes(first, second) == found).all()


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


LONG_AND_MANY = [(1024, 1024), (1 << 20,), (32,) * 4]


@pytest.mark.parametrize(
    "sides",
    [(128, 64, 128), *(pytest.param(each, marks=pytest.mark.slow) for each in LONG_AND_MANY)],
)
def test_a_million_nodes(sides: Node) -> None:
    topology = mesh(sides)
    source = 123_456
    schedule = minimum_broadcast(topology, source, 1)
    schedule.check()
    assert schedule.steps == 20
    assert schedule.tcd == minimum_tcds(topology)[source]


def test_a_hypercube_needs_a_link_for_each_node() -> None:
    schedule = minimum_broadcast(hypercube(7), 5, 1)
    schedule.check()
    assert schedule.tcd == 127


@pytest.mark.parametrize(
    ("topology", "allowed"),
    [
        (torus((8, 8)), "a mesh without faults"),
        (with_faults(mesh((4, 4)), faulty_nodes=[5]), "a mesh without faults"),
    ],
    ids=lambda value: value.label if isinstance(value, Topology) else "",
)
def test_other_networks_are_refused(topology: Topology, allowed: str) -> None:
    message = (
        f"network for the minimum broadcast must be {allowed}, not {with_article(topology.label)}"
    )
    for refused in (lambda: minimum_broadcast(topology, 0, 1), lambda: minimum_tcds(topology)):
        assert refusal_of(refused) == message


@pytest.mark.parametrize("sides", [(8, 4), (6, 6)])
def test_other_sides_cannot_be_compared_with_the_eye(sides: Node) -> None:
    allowed = "of equal sides that are powers of two"
    message = f"mesh to compare with the eye must be {allowed}, not {mesh(sides).label}"
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        tcds_by_eye(mesh(sides))
