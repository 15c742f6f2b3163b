"""Waiting flits of a network that hangs, found from the trace and compared with the cycle model."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from helpers.programs import DOWN, LINE, UP, program, put, ring_of_packets, simulated

import eyecast
from eyecast.model.compare.traffic_case import TrafficCase
from eyecast.model.cycle import model
from eyecast.model.cycle.state import NONE, Registers
from eyecast.model.network.topology import Topology, line, mesh
from eyecast.model.program.payload import empty_memory
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run import link_flits as module
from eyecast.model.run.following import follow
from eyecast.model.run.hops import expected_hops
from eyecast.model.run.link_flits import link_flits
from eyecast.model.run.measures import troubles
from eyecast.model.run.run import Prediction
from eyecast.model.run.standstill import standstill
from eyecast.model.run.trace import HEAD_MARK
from eyecast.model.run.waits import Waits, waits
from eyecast.model.traffic.program import traffic_program
from eyecast.model.traffic.room import traffic_config
from eyecast.model.traffic.traffic import Traffic, draw_traffic

Ran = Callable[[Program], tuple[Prediction, Registers]]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Ran:
    """Return a run of the cycle model, with its registers at the end."""
    kept: list[Registers] = []
    made = model.reset_registers
    monkeypatch.setattr(
        model, "reset_registers", lambda *given: kept.append(made(*given)) or kept[-1]
    )

    def run(program: Program) -> tuple[Prediction, Registers]:
        found = model.run(program, empty_memory(program.config), timing="self-timed")
        return found, kept[-1]

    return run


def test_packets_round_a_ring_wait_in_a_circle(ran: Ran) -> None:
    program = ring_of_packets(5, 2)
    run, _ = ran(program)
    assert standstill(program, run).lines() == [
        "deadlock: 5 packets wait for each other in a circle; with 2 VCs (VC 1 behind each ring's "
        "dateline) these routes are free of deadlock",
        *(
            f"node {a} -> {(a + 1) % 5} VC 0 holds the packet from {a} to {(a + 2) % 5}, which "
            f"waits for node {(a + 1) % 5} -> {(a + 2) % 5} VC 0, held by the packet from "
            f"{(a + 1) % 5} to {(a + 3) % 5}"
            for a in range(5)
        ),
    ]


def test_packets_of_all_ports_wait_in_a_circle_as_those_of_one_port(ran: Ran) -> None:
    # Ports 2 send nothing, and deliveries never wait.
    one = ring_of_packets(5, 2)
    config = replace(one.config, timed_rows=False, all_port=True)
    rows = [[replace(row, start=None) for row in rows] for rows in one.rows]
    every = Program.from_rows(config, "all-port", rows, [[1]] * 5, receive_ports=[[2]] * 5)
    run, registers = ran(every)
    found = standstill(every, run)
    assert found.lines() == standstill(one, ran(one)[0]).lines()
    buffered = registers.buffers["count"].reshape(5, -1) > 0
    assert found.stalled.tolist() == (buffered.sum(axis=1) + 1).tolist()


@pytest.mark.parametrize(
    ("rows", "stalled"),
    [
        ([put(1, (UP, 1), length=0)], 1),
        # The network's first buffer has room for two flits.
        ([put(1, (UP, 1), length=8)], 2),
        ([put(1, (DOWN, 1)), put(1, (UP, 1))], 1),
        ([put(1, (UP, 1, 1), length=8), put(1, (DOWN, 1))], 2),
    ],
)
def test_a_packet_stands_at_its_own_node_if_its_first_output_has_no_link(
    ran: Ran, rows: list[Row], stalled: int
) -> None:
    made = program({3: rows}, {}, vcs=2)
    run, registers = ran(made)
    found = standstill(made, run)
    buffered = registers.buffers["count"].reshape(made.nodes, -1) > 0
    assert found.stalled.tolist() == [0, 0, 0, stalled]
    assert (buffered.sum(axis=1) + registers.senders["waiting"]).tolist() == [0, 0, 0, stalled]


def test_nothing_stands_when_a_run_has_finished(ran: Ran) -> None:
    program = ring_of_packets(5, 1)
    run, _ = ran(program)
    found = standstill(program, run)
    assert run.finished and found.lines() == [] and not found.stalled.any()


DRAWN = {
    "long packets": (eyecast.ring(8), 20, {}),
    "short packets": (eyecast.ring(8), 2, {"depth": 4}),
    # Some heads stand behind other packets, in front of the routers of their targets.
    "packets behind others": (eyecast.ring(8), 3, {"depth": 4}),
    "two axes": (eyecast.torus((6, 6)), 20, {"depth": 2}),
    "link registers": (eyecast.torus((8, 4)), 9, {"link_registers": 2, "depth": 3}),
    "long headers": (eyecast.torus((8, 8)), 30, {"flit_width": 16}),
}


@pytest.mark.parametrize(("topology", "flits", "parameters"), DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize("seed", range(2))
def test_what_stands_is_what_the_registers_hold(
    ran: Ran, topology: Topology, flits: int, parameters: dict, seed: int
) -> None:
    traffic = draw_traffic(topology, "uniform", rate=1.0, flits=flits, cycles=400, seed=seed)
    config = traffic_config(topology, traffic, {"vcs": 1, **parameters})
    program = traffic_program(traffic, config, seed)
    run, registers = ran(program)
    assert not run.finished
    found = standstill(program, run)
    buffered = registers.buffers["count"].reshape(topology.nodes, -1) > 0
    expected = buffered.sum(axis=1) + registers.senders["waiting"]
    assert found.stalled.tolist() == expected.tolist()
    # The step of a node that has sent all goes on, from 0 again.
    again = standstill(program, replace(run, step=np.zeros_like(run.step)))
    assert again.stalled.tolist() == expected.tolist()
    assert len(found.circle) > 1
    # The head of each packet in the circle is in a buffer, at the front or behind another packet.
    for wait, after in zip(found.circle, (*found.circle[1:], found.circle[0]), strict=True):
        assert after.row == wait.other
        channel = topology.neighbor[wait.held.node, wait.held.port] * topology.ports
        channel += topology.peer[wait.held.node, wait.held.port]
        assert registers.buffers["count"][channel] > 0
        wanted = registers.outputs[wait.wanted.node * topology.ports + wait.wanted.port]
        if wait.why.name == "FILLS":
            assert wanted["holder"] == NONE and wanted["credits"] == 0
        if wait.why.name == "HOLDS":
            assert wanted["holder"] != NONE


# ---- Measures of runs ---------------------------------------------------------------------------


def test_nodes_that_wait_are_in_order_of_steps_behind_nodes_with_flags() -> None:
    # Node 1 gets the packet of step 1; those of step 2, and node 2's of step 1, never come.
    rows = {0: [put(1, (UP, 1))], 3: [put(1, (DOWN, 4))]}
    made = program(rows, {1: [1, 2], 2: [1]})
    assert troubles(made, simulated(made)) == [
        "node 0 is in step 1, has set bad_route",
        "node 2 is in step 1, waits for a receive in step 1",
        "node 1 is in step 2, waits for a receive in step 2",
    ]


def test_a_deadlock_is_in_front_of_the_nodes() -> None:
    made = ring_of_packets(5, 2)
    ran = simulated(made)
    first, *others = troubles(made, ran)
    assert first.startswith("deadlock: 5 packets wait for each other")
    assert [first, *others] == standstill(made, ran).lines()


def test_a_run_that_has_finished_has_no_troubles() -> None:
    made = program({0: [put(1, (UP, 1))]}, {1: [1]})
    assert troubles(made, simulated(made)) == []


@pytest.mark.parametrize("piece", [1, 4, 1 << 22])
def test_all_flits_of_a_trace_are_counted(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PIECE_ROWS", piece)
    made = program({0: [put(1, (UP, 2), length=3)], 1: [put(1, (UP, 1))]}, {2: [1, 2]})
    counts = link_flits(LINE, simulated(made, cycle_limit=60).trace)
    # Packets of four and of two flits.
    expected = np.zeros((4, 3), np.int64)
    expected[0, UP], expected[1, UP], expected[2, 0] = 4, 6, 6
    assert counts.tolist() == expected.tolist()


# ---- Packets that wait ---------------------------------------------------------------------------


def waits_of(topology: Topology, traffic: Traffic, **network: int) -> tuple[TrafficCase, Waits]:
    case = TrafficCase.on_network(topology, traffic, network, seed=1)
    return case, waits(case.program, case.predicted.trace)


def test_a_packet_waits_until_the_one_before_has_left() -> None:
    """Both want the link 1 -> 2; at first each node reads the row of its packet, in 2 cycles."""
    columns = np.array([[0, 0], [0, 1], [2, 2], [9, 9]], dtype=np.int64)
    _, found = waits_of(line(3), Traffic(*columns))
    assert (int(found.cycles.sum()), found.held, found.at_source.tolist()) == (8, 8, [2, 2])
    assert found.lines() == [
        "A packet waits 2.0 cycles at its source, behind earlier packets of its node or for its"
        " first link, and 4.0 cycles on its way.",
        "On their way packets wait for 1 output, most for 1 -> 2 (100% of the wait).",
        "On their way packets wait only while another packet holds the output.",
        "The busiest output, 1 -> 2, is in use 82% of the time.",
    ]


@pytest.mark.parametrize(
    ("pattern", "network"),
    [("uniform", {}), ("transpose", {"vcs": 2}), ("hotspot", {"link_registers": 1, "depth": 4})],
)
def test_heads_wait_where_flits_stall(pattern: str, network: dict[str, int]) -> None:
    drawn = draw_traffic(mesh((5, 5)), pattern, rate=0.4, flits=6, cycles=300, seed=3)
    case, found = waits_of(mesh((5, 5)), drawn, **network)
    trace = case.predicted.trace
    stalled = follow(case.program, trace, expected_hops(case.program)).stalled
    assert found.cycles.sum() == stalled[trace.kind & HEAD_MARK != 0].sum() > 0
    assert 0 < found.held < found.cycles.sum()
    assert found.at_source.min() == 0
