"""Walks: they visit every goal once, cross no link twice in one direction, and are short."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from helpers.irregular_networks import drawn_networks
from helpers.switch_networks import fat_tree, switch_star
from helpers.tree_networks import graph_of

from eyecast.model.collectives.streaming.walks import Path, chain_through, ring_through
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, line, mesh, ring

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


@pytest.mark.parametrize("topology", NETWORKS, ids=lambda topology: topology.label)
def test_a_chain_visits_every_goal_once(topology: Topology) -> None:
    draw = np.random.default_rng(topology.nodes)
    goals = draw.permutation(topology.working_nodes)[: len(topology.working_nodes) // 2 + 1]
    root, *others = goals.tolist()
    paths = chain_through(topology, root, tuple(others))
    assert paths is not None
    require_walk(topology, paths)
    assert paths[0][0] == root
    assert sorted(path[-1] for path in paths) == sorted(others)


@pytest.mark.parametrize("topology", NETWORKS, ids=lambda topology: topology.label)
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
