"""The tree broadcast on networks of all kinds, judged by plain code and by Schedule.check."""

import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.topologies import distances, neighbors
from helpers.tree_networks import drawn_graph, graph_of, proved, star, with_drawn_faults
from hypothesis import given, settings
from hypothesis import strategies as st

from eyecast.model.collectives.halving.eye import corner_tcd, eye_tcd, eyes
from eyecast.model.collectives.tree.broadcast import partial_tree_broadcast, tree_broadcast
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus


@pytest.mark.parametrize(
    "topology",
    [
        *(mesh(dims) for dims in ((1,), (1, 2), (3, 1), (3, 3), (4, 5), (7, 8), (10, 13))),
        *(mesh(dims) for dims in ((3, 3, 3), (2, 2, 2, 2), (3, 3, 3, 3))),
        *(torus(dims) for dims in ((1, 1), (2, 2), (4, 4), (5, 7), (4, 4, 4))),
        *(line(nodes) for nodes in (2, 9, 33, 64)),
        *(ring(nodes) for nodes in (2, 3, 9, 64)),
        *(hypercube(dimension) for dimension in (1, 3, 5)),
        *(star(leaves) for leaves in (2, 3, 7, 30, 100)),
    ],
    ids=lambda topology: topology.label,
)
def test_networks_without_faults(topology: Topology) -> None:
    nodes = topology.nodes
    for source in {0, nodes // 3, nodes - 1}:
        whole = tree_broadcast(topology, source, 3)
        assert whole.sends == nodes - 1
        assert proved(topology, source).tcd == whole.tcd >= nodes - 1


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))]
)
@pytest.mark.parametrize("whole", [mesh((10, 13)), mesh((4, 4, 4)), torus((5, 7)), hypercube(6)])
@pytest.mark.parametrize(("nodes", "links"), [(0.05, 0.0), (0.0, 0.1), (0.15, 0.05), (0.4, 0.2)])
def test_any_faults(whole: Topology, nodes: float, links: float, seed: int) -> None:
    proved(*with_drawn_faults(whole, nodes, links, seed))


@settings(max_examples=60, deadline=None)
@given(
    nodes=st.integers(2, 90),
    more=st.integers(0, 60),
    seed=st.integers(0, 2**32 - 1),
    place=st.integers(0, 2**32 - 1),
)
def test_any_graph(nodes: int, more: int, seed: int, place: int) -> None:
    proved(drawn_graph(nodes, more, seed), place % nodes)


@pytest.mark.parametrize(
    ("nodes", "more"),
    [
        pytest.param(1024, 0, marks=pytest.mark.slow),
        pytest.param(1025, 0, marks=pytest.mark.slow),
        (1000, 100),
        pytest.param(2048, 4000, marks=pytest.mark.slow),
    ],
)
def test_large_graphs(nodes: int, more: int) -> None:
    proved(drawn_graph(nodes, more, nodes), 7)


@pytest.mark.parametrize(
    "dims",
    [
        (8, 8),
        (10, 13),
        (16, 16),
        (12, 11),
        pytest.param((33, 20), marks=pytest.mark.slow),
        pytest.param((45, 45), marks=pytest.mark.slow),
    ],
)
def test_tcd_on_meshes_with_faults(dims: tuple[int, ...]) -> None:
    """The TCD is at most 1.35 times the nodes; without faults the optimum tends to 1.2."""
    for seed in range(3):
        topology, source = with_drawn_faults(mesh(dims), 0.05, 0, seed)
        schedule = proved(topology, source)
        assert schedule.tcd <= 1.35 * (schedule.sends + 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_tcd_on_128x128_with_faults(seed: int) -> None:
    topology, source = with_drawn_faults(mesh((128, 128)), 0.05, 0, seed)
    schedule = proved(topology, source)
    assert schedule.tcd <= 1.25 * (schedule.sends + 1)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
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
    topology, source = with_drawn_faults(mesh((9, 9)), 0.1, 0.1, 1)
    one, other = (partial_tree_broadcast(topology, source, 1) for _ in range(2))
    assert np.array_equal(one.path_nodes, other.path_nodes)


def test_a_graph_without_coordinates() -> None:
    topology = graph_of(
        256, [(n, n + 1) for n in range(255) if n % 16 < 15] + [(n, n + 16) for n in range(240)]
    )
    assert proved(topology, 0).tcd <= 1.35 * 256


def corner_cut_off() -> Topology:
    """Return a 4x4 mesh whose node 0 has no neighbors left."""
    return with_faults(mesh((4, 4)), [1, 4])


def test_a_node_out_of_reach_is_named() -> None:
    message = (
        "network for a broadcast from node 5 must be one in which it reaches all nodes, not a 4x4 "
        "mesh with 2 faulty nodes, where no path leads to node 0"
    )
    assert refusal_of(tree_broadcast, corner_cut_off(), 5, 1) == message


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


@pytest.mark.parametrize("broadcast", [tree_broadcast, partial_tree_broadcast])
@pytest.mark.parametrize(
    ("source", "words", "message"),
    [
        (16, 1, "source must be 0 to 15, not 16"),
        (-1, 1, "source must be 0 to 15, not -1"),
        (5, 1, "source must be a node that is not faulty, not 5"),
        (0, 0, "flits must be at least 1, not 0"),
    ],
)
def test_bad_parameters_are_refused(broadcast, source: int, words: int, message: str) -> None:
    assert refusal_of(broadcast, with_faults(mesh((4, 4)), [5]), source, words) == message
