"""The pieces of the tree broadcast, each against independent plain code."""

from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest
from helpers.topologies import distances
from helpers.tree_networks import drawn_graph, two_way_neighbors

from eyecast.model.collectives.tree.exact_cuts import exact_cuts
from eyecast.model.collectives.tree.graph import UNKNOWN, halves, two_way_graph
from eyecast.model.collectives.tree.intervals import cut_intervals, interval_sends, tree_path

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
