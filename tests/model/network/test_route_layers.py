"""Routes whose channels never wait for each other in a circle; the certificate agrees."""

import itertools

import numpy as np
import pytest

from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.route_layers import layered_vcs, safe_routes
from eyecast.model.network.routes import route
from eyecast.model.network.topology import Topology, hypercube, mesh, ring, torus

CHORDS = graph([[-1, (i + 1) % 9, (i - 1) % 9, (i + 3) % 9, (i - 3) % 9] for i in range(9)])
ROUND = graph([[-1, (i + 1) % 8, (i - 1) % 8] for i in range(8)])
NETWORKS = {
    "mesh": mesh((4, 3)),
    "torus": torus((4, 3)),
    "ring": ring(7),
    "hypercube": hypercube(3),
    "faulty torus": with_faults(torus((4, 4)), [5], []),
    "faulty mesh": with_faults(mesh((4, 4)), [5, 10], [(2, 3)]),
    "chords": CHORDS,
    "round": ROUND,
}


def all_routes(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    nodes = topology.working_nodes
    return np.repeat(nodes, nodes.size), np.tile(nodes, nodes.size)


def waits_in_a_circle(offsets: np.ndarray, nodes: np.ndarray, vcs: np.ndarray) -> bool:
    """Tell whether channels wait in a circle, by removing those that wait for no other."""
    edges = set()
    for i, begin in enumerate(offsets[:-1]):
        path = nodes[begin : offsets[i + 1]].tolist()
        on = vcs[begin - i :].tolist()
        channels = [(path[k], path[k + 1], on[k]) for k in range(len(path) - 1)]
        edges |= set(itertools.pairwise(channels))
    while edges:
        waiting = {held for held, _ in edges}
        left = {(held, wanted) for held, wanted in edges if wanted in waiting}
        if left == edges:
            return True
        edges = left
    return False


@pytest.mark.parametrize("name", NETWORKS)
def test_no_routes_wait_in_a_circle(name: str) -> None:
    topology = NETWORKS[name]
    offsets, nodes, vcs = safe_routes(topology, *all_routes(topology))
    assert not waits_in_a_circle(offsets, nodes, vcs)


def test_on_one_vc_routes_around_a_graph_would() -> None:
    offsets, nodes, vcs = route(ROUND, *all_routes(ROUND), 1)
    assert waits_in_a_circle(offsets, nodes, vcs)


def test_a_mesh_needs_one_vc_and_a_circle_of_two_links_two() -> None:
    assert safe_routes(mesh((4, 4)), *all_routes(mesh((4, 4))))[2].max() == 0
    paths = [0, 1, 2, 1, 2, 3, 2, 3, 0, 3, 0, 1]
    assert layered_vcs(np.arange(0, 13, 3), np.array(paths)).tolist() == [0] * 6 + [1] * 2
