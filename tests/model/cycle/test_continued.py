"""Messages in several rows, cycle by cycle: continued rows carry step 0, which no step awaits.

Expected cycles are worked out by hand from docs/router.md; c is the first cycle of step 1.
"""

from dataclasses import replace

import numpy as np
import pytest
from helpers.all_port_programs import all_port
from helpers.programs import (
    HEAD,
    SINGLE,
    TAIL,
    UP,
    C,
    departures,
    flags,
    pack,
    program,
    put,
    simulated,
)
from helpers.traffic import timed, traffic

from eyecast.model.network.topology import hypercube
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.measures import measure_steps
from eyecast.model.run.rules import check_trace


def continued(*arguments: tuple[int, int] | int, **addresses: int) -> Row:
    return replace(put(*arguments, **addresses), continued=True)  # type: ignore[arg-type]


def message(**limits: bool) -> Program:
    """Return a program that writes words 3, 4 and 8 of node 0 to adjacent addresses of node 2."""
    rows = {
        0: [
            continued(1, (UP, 2), source=3, target=20, length=2),
            put(1, (UP, 2), source=8, target=22, length=1),
        ]
    }
    return program(rows, {2: [1]}, **limits)


@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
def test_step_waits_for_the_last_row_of_a_message(timing: str) -> None:
    result = simulated(message(), timing)
    heads = [flit for flit in result.trace if (flit.node, flit.kind) == (2, HEAD)]
    # A line's deliver code is 3, in 2 bits; 4 bits of step, then the address. The first packet is
    # injected in C to C + 2, the next row read in C + 3 and injected in C + 4 and C + 5.
    assert [(flit.cycle, flit.data) for flit in heads] == [
        (C + 3, pack((3, 2), (0, 4), (20, 8))),
        (C + 7, pack((3, 2), (1, 4), (22, 8))),
    ]
    # The last tail is delivered in C + 8.
    assert (result.finished, result.cycles) == (True, C + 9)
    assert result.step_ends.tolist() == [C + 9]
    assert result.memory[2, 20:23].tolist() == [4, 5, 9]
    assert np.argwhere(result.arrived).tolist() == [[2, 0, 1]]
    assert not result.received.any()
    assert not result.flags.any()


def test_packet_that_no_step_waits_for_is_all_right_anywhere() -> None:
    # Node 1 expects no packet, and gets two packets of step 0 in its step 1. Node 3's comes later.
    rows = {
        0: [continued(1, (UP, 1), target=7), continued(1, (UP, 1), target=9, length=0)],
        2: [put(1, (UP, 1), length=20)],
    }
    result = simulated(program(rows, {3: [1]}), "barrier")
    assert result.finished
    assert departures(result, 1, 0)[-1] == (C + 5, 0, SINGLE)
    assert not result.flags.any()
    assert not result.arrived[1].any()
    assert result.memory[1, 7] == 1


def test_node_does_not_wait_for_a_packet_that_no_step_waits_for() -> None:
    # The tail is injected in C + 1. In C + 2 the table's end is read, and the head leaves node 1.
    result = simulated(program({0: [continued(1, (UP, 3), length=1)]}, {}))
    assert (result.finished, result.cycles) == (True, C + 3)
    assert result.trace.cycle.max() == C + 2
    assert departures(result, 3, 0) == []


def test_node_alone_goes_through_steps_in_which_it_does_nothing() -> None:
    # The other nodes are finished from cycle 1 on. Node 0's row of step 31 is ready in C, in step
    # 1. Its head is injected in C + 30, its tail a cycle later.
    late = program({0: [continued(31, (UP, 1), length=1)]}, {}, steps=31)
    result = simulated(late, "self-timed")
    assert departures(result, 0, UP) == [(C + 31, 0, HEAD), (C + 32, 0, TAIL)]
    assert result.finished
    assert result.step.tolist() == [31, 1, 1, 1]


def test_expected_step_0_never_comes() -> None:
    waiting = program({0: [continued(1, (UP, 1))]}, {1: [0]})
    result = simulated(waiting, cycle_limit=100)
    assert (result.finished, result.cycles) == (False, 100)
    assert not result.flags.any()
    assert not result.arrived.any()


def test_network_with_timed_rows_awaits_the_packets_of_continued_rows() -> None:
    rows = {
        0: [continued(1, (UP, 1), length=2), put(1, (UP, 1), target=2)],
        2: [timed(30, (UP, 1))],
    }
    result = simulated(traffic(rows, {1: 1, 3: 1}, receives={1: [1]}))
    assert result.finished
    assert result.received.tolist() == [0, 1, 0, 1]
    assert np.argwhere(result.arrived).tolist() == [[1, 0, 1]]
    unexpected = simulated(traffic(rows, {3: 1}, receives={1: [1]}))
    assert flags(unexpected) == {1: {"unexpected_receive"}}


def test_continued_row_sends_in_its_step() -> None:
    rows = {0: [put(1, (UP, 1))], 1: [continued(1, (UP, 1)), put(1, (UP, 1))]}
    both = program(rows, {1: [1], 2: [1]}, port_model="half-duplex")
    assert flags(simulated(both)) == {1: {"send_and_receive"}}


def test_messages_in_several_rows_on_both_links() -> None:
    # Both senders carry out their rows independently: packets of 3 and 2 flits, of 2 and 4 flits.
    rows = [
        continued(1, (1, 1), source=0, target=16, length=2),
        continued(1, (2, 1), source=4, target=24, length=1),
        put(1, (1, 1), source=9, target=18, length=1),
        put(1, (2, 1), source=30, target=25, length=3),
    ]
    made = all_port({0: rows}, {1: [(1, 1)], 2: [(1, 2)]}, hypercube(2))
    result = simulated(made)
    assert [c - C for c, _, kind in departures(result, 0, 1) if kind == HEAD] == [1, 5]
    assert [c - C for c, _, kind in departures(result, 0, 2) if kind == HEAD] == [1, 4]
    # The last tails are injected in C + 5 and C + 6, and delivered two cycles later.
    assert (result.finished, result.cycles) == (True, C + 9)
    assert result.memory[1, 16:19].tolist() == [1, 2, 10]
    assert result.memory[2, 24:28].tolist() == [5, 31, 32, 33]
    (measure,) = measure_steps(made, result)
    assert (measure.sends, measure.distance, measure.longest, measure.flits) == (2, 2, 1, 4)


def test_trace_of_a_message_in_several_rows_is_proved() -> None:
    check_trace(message(), simulated(message()).trace)
