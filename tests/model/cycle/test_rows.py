"""Timed and continued rows, link registers and nodes that refuse flits, cycle by cycle.

Expected cycles are computed by hand from docs/router.md; R is the number of link registers, and c
the first cycle of step 1."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.all_port_programs import all_port
from helpers.programs import (
    BODY,
    DOWN,
    HEAD,
    SINGLE,
    TAIL,
    UP,
    C,
    changed,
    departures,
    flags,
    pack,
    program,
    put,
    registers_after,
    simulated,
)
from helpers.refusals import refusal_of
from helpers.traffic import cycles, refusing, timed, traffic

from eyecast.model.base.errors import InvalidInput
from eyecast.model.cycle.model import cycle_limit
from eyecast.model.network.topology import hypercube, mesh
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.measures import measure_steps
from eyecast.model.run.rules import check_trace

START = 7
EVEN_CYCLES = 0b0101010101010101

# ---- Link registers -------------------------------------------------------------------------


@pytest.mark.parametrize(("registers", "hops"), [(0, 3), (1, 1), (3, 2)])
def test_hop_takes_one_cycle_more_for_each_register(registers: int, hops: int) -> None:
    rows = {0: [timed(START, (UP, hops), length=2)]}
    depth = 2 * registers + 2
    result = simulated(traffic(rows, {hops: 1}, link_registers=registers, depth=depth))
    for node in range(hops + 1):
        leaves = START + 1 + node * (registers + 1)
        kinds = [(leaves, 0, HEAD), (leaves + 1, 0, BODY), (leaves + 2, 0, TAIL)]
        assert departures(result, node, UP if node < hops else 0) == kinds
    # The tail leaves port 0 two cycles after the head; in the next cycle its arrival is seen.
    assert (result.finished, result.cycles) == (True, START + hops * (registers + 1) + 4)
    assert result.received.tolist() == [int(node == hops) for node in range(4)]
    assert not result.arrived.any()
    assert not result.stalled_flits.any()


@pytest.mark.parametrize("registers", [0, 3])
@pytest.mark.parametrize("depth", [1, 2, 6, 8, 16])
def test_link_carries_depth_flits_in_the_time_of_a_credit_loop(registers: int, depth: int) -> None:
    length = 39
    rows = {0: [timed(START, (UP, 2), length=length)]}
    result = simulated(traffic(rows, {2: 1}, link_registers=registers, depth=depth))
    # A slot is used again 2R + 2 cycles after its flit left the sender, and not before.
    period = max(depth, 2 * registers + 2)
    leaves = [START + 1 + flit // depth * period + flit % depth for flit in range(length + 1)]
    assert cycles(result, 0, UP) == leaves
    assert cycles(result, 2, 0) == [cycle + 2 * (registers + 1) for cycle in leaves]
    assert result.finished


def test_barrier_steps_take_the_registers_of_the_way() -> None:
    rows = {0: [put(1, (UP, 3), length=2), put(2, (UP, 2), length=5)]}
    result = simulated(program(rows, {3: [1], 2: [2]}, link_registers=2, depth=6), "barrier")
    assert (result.finished, result.cycles) == (True, C + (9 + 2 + 4) + (6 + 5 + 4) - 2)


# ---- Starts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0, 1, C, C + 1, 9, 1023, 1024, 1025, 5000, 2**32 - 2])
@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
def test_row_begins_at_its_start(start: int, timing: str) -> None:
    result = simulated(traffic({0: [timed(start, (UP, 1))]}, {1: 1}), timing)
    # The row is ready in cycle C; an earlier start is in the past.
    begins = max(start, C)
    assert cycles(result, 0, UP) == [begins + 1, begins + 2]
    assert (result.finished, result.cycles) == (True, begins + 4)
    # Node 1's table has ended: its self-timed step is over in cycle 1 and in every cycle after it,
    # until the node is finished.
    steps = 1 + begins + 4 - 1 if timing == "self-timed" else result.step[1]
    assert result.step[1] == steps % 16


@pytest.mark.parametrize("start", [0, 11, 12, 13, 40])
def test_next_row_waits_for_its_start_and_its_control_words(start: int) -> None:
    rows = {0: [timed(START, (UP, 1), length=2), timed(start, (UP, 1), length=0)]}
    result = simulated(traffic(rows, {1: 2}))
    # The tail is injected in START + 2, the control word read in the next cycle.
    begins = max(start, START + 4)
    assert cycles(result, 0, UP) == [START + 1, START + 2, START + 3, begins + 1]


def test_far_start_comes_while_others_send() -> None:
    stream = [timed(0, (DOWN, 1), length=200)] * 20
    rows = {0: [timed(3000, (UP, 1))], 3: stream}
    result = simulated(traffic(rows, {1: 1, 2: 20}))
    assert cycles(result, 0, UP) == [3001, 3002]
    assert cycles(result, 3, DOWN)[-1] > 3002


@pytest.mark.parametrize(("start", "begins"), [(0, 24), (24, 24), (25, 25), (30, 30)])
def test_timed_row_waits_for_its_step_too(start: int, begins: int) -> None:
    # Node 0's packet is injected in 20, and the end of its table read in 21. So step 1 is over in
    # 22, advance is 1 in 23, and step 2 begins in 24.
    rows = {
        0: [timed(20, (UP, 1), length=0)],
        2: [replace(timed(start, (UP, 1), length=0), step=2)],
    }
    result = simulated(traffic(rows, {1: 1, 3: 1}), "barrier")
    assert cycles(result, 2, UP) == [begins + 1]


# ---- Awaited packets ------------------------------------------------------------------------


def test_packet_of_a_timed_row_carries_step_0() -> None:
    result = simulated(traffic({0: [timed(3, (UP, 1), target=9)]}, {1: 1}))
    head, _ = (flit for flit in result.trace if flit.node == 1)
    # Port 3 is the deliver code of a line, in 2 bits; 4 bits of step, then the address.
    assert head.data == pack((3, 2), (0, 4), (9, 8))
    assert result.memory[1, 9] == 1


def test_node_is_finished_when_all_it_awaits_has_come() -> None:
    rows = {0: [timed(30, (UP, 1))], 2: [timed(10, (DOWN, 1)), put(1, (DOWN, 1), target=7)]}
    both = traffic(rows, {1: 2}, receives={1: [1]})
    result = simulated(both)
    assert (result.finished, result.cycles) == (True, 34)
    assert result.received.tolist() == [0, 2, 0, 0]
    assert np.argwhere(result.arrived).tolist() == [[1, 0, 1]]
    missing = traffic(rows, {1: 3}, receives={1: [1]})
    result = simulated(missing)
    assert (result.finished, result.cycles) == (False, cycle_limit(missing))
    assert result.received[1] == 2
    assert not result.flags.any()
    # Node 2's second row begins in 13, so step 1 is over in 17; then the step rises every cycle.
    assert simulated(missing, cycle_limit=10**12 + 5).step[1] == (1 + 10**12 + 5 - 17) % 16


def test_step_of_a_finished_node_stands_still_to_the_limit() -> None:
    # Step 1 of node 1 is over in cycle 1, when the end of its table has been read; it rises until
    # node 0's tail has left in 13, and node 1 is finished in 14. Node 3 waits for ever.
    for limit in (40, 400):
        result = simulated(traffic({0: [timed(10, (UP, 1))]}, {1: 1, 3: 1}), cycle_limit=limit)
        assert not result.finished
        assert cycles(result, 1, 0)[-1] == 13
        assert result.step[1] == 1 + (14 - 1)
        assert result.step[3] == (1 + limit - 1) % 16


@pytest.mark.parametrize("awaited", [0, 1])
def test_packet_that_is_not_awaited_is_unexpected(awaited: int) -> None:
    # Node 3's packet keeps the run going until the other packets have arrived.
    rows = {0: [timed(3, (UP, 1)), timed(3, (UP, 1))], 3: [timed(60, (DOWN, 1))]}
    result = simulated(traffic(rows, {1: awaited, 2: 1}))
    assert flags(result) == {1: {"unexpected_receive"}}
    assert not result.finished
    assert result.received.tolist() == [0, 2, 1, 0]


# ---- Many buffers ---------------------------------------------------------------------------


def test_order_of_more_than_64_buffers() -> None:
    # Node 15 of a 2x2x2x2 mesh has 9 ports of 8 VCs. Two packets arrive by each of the ports 2, 4
    # and 6, on VCs 3, 1 and 7, and node 15 sends two. All go on to node 7, by port 8 on VC 5, and
    # the first heads are at the front in the same cycle.
    ways = {14: (1, 1, 3), 13: (3, 1, 1), 11: (5, 1, 7)}
    rows = {node: [timed(START, way, (8, 1, 5), length=2)] * 2 for node, way in ways.items()}
    rows[15] = [timed(START + 1, (8, 1, 5), length=2)] * 2
    result = simulated(traffic(rows, {7: 8}, mesh((2, 2, 2, 2)), vcs=8))
    sent = [f for f in result.trace if (f.node, f.port) == (15, 8)]
    assert [(f.cycle, f.vc) for f in sent] == [(START + 2 + place, 5) for place in range(8 * 3)]
    # The order begins at the interface; the links come twice before the interface comes again.
    tails = [f.data for f in sent if f.kind == TAIL]
    assert tails == [256 * node + 2 for node in (15, 14, 13, 11, 14, 13, 11, 15)]
    assert result.finished


# ---- Refusal --------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [START, START + 1])
def test_refused_flits_leave_in_the_cycles_between(start: int) -> None:
    one = traffic({0: [timed(start, (UP, 2), length=3)]}, {2: 1})
    result = simulated(one, refusal=refusing(EVEN_CYCLES))
    # The head is at the front in start + 3; node 2 accepts flits in odd cycles.
    first = (start + 3) | 1
    assert cycles(result, 2, 0) == [first, first + 2, first + 4, first + 6]
    assert (result.finished, result.cycles) == (True, first + 7)
    # No other node receives, so the refusals of other nodes do not matter.
    others = refusing(EVEN_CYCLES)
    others[2] = 0
    assert cycles(simulated(one, refusal=others), 2, 0) == [start + 3 + i for i in range(4)]


@pytest.mark.parametrize(("accepted", "registers"), [(0, 3), (1, 0), (8, 3), (15, 0)])
def test_one_flit_in_sixteen_cycles(accepted: int, registers: int) -> None:
    rows = {0: [timed(START, (UP, 1), length=4)]}
    one = traffic(rows, {1: 1}, link_registers=registers)
    result = simulated(one, refusal=refusing(0xFFFF ^ 1 << accepted))
    there = START + 2 + registers
    first = there + (accepted - there) % 16
    assert cycles(result, 1, 0) == [first + 16 * flit for flit in range(5)]
    assert (result.finished, result.cycles) == (True, first + 65)


def test_node_that_never_accepts_never_finishes() -> None:
    one = traffic({0: [timed(START, (UP, 1))]}, {1: 1})
    never = refusing(0xFFFF)
    result = simulated(one, refusal=never)
    assert (result.finished, result.cycles) == (False, cycle_limit(one, never))
    assert cycles(result, 0, UP) == [START + 1, START + 2]
    assert cycles(result, 1, 0) == []


# ---- Refused input --------------------------------------------------------------------------


def test_numbers_below_none_are_refused() -> None:
    with pytest.raises(InvalidInput, match="node 0, row 0: start must be at least 0, not -1"):
        traffic({0: [timed(-1, (UP, 1))]}, {})
    with pytest.raises(InvalidInput, match="awaited packets of node 1 must be 0 to 92233720368547"):
        traffic({}, {1: -1})


def test_bad_input_is_refused() -> None:
    untimed = program({}, {})
    row = [timed(3, (UP, 1))]
    for made, refusal, message in [
        (untimed, refusing(0), "refusal must be left out in a network without timed rows"),
        (traffic({}, {}), refusing(0, 3), "refusal must be uint16 of shape (4,), not uint16 of"),
        (changed(untimed, awaited=(0, 1, 0, 0)), None, "awaited packets of node 1 must be 0 in a"),
        (traffic({1: [*row, timed(2**32 - 1, (UP, 1))]}, {}), None, "node 1, row 1: start must be"),
        (program({0: row}, {}), None, "node 0, row 0: start must be left out here, not 3"),
    ]:  # fmt: skip
        assert refusal_of(simulated, made, refusal=refusal).startswith(message)


def test_the_count_of_arrived_packets_has_as_many_bits_as_a_flit() -> None:
    # Node 3 awaits a packet that never comes, so that the run goes on.
    limits = {"flit_width": 16, "timed_rows": True, "message_words": 64}
    made = program({0: [timed(0, (UP, 1))]}, {}, awaited={3: 1}, **limits)

    def nearly_all(_network: Any, registers: Any) -> None:
        registers.interfaces["received"][1] = (1 << 16) - 1

    registers = registers_after(made, nearly_all)
    assert registers.interfaces["received"].tolist() == [0] * 4


# ---- Messages in several rows, cycle by cycle ---------------------------------------------------


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
