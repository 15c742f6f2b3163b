"""The eye broadcast against the numbers of Cang & Wu and a literal Algorithm 1."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.eyes import Node, distance, eyes_by_definition, sends_of

from eyecast.model.collectives.halving.eye import (
    corner_tcd,
    corner_tcd_recursive,
    eye_broadcast,
    eye_line,
    eye_square_side,
    eye_square_side_recursive,
    eye_tcd,
    eye_tcd_recursive,
    source_tcd,
)
from eyecast.model.network.routes import dimension_order
from eyecast.model.network.topology import mesh
from eyecast.model.schedule.broadcast_bounds import least_broadcast_steps
from eyecast.model.schedule.schedule import Schedule


def square(k: int, source: Node = (0, 0)) -> Schedule:
    """Return the eye broadcast in a 2^k x 2^k mesh."""
    topology = mesh((2**k, 2**k))
    return eye_broadcast(topology, topology.node_at(source), 16)


def every_node(k: int) -> list[Node]:
    return [(x, y) for y in range(2**k) for x in range(2**k)]


def eyes(k: int) -> tuple[Node, ...]:
    """Return the upper-left, upper-right, lower-left and lower-right eye, by Definition 2."""
    found = eyes_by_definition(2, k)
    return tuple(found[corner] for corner in ((0, 0), (1, 0), (0, 1), (1, 1)))


def sends_by_definition(k: int, source: Node, step: int = 1) -> set[tuple[int, Node, Node]]:
    """Return (step, source, target) of each send of Algorithm 1, one submesh after another."""
    if k == 0:
        return set()
    last, half = 2**k - 1, 2**k // 2

    def turn(node: Node) -> Node:
        x, y = node
        return (last - x if source[0] >= half else x, last - y if source[1] >= half else y)

    start = turn(source)
    _, second, third, fourth = eyes(k)
    if k > 1:
        x, y = eyes(k - 1)[0]
        third = min(third, (x, y + half), key=lambda eye: distance(start, eye))
    first_two = [(step, start, second), (step + 1, start, third), (step + 1, second, fourth)]
    sends = {(s, turn(a), turn(b)) for s, a, b in first_two}
    for node in (source, turn(second), turn(third), turn(fourth)):
        dx, dy = node[0] // half * half, node[1] // half * half
        inner = sends_by_definition(k - 1, (node[0] - dx, node[1] - dy), step + 2)
        sends |= {(s, (a + dx, b + dy), (c + dx, d + dy)) for s, (a, b), (c, d) in inner}
    return sends


@pytest.mark.parametrize("k", range(5))
def test_sends_are_those_of_algorithm_1(k: int) -> None:
    for source in every_node(k)[:: 3 if k == 4 else 1]:
        schedule = square(k, source)
        assert sends_of(schedule) == sends_by_definition(k, source)
        assert schedule.sends == 4**k - 1


@pytest.mark.parametrize("k", range(4))
def test_y_first_shares_no_link_either(k: int) -> None:
    side = 2**k
    for source in every_node(k):
        schedule = square(k, source)
        swapped = [node // side + node % side * side for node in (schedule.source, schedule.target)]
        offsets, nodes = dimension_order(schedule.topology, *swapped)
        nodes = nodes // side + nodes % side * side
        replace(schedule, path_offsets=offsets, path_nodes=nodes).check()
        schedule.check()


@pytest.mark.parametrize("k", [*range(5), pytest.param(5, marks=pytest.mark.slow)])
def test_counted_tcd_is_the_formula_for_every_source(k: int) -> None:
    """Compare with 1998, Eqs. 4 and 5; by Theorem 1 no source is below the eyes."""
    counted = {source: square(k, source).tcd for source in every_node(k)}
    assert counted == {(x, y): source_tcd(k, x, y) for x, y in counted}
    least = {source for source, tcd in counted.items() if tcd == min(counted.values())}
    line = eye_line(k)
    assert least == {(x, y) for x in line for y in line}
    assert min(counted.values()) == eye_tcd(k) == eye_tcd_recursive(k)
    assert counted[0, 0] == corner_tcd(k) == corner_tcd_recursive(k)


def test_recursions_are_the_closed_forms() -> None:
    for k in range(41):
        assert eye_square_side(k) == eye_square_side_recursive(k)
        assert eye_tcd(k) == eye_tcd_recursive(k)
        assert corner_tcd(k) == corner_tcd_recursive(k)


def test_eyes_are_where_definition_2_puts_them() -> None:
    """Compare with the coordinates for k = 1, 2, 3 in 3-D, section 2.1."""
    assert [eye_line(k) for k in (1, 2, 3)] == [(0, 1), (1, 2), (2, 5)]
    for k in range(1, 9):
        low, high = eye_line(k)
        assert eyes(k) == ((low, low), (high, low), (low, high), (high, high))
        assert high - low == eye_square_side(k)


def test_each_node_is_an_eye_of_exactly_one_mesh() -> None:
    """1998, section 3: each node is an eye of exactly one submesh, the whole mesh included.

    This holds for the largest submesh: an eye of a mesh is also an eye of its submeshes. So from
    an eye, each level adds the eyes of its submeshes.
    """
    schedule = square(4, (5, 5))
    reached = {(5, 5)}
    for level in range(4, 0, -1):
        now = schedule.target[(schedule.step + 1) // 2 == 5 - level]
        reached |= set(map(tuple, schedule.topology.coordinates(now).tolist()))
        side = 2**level
        corners = [(x, y) for x in range(0, 16, side) for y in range(0, 16, side)]
        assert reached == {(x + dx, y + dy) for x, y in eyes(level) for dx, dy in corners}


def test_first_steps_from_the_corner_of_8x8() -> None:
    """3-D, section 2: the first step has 7 links, the second 6 + 3, and the sum of all is 79.

    1998, section 2, sends to (5, 1) instead of (5, 2) first. That gives 79 too: 6 + (6 + 4) and the
    same rest.
    """
    schedule = square(3)
    targets = schedule.topology.coordinates(schedule.target[:3]).tolist()
    assert schedule.step[:4].tolist() == [1, 2, 2, 3]
    assert targets == [[5, 2], [1, 5], [5, 5]]
    assert schedule.distances[:3].tolist() == [7, 6, 3]
    local = (corner_tcd(2), eye_tcd(2), eye_tcd(2), eye_tcd(2))
    assert schedule.tcd == 7 + 6 + 3 + sum(local) == 6 + 6 + 4 + sum(local) == 79


def test_theorem_2_is_wrong_away_from_the_eyes() -> None:
    """The broadcast from (0, 1), mirrored in the diagonal, is one from (1, 0) that costs less."""
    ours, other = square(2, (1, 0)), square(2, (0, 1))

    def mirrored(nodes: np.ndarray) -> np.ndarray:
        return nodes // 4 + nodes % 4 * 4

    better = replace(
        other,
        root=ours.root,
        blocks=ours.blocks,
        source=mirrored(other.source),
        target=mirrored(other.target),
        path_nodes=mirrored(other.path_nodes),
    )
    better.check()
    assert (better.root, better.steps, better.tcd, ours.tcd) == (1, 4, 16, 17)


@pytest.mark.parametrize(
    ("k", "source"),
    [
        (8, (0, 0)),
        *(pytest.param(10, each, marks=pytest.mark.slow) for each in ((341, 341), (1023, 511))),
    ],
)
def test_a_million_nodes(k: int, source: Node) -> None:
    schedule = square(k, source)
    schedule.check()
    assert (schedule.steps, schedule.sends) == (2 * k, 4**k - 1)
    assert schedule.tcd == source_tcd(k, *source)
    assert schedule.path_nodes.dtype == schedule.target.dtype == np.int32


@pytest.mark.parametrize(
    ("nodes", "steps"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (64, 6), (65, 7)]
)
def test_least_steps(nodes: int, steps: int) -> None:
    assert least_broadcast_steps(nodes) == steps
