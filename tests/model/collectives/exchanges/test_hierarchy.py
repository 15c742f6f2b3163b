"""Collectives by levels: on chiplets of several shapes, on a graph, and the cycles asked for."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.carried_out import carried_out
from helpers.refusals import refusal_of

import eyecast
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.network.chiplets import chiplets
from eyecast.model.network.topology import UNSAID, Topology, mesh, torus


def slow_ring(topology: Topology, parts: int) -> Topology:
    """Return the network with a slow link between any two of ``parts`` runs of node numbers."""
    part = np.arange(topology.nodes) * parts // topology.nodes
    ends = np.where(topology.neighbor < 0, 0, topology.neighbor)
    between = (topology.neighbor >= 0) & (part[:, np.newaxis] != part[ends])
    return replace(topology, link_rate_of=np.where(between, 3, UNSAID))


LADDER = [
    (-1, *ends) for ends in ((1, 2, -1), (0, 3, -1), (0, 3, 4), (1, 2, 5), (2, 5, -1), (3, 4, -1))
]
NETWORKS = {
    "two of 2x2": chiplets((2, 1), (2, 2), 8, 4),
    "2x2 of 3x3": chiplets((2, 2), (3, 3), 3, 2),
    "3x2 of 2x1": chiplets((3, 2), (2, 1), 1, 4),
    "2x2 of 2x2, latency": chiplets((2, 2), (2, 2), 8),
    "three axes": chiplets((2, 2, 2), (1, 2, 2), 4, 3),
    "torus": slow_ring(torus((4, 4)), 2),
    "graph": slow_ring(eyecast.graph(LADDER), 3),
}


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter", "all-reduce"])
def test_all_ports_and_one_carry_it_out(network: str, collective: str) -> None:
    for all_port in (False, True):
        for words in (1, 5):
            request = Request(topology=NETWORKS[network], words=words, all_port=all_port)
            made = find_algorithm(collective, "hierarchy").generate(request)
            carried_out(made)


@pytest.mark.parametrize(
    ("chiplet", "words", "cycles"),
    [((4, 4), 1024, 2995), ((4, 4), 4096, 11060), ((2, 2), 4096, 12380)],
)
def test_one_port_between_chiplets(chiplet: tuple[int, int], words: int, cycles: int) -> None:
    network = chiplets((2, 2), chiplet, 8, 4)
    made = eyecast.schedule(network, "hierarchy", collective="all-reduce", words=words)
    assert eyecast.predict(made, depth=8).cycles == cycles


def test_other_networks_are_refused() -> None:
    for network in (mesh((4, 4)), slow_ring(mesh((5, 1)), 2), slow_ring(mesh((4, 1)), 4)):
        said = refusal_of(eyecast.schedule, network, "hierarchy", collective="all-gather")
        assert "must be one with equal parts of two nodes or more, joined by slower links" in said
