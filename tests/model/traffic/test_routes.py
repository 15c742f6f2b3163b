"""Routes of traffic on drawn graphs: none deadlocks, and all packets arrive in the cycle model."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.traffic import traffic_network

from eyecast.model.cycle.model import run
from eyecast.model.network.faults import with_faults
from eyecast.model.network.node_link import from_networkx
from eyecast.model.network.topology import Topology, mesh, torus
from eyecast.model.program.deadlock import certify
from eyecast.model.program.payload import empty_memory
from eyecast.model.traffic.program import traffic_program
from eyecast.model.traffic.routes import traffic_routes
from eyecast.model.traffic.traffic import draw_traffic

GRAPHS = 12


def drawn_graph(draw: np.random.Generator) -> Topology:
    """Draw a connected graph, or a grid with faults both ways that leave it connected."""
    kind = draw.integers(0, 4)
    if kind < 2:
        size, share = int(draw.integers(3, 16)), float(draw.uniform(0.15, 0.6))
        return from_networkx(
            connected(nx.gnp_random_graph(size, share, seed=int(draw.integers(99))))
        )
    grid = mesh((4, 4)) if kind == 2 else torus((4, 3))
    links = [(node, end) for node in range(12) for end in grid.neighbor[node, 1:] if node < end]
    draw.shuffle(links)
    kept = nx.Graph(
        (node, end) for node in range(grid.nodes) for end in grid.neighbor[node, 1:] if end >= 0
    )
    faulty = []
    for node, end in links[:4]:
        kept.remove_edge(node, end)
        if nx.is_connected(kept):
            faulty += [(node, int(end)), (int(end), node)]
        else:
            kept.add_edge(node, end)
    return with_faults(grid, [], faulty)


def connected(graph: nx.Graph) -> nx.Graph:
    """Link the parts of a graph by their first nodes."""
    firsts = [min(part) for part in nx.connected_components(graph)]
    graph.add_edges_from(pairwise(firsts))
    return graph


@pytest.mark.parametrize("vcs", [1, 2, 3, 4])
def test_no_traffic_deadlocks_on_any_graph(vcs: int) -> None:
    draw = np.random.default_rng(vcs)
    for seed in range(GRAPHS):
        topology = drawn_graph(draw)
        traffic = draw_traffic(topology, "uniform", rate=0.6, flits=8, cycles=300, seed=seed)
        network = traffic_network(topology, 8, vcs=vcs, flit_width=64, depth=2)
        program = traffic_program(traffic, network, seed)
        certify(program)
        ran = run(program, empty_memory(network), timing="self-timed")
        assert ran.finished
        assert int((ran.trace.port == 0)[ran.trace.kind & 2 != 0].sum()) == len(traffic)


ROUND = from_networkx(nx.cycle_graph(8))
ONE_WAY = from_networkx(nx.cycle_graph(5, create_using=nx.DiGraph))


@pytest.mark.parametrize("seed", range(4))
def test_a_ring_as_a_graph_has_layers_with_two_vcs_and_is_up_down_with_one(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    traffic = draw_traffic(ROUND, "uniform", rate=0.2, flits=4, cycles=2000, seed=seed)
    ends = np.unique(np.stack((traffic.source, traffic.target)), axis=1)
    assert [traffic_routes(ROUND, *ends, vcs).classes for vcs in (1, 2, 3, 8)] == [1, 2, 2, 2]
    assert caplog.messages == [
        "routes on the graph of 8 lead up*/down*, because the shortest ones need 2 VCs, not 1"
    ]
    lengths = [np.diff(traffic_routes(ROUND, *ends, vcs).offsets).sum() for vcs in (1, 2)]
    assert lengths[0] > lengths[1]


def test_up_down_routes_that_links_of_one_way_rule_out_are_refused_with_the_reason() -> None:
    traffic = draw_traffic(ONE_WAY, "uniform", rate=0.2, flits=4, cycles=200, seed=1)
    program, freed = (
        traffic_program(traffic, traffic_network(ONE_WAY, 4, vcs=vcs, flit_width=64), 1)
        for vcs in (1, 2)
    )
    certify(freed)
    assert refusal_of(certify, program).endswith(
        "with 2 VCs (each route on one) these routes are free of deadlock, and up*/down* routes "
        "do not reach all targets, as links work one way"
    )
