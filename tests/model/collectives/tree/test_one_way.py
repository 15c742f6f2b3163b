"""The tree broadcast with one-way links, against plain code and an exhaustive search."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from helpers.topologies import distances, neighbors
from helpers.tree_networks import (
    drawn_edges,
    graph_of,
    proved,
    star,
    two_way_neighbors,
    with_drawn_faults,
)

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.tree.broadcast import partial_tree_broadcast, tree_broadcast
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import de_bruijn
from eyecast.model.network.topology import Topology, line, mesh
from eyecast.model.schedule.broadcast_bounds import least_broadcast_steps


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
    """At most one of 60 random networks takes one step more than the fewest."""
    more = Counter(proved(drawn(seed), 0).steps - least_steps(drawn(seed), 0) for seed in range(60))
    assert set(more) <= {0, 1}
    assert more[1] <= 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_meshes_with_faulty_links(rate: float, seed: int) -> None:
    schedule = proved(*with_drawn_faults(mesh((8, 8)), 0.05, rate, seed))
    assert schedule.steps <= least_broadcast_steps(schedule.sends + 1) + 1


def test_the_same_again() -> None:
    topology, source = with_drawn_faults(mesh((8, 8)), 0, 0.3, 1)
    one, other = (partial_tree_broadcast(topology, source, 1) for _ in range(2))
    assert np.array_equal(one.path_nodes, other.path_nodes)


def test_a_node_that_no_link_leads_to_is_named() -> None:
    topology = with_faults(line(3), [], [(1, 2)])
    with pytest.raises(InvalidInput, match=r"where no path leads to node 2$"):
        tree_broadcast(topology, 0, 1)
    assert proved(topology, 0).target.tolist() == [1]
