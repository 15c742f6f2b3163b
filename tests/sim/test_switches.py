"""Networks with switches on the hardware: identical traces, and their export."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.command import Command
from helpers.programs import program, put
from helpers.soak.checks import Drawn, disagreements
from helpers.switch_networks import switch_mesh, switch_tree
from helpers.tree_networks import graph_of
from helpers.verified import require_same_but_trace, verified

from eyecast.model.collectives.tree.broadcast import tree_broadcast
from eyecast.model.compare.case import Case
from eyecast.model.compare.traffic_case import TrafficCase
from eyecast.model.compare.waiting import waiting
from eyecast.model.cycle.model import run
from eyecast.model.network.config import TIMINGS, NetworkConfig
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology
from eyecast.model.program.compiler import fit
from eyecast.model.program.payload import empty_memory
from eyecast.model.run.trace import first_difference
from eyecast.model.traffic.patterns import PATTERNS
from eyecast.model.traffic.program import message_words_for, traffic_program
from eyecast.model.traffic.traffic import draw_refusal, draw_traffic
from eyecast.sim.build import build_simulator
from eyecast.sim.loading import job_of_traffic, prepare
from eyecast.sim.simulator import simulate
from eyecast.sim.verify import run_traffic, verify

SLOW = pytest.mark.slow


def network_of(edges: Sequence[tuple[int, int]], switches: Sequence[int]) -> Topology:
    """Return a graph of two-way links; a node's ports are in the order of its links."""
    return graph_of(1 + max(map(max, edges)), [*edges], switches)


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


@SLOW
@pytest.mark.parametrize(
    ("topology", "limits"),
    [
        pytest.param(STAR, {"all_port": True}, id="all-port"),
        pytest.param(STAR, {"contention_free": True, "vcs": 2}, id="contention-free"),
        pytest.param(TREE, {"barrier_registers": 5, "flit_width": 16}, id="late"),
    ],
)
def test_broadcast(topology: Topology, limits: dict[str, int]) -> None:
    list(verified(broadcasts(topology, **limits)))


NETWORKS = {
    "mesh": (switch_mesh(2, 2), {"vcs": 3, "depth": 1, "flit_width": 24}),
    "broken mesh": (with_faults(switch_mesh(2, 2), [3, 7]), {"vcs": 2}),  # a switch and its leaf
    "tree": (TREE, {"vcs": 2, "link_registers": 1}),
    "narrow": (random_tree(11, 6, 2), {"depth": 3, "flit_width": 24}),
}


def timed(topology: Topology, limits: dict[str, int]) -> NetworkConfig:
    """Return a configuration with timed rows, which carries out traffic and schedules."""
    return NetworkConfig(
        topology=topology,
        timed_rows=True,
        signature=True,
        message_words=message_words_for(topology, 9),
        table_words=2048,
        **limits,
    )


def broadcasts_of_leaves(config: NetworkConfig) -> Iterator[Case]:
    """Yield a broadcast of four words from each of the first six leaves."""
    for number, source in enumerate(config.topology.working_nodes.tolist()[:6]):
        schedule = tree_broadcast(config.topology, source, 4)
        _, (compiled,) = fit(config, [schedule], fixed=("vcs", "steps", "message_words"))
        yield Case.of(compiled, timing=TIMINGS[number % 2], seed=number)


def drawn_traffic(config: NetworkConfig) -> Iterator[TrafficCase]:
    for seed, pattern in enumerate(("uniform", "complement", "hotspot", "uniform")):
        assert pattern in PATTERNS
        rate, refused = (0.2, 0.6, 0.9, 1.0)[seed], (0, 0.3, 0, 0.8)[seed]
        made = draw_traffic(config.topology, pattern, rate=rate, flits=6, cycles=90, seed=seed)
        refusal = draw_refusal(config.topology, refused, seed)
        compiled = traffic_program(made, config, seed)
        yield TrafficCase.of(made, compiled, seed=seed, refusal=refusal)


@SLOW
@pytest.mark.parametrize("name", NETWORKS)
def test_broadcasts_and_traffic_flit_for_flit(name: str) -> None:
    topology, limits = NETWORKS[name]
    config = timed(topology, limits)
    for result in verify(list(broadcasts_of_leaves(config))):
        assert disagreements(Drawn(name, result.case), result.measured) == []
        assert result.agrees
    cases, switches = list(drawn_traffic(config)), list(topology.switches)
    for result in run_traffic(cases, read_memories=True):
        predicted, measured = result.case.predicted, result.measured
        assert disagreements(Drawn(name, result.case), measured) == []
        assert (measured.stalled_flits == predicted.stalled_flits).all()
        # Flits wait at switches too; a switch has no other status and no memory.
        assert not measured.memory[switches].any()
        assert not measured.step[switches].any()
        assert predicted.finished
        assert predicted.stalled_flits[switches].any()


@SLOW
@pytest.mark.parametrize(
    "limits", [{"vcs": 2, "depth": 2}, {"all_port": True}], ids=["one-port", "all-port"]
)
def test_a_packet_for_a_switch_stays_there(limits: dict[str, Any]) -> None:
    """The run ends by the watchdog, with the model's flags and a line about the switch."""
    ports = {5: [1]} if "all_port" in limits else {}
    made = program(
        {
            3: [put(1, (1, 1), (1, 1), length=3)],
            4: [put(1, (1, 1), (1, 1), (2, 1), (2, 1), length=2)],
        },
        {5: [1]},
        switch_tree(),
        receive_ports=ports,
        **limits,
    )
    memory = empty_memory(made.config)
    predicted = run(made, memory, timing="barrier")
    job = prepare(made, [], timing="barrier", read_words=4, cycle_limit=200)
    (measured,) = simulate(build_simulator(made.config), [job])
    assert not predicted.finished
    assert not measured.finished
    assert first_difference(predicted.trace, measured.trace) is None
    assert measured.flags.tolist() == predicted.flags.tolist()
    assert np.flatnonzero(measured.flags).tolist() == [0]
    assert measured.stalled_flits.tolist() == predicted.stalled_flits.tolist()
    assert "node 0, a switch, has set bad_route" in waiting(made, measured)
    assert not measured.step[[0, 1, 2]].any()
    assert not measured.arrived[[0, 1, 2]].any()


@SLOW
@pytest.mark.parametrize(
    ("topology", "limits"),
    [
        pytest.param(STAR, {"vcs": 2, "link_registers": 1}, id="star"),
        pytest.param(LARGE, {}, id="large"),
    ],
)
def test_tiles_together(topology: Topology, limits: dict[str, int]) -> None:
    config = timed(topology, limits)
    cases = list(drawn_traffic(config))
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
