"""Streaming schedules: proved, carried out in the cycle model, and near their bound."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from helpers.carried_out import carried_out, cycles_of
from helpers.drawn_reductions import case_of, wrong_nodes
from helpers.generated import generated
from helpers.irregular_networks import KINDS, drawn_network, drawn_networks
from helpers.schedules import listed
from helpers.switch_networks import fat_tree, switch_mesh, switch_star
from helpers.tree_networks import graph_of

from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.collectives.streaming import walks
from eyecast.model.collectives.streaming.arborescences import packed_arborescences
from eyecast.model.collectives.streaming.chain import chain_broadcast
from eyecast.model.collectives.streaming.greedy import greedy_all_gather
from eyecast.model.collectives.streaming.packed_chains import packed_chains
from eyecast.model.collectives.streaming.passing import links_past
from eyecast.model.collectives.streaming.rings import hamiltonian, stream_ring
from eyecast.model.collectives.streaming.snakes import mesh_cycle, snake, torus_cycles
from eyecast.model.collectives.streaming.trees import (
    packed_trees_broadcast,
    packed_trees_multicast,
    shares,
)
from eyecast.model.collectives.streaming.walks import Path, chain_through, ring_through
from eyecast.model.network.faults import draw_faults, with_faults
from eyecast.model.network.named_graphs import binary_tree
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.schedule.duration import expected_cycles
from eyecast.model.schedule.schedule import Schedule

ONE_WAY = with_faults(switch_mesh(2, 3, 2), [], [(1, 3)])
FAULTY = with_faults(mesh((8, 8)), draw_faults(mesh((8, 8)), 4 / 64, seed=1, keep=(0,)))


def test_cycles_beside_the_bound() -> None:
    for made, most in (
        (chain_broadcast(mesh((8, 8)), 0, 1024), 1.30),
        (packed_trees_broadcast(mesh((8, 8)), 0, 1024), 1.15),
        (stream_ring(mesh((8, 8)), 16), 1.05),
        (stream_ring(FAULTY, 17), 1.03),
        (hamiltonian(mesh((8, 8)), 64), 1.05),
        (packed_trees_broadcast(FAULTY, 0, 1024), 1.25),
        (packed_trees_broadcast(switch_star(5), 1, 256), 1.10),
        (packed_trees_broadcast(fat_tree(4), 20, 1024), 1.12),
        (packed_trees_broadcast(switch_mesh(2, 2, 2), 5, 512), 1.10),
        (packed_trees_multicast(mesh((8, 8)), 0, range(1, 64, 2), 1024), 1.25),
        (packed_trees_multicast(hypercube(5), 3, [0, 5, 31], 1024), 1.10),
        (packed_trees_multicast(fat_tree(4), 20, [20, 23, 30], 512), 1.12),
        (greedy_all_gather(fat_tree(4), 64), 1.25),
        (greedy_all_gather(ONE_WAY, 64), 1.30),
    ):
        cycles, bound = cycles_of(made), schedule_bound(made).value
        assert bound <= cycles <= most * bound, made
        # The estimate leaves out the reading of the first row, and the end of the last step.
        assert abs(cycles - expected_cycles(made)) <= max(2, made.steps), made


def test_all_get_all() -> None:
    for made in (
        *(chain_broadcast(mesh((4, 4)), 5, words) for words in (1, 40)),
        chain_broadcast(FAULTY, 9, 100),
        chain_broadcast(ring(7), 2, 20),
        chain_broadcast(line(2), 1, 3),
        *(packed_trees_broadcast(mesh((3, 5)), root, 70) for root in (0, 7)),
        packed_trees_broadcast(hypercube(4), 3, 9),
        packed_trees_broadcast(torus((4, 4)), 3, 1),
        *(stream_ring(net, 4) for net in (mesh((2, 4)), ring(8))),
        *(stream_ring(net, 5) for net in (torus((3, 3)), line(2), line(5))),
        stream_ring(FAULTY, 1),
        *(hamiltonian(net, 24) for net in (mesh((3, 4)), ring(5))),
        hamiltonian(mesh((4, 4)), 1),
        *(greedy_all_gather(net, 5) for net in (mesh((3, 3)), ring(5), hypercube(3))),
        greedy_all_gather(with_faults(mesh((3, 3)), [4]), 130),
    ):
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


# ---- Trees through switches and through nodes outside a multicast -------------------------------


def ratio(made: Schedule) -> float:
    """Return the ratio of cycles to bound; require that all targets get the message."""
    return carried_out(made).predicted.cycles / schedule_bound(made).value


@pytest.mark.parametrize(
    ("topology", "goals"),
    [(switch_star(4), [2, 3, 4]), (fat_tree(4), [*range(21, 36)]), (mesh((4, 4)), [1, 7, 10])],
    ids=["star", "fat tree", "mesh"],
)
def test_paths_share_no_link_and_pass_no_goal(topology: Topology, goals: list[int]) -> None:
    root = int(np.setdiff1d(topology.working_nodes, goals)[0])
    made = links_past(topology, root, np.array(goals))
    links = [link for path in made.paths for link in pairwise(path)]
    assert len(set(links)) == len(links)
    for begin, end, path in zip(made.begins.tolist(), made.ends.tolist(), made.paths, strict=True):
        assert (begin, end) == (path[0], path[-1])
        assert begin != end
        assert {begin, end} <= {root, *goals}
        assert not {root, *goals} & {*path[1:-1]}
        assert all(there in topology.neighbor[node] for node, there in pairwise(path))


def test_a_link_that_leads_one_way_costs_at_most_its_way_back() -> None:
    made = packed_trees_multicast(
        with_faults(hypercube(4), [], [(3, 7)]), 15, [2, 3, 5, 9, 12], 1024
    )
    assert len(made.blocks) >= 3
    made.check()


def test_a_multicast_to_its_source_alone_has_no_sends() -> None:
    made = packed_trees_multicast(mesh((3, 3)), 4, [4], 16)
    made.check()
    assert (made.sends, made.blocks.words.tolist()) == (0, [16])


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [
        ("reduce", "packed-trees"),
        ("all-reduce", "packed-trees"),
        ("reduce-scatter", "greedy"),
        ("all-reduce", "greedy"),
    ],
)
def test_sums_across_switches_are_right(collective: str, algorithm: str) -> None:
    for topology in (switch_star(4), fat_tree(4)):
        root = int(topology.working_nodes[1]) if collective == "reduce" else None
        made = generated(collective, algorithm, topology, words=48, source=root, all_port=True)
        made.check()
        case = case_of(made, 1)
        assert case.predicted.finished
        assert wrong_nodes(case, case.predicted.memory) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_drawn_networks(kind: str, seed: int) -> None:
    topology = drawn_network(kind, seed)
    draw = np.random.default_rng(seed)
    root, *others = draw.permutation(topology.working_nodes).tolist()
    targets = others[: (len(others) + 1) // 2]
    # A path cannot tell parallel links apart, as on axes of length 2.
    parallel = any(side == 2 for side in topology.dims)
    most = 2.1 if parallel or kind == "graph" else 1.4
    assert ratio(packed_trees_broadcast(topology, root, 1024)) <= most
    assert ratio(packed_trees_multicast(topology, root, targets, 1024)) <= most
    root = int(np.random.default_rng(seed).choice(topology.working_nodes))
    for gather in (False, True):
        made = packed_chains(topology, root, 64, gather=gather)
        assert cycles_of(made) <= 1.6 * schedule_bound(made).value


# ---- Scatter and gather on all ports ------------------------------------------------------------


BROKEN = with_faults(mesh((6, 6)), [8, 21], [(0, 1)])


def words_of(made: Schedule) -> dict[tuple[int, int], int]:
    """Return words by the node that has them and the node that gets them."""
    found: dict[tuple[int, int], int] = {}
    blocks = made.blocks
    for owner, owed, words in zip(
        blocks.owner.tolist(), blocks.owed, blocks.words.tolist(), strict=True
    ):
        assert owed is not None
        found[owner, owed[0]] = found.get((owner, owed[0]), 0) + words
    return found


@pytest.mark.parametrize("gather", [False, True], ids=["scatter", "gather"])
@pytest.mark.parametrize(
    ("topology", "root", "most"),
    [
        (mesh((6, 6)), 0, 1.12),
        (torus((5, 5)), 7, 1.10),
        (hypercube(4), 3, 1.10),
        (BROKEN, 35, 1.15),
        (fat_tree(4), 20, 1.05),
    ],
)
def test_packed_chains_beside_the_bound(
    topology: Topology, root: int, most: float, gather: bool
) -> None:
    made = packed_chains(topology, root, 64, gather=gather)
    assert all(len({*send.path}) == len(send.path) for send in listed(made))
    ends = ((node, root) if gather else (root, node) for node in topology.working_nodes.tolist())
    assert words_of(made) == {(owner, goal): 64 for owner, goal in ends if owner != goal}
    cycles = cycles_of(made)
    assert cycles <= most * schedule_bound(made).value
    assert abs(cycles - expected_cycles(made)) <= 2 * made.steps


@pytest.mark.parametrize("gather", [False, True], ids=["scatter", "gather"])
@pytest.mark.parametrize(
    ("topology", "words"),
    [(line(2), 1), (line(5), 3), (switch_star(3), 2), (mesh((3, 2)), 33), (BROKEN, 1)],
)
def test_small_ones(topology: Topology, words: int, gather: bool) -> None:
    root = int(topology.working_nodes[-1])
    made = packed_chains(topology, root, words, gather=gather)
    assert {*words_of(made).values()} == {words}
    cycles_of(made)


@pytest.mark.parametrize("collective", ["scatter", "gather"])
def test_unequal_blocks(collective: str) -> None:
    words = tuple(int(word) for word in np.random.default_rng(3).integers(0, 50, 36))
    words = tuple(0 if node in (8, 21, 0) else word for node, word in enumerate(words))
    made = generated(
        collective, "packed-chains", BROKEN, words=1, source=0, all_port=True, block_words=words
    )
    found = words_of(made)
    for node in range(1, 36):
        assert found.get((0, node) if collective == "scatter" else (node, 0), 0) == words[node]
    cycles_of(made)


# ---- Walks --------------------------------------------------------------------------------------


NETWORKS = [
    *drawn_networks(5, seed=1),
    fat_tree(4),
    switch_star(5),
    line(9),
    with_faults(mesh((4, 4)), [], [(1, 5), (5, 1)]),
    with_faults(mesh((3, 3)), [], [(0, 1), (4, 3)]),
    graph_of(7, [(0, 1), (1, 2), (1, 3), (3, 4), (3, 5), (3, 6)]),
]


def require_walk(topology: Topology, paths: Sequence[Path]) -> None:
    """Require that each path follows links to the next path's start, and crosses none twice."""
    links = [link for path in paths for link in pairwise(path)]
    assert len(set(links)) == len(links)
    for begin, end in links:
        assert end in topology.neighbor[begin, 1:]
    for one, other in pairwise(paths):
        assert one[-1] == other[0]


@pytest.mark.parametrize("topology", NETWORKS)
def test_a_chain_visits_every_goal_once(topology: Topology) -> None:
    draw = np.random.default_rng(topology.nodes)
    goals = draw.permutation(topology.working_nodes)[: len(topology.working_nodes) // 2 + 1]
    root, *others = goals.tolist()
    paths = chain_through(topology, root, tuple(others))
    assert paths is not None
    require_walk(topology, paths)
    assert paths[0][0] == root
    assert sorted(path[-1] for path in paths) == sorted(others)


@pytest.mark.parametrize("topology", NETWORKS)
def test_a_ring_visits_every_node_once(topology: Topology) -> None:
    paths = ring_through(topology)
    assert paths is not None
    require_walk(topology, [*paths, paths[0]][:-1])
    assert paths[-1][-1] == paths[0][0]
    assert sorted(path[-1] for path in paths) == topology.working_nodes.tolist()
    if not topology.switches:
        assert max(map(len, paths)) <= 4


def test_rings_are_of_neighbours_where_they_can_be() -> None:
    for topology in (ring(7), mesh((4, 3)), with_faults(mesh((4, 4)), [0, 1])):
        paths = ring_through(topology)
        assert paths is not None
        assert {len(path) for path in paths} == {2}


def test_nodes_without_a_walk() -> None:
    apart = with_faults(line(3), [1])
    assert chain_through(apart, 0, (2,)) is None
    assert ring_through(apart) is None
    assert ring_through(with_faults(line(3), [], [(1, 0)])) is None
    assert chain_through(apart, 0, ()) == []
    assert ring_through(with_faults(line(3), [1, 2])) == []


@pytest.mark.parametrize(
    ("topology", "fewest"),
    [
        *((line(4), 6), (mesh((3, 3)), 10), (binary_tree(7), 12), (torus((3, 3)), 9), (ring(3), 3)),
        (with_faults(mesh((4, 3)), [5]), 12),
        # A ring of its leaves crosses a star's links both ways, and a switch counts for nothing.
        (switch_star(3), 4),
    ],
)
def test_no_walk_is_tried_after_one_that_cannot_be_shorter(
    topology: Topology, fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ring_through.__wrapped__(topology)
    assert found is not None
    least = walks._Walks(topology, topology.working_nodes.tolist()).fewest_links()
    assert least == fewest <= sum(len(path) - 1 for path in found)
    monkeypatch.setattr(walks._Walks, "fewest_links", lambda _: 0)
    assert ring_through.__wrapped__(topology) == found
