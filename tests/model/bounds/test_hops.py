"""Hops, paths and sums of distances of every kind of network: those of a breadth-first search."""

from collections import deque

import numpy as np
import pytest

from eyecast.model.base.arrays import Numbers
from eyecast.model.bounds.hops import UNREACHED, hops_from, lengths_from
from eyecast.model.collectives.lower_bounds import lower_bounds
from eyecast.model.network.faults import with_faults
from eyecast.model.network.kinds import KINDS
from eyecast.model.network.links import linked_pairs
from eyecast.model.network.routes import route
from eyecast.model.network.topology import Topology
from eyecast.model.schedule.collective import Collective

SIZES = {
    "mesh": ((4, 3), (3, 1, 2), (5,)),
    "torus": ((5, 2), (4, 3), (2, 2, 3)),
    "hypercube": ((1,), (4,)),
    "line": ((1,), (6,)),
    "ring": ((1,), (2,), (7,)),
    "binary-tree": ((1,), (11,)),
    "star-tree": ((1, 4), (3, 4)),
    "diagonal-mesh": ((1,), (2,), (5,)),
    "de-bruijn": ((2, 3), (3, 2)),
}
NETWORKS = [KINDS[name].network(size) for name in KINDS for size in SIZES[name]]


def searched(topology: Topology) -> Numbers:
    """Search the links breadth first: hops between all nodes, shape (nodes, nodes)."""
    ends: dict[int, list[int]] = {node: [] for node in range(topology.nodes)}
    for begin, end in zip(*map(np.ndarray.tolist, linked_pairs(topology)), strict=True):
        ends[begin].append(end)
    hops = np.full((topology.nodes, topology.nodes), UNREACHED)
    for source in range(topology.nodes):
        hops[source, source], waiting = 0, deque([source])
        while waiting:
            node = waiting.popleft()
            for end in ends[node]:
                if hops[source, end] == UNREACHED:
                    hops[source, end] = hops[source, node] + 1
                    waiting.append(end)
    return hops


@pytest.mark.parametrize("whole", NETWORKS, ids=lambda network: network.label)
def test_distances_are_those_of_a_search(whole: Topology) -> None:
    links = list(zip(*map(np.ndarray.tolist, linked_pairs(whole)), strict=True))[:1]
    for topology in (whole, with_faults(whole, [whole.nodes - 1]), with_faults(whole, (), links)):
        expected, every = searched(topology), np.arange(topology.nodes)
        assert (hops_from(topology, every) == expected).all()
        assert (lengths_from(topology, every, np.ones(topology.neighbor.shape)) == expected).all()
        sources, targets = np.nonzero(expected != UNREACHED)
        for vcs in (1, 2):
            offsets, _, _ = route(topology, sources, targets, vcs)
            assert (np.diff(offsets) - 1 == expected[sources, targets]).all()
        if topology.whole_grid and topology.nodes > 1:
            found = lower_bounds(Collective.ALL_TO_ALL, topology, None, 1, "full-duplex")
            assert found.word_hops.value == expected.sum()
