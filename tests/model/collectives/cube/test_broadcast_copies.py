"""Copies down the n trees of nESBT: every choice of n - 1 faulty links in small cubes."""

from itertools import combinations

import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.schedules import listed

from eyecast.model.collectives.cube.broadcast_copies import nesbt_copies
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube, mesh
from eyecast.model.schedule.schedule import Schedule


def links(n: int) -> list[tuple[int, int]]:
    return [(a, a ^ (1 << d)) for a in range(1 << n) for d in range(n)]


def holders(schedule: Schedule) -> set[int]:
    """Return the nodes that get a copy, by carrying out the sends one by one."""
    have = {(schedule.root, block) for block in range(len(schedule.blocks))}
    for send in sorted(listed(schedule), key=lambda send: send.step):
        for block in send.blocks:
            assert (send.source, block) in have
            have.add((send.target, block))
    owed = {(node, b) for b, nodes in enumerate(schedule.blocks.owed) for node in nodes or ()}
    assert have == owed
    return {node for node, _ in have}


def prove(cube: Topology, source: int) -> Schedule:
    schedule = nesbt_copies(cube, source, 3)
    schedule.check()
    assert holders(schedule) == set(range(cube.nodes)) - set(cube.faulty_nodes)
    assert schedule.steps <= len(cube.dims) + 1
    assert not {(send.source, send.target) for send in listed(schedule)} & set(cube.faulty_links)
    return schedule


@pytest.mark.parametrize("n", [1, 2, 3])
def test_all_choices_of_n_minus_1_links(n: int) -> None:
    for faulty in combinations(links(n), n - 1):
        prove(with_faults(hypercube(n), (), faulty), 2 % (1 << n))


@pytest.mark.parametrize("n", [4, 5, 6])
def test_drawn_choices_of_n_minus_1_links(n: int) -> None:
    drawn = np.random.default_rng(n)
    all_links = links(n)
    for _ in range(25):
        chosen = drawn.choice(len(all_links), n - 1, replace=False)
        source = int(drawn.integers(1 << n))
        prove(with_faults(hypercube(n), (), [all_links[i] for i in chosen]), source)


def test_n_minus_1_links_of_one_node() -> None:
    # If all links into node 7 except one fail, the copy of the remaining tree still arrives.
    for kept in range(4):
        faulty = [(7 ^ (1 << d), 7) for d in range(4) if d != kept]
        schedule = prove(with_faults(hypercube(4), (), faulty), 0)
        assert sum(7 in (owed or ()) for owed in schedule.blocks.owed) == 1


def test_without_faults_every_copy_reaches_all() -> None:
    schedule = prove(hypercube(4), 5)
    assert schedule.sends == 4 * 15
    assert schedule.steps == 5
    assert schedule.blocks.owed == (tuple(range(16)),) * 4


def test_a_link_that_fails_takes_what_is_below_it() -> None:
    # Tree 0 of the 2-cube from node 0 is 0 -> 1 -> 3 -> 2, tree 1 is 0 -> 2 -> 3 -> 1.
    schedule = prove(with_faults(hypercube(2), (), [(1, 3)]), 0)
    assert schedule.blocks.owed == ((0, 1), (0, 1, 2, 3))


def test_faulty_nodes_are_left_out() -> None:
    schedule = prove(with_faults(hypercube(4), [6]), 0)
    assert all(6 not in (owed or ()) for owed in schedule.blocks.owed)


@pytest.mark.parametrize(
    ("topology", "source", "words", "line"),
    [
        (
            with_faults(hypercube(2), (), [(1, 3), (2, 3)]),
            *(0, 1),
            "faults must be such that some tree of nesbt reaches every node, "
            "not such that 3 is lost",
        ),
        (
            with_faults(hypercube(2), [1]),
            *(1, 1),
            "faults must be such that some tree of nesbt reaches every node, "
            "not such that 1 is lost",
        ),
        (mesh((2, 2)), 0, 1, "topology for nesbt must be a hypercube, not a 2x2 mesh"),
    ],
)
def test_bad_input(topology: Topology, source: int, words: int, line: str) -> None:
    assert refusal_of(nesbt_copies, topology, source, words) == line
