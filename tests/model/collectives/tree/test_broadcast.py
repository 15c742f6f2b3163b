"""The tree broadcast on networks of all kinds, judged by plain code; cuts of trees, intervals."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest
from helpers.switch_networks import fat_tree, switch_mesh, switch_star, switch_tree
from helpers.topologies import distances, neighbors
from helpers.tree_networks import (
    drawn_edges,
    drawn_graph,
    graph_of,
    judge,
    proved,
    star,
    two_way_neighbors,
    with_drawn_faults,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from eyecast.model.collectives.halving.eye import corner_tcd, eye_tcd, eyes
from eyecast.model.collectives.tree.broadcast import (
    partial_tree_broadcast,
    tree_broadcast,
    tree_multicast,
)
from eyecast.model.collectives.tree.exact_cuts import exact_cuts
from eyecast.model.collectives.tree.graph import UNKNOWN, halves, two_way_graph
from eyecast.model.collectives.tree.intervals import cut_intervals, interval_sends, tree_path
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import de_bruijn
from eyecast.model.network.neighbor_table import with_switches
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.schedule.broadcast_bounds import least_broadcast_steps, least_spanning_tcd
from eyecast.model.schedule.schedule import Schedule


@pytest.mark.parametrize(
    "topology",
    [
        *(mesh(dims) for dims in ((1,), (1, 2), (3, 3), (4, 5), (2, 2, 2, 2))),
        *(torus(dims) for dims in ((1, 1), (2, 2), (5, 7), (3, 3, 3))),
        *(line(9), line(33), ring(3), ring(9), hypercube(3), star(2), star(7)),
    ],
)
def test_networks_without_faults(topology: Topology) -> None:
    nodes = topology.nodes
    for source in {0, nodes // 3, nodes - 1}:
        whole = tree_broadcast(topology, source, 3)
        assert whole.sends == nodes - 1
        assert proved(topology, source).tcd == whole.tcd >= nodes - 1


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("whole", [mesh((7, 9)), mesh((4, 4, 4)), torus((5, 7)), hypercube(6)])
@pytest.mark.parametrize(("nodes", "links"), [(0.05, 0.0), (0.0, 0.1), (0.15, 0.05), (0.4, 0.2)])
def test_any_faults(whole: Topology, nodes: float, links: float, seed: int) -> None:
    proved(*with_drawn_faults(whole, nodes, links, seed))


@settings(max_examples=25, deadline=None)
@given(
    nodes=st.integers(2, 70),
    more=st.integers(0, 50),
    seed=st.integers(0, 2**32 - 1),
    place=st.integers(0, 2**32 - 1),
)
def test_any_graph(nodes: int, more: int, seed: int, place: int) -> None:
    proved(drawn_graph(nodes, more, seed), place % nodes)


LARGE = (1025, 0), (2048, 4000)


@pytest.mark.parametrize(
    ("nodes", "more"),
    [(300, 100), *(pytest.param(*each, marks=pytest.mark.slow) for each in LARGE)],
)
def test_large_graphs(nodes: int, more: int) -> None:
    proved(drawn_graph(nodes, more, nodes), 7)


@pytest.mark.parametrize(
    "dims", [*((8, 8), (12, 11), pytest.param((45, 45), marks=pytest.mark.slow))]
)
def test_tcd_on_meshes_with_faults(dims: tuple[int, ...]) -> None:
    """The TCD is at most 1.35 times the nodes; without faults the optimum tends to 1.2."""
    for seed in range(2):
        topology, source = with_drawn_faults(mesh(dims), 0.05, 0, seed)
        schedule = proved(topology, source)
        assert schedule.tcd <= 1.35 * (schedule.sends + 1)


@pytest.mark.parametrize("k", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_tcd_of_the_eye_broadcast_is_reached(k: int) -> None:
    """Compare from an eye (Cang & Wu 1998, Eq. 10, the optimum) and from a corner (Eq. 9)."""
    topology = mesh((2**k, 2**k))
    assert proved(topology, eyes(topology)[0]).tcd == eye_tcd(k)
    assert proved(topology, 0).tcd <= corner_tcd(k)


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5, 6])
def test_hypercubes_are_served_at_the_lower_bound(dimension: int) -> None:
    assert proved(hypercube(dimension), 1).tcd == 2**dimension - 1


@pytest.mark.parametrize("steps", [2, 3, 4, 5, 6])
def test_stars_are_served_at_the_optimum(steps: int) -> None:
    """With 2^s nodes all send in each step: the center s times one hop, the others two hops."""
    nodes = 2**steps
    assert proved(star(nodes - 1), 0).tcd == 2 * (nodes - 1) - steps


def test_the_same_again() -> None:
    for nodes, links in ((0.1, 0.1), (0, 0.3)):
        topology, source = with_drawn_faults(mesh((9, 9)), nodes, links, 1)
        one, other = (partial_tree_broadcast(topology, source, 1) for _ in range(2))
        assert np.array_equal(one.path_nodes, other.path_nodes)


def test_a_graph_without_coordinates() -> None:
    topology = graph_of(
        144, [(n, n + 1) for n in range(143) if n % 12 < 11] + [(n, n + 12) for n in range(132)]
    )
    assert proved(topology, 0).tcd <= 1.35 * 144


def corner_cut_off() -> Topology:
    """Return a 4x4 mesh whose node 0 has no neighbors left."""
    return with_faults(mesh((4, 4)), [1, 4])


def test_faulty_nodes_are_owed_nothing() -> None:
    topology = with_faults(mesh((4, 4)), [5, 6])
    schedule = tree_broadcast(topology, 0, 1)
    schedule.check()
    assert set(schedule.target.tolist()) == set(range(1, 16)) - {5, 6}


def test_partial_broadcasts_serve_what_can_be_reached() -> None:
    topology = corner_cut_off()
    assert proved(topology, 5).sends == 12
    assert proved(topology, 0).sends == 0
    assert distances(neighbors(topology), 5).keys() == set(range(16)) - {0, 1, 4}


# ---- The tree broadcast with one-way links, against plain code and an exhaustive search ---------


def out_star(leaves: int) -> Topology:
    """Return a star with center 0 and leaves from which no link leads back."""
    return with_faults(star(leaves), [], [(leaf, 0) for leaf in range(1, leaves + 1)])


def broom(leaves: int) -> Topology:
    """Return node 0, node 1 behind it, and leaves behind node 1; no link leads back."""
    edges = [(0, 1), *((1, leaf) for leaf in range(2, leaves + 2))]
    return with_faults(graph_of(leaves + 2, edges), [], [(b, a) for a, b in edges])


def least_steps(topology: Topology, source: int) -> int:
    """Return the fewest steps of any broadcast to all nodes in reach, by trying everything."""
    ends = neighbors(topology)
    wanted = frozenset(distances(ends, source))
    ways = {node: list(simple_paths(ends, [node])) for node in wanted}
    level, steps = {frozenset([source])}, 0
    while wanted not in level:
        after = {
            informed | got
            for informed in level
            for got in reached_together(ways, informed, sorted(informed))
        }
        level = {one for one in after if not any(one < other for other in after)}
        steps += 1
    return steps


def simple_paths(ends, path):
    for end in ends[path[-1]] - {*path}:
        yield [*path, end]
        yield from simple_paths(ends, [*path, end])


def reached_together(ways, informed, senders, links=frozenset(), got=frozenset()):
    """Yield the sets of nodes that ``senders`` can reach in one step by link-disjoint paths."""
    if not senders:
        yield got
        return
    yield from reached_together(ways, informed, senders[1:], links, got)
    for path in ways[senders[0]]:
        mine = frozenset(pairwise(path))
        if path[-1] not in informed | got and not mine & links:
            after = got | {path[-1]}
            yield from reached_together(ways, informed, senders[1:], links | mine, after)


def drawn(seed: int) -> Topology:
    """Draw a graph of 4 to 6 nodes; most of its links lead one way only."""
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(4, 7))
    edges = [*dict.fromkeys(tuple(sorted(edge)) for edge in drawn_edges(nodes, 2, draw))]
    broken = [(b, a) for a, b in edges if draw.random() < 0.6]
    return with_faults(graph_of(nodes, edges), [], broken)


@pytest.mark.parametrize(
    ("topology", "source", "steps"),
    [
        (with_faults(mesh((4,)), [], [(0, 1)]), 3, 2),
        (with_faults(line(3), [], [(2, 1)]), 0, 2),
        (de_bruijn(2, 2), 2, 2),
        (de_bruijn(2, 6), 1, 6),
        (with_faults(line(64), [], [(node + 1, node) for node in range(63)]), 0, 6),
    ],
    ids=["mesh", "line", "de-bruijn", "larger-de-bruijn", "one-way-line"],
)
def test_all_that_can_be_reached_is_served_in_the_fewest_steps(
    topology: Topology, source: int, steps: int
) -> None:
    schedule = proved(topology, source)
    both_ways, all_ways = two_way_neighbors(topology), neighbors(topology)
    assert distances(both_ways, source).keys() < distances(all_ways, source).keys()
    assert schedule.sends == topology.nodes - 1
    assert tree_broadcast(topology, source, 3).steps == schedule.steps == steps
    assert steps == least_broadcast_steps(topology.nodes)


def test_more_steps_where_nodes_cannot_pass_it_on() -> None:
    """In a star only the center sends; in a broom the two inner nodes share the sends."""
    assert proved(out_star(9), 0).steps == 9
    assert proved(broom(9), 0).steps == 1 + 5


def test_against_an_exhaustive_search() -> None:
    """At most one of 30 random networks takes one step more than the fewest."""
    more = Counter(proved(drawn(seed), 0).steps - least_steps(drawn(seed), 0) for seed in range(30))
    assert set(more) <= {0, 1}
    assert more[1] <= 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_meshes_with_faulty_links(rate: float, seed: int) -> None:
    schedule = proved(*with_drawn_faults(mesh((8, 8)), 0.05, rate, seed))
    assert schedule.steps <= least_broadcast_steps(schedule.sends + 1) + 1


def test_a_node_that_no_link_leads_to_gets_nothing() -> None:
    topology = with_faults(line(3), [], [(1, 2)])
    assert proved(topology, 0).target.tolist() == [1]


# ---- Tree broadcasts and multicasts across switches ---------------------------------------------


@pytest.mark.parametrize(
    "topology",
    [switch_star(1), switch_star(2), switch_star(9), switch_tree(), switch_mesh(4, 3), fat_tree(4)],
)
def test_every_source_of_networks_as_they_are_built(topology: Topology) -> None:
    steps = (len(topology.working_nodes) - 1).bit_length()
    for source in topology.working_nodes.tolist():
        schedule = proved(topology, source)
        assert (schedule.collective, schedule.steps) == ("broadcast", steps)


@pytest.mark.parametrize("ports", [4, 8])
def test_fat_trees_are_served_at_the_lower_bound(ports: int) -> None:
    topology = fat_tree(ports)
    source = int(topology.working_nodes[-1])
    assert proved(topology, source).tcd == least_spanning_tcd(topology)


def test_stars_around_a_switch_are_served_at_the_optimum() -> None:
    assert [proved(switch_star(n), 1).tcd for n in (2, 5, 33)] == [2, 8, 64]


@pytest.mark.parametrize("seed", range(20))
def test_any_graph_any_switches_any_faults(seed: int) -> None:
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(4, 60))
    edges = drawn_edges(nodes, int(draw.integers(0, nodes)), draw)
    switches = np.flatnonzero(draw.random(nodes) < draw.random())
    whole = graph_of(nodes, edges, switches[: nodes - 2].tolist())
    proved(whole, int(draw.choice(whole.working_nodes)))
    topology, _ = with_drawn_faults(whole, 0.1, 0.2, seed)
    if topology.working_nodes.size:
        proved(topology, int(draw.choice(topology.working_nodes)))


@pytest.mark.parametrize("seed", range(10))
def test_intervals_count_the_links_over_who_is_left_out(seed: int) -> None:
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(5, 40))
    graph = two_way_graph(drawn_graph(nodes, nodes // 3, seed))
    members = draw.random(nodes) < 0.5
    members[0] = True
    steps = int(members.sum() - 1).bit_length()
    tree = interval_sends(graph, 0, steps, 20, members)
    paths = [tree_path(tree.parents, *ends) for ends in tree.rows[:, 1:].tolist()]
    assert tree.tcd == sum(len(path) - 1 for path in paths)
    assert sorted(tree.rows[:, 2].tolist()) == np.flatnonzero(members)[1:].tolist()


@pytest.mark.parametrize("seed", range(6))
def test_links_of_one_way_between_switches(seed: int) -> None:
    """In a one-way ring every third node is a member, and no path leads back."""
    nodes = 6 + 3 * seed
    ring = graph_of(nodes, [(n, (n + 1) % nodes) for n in range(nodes)])
    members = range(0, nodes, 3)
    switches = [n for n in range(nodes) if n not in members]
    topology = with_faults(
        with_switches(ring, switches), [], [((n + 1) % nodes, n) for n in range(nodes)]
    )
    schedule = proved(topology, 0)
    assert schedule.steps == (len(members) - 1).bit_length()


def test_switches_that_nobody_needs_may_be_out_of_reach() -> None:
    cut_off = graph_of(4, [(0, 1), (1, 2), (2, 3)], [1, 3])
    schedule = tree_broadcast(with_faults(cut_off, [], [(2, 3), (3, 2)]), 0, 2)
    schedule.check()
    assert (schedule.collective, schedule.steps, schedule.tcd) == ("broadcast", 1, 2)
    assert schedule.blocks.owed == (None,)


# ---- Multicasts --------------------------------------------------------------------------------


@pytest.mark.parametrize("topology", [mesh((5, 4)), star(12), fat_tree(4), line(17)])
def test_multicasts_take_the_fewest_steps(topology: Topology) -> None:
    draw = np.random.default_rng(topology.nodes)
    working = topology.working_nodes
    for _ in range(12):
        size = int(draw.integers(1, working.size))
        source, *targets = draw.choice(working, 1 + size, replace=False).tolist()
        schedule = tree_multicast(topology, source, [*targets, source], 3)
        schedule.check()
        # The judge knows only broadcasts: it takes nodes outside the multicast for switches.
        others = set(range(topology.nodes)) - {source, *targets}
        judge_as(schedule, others, source)
        assert schedule.blocks.owed == (tuple(sorted(targets)),)
        assert schedule.steps == len(targets).bit_length()
        assert set(schedule.target.tolist()) == set(targets)


def judge_as(schedule: Schedule, switches: set[int], source: int) -> None:
    """Judge a multicast as the broadcast of a network in which all others are switches."""
    topology = replace(schedule.topology, switches=tuple(sorted(switches)))
    judge(replace(schedule, topology=topology), source)


def test_multicasts_over_links_of_one_way() -> None:
    one_way = with_faults(line(6), [], [(n + 1, n) for n in range(5)])
    schedule = tree_multicast(one_way, 1, [5, 3, 4], 2)
    schedule.check()
    assert schedule.steps == 2


# ---- Cuts of trees and intervals -----------------------------------------------------------------


NEVER = 10**6


@pytest.mark.parametrize("seed", range(25))
def test_exact_cuts_are_the_best(seed: int) -> None:
    """Compare with all ways to cut all connected sets, by the definition of c(P, p)."""
    nodes = 2 + seed % 6
    topology = drawn_graph(nodes, seed % 4, seed)
    ends = two_way_neighbors(topology)

    @cache
    def cost(members: frozenset[int], source: int, steps: int) -> int:
        if len(members) == 1:
            return 0
        if steps == 0:
            return NEVER
        best = NEVER
        hops = distances({n: ends[n] & members for n in members}, source)
        for size in range(1, len(members)):
            for own in map(frozenset, combinations(sorted(members), size)):
                other = members - own
                connected = all(
                    distances({n: ends[n] & half for n in half}, min(half)).keys() == half
                    for half in (own, other)
                )
                if source in own and connected:
                    rest = min(hops[q] + cost(other, q, steps - 1) for q in other)
                    best = min(best, cost(own, source, steps - 1) + rest)
        return best

    graph = two_way_graph(topology)
    least = (nodes - 1).bit_length()
    for steps in range(least, 4):
        found = exact_cuts(graph.offsets, graph.neighbors, steps)[0].tolist()
        expected = [cost(frozenset(range(nodes)), source, steps) for source in range(nodes)]
        assert [min(NEVER, c) for c in found] == expected


@pytest.mark.parametrize("seed", range(25))
def test_halves_are_connected_and_fit(seed: int) -> None:
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(2, 60))
    topology = drawn_graph(nodes, int(draw.integers(0, 60)), seed)
    graph, ends = two_way_graph(topology), two_way_neighbors(topology)
    most = int(draw.integers((nodes + 1) // 2, nodes))
    order = draw.permutation(nodes).astype(np.int32)
    first = int(draw.integers(1, nodes))
    side, links = halves(graph.offsets, graph.neighbors, order, first, nodes - most, most)
    if links < 0:
        return
    for which in range(2):
        half = set(np.flatnonzero(side == which).tolist())
        assert nodes - most <= len(half) <= most
        assert distances({n: ends[n] & half for n in half}, min(half)).keys() == half
    assert links == sum(side[a] < side[b] for a in ends for b in ends[a])


@pytest.mark.parametrize("seed", range(10))
def test_spread_is_the_least_of_hops_and_costs(seed: int) -> None:
    draw = np.random.default_rng(seed)
    topology = drawn_graph(30, seed, seed)
    ends = two_way_neighbors(topology)
    costs = draw.integers(0, 12, 30).astype(np.int32)
    costs[draw.random(30) < 0.5] = UNKNOWN
    costs[0] = 7
    total, following = two_way_graph(topology).spread(costs)
    for node in range(30):
        hops = distances(ends, node)
        assert total[node] == min(hops[q] + int(costs[q]) for q in range(30))
        assert total[node] == costs[node] or total[following[node]] == total[node] - 1


@pytest.mark.parametrize("seed", range(15))
def test_paths_of_disjoint_intervals_share_no_link(seed: int) -> None:
    """Check the module's proof: any u < v < u' < v' of a preorder list, in any tree."""
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(4, 40))
    above = [-1]
    for place in range(1, nodes):  # the parent is the node before, or one of its ancestors
        parent = place - 1
        while above[parent] >= 0 and draw.random() < 0.5:
            parent = above[parent]
        above.append(parent)
    parents = np.array(above, np.int32)
    for _ in range(30):
        pairs = int(draw.integers(1, nodes // 2 + 1))
        ends = sorted(draw.choice(nodes, 2 * pairs, replace=False).tolist())
        links = [
            link
            for u, v in zip(ends[::2], ends[1::2], strict=True)
            for link in pairwise(tree_path(parents, u, v))
        ]
        assert len(set(links)) == len(links)


@pytest.mark.parametrize("seed", range(20))
def test_windows_are_cut_at_the_least_tcd(seed: int) -> None:
    nodes = 3 + seed
    topology = drawn_graph(nodes, 0, seed)
    steps = (nodes - 1).bit_length()
    tree = interval_sends(two_way_graph(topology), 0, steps, 50)
    paths = [tree_path(tree.parents, *ends) for ends in tree.rows[:, 1:].tolist()]
    assert tree.tcd == sum(len(path) - 1 for path in paths)
    line = np.arange(-1, nodes - 1, dtype=np.int32)

    @cache
    def cost(length: int, left: int) -> int:
        """Return the least cost of a line from its end; a cut costs the length of the near part."""
        if length > 2**left:
            return NEVER
        if length == 1:
            return 0
        cuts = range(1, length)
        return min(cut + cost(cut, left - 1) + cost(length - cut, left - 1) for cut in cuts)

    assert cut_intervals(line + 1, line, steps)[0] == cost(nodes, steps)
