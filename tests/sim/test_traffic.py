"""Traffic on the hardware and on the cycle model: identical traces under contention.

The default tests have one network, because each must be built, and random traffic. The slow tests
and ``make soak`` use random networks too.
"""

import dataclasses

import numpy as np
import pytest
from helpers.programs import changed
from helpers.soak.traffic import NETWORKS as DRAWN_NETWORKS
from helpers.soak.traffic import SHORTEST_PACKET, DrawnTraffic
from helpers.traffic import traffic_network
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eyecast.model.compare.checks import compare_runs
from eyecast.model.compare.traffic_case import TrafficCase
from eyecast.model.compare.waiting import waiting
from eyecast.model.cycle.model import run
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import hypercube, mesh, ring, torus
from eyecast.model.program.deadlock import DeadlockError, certify
from eyecast.model.program.payload import empty_memory
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.trace import first_difference
from eyecast.model.traffic.program import deliveries, traffic_program
from eyecast.model.traffic.traffic import Traffic
from eyecast.sim.build import build_simulator
from eyecast.sim.loading import prepare
from eyecast.sim.simulator import simulate
from eyecast.sim.verify import run_traffic

NARROWEST_FLIT = 28
"""Narrowest flit drawn; narrower ones may have headers longer than the shortest packet."""


NETWORKS = {
    # Commands run traffic on it too.
    "mesh": traffic_network(mesh((3, 2)), 12, vcs=2, depth=4),
    "torus": traffic_network(torus((3, 3)), 12, vcs=2, depth=4),
    "slow links": traffic_network(mesh((3, 3)), 12, vcs=3, depth=1, link_registers=2),
    "narrow cube": traffic_network(hypercube(3), 12, vcs=1, flit_width=24),
    "ring": traffic_network(ring(5), 12, vcs=4, depth=16, flit_width=64, link_registers=1),
}


SMALL_NETWORKS = [topology for topology in DRAWN_NETWORKS if 1 < topology.nodes <= 9]
TRAFFIC = {
    "pattern": st.sampled_from(["uniform", "complement", "hotspot", "neighbor", "tornado"]),
    "rate": st.floats(0.05, 1),
    "packet_flits": st.integers(SHORTEST_PACKET, 9),
    "cycles": st.integers(1, 300),
    "burst": st.sampled_from([0, 10]),
    "reply_flits": st.sampled_from([0, SHORTEST_PACKET, 9]),
    "back_pressure": st.sampled_from([0, 0.3, 0.8]),
    "seed": st.integers(0, 1 << 30),
}


@st.composite
def networks(draw):
    """Draw any small network that ``make soak`` might draw."""
    topology = draw(st.sampled_from(SMALL_NETWORKS))
    return traffic_network(
        topology,
        12,
        vcs=draw(st.integers(2 if topology.wrapped else 1, 8)),
        depth=draw(st.integers(1, 16)),
        flit_width=draw(st.integers(NARROWEST_FLIT, 64)),
        link_registers=draw(st.integers(0, 3)),
    )


def require_identical(*cases):
    for case, result in zip(cases, run_traffic([case.build() for case in cases]), strict=True):
        found = "" if result.difference is None else result.difference.describe()
        assert result.agrees, f"{case}\n{result.checks}\n{found}"


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "mesh" else pytest.mark.slow) for name in NETWORKS],
)
# Starting a simulator takes longer than running a case, so each start runs five cases.
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=st.lists(st.fixed_dictionaries(TRAFFIC), min_size=5, max_size=5))
def test_any_traffic_is_identical_on_model_and_hardware(name, drawn):
    require_identical(*(DrawnTraffic(NETWORKS[name], **each) for each in drawn))


ROUND = graph([[-1, (node + 1) % 9, (node - 1) % 9] for node in range(9)])


@pytest.mark.slow
@pytest.mark.parametrize("vcs", [1, 2])
def test_traffic_up_and_down_a_graph_and_in_layers_is_identical(vcs):
    made = traffic_network(ROUND, 12, vcs=vcs)
    common = {"pattern": "uniform", "packet_flits": 9, "cycles": 300, "back_pressure": 0.3}
    rest = {"rate": 0.6, "burst": 0, "reply_flits": 0, "seed": 1}
    require_identical(DrawnTraffic(made, **common, **rest))


# Building each random network takes a minute or two; `make soak` draws more.
@pytest.mark.slow
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn_network=networks(), **TRAFFIC)
def test_any_traffic_on_any_network_is_identical(drawn_network, **drawn):
    require_identical(DrawnTraffic(drawn_network, **drawn))


def test_packets_of_a_header_alone_arrive_when_zero_load_says():
    config = NETWORKS["mesh"]
    lone = Traffic.sorted(*(np.array([value]) for value in (7, 0, 4, 1)))
    (result,) = run_traffic([TrafficCase.of(lone, traffic_program(lone, config, 3), seed=3)])
    assert result.agrees
    delivery = deliveries(lone, result.case.program, result.measured.trace)
    # Over two links: injected in cycle 7, on the links in 8 and 9, delivered in 10.
    assert delivery.latency.tolist() == [3]


AROUND = {0: (1, 3), 1: (3, 2), 2: (4, 1), 3: (2, 4)}
"""The two ports by which each of four nodes in a square sends a packet to the opposite node."""


def circle(config):
    """Return a program: each node sends a packet over two links, longer than the buffers."""
    rows, awaited = [()] * config.topology.nodes, [0] * config.topology.nodes
    for corner, ports in AROUND.items():
        node = corner % 2 + config.topology.dims[0] * (corner // 2)
        rows[node] = (Row(1, tuple(Segment(port, 1, 0) for port in ports), 0, node, 11, start=0),)
        awaited[node] = 1
    nothing = ((),) * len(rows)
    return Program.from_rows(config, "full-duplex", tuple(rows), nothing, awaited=tuple(awaited))


def test_a_circle_on_one_vc_locks_up_as_the_certificate_says():
    config = NETWORKS["mesh"]
    program = circle(config)
    with pytest.raises(DeadlockError, match="0"):
        certify(program)
    predicted = run(program, empty_memory(config), timing="self-timed", cycle_limit=400)
    assert not predicted.finished
    job = prepare(program, [], timing="self-timed", read_words=0, cycle_limit=400)
    (measured,) = simulate(build_simulator(config), [job])
    assert not measured.finished
    assert first_difference(predicted.trace, measured.trace) is None
    assert len(waiting(program, measured)) == 5 + 4
    checks, _ = compare_runs(program, predicted, measured)
    assert [(check.name, check.measured, check.agrees) for check in checks[:3]] == [
        ("cycles", "not finished", True),
        ("deadlock", "4 packets in a circle", True),
        ("stalled flits", 4 * 3, True),
    ]
    assert all(check.agrees for check in checks)


def test_the_same_with_a_dateline_is_certified_and_ends():
    config = traffic_network(mesh((2, 2)), 12, vcs=2)
    program = circle(config)
    crossing = tuple(
        (dataclasses.replace(rows[0], route=(Segment(2, 1, 0), Segment(4, 1, 1))),)
        if node == 3
        else rows
        for node, rows in enumerate(program.rows)
    )
    program = changed(program, rows=crossing)
    certify(program)
    assert run(program, empty_memory(config), timing="self-timed").finished
