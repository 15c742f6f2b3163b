"""Wrong programs: the model sets the flag that docs/router.md demands, or refuses them."""

from typing import Any

import numpy as np
import pytest
from helpers.all_port_programs import all_port
from helpers.programs import (
    DOWN,
    HEAD,
    TAIL,
    UP,
    C,
    changed,
    departures,
    flags,
    program,
    put,
    registers_after,
    simulated,
    words,
)
from helpers.refusals import refusal_of

from eyecast.model.base.errors import InvalidInput
from eyecast.model.cycle import model as cycle_model
from eyecast.model.cycle.model import cycle_limit, run
from eyecast.model.network.topology import mesh
from eyecast.model.program.row import Row
from eyecast.model.run.rules import check_trace
from eyecast.model.run.trace import Trace

# ---- Flags ----------------------------------------------------------------------------------


@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
def test_receive_that_is_missing_never_finishes(timing: str) -> None:
    waiting = program({0: [put(1, (UP, 1))]}, {1: [1], 2: [1]})
    result = simulated(waiting, timing)
    assert (result.finished, result.cycles) == (False, cycle_limit(waiting))
    assert not result.flags.any()


def test_unexpected_receive() -> None:
    rows = {0: [put(1, (UP, 1), target=7)], 1: [put(2, (UP, 1))]}
    result = simulated(program(rows, {2: [2]}))
    assert flags(result) == {1: {"unexpected_receive"}}
    assert result.arrived[1, 0, 1]
    assert result.memory[1, 7] == 1
    assert not result.finished
    # Node 1 began step 2 in C + 1, before the flag; it would not begin a row of step 9.
    assert len(departures(result, 1, UP)) == 2
    rows[1] = [put(9, (UP, 1))]
    late = simulated(program(rows, {2: [9]}))
    assert departures(late, 1, UP) == []
    # Node 1's step rises every cycle until the flag, set at the end of C + 3, holds it; node 2
    # waits in step 9.
    assert late.step.tolist() == [1, 5, 9, 1]


def test_second_receive_in_a_step_is_unexpected() -> None:
    # The long packet keeps the run going while the second one arrives.
    rows = {0: [put(1, (UP, 1))], 2: [put(1, (DOWN, 1)), put(1, (UP, 1), length=30)]}
    assert flags(simulated(program(rows, {1: [1], 3: [1]}))) == {1: {"unexpected_receive"}}


@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
def test_receive_of_another_step_is_unexpected_with_a_barrier(timing: str) -> None:
    # Two rows of step 1, one of whose headers says step 2.
    early = program({0: [put(1, (UP, 1))], 2: [put(1, (DOWN, 1))]}, {1: [1, 2]})

    def late(network: Any, _registers: Any) -> None:
        network.header[1] += 1 << early.config.header.slot_bits + early.config.header.port_bits

    registers = registers_after(early, late, barrier=timing == "barrier")
    assert registers.interfaces["flags"].tolist() == [0, 16 if timing == "barrier" else 0, 0, 0]


@pytest.mark.parametrize("port_model", ["half-duplex", "full-duplex"])
def test_send_and_receive(port_model: str) -> None:
    rows = {0: [put(1, (UP, 1))], 1: [put(1, (UP, 1))]}
    result = simulated(program(rows, {1: [1], 2: [1]}, port_model=port_model))
    assert flags(result) == ({1: {"send_and_receive"}} if port_model == "half-duplex" else {})
    assert result.finished == (port_model == "full-duplex")
    # A packet that has begun continues.
    assert result.memory[2, 0] == words(program(rows, {}))[1, 0]


@pytest.mark.parametrize(
    ("row", "limits"),
    [
        (put(1, (UP, 1), length=64, source=1), {"message_words": 64}),
        (put(1, (0, 1)), {}),
        (put(1), {}),
        (put(1, (UP, 1, 3)), {"vcs": 3}),
        (put(9, (0, 1)), {}),
    ],
    ids=["too long", "port 0", "no route", "no such VC", "before its step"],
)
def test_bad_row(row: Row, limits: dict[str, int]) -> None:
    result = simulated(program({0: [row], 1: [put(1, (UP, 1))]}, {2: [1]}, **limits))
    assert flags(result) == {0: {"bad_row"}}
    # A row of a later step is examined, and fails, in a cycle in which step 1 is over.
    assert result.step[0] == (1 if row.step == 1 else 2)
    assert not result.finished
    assert {f.node for f in result.trace} == {1, 2}


def test_row_of_a_step_that_is_past_is_bad() -> None:
    rows = {0: [put(2, (UP, 1)), put(1, (UP, 1))]}
    result = simulated(program(rows, {1: [1, 2]}))
    assert flags(result) == {0: {"bad_row"}}
    assert len(departures(result, 1, 0)) == 2


def test_row_of_step_0_ends_the_table() -> None:
    result = simulated(program({0: [put(1, (UP, 1)), put(0, (UP, 1)), put(1, (UP, 2))]}, {1: [1]}))
    assert result.finished
    assert not result.flags.any()


@pytest.mark.parametrize(
    ("row", "node", "limits"),
    [
        (put(1, (UP, 4)), 3, {}),
        (put(1, (UP, 1), (DOWN, 1)), 1, {}),
        (put(1, (UP, 1), (6, 1)), 1, {"topology": mesh((4, 2))}),
        (put(1, (UP, 1), (UP, 1, 3)), 1, {"vcs": 3}),
        (put(1, (UP, 1), (0, 1), length=0), 1, {}),
        (put(1, (UP, 1), (0, 1)), 1, {}),
    ],
    ids=["no link", "back", "no such port", "no such VC", "used up with tail", "no header flit"],
)
def test_bad_route(row: Row, node: int, limits: dict[str, Any]) -> None:
    result = simulated(program({0: [row]}, {2: [1]}, **limits))
    assert flags(result) == {node: {"bad_route"}}
    assert not result.finished
    assert not departures(result, node, UP)


def test_bad_write() -> None:
    row = put(1, (UP, 1), target=62, length=4)
    result = simulated(program({0: [row]}, {1: [1]}, message_words=64))
    assert flags(result) == {1: {"bad_write"}}
    expected = words(program({}, {}, message_words=64))
    expected[1, 62:] = expected[0, :2]
    assert (result.memory == expected).all()
    assert result.arrived[1, 0, 1]


@pytest.mark.parametrize(
    ("row", "flag"),
    [(put(1, (UP, 1), length=0), 4), (put(1, (UP, 1), (DOWN, 1), length=9), 1)],
    ids=["credit_overflow", "overflow"],
)
def test_miscounted_credits_are_flagged(row: Row, flag: int) -> None:
    # One credit more than slots: it comes back to a full counter, or a flit finds a full buffer. In
    # that case a head that turns back waits at node 1, with a full buffer there and at node 0.
    wrong = program({0: [row]}, {1: [1]})

    def one_more(_network: Any, registers: Any) -> None:
        sender = registers.buffers["upstream"][0]  # Node 0's interface, VC 0.
        registers.outputs["credits"][sender] += 1

    assert registers_after(wrong, one_more).interfaces["flags"][0] == flag


# ---- Refusals -------------------------------------------------------------------------------

HEADER = "node 0, row 0: header flits of the route must be 1 to 15, not 26"
SOURCE = "node 0, row 0: source address must be 0 to 255, not 256"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({0: [put(16, (UP, 1))]}, "node 0, row 0: step must be 0 to 15, not 16"),
        ({1: [put(1, (4, 1))]}, "node 1, row 0: port must be 0 to 3, not 4"),
        ({0: [put(1, (UP, 1, 1))]}, "node 0, row 0: vc must be 0 to 0, not 1"),
        ({0: [put(1, (UP, -1))]}, "node 0, row 0: hops must be at least 0, not -1"),
        ({0: [put(1, (UP, 1), length=512)]}, "node 0, row 0: length must be 0 to 511, not 512"),
        ({0: [put(1, (UP, 1), source=256)]}, SOURCE),
        ({0: [put(1, (UP, 1), target=256)]}, SOURCE.replace("source", "target")),
        ({0: [put(1, *[(UP, 1)] * 200)]}, HEADER),
    ],
)  # fmt: skip
def test_row_that_no_table_holds_is_refused(rows: dict[int, list[Row]], message: str) -> None:
    assert refusal_of(simulated, program(rows, {}), "barrier") == message


def test_bad_arguments_are_refused() -> None:
    empty = program({}, {}, flit_width=32)
    memory = words(empty)
    too_wide = memory.copy()
    too_wide[2, 3] = 1 << 32
    right = "uint64 of shape (4, 256)"
    signed = memory.astype(np.int64)
    for arguments, message in [
        ({"timing": "fast"}, "timing must be barrier or self-timed, not fast"),
        ({"cycle_limit": -1}, "cycle limit must be 0 to 9223372036854775807, not -1"),
        ({"memory": memory[:3]}, f"memory must be {right}, not uint64 of shape (3, 256)"),
        ({"memory": signed}, f"memory must be {right}, not int64 of shape (4, 256)"),
        ({"memory": too_wide}, "a word of memory must be at most 32 bits wide, not 0x100000000"),
    ]:  # fmt: skip
        given = {"memory": memory, "timing": "barrier"} | arguments
        assert refusal_of(run, empty, given.pop("memory"), **given) == message
    with pytest.raises(InvalidInput, match="receives of node 1 must be 0 to 15, not 16"):
        simulated(program({}, {1: [16]}))


# ---- Wrong all-port programs --------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [1, 2])
def test_row_of_another_sender_is_bad(wrong: int) -> None:
    # Both rows of node 0 lead to link 3 - wrong, so the row in the table of sender ``wrong`` is
    # bad. Both are examined in C, so the other row begins.
    right = 3 - wrong
    made = all_port({0: [put(1, (right, 1)), put(1, (right, 1))]}, {right: [(1, right)]})
    moved = np.array([0, 1, *[2] * 7])
    vars(made)["first_sender_row"] = moved  # A program's columns cannot express this.
    result = run(made, words(made), timing="self-timed")
    assert flags(result) == {0: {"bad_row"}}
    assert departures(result, 0, right) == [(C + 1, 0, HEAD), (C + 2, 0, TAIL)]
    assert departures(result, 0, wrong) == []
    assert not result.finished


@pytest.mark.parametrize("code", [2, 3])
def test_injected_packet_that_asks_for_another_output_is_a_bad_route(code: int) -> None:
    # Port 2, or the deliver code, in a header flit of a row whose table belongs to port 1.
    made = all_port({0: [put(1, (1, 1))]}, {})

    def other(network: Any, _registers: Any) -> None:
        network.header[0] = code

    registers = registers_after(made, other)
    assert registers.interfaces["flags"].tolist() == [8, 0, 0, 0]
    assert registers.total[cycle_model.ROWS] == 0


def test_injected_packet_without_a_link_is_a_bad_route() -> None:
    result = simulated(all_port({0: [put(1, (2, 1))]}, {}, mesh((2,))))
    assert flags(result) == {0: {"bad_route"}}
    assert len(result.trace) == 0


def test_packet_that_turns_back_is_a_bad_route() -> None:
    result = simulated(all_port({0: [put(1, (1, 1), (1, 1))]}, {}))
    assert flags(result) == {1: {"bad_route"}}


@pytest.mark.parametrize(
    ("rows", "receives", "message"),
    [
        ({0: [put(1)]}, {}, "node 0, row 0: first port must be 1 to 2, not 0"),
        (
            {1: [put(1, (1, 1)), put(1, (3, 1))]},
            {},
            "node 1, row 1: first port must be 1 to 2, not",
        ),
        ({1: [put(1, (1, 1)), put(16, (2, 1))]}, {}, "node 1, row 1: step must be 0 to 15,"),
        ({}, {2: [(1, 3)]}, "receive ports of node 2 must be 1 to 2, not 3"),
        ({}, {2: [(16, 1)]}, "receives of node 2 must be 0 to 15, not 16"),
    ],
)
def test_what_no_sender_or_receiver_holds_is_refused(
    rows: dict[int, list[Row]], receives: dict[int, list[tuple[int, int]]], message: str
) -> None:
    assert refusal_of(simulated, all_port(rows, receives)).startswith(message)


def test_receives_without_ports_are_refused() -> None:
    made = all_port({}, {1: [(1, 1)]})
    for ports in ((), ((), (1, 2), (), ())):
        with pytest.raises(InvalidInput, match="receive ports of node 1 must be 1 long, not"):
            changed(made, receive_ports=ports)


def test_trace_does_not_tell_its_ejection_ports() -> None:
    message = "trace to check must be of a network with one ejection port per node, not all-port"
    with pytest.raises(InvalidInput, match=message):
        check_trace(all_port({}, {}), Trace.empty())
