"""Typical networks of switches on the hardware, and a packet addressed to a switch."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.programs import program, put
from helpers.soak.checks import Drawn, disagreements
from helpers.switch_networks import fat_tree, switch_mesh, switch_tree

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
from eyecast.sim.loading import prepare
from eyecast.sim.simulator import simulate
from eyecast.sim.verify import run_traffic, verify

pytestmark = pytest.mark.slow

NETWORKS = {
    "mesh": (switch_mesh(2, 2), {"vcs": 3, "depth": 1, "flit_width": 24}),
    "fat tree": (fat_tree(4), {"vcs": 1, "depth": 4}),
    "broken mesh": (with_faults(switch_mesh(2, 2), [3, 7]), {"vcs": 2}),  # a switch and its leaf
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


def broadcasts(config: NetworkConfig) -> Iterator[Case]:
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


@pytest.mark.parametrize("name", NETWORKS)
def test_broadcasts_and_traffic_flit_for_flit(name: str) -> None:
    topology, limits = NETWORKS[name]
    config = timed(topology, limits)
    for result in verify(list(broadcasts(config))):
        assert disagreements(Drawn(name, result.case), result.measured) == []
        assert result.agrees
    cases = list(drawn_traffic(config))
    for result in run_traffic(cases, read_memories=True):
        predicted = result.case.predicted
        assert disagreements(Drawn(name, result.case), result.measured) == []
        assert not result.measured.memory[list(topology.switches)].any()
        assert predicted.finished
        assert predicted.stalled_flits[list(topology.switches)].any()


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
