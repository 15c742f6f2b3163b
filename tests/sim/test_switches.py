"""Networks with switches on the hardware: identical traces, and their export."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from helpers.command import Command
from helpers.traffic import traffic_network
from helpers.tree_networks import graph_of
from helpers.verified import require_same_but_trace, verified

from eyecast.model.collectives.tree.broadcast import tree_broadcast
from eyecast.model.compare.case import Case
from eyecast.model.compare.traffic_case import TrafficCase
from eyecast.model.network.config import TIMINGS, NetworkConfig
from eyecast.model.network.topology import Topology
from eyecast.model.program.compiler import fit
from eyecast.model.traffic.program import traffic_program
from eyecast.model.traffic.traffic import draw_refusal, draw_traffic
from eyecast.sim.build import build_simulator
from eyecast.sim.loading import job_of_traffic
from eyecast.sim.simulator import simulate
from eyecast.sim.verify import run_traffic

SLOW = pytest.mark.slow


def network_of(edges: Sequence[tuple[int, int]], switches: Sequence[int]) -> Topology:
    """Return a graph of two-way links; a node's ports are in the order of its links."""
    return graph_of(1 + max(map(max, edges)), [*edges], switches)


SMALL_STAR = network_of([(0, leaf) for leaf in (1, 2, 3)], [0])
PAIR = network_of([(0, 1)], [0])
STAR = network_of([(0, leaf) for leaf in (1, 2, 3, 4)], [0])
TREE = network_of([(0, 1), (0, 2), *((1 + leaf // 3, 3 + leaf) for leaf in range(6))], [0, 1, 2])
"""Two levels of switches over six leaves."""
LARGE = network_of(
    [((node - 1) // 3, node) for node in range(1, 70)], [0, 1, 5, 12, 40, *range(64, 70)]
)
"""A network with more nodes than a word has bits: one word of both kinds, one of switches only."""


def random_tree(nodes: int, switches: int, seed: int) -> Topology:
    """Draw a tree in which any nodes may be switches, even leaves."""
    draw = np.random.default_rng(seed)
    order = draw.permutation(nodes).tolist()
    edges = [(order[int(draw.integers(place))], order[place]) for place in range(1, nodes)]
    return network_of(edges, draw.choice(nodes, switches, replace=False).tolist())


def broadcasts(topology: Topology, **limits: int) -> list[Case]:
    """Return the broadcasts of two nodes, with both timings."""
    nodes = topology.working_nodes.tolist()
    made = [tree_broadcast(topology, source, 5) for source in (nodes[0], nodes[-2])]
    _, compiled = fit(NetworkConfig(topology=topology, message_words=32, **limits), made)
    return [Case.of(each, timing=timing, seed=1) for each in compiled for timing in TIMINGS]


def traffic(topology: Topology, **limits: int) -> list[TrafficCase]:
    """Return random packets at several rates, with nodes that refuse flits."""
    config = traffic_network(topology, 6, **limits)
    cases = []
    for seed, (pattern, rate) in enumerate((("uniform", 0.2), ("uniform", 0.8), ("hotspot", 0.5))):
        drawn = draw_traffic(topology, pattern, rate=rate, flits=6, cycles=200, seed=seed)
        program = traffic_program(drawn, config, seed)
        refusal = draw_refusal(topology, 0.3, seed)
        cases.append(TrafficCase.of(drawn, program, seed=seed, refusal=refusal))
    return cases


@pytest.mark.parametrize(
    ("topology", "limits"),
    [
        pytest.param(SMALL_STAR, {"link_registers": 1}, id="small star"),
        pytest.param(STAR, {"vcs": 2, "link_registers": 1}, id="star", marks=SLOW),
        pytest.param(TREE, {"vcs": 2, "link_registers": 1}, id="tree", marks=SLOW),
        pytest.param(STAR, {"all_port": True}, id="all-port", marks=SLOW),
        pytest.param(STAR, {"contention_free": True, "vcs": 2}, id="contention-free", marks=SLOW),
        pytest.param(TREE, {"barrier_registers": 5, "flit_width": 16}, id="late", marks=SLOW),
        pytest.param(network_of([(0, 1), (0, 2)], [0]), {}, id="line", marks=SLOW),
    ],
)
def test_broadcast(topology: Topology, limits: dict[str, int]) -> None:
    list(verified(broadcasts(topology, **limits)))


@SLOW
@pytest.mark.parametrize(
    ("topology", "limits"),
    [
        pytest.param(STAR, {"vcs": 2, "link_registers": 1}, id="star"),
        pytest.param(TREE, {"vcs": 2, "link_registers": 1, "signature": True}, id="tree"),
        pytest.param(random_tree(9, 4, 1), {"vcs": 3, "depth": 1}, id="random"),
        pytest.param(random_tree(11, 6, 2), {"depth": 3, "flit_width": 24}, id="narrow"),
    ],
)
def test_traffic(topology: Topology, limits: dict[str, int]) -> None:
    cases, switches = traffic(topology, **limits), list(topology.switches)
    for case, result in zip(cases, run_traffic(cases, read_memories=True), strict=True):
        assert result.agrees, result.difference
        measured = result.measured
        assert (measured.stalled_flits == case.predicted.stalled_flits).all()
        # Flits wait at switches too; a switch has no other status and no memory.
        assert measured.stalled_flits[switches].any()
        assert not measured.memory[switches].any()
        assert not measured.step[switches].any()


@SLOW
@pytest.mark.parametrize(
    ("topology", "limits"),
    [
        pytest.param(STAR, {"vcs": 2, "link_registers": 1}, id="star"),
        pytest.param(LARGE, {}, id="large"),
    ],
)
def test_tiles_together(topology: Topology, limits: dict[str, int]) -> None:
    cases = traffic(topology, signature=True, **limits)
    config = cases[0].program.config
    jobs = [job_of_traffic(case, read_memories=False) for case in cases]
    found = simulate(build_simulator(config, trace=False), jobs)
    for case, measured in zip(cases, found, strict=True):
        require_same_but_trace(case.predicted, measured, config)


def test_export(eyecast: Command) -> None:
    """The export has a module for switches, and a list of the switches' node numbers."""
    described = {"kind": "graph", "neighbor": PAIR.neighbor.tolist(), "switches": [0]}
    Path("pair.json").write_text(json.dumps(described))
    assert eyecast("verilog", "--graph", "pair.json", "-o", "network.v").status == 0
    assert json.loads(Path("network.json").read_text())["parameters"]["topology"]["switches"] == [0]
    text = Path("network.v").read_text()
    for module, count in (("eyecast_switch", 1), ("eyecast_tile", 1)):
        assert text.count(f"\nmodule {module} (") == 1
        assert text.count(f"\n  {module} ") == count
