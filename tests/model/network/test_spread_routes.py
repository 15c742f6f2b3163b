"""Routes that share links evenly: valid paths, few on any link, and no waiting in a circle."""

import itertools

import numpy as np
import pytest
from helpers.switch_networks import fat_tree

from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.route_layers import has_circle, safe_routes
from eyecast.model.network.spread_routes import spread_routes
from eyecast.model.network.topology import Topology, mesh, torus

ROUND = graph([[-1, (i + 1) % 4, (i - 1) % 4] for i in range(4)])
FAULTY = with_faults(mesh((6, 6)), [14, 28, 33], [])


def pairs(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    nodes = topology.working_nodes.tolist()
    source, target = zip(*itertools.permutations(nodes, 2), strict=True)
    return np.array(source), np.array(target)


def loads(offsets: np.ndarray, nodes: np.ndarray) -> dict[tuple[int, int], int]:
    """Return the number of routes on each link."""
    found: dict[tuple[int, int], int] = {}
    for begin, end in itertools.pairwise(offsets.tolist()):
        for link in itertools.pairwise(nodes[begin:end].tolist()):
            found[link] = found.get(link, 0) + 1
    return found


def test_two_routes_of_a_ring_part() -> None:
    offsets, nodes, _ = spread_routes(ROUND, np.array([0, 1]), np.array([2, 2]))
    assert offsets.tolist() == [0, 3, 5]
    assert nodes.tolist() == [0, 3, 2, 1, 2]


# Bounds by a cut, a port or all links: 90 blocks leave 6 nodes of the faulty mesh by one link, 15
# leave each node of the fat tree, and 3,888 hops share 144 links of the torus, 27 each.
@pytest.mark.parametrize(
    ("topology", "before", "least"),
    [(FAULTY, 147, 90), (fat_tree(4), 48, 15), (torus((6, 6)), 30, 28)],
    ids=["mesh", "tree", "torus"],
)
def test_the_busiest_link(topology: Topology, before: int, least: int) -> None:
    source, target = pairs(topology)
    assert max(loads(*safe_routes(topology, source, target)[:2]).values()) == before
    offsets, nodes, vcs = spread_routes(topology, source, target)
    assert nodes[offsets[:-1]].tolist() == source.tolist()
    assert nodes[offsets[1:] - 1].tolist() == target.tolist()
    found = loads(offsets, nodes)
    assert max(found.values()) == least
    begins, ends = np.array([*found]).T
    assert (topology.ports_between(begins, ends) > 0).all()
    assert not has_circle(offsets, nodes, vcs)
    assert vcs.max() < 8


@pytest.mark.parametrize(
    ("topology", "enough"), [(torus((4, 4)), 0), (mesh((5, 5)), 0), (FAULTY, 147)]
)
def test_routes_that_are_good_stay(topology: Topology, enough: int) -> None:
    ends = pairs(topology)
    for made, given in zip(
        spread_routes(topology, *ends, enough), safe_routes(topology, *ends), strict=True
    ):
        assert made.tolist() == given.tolist()
