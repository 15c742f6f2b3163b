"""The eye broadcast in d dimensions and on tori, against the literal 3-D paper of Cang & Wu."""

from itertools import product
from math import prod

import numpy as np
import pytest
from helpers.eyes import Node, Sends, distance, eyes_by_definition, sends_of

from eyecast.model.collectives.halving.eye import (
    eye_broadcast,
    eye_line,
    eye_square_side,
    eye_tcd,
    eyes,
    source_excess,
)
from eyecast.model.collectives.halving.eye_tcd import (
    cube_eye_tcd,
    cube_source_excess,
    cube_source_tcd,
    grid_eye_tcd,
    grid_eye_tcd_recursive,
    grid_source_excess,
    grid_source_tcd,
    grid_source_tcds,
    line_eye_tcd,
    source_offsets,
)
from eyecast.model.network.topology import hypercube, line, mesh, ring, torus
from eyecast.model.schedule.broadcast_bounds import least_broadcast_steps
from eyecast.model.schedule.schedule import Schedule


def cube(k: int, source: Node) -> Schedule:
    """Return the eye broadcast in a 3-D 2^k mesh."""
    topology = mesh((2**k,) * 3)
    return eye_broadcast(topology, topology.node_at(source), 16)


def first_three_steps(k: int, start: Node) -> list[tuple[int, Node, Node]]:
    """Return steps 2 to 4 of Algorithm 2 with the source in the first submesh.

    The paper's E_k(i) by corner: E(1) = 000, E(2) = 100, E(3) = 010, E(4) = 110, E(5) = 001,
    E(6) = 101, E(7) = 011, E(8) = 111; its u, v, w are the axes 0, 1, 2.
    """
    eye = eyes_by_definition(3, k)

    def inner(submesh: Node, corner: Node) -> Node:
        """Return the paper's E(submesh)_(k-1)(corner)."""
        if k == 1:
            return submesh
        at = eyes_by_definition(3, k - 1)[corner]
        return tuple(2**k // 2 * s + c for s, c in zip(submesh, at, strict=True))

    def closest(*choice: Node) -> Node:
        return min(choice, key=lambda node: distance(start, node))

    second = eye[1, 0, 0]
    third = closest(eye[0, 1, 0], inner((0, 1, 0), (0, 0, 1)))
    fourth = eye[1, 1, 0]
    fifth = closest(*(inner((0, 0, 1), (u, v, 0)) for u in (0, 1) for v in (0, 1)))
    seventh = eye[0, 1, 1] if third == eye[0, 1, 0] else inner((0, 1, 1), (0, 0, 0))
    return [
        (1, start, second),
        (2, start, third),
        (2, second, fourth),
        (3, start, fifth),
        (3, second, eye[1, 0, 1]),
        (3, third, seventh),
        (3, fourth, eye[1, 1, 1]),
    ]


def sends_by_definition(k: int, source: Node, before: int = 0) -> Sends:
    """Return (step, source, target) of each send of Algorithm 2, one submesh after another."""
    if k == 0:
        return set()
    last, half = 2**k - 1, 2**k // 2

    def turn(node: Node) -> Node:
        pairs = zip(node, source, strict=True)
        return tuple(last - c if s >= half else c for c, s in pairs)

    first = first_three_steps(k, turn(source))
    sends = {(before + step, turn(a), turn(b)) for step, a, b in first}
    for node in (source, *(turn(target) for _, _, target in first)):
        corner = tuple(c // half * half for c in node)
        local = tuple(c - at for c, at in zip(node, corner, strict=True))
        for step, *ends in sends_by_definition(k - 1, local, before + 3):
            moved = (tuple(c + at for c, at in zip(end, corner, strict=True)) for end in ends)
            sends.add((step, *moved))
    return sends


@pytest.mark.parametrize("k", range(4))
def test_sends_are_those_of_algorithm_2(k: int) -> None:
    sources = list(product(range(2**k), repeat=3))
    for source in sources if k < 3 else sources[::23]:
        assert sends_of(cube(k, source)) == sends_by_definition(k, source)


@pytest.mark.parametrize(
    ("axes", "k"), [(1, 5), *((2, k) for k in range(4)), (3, 2), (4, 1), (5, 1)]
)
def test_every_source_is_proved(axes: int, k: int) -> None:
    topology = mesh((2**k,) * axes)
    for source in range(topology.nodes):
        schedule = eye_broadcast(topology, source, 1)
        schedule.check()
        assert schedule.steps == axes * k == least_broadcast_steps(topology.nodes)
        assert schedule.tcd >= topology.nodes - 1
        assert schedule.largest_link_load == min(k, 1)


@pytest.mark.parametrize("k", range(4))
def test_counted_tcd_is_theorem_1_for_every_source(k: int) -> None:
    """Compare with Theorem 1, Eqs. 8 and 11; by Theorem 2 no source is below the eyes."""
    sources = list(product(range(2**k), repeat=3))
    counted = {source: cube(k, source).tcd for source in sources}
    assert counted == {source: cube_source_tcd(k, source) for source in sources}
    assert counted == {source: grid_source_tcd(k, source) for source in sources}
    least = {source for source, tcd in counted.items() if tcd == min(counted.values())}
    assert least == set(product(eye_line(k), repeat=3))
    assert min(counted.values()) == cube_eye_tcd(k) == grid_eye_tcd(3, k)


def test_drawn_sources_of_16x16x16_are_theorem_1() -> None:
    for source in np.random.default_rng(1).integers(0, 16, (25, 3)).tolist():
        schedule = cube(4, tuple(source))
        schedule.check()
        assert schedule.tcd == cube_source_tcd(4, source)


@pytest.mark.parametrize(("axes", "k"), [(1, 6), (2, 5), (3, 3), (4, 2), (5, 2), (6, 1)])
def test_tcds_of_all_sources_at_once(axes: int, k: int) -> None:
    topology = mesh((2**k,) * axes)
    places = topology.coordinates(np.arange(topology.nodes)).tolist()
    tcds = grid_source_tcds(axes, k).tolist()
    assert tcds == [grid_source_tcd(k, place) for place in places]
    for source in np.random.default_rng(k).integers(0, topology.nodes, 20).tolist():
        assert eye_broadcast(topology, source, 1).tcd == tcds[source]


def test_every_source_of_4x4x4() -> None:
    """Compare with 3-D, Fig. 5, for w = 0 and w = 1; its lost numbers follow from Theorem 1.

    The axes 1 and 2 are the paper's z and y, which span its planes.
    """
    outer = [[69, 68, 68, 69], [67, 66, 66, 67], [67, 66, 66, 67], [69, 68, 68, 69]]
    inner = [[66, 65, 65, 66], [64, 63, 63, 64], [64, 63, 63, 64], [66, 65, 65, 66]]
    assert grid_source_tcds(3, 2).reshape(4, 4, 4).tolist() == [outer, inner, inner, outer]


@pytest.mark.parametrize("axes", range(2, 9))
def test_theorem_6_is_its_recursion(axes: int) -> None:
    """Compare Eqs. 13 and 16 with Eqs. 6, 12, 14 and 15."""
    for k in range(30):
        assert grid_eye_tcd(axes, k) == grid_eye_tcd_recursive(axes, k)
        if axes == 2:
            assert grid_eye_tcd(axes, k) == eye_tcd(k)
        if axes == 3:
            assert grid_eye_tcd(axes, k) == cube_eye_tcd(k)


def test_theorem_6_divides_by_zero_in_one_dimension() -> None:
    for k in range(12):
        eye = eye_line(k)[0]
        assert line_eye_tcd(k) == grid_eye_tcd_recursive(1, k)
        assert line_eye_tcd(k) == eye_broadcast(line(2**k), eye, 1).tcd


@pytest.mark.parametrize("k", range(1, 7))
def test_excess_is_a_sum_over_the_axes(k: int) -> None:
    """Compare Eq. 7, and f_k of 1998 by region, with sums over axes; Eq. 9 is 0 only at the eye."""
    low = eye_line(k)[0]
    offsets = range(low - 2**k // 2 + 1, low + 1)
    for u, v in product(offsets, repeat=2):
        assert grid_source_excess(k, (u, v)) == source_excess(k, u, v)
    for place in product(offsets if k < 6 else offsets[::3], repeat=3):
        excess = cube_source_excess(k, *place)
        assert grid_source_excess(k, place) == excess
        assert (excess > 0) == (place != (0, 0, 0))


def test_difference_of_a_source_and_an_eye() -> None:
    """Compare with Eq. 10."""
    for place in product(range(8), repeat=3):
        submesh = [c % 4 for c in place]
        excess = cube_source_excess(3, *source_offsets(3, place))
        beyond = cube_source_tcd(3, place) - cube_eye_tcd(3)
        assert beyond == excess + cube_source_tcd(2, submesh) - cube_eye_tcd(2)


@pytest.mark.parametrize(("axes", "k"), [(1, 4), (2, 3), (3, 1), (3, 2), (3, 3), (4, 2)])
def test_eyes_are_where_definition_7_puts_them(axes: int, k: int) -> None:
    topology = mesh((2**k,) * axes)
    found = eyes_by_definition(axes, k)
    in_order = [found[corner[::-1]] for corner in product((0, 1), repeat=axes)]
    assert eyes(topology) == tuple(topology.node_at(eye) for eye in in_order)
    low, high = eye_line(k)
    assert high - low == eye_square_side(k)


@pytest.mark.parametrize("sides", [(8, 8), (4, 4, 4), (2,) * 5, (1, 1), (64,)])
def test_every_node_of_a_torus_is_an_eye(sides: tuple[int, ...]) -> None:
    topology = torus(sides)
    k = sides[0].bit_length() - 1
    assert eyes(topology) == tuple(range(prod(sides)))
    for source in range(0, topology.nodes, max(1, topology.nodes // 16)):
        schedule = eye_broadcast(topology, source, 1)
        schedule.check()
        assert schedule.tcd == grid_eye_tcd_recursive(len(sides), k)
        assert schedule.steps == least_broadcast_steps(topology.nodes)


def test_a_torus_uses_no_link_between_the_ends_of_its_numbers() -> None:
    """With the source moved to (2, 2), the broadcast from (0, 0) crosses no link from 5 to 6."""
    begins, ends = eye_broadcast(torus((8, 8)), 0, 1).hop_ends
    used = set(zip((begins % 8).tolist(), (ends % 8).tolist(), strict=True))
    assert not {(5, 6), (6, 5)} & used
    assert {(0, 7), (0, 1)} <= used


def test_lines_rings_and_hypercubes_are_grids() -> None:
    for topology, tcd in ((line(16), 28), (ring(16), 23), (hypercube(6), 63)):
        schedule = eye_broadcast(topology, 1, 1)
        schedule.check()
        assert schedule.tcd == tcd


def test_algorithm_2_is_not_least_away_from_the_eyes() -> None:
    """These sources differ by an exchange of axes; by Theorem 3 they would cost the same."""
    assert [cube_source_tcd(2, place) for place in ((1, 0, 0), (0, 1, 0), (0, 0, 1))] == [
        68,
        67,
        66,
    ]
