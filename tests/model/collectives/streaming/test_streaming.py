"""Streaming schedules: proved, carried out in the cycle model, and near their bound."""

from collections.abc import Callable

import numpy as np
import pytest
from helpers.carried_out import cycles_of
from helpers.refusals import refusal_of

from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.collectives.streaming.arborescences import packed_arborescences
from eyecast.model.collectives.streaming.chain import chain_broadcast
from eyecast.model.collectives.streaming.greedy import greedy_all_gather
from eyecast.model.collectives.streaming.passing import links_past
from eyecast.model.collectives.streaming.rings import hamiltonian, stream_ring
from eyecast.model.collectives.streaming.snakes import mesh_cycle, snake, torus_cycles
from eyecast.model.collectives.streaming.trees import packed_trees_broadcast, shares
from eyecast.model.network.faults import draw_faults, with_faults
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.schedule.duration import expected_cycles
from eyecast.model.schedule.schedule import Schedule

FAULTY = with_faults(mesh((8, 8)), draw_faults(mesh((8, 8)), 4 / 64, seed=1, keep=(0,)))


@pytest.mark.parametrize(
    ("made", "most"),
    [
        (chain_broadcast(mesh((8, 8)), 0, 1024), 1.30),
        (packed_trees_broadcast(mesh((8, 8)), 0, 1024), 1.15),
        (stream_ring(mesh((8, 8)), 16), 1.05),
        (stream_ring(FAULTY, 17), 1.03),
        (hamiltonian(mesh((8, 8)), 64), 1.05),
        (hamiltonian(torus((8, 8)), 64), 1.05),
        (packed_trees_broadcast(FAULTY, 0, 1024), 1.25),
    ],
    ids=lambda value: value.algorithm if isinstance(value, Schedule) else None,
)
def test_cycles_beside_the_bound(made: Schedule, most: float) -> None:
    cycles, bound = cycles_of(made), schedule_bound(made).value
    assert bound <= cycles <= most * bound
    # The estimate leaves out the cycles to read the first row, and those of the last step's end.
    assert abs(cycles - expected_cycles(made)) <= 2


@pytest.mark.parametrize(
    "made",
    [
        *(chain_broadcast(mesh((4, 4)), 5, words) for words in (1, 16, 40, 300)),
        chain_broadcast(FAULTY, 9, 100),
        chain_broadcast(ring(7), 2, 20),
        chain_broadcast(line(2), 1, 3),
        *(packed_trees_broadcast(mesh((3, 5)), root, 70) for root in (0, 7)),
        packed_trees_broadcast(hypercube(4), 3, 9),
        packed_trees_broadcast(torus((4, 4)), 3, 1),
        *(stream_ring(net, 4) for net in (mesh((2, 4)), torus((4, 2)), hypercube(3), ring(8))),
        *(stream_ring(net, 5) for net in (mesh((4, 3)), torus((3, 3)), line(2), line(3), line(5))),
        stream_ring(FAULTY, 1),
        *(hamiltonian(net, 24) for net in (mesh((3, 4)), torus((3, 3)), ring(5), mesh((2, 2, 2)))),
        hamiltonian(mesh((4, 4)), 1),
        *(greedy_all_gather(net, 5) for net in (mesh((3, 3)), ring(5), hypercube(3))),
        greedy_all_gather(with_faults(mesh((3, 3)), [4]), 130),
    ],
    ids=lambda made: f"{made.algorithm}-{made.topology.label}-{made.blocks.words.sum()}",
)
def test_all_get_all(made: Schedule) -> None:
    cycles_of(made)


@pytest.mark.parametrize(
    ("topology", "root", "number"),
    [(mesh((4, 4)), 0, 2), (mesh((4, 4)), 5, 2), (torus((4, 4)), 1, 4), (hypercube(4), 0, 4)],
)
def test_trees_share_no_link(topology: Topology, root: int, number: int) -> None:
    goals = np.delete(np.arange(topology.nodes), root)
    trees = packed_arborescences(links_past(topology, root, goals), root, goals)
    assert len(trees) == number
    links = [
        (int(tree.parent[node]), node)
        for tree in trees
        for node in range(topology.nodes)
        if node != root
    ]
    assert len(set(links)) == len(links) == number * (topology.nodes - 1)
    for begin, end in links:
        assert end in topology.neighbor[begin]
    for tree in trees:
        below = np.delete(np.arange(topology.nodes), root)
        assert (tree.depth[below] == tree.depth[tree.parent[below]] + 1).all()


def test_words_are_cut_so_that_all_end_at_once() -> None:
    assert shares(100, [0, 20, 300]) == [60, 40, 0]
    assert shares(1, [4, 4]) == [1, 0]
    assert sum(shares(1000, [56, 60, 60])) == 1000


@pytest.mark.parametrize("dims", [(4, 3), (3, 4), (2, 3, 3), (1, 4, 2)])
def test_cycles_of_meshes(dims: tuple[int, ...]) -> None:
    cycle = mesh_cycle(dims)
    assert cycle is not None
    neighbor = mesh(dims).neighbor
    assert sorted(cycle) == list(range(len(neighbor)))
    assert all(
        end in neighbor[node] for node, end in zip(cycle, cycle[1:] + cycle[:1], strict=True)
    )


def test_no_cycle_of_an_odd_mesh_and_no_snake_from_within() -> None:
    assert mesh_cycle((3, 3)) is None
    assert snake((3, 3), 1) is None
    assert snake((3, 2), 5) == [5, 4, 3, 0, 1, 2]


@pytest.mark.parametrize("sides", [(3, 3), (4, 4), (3, 9), (4, 8)])
def test_two_cycles_of_a_torus_share_no_link(sides: tuple[int, int]) -> None:
    both = torus_cycles(sides)
    links = {frozenset(link) for way in both for link in zip(way, way[1:] + way[:1], strict=True)}
    assert len(both) == 2
    assert len(links) == 2 * sides[0] * sides[1]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: chain_broadcast(FAULTY, FAULTY.faulty_nodes[0], 4),
            f"source must be a node that is not faulty, not {FAULTY.faulty_nodes[0]}",
        ),
        (
            lambda: chain_broadcast(with_faults(line(3), [1]), 0, 4),
            "network for chain must be one in which a chain of links that are used once leads to "
            "all nodes, not a line of 3 with 1 faulty node",
        ),
        (
            lambda: packed_trees_broadcast(with_faults(line(3), [1]), 0, 4),
            "network for packed-trees must be one in which the source reaches all nodes, not a "
            "line of 3 with 1 faulty node",
        ),
        (
            lambda: stream_ring(with_faults(line(3), [1]), 4),
            "network for stream-ring must be one in which a ring of links that are used once leads "
            "through all nodes, not a line of 3 with 1 faulty node",
        ),
        (
            lambda: hamiltonian(mesh((3, 3)), 4),
            "network for hamiltonian must be a ring, mesh, torus or hypercube without faults in "
            "which a cycle is known, not a 3x3 mesh",
        ),
        (
            lambda: greedy_all_gather(with_faults(line(3), [1]), 4),
            "network for greedy must be one in which every node reaches all "
            "others, not a line of 3 with 1 faulty node",
        ),
    ],
)
def test_what_is_refused(make: Callable[[], Schedule], words: str) -> None:
    assert refusal_of(make) == words
