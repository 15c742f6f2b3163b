"""Wrong all-port programs: the flag that docs/router.md demands, or a refusal of one line."""

import numpy as np
import pytest
from helpers.all_port_programs import all_port
from helpers.programs import HEAD, TAIL, C, changed, departures, flags, put, simulated, words
from helpers.refusals import refusal_of

from eyecast.model.base.errors import InvalidInput
from eyecast.model.cycle import model as cycle_model
from eyecast.model.cycle.loop import simulate
from eyecast.model.cycle.model import run
from eyecast.model.network.topology import mesh
from eyecast.model.program.row import Row
from eyecast.model.run.rules import check_trace
from eyecast.model.run.trace import Trace


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
    network = cycle_model._network(
        made, cycle_model.Control(), barrier=False, record_trace=True, refusal=None
    )
    network.header[0] = code
    registers = cycle_model.reset_registers(network, words(made))
    rows = cycle_model._rows(Trace.empty(1000))
    simulate(network, registers, cycle_model.empty_lists(network), rows, 50)
    assert registers.flags.tolist() == [8, 0, 0, 0]
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
        (
            {1: [put(1, (1, 1)), put(16, (2, 1))]},
            {},
            "node 1, row 1: step must be 0 to 15,",
        ),
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
