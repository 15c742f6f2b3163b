"""Runs that a controller starts, and nodes held by their tiles: docs/router.md, 16 and 17.

Expected cycles are computed by hand from the page; c is the cycle in which the first row may begin.
"""

from typing import Any

import numpy as np
import pytest
from helpers.programs import DOWN, UP, C, departures, flags, program, put, simulated, words
from helpers.switch_networks import switch_star

from eyecast.model.base.errors import InvalidInput
from eyecast.model.cycle.control import Control
from eyecast.model.cycle.model import run
from eyecast.model.network.config import TIMINGS
from eyecast.model.network.topology import mesh
from eyecast.model.program.program import Program
from eyecast.model.run.rules import check_trace
from eyecast.model.run.run import SENDER_STATES, EndState

RELAY = {0: [put(1, (UP, 1), length=3)], 1: [put(2, (UP, 2), target=8, length=2)]}
RECEIVES = {1: [1], 3: [2]}


def relay(**limits: Any) -> Program:
    """Return a program: node 0 sends three words to node 1, which then sends two to node 3."""
    return program(RELAY, RECEIVES, **limits)


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("steps", [15, 31, 100])
@pytest.mark.parametrize("limits", [{}, {"link_registers": 1, "barrier_registers": 3, "depth": 4}])
def test_a_controlled_run_is_the_same_later(
    timing: str, steps: int, limits: dict[str, int]
) -> None:
    plain = simulated(relay(steps=steps, **limits), timing)
    made = relay(steps=steps, programs=2, **limits)
    controlled = simulated(made, timing)
    later = made.config.mask_words
    assert later == {15: 1, 31: 1, 100: 4}[steps]
    assert controlled.cycles == plain.cycles + later
    shifted = [flit._replace(cycle=flit.cycle + later) for flit in plain.trace]
    assert list(controlled.trace) == shifted
    check_trace(made, controlled.trace)
    assert (controlled.memory == plain.memory).all()
    assert controlled.ending == (EndState.DONE, controlled.cycles, None)


def test_switches_and_every_port_are_as_ever() -> None:
    star = switch_star(3)
    for topology, options in ((star, {}), (mesh((2, 2)), {"all_port": True})):
        if options:
            rows = {0: [put(1, (1, 1)), put(1, (3, 1))]}
            receives, ports = {1: [1], 2: [1]}, {1: [2], 2: [4]}
        else:
            rows = {1: [put(1, (1, 1), (3, 1), length=2)]}
            receives, ports = {3: [1]}, {}
        made = [
            program(rows, receives, topology, receive_ports=ports, programs=g, **options)
            for g in (0, 1)
        ]
        plain, controlled = (simulated(each, "barrier") for each in made)
        assert plain.finished
        assert controlled.cycles == plain.cycles + 1


def test_the_state_of_a_sender_that_reads_what_it_expects_has_a_name() -> None:
    assert SENDER_STATES[6] == "expect"


# ---- The slot of a program ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slot_words", "seen", "cycle"),
    [
        # One word of ``expected``, a row of two words, the end row: 4 words; 2 at other nodes.
        (4, {}, None),
        # The end row is read in cycle c + 4, after the header and three words have left.
        (3, {0: {"bad_row"}, 1: {"bad_row"}}, 1 + C + 4 + 1),
        (1, {node: {"bad_row"} for node in range(4)}, 2),
    ],
)
def test_a_word_beyond_the_slot_is_a_bad_row(
    slot_words: int, seen: dict[int, set[str]], cycle: int | None
) -> None:
    result = simulated(relay(programs=1), control=Control(slot_words=slot_words))
    assert flags(result) == seen
    if cycle is not None:
        assert result.ending == (EndState.FAILED, cycle, 0)
        assert not result.finished


def test_a_slot_that_ends_within_expected_fails_in_it() -> None:
    made = relay(programs=1, steps=100)
    result = simulated(made, control=Control(slot_words=3))
    assert (made.config.mask_words, result.ending) == (4, (EndState.FAILED, 4, 0))
    assert len(result.trace) == 0


# ---- Damaged words --------------------------------------------------------------------------


@pytest.mark.parametrize(("place", "senders"), [(0, [0, 1]), (2, [0])])
def test_a_damaged_word_is_flagged_in_the_cycle_in_which_it_is_injected(
    place: int, senders: list[int]
) -> None:
    made = relay(programs=1, parity=True)
    memory = words(made)
    result = simulated(made, control=Control(damaged=int(memory[0, place])))
    # Node 1 sends on two of the three words, which its own memory damages again.
    assert flags(result) == {node: {"parity"} for node in senders}
    # The header leaves the sender in cycle c, word 0 in the next one.
    assert result.ending == (EndState.FAILED, 1 + C + 1 + place + 1, 0)
    # The row that has begun is sent to its end, and its words arrive as they are.
    assert (result.memory[1, :3] == memory[0, :3]).all()


@pytest.mark.parametrize(
    ("options", "damaged", "refusal"),
    [
        ({}, 1, "damaged word"),
        ({"parity": True, "operators": "add"}, 1, "damaged word"),
        ({"parity": True}, 1 << 32, "damaged word"),
        ({"parity": True}, -1, "damaged word"),
    ],
)
def test_a_network_that_damages_no_words_refuses_one(
    options: dict[str, Any], damaged: int, refusal: str
) -> None:
    made = relay(programs=1, **options)
    with pytest.raises(InvalidInput, match=refusal):
        simulated(made, control=Control(damaged=damaged))


# ---- How a run ends -------------------------------------------------------------------------


def test_a_run_of_more_cycles_than_its_limit_times_out() -> None:
    made = relay(programs=1)
    whole = simulated(made)
    for limit in (whole.cycles + 1, whole.cycles + 50):
        result = simulated(made, control=Control(limit=limit))
        assert (result.finished, result.cycles) == (True, whole.cycles)
    # In the last cycle before the limit only node 3 is not finished: its packet is under way.
    result = simulated(made, control=Control(limit=whole.cycles))
    assert not result.finished
    assert result.ending == (EndState.TIMED_OUT, whole.cycles - 1, 3)
    assert simulated(made, control=Control(limit=1)).ending == (EndState.TIMED_OUT, 0, 0)


def test_the_culprit_is_the_lowest_node_with_a_flag_in_the_first_cycle_of_any() -> None:
    # Nodes 1 and 2 fail in the same cycle; node 0 gets a packet that it does not expect.
    bad = put(1, (3, 1))
    rows = {1: [bad], 2: [bad], 3: [put(1, (DOWN, 3))]}
    result = simulated(program(rows, {}, programs=1))
    assert {*flags(result)} == {0, 1, 2}
    assert result.ending == (EndState.FAILED, 1 + C + 1, 1)
    # A flag has priority over a limit in the same cycle; an earlier limit prevents the flag.
    with_limit = [
        simulated(program(rows, {}, programs=1), control=Control(limit=n)) for n in (3, 4)
    ]
    assert [each.ending.state for each in with_limit] == [EndState.TIMED_OUT, EndState.FAILED]
    assert {*flags(with_limit[1])} == {0, 1, 2}


# ---- Hold -----------------------------------------------------------------------------------


def held(made: Program, *cycles: int, **options: Any) -> Any:
    control = Control(hold=np.array(cycles, dtype=np.int64))
    return run(made, words(made), control=control, **options)


@pytest.mark.parametrize("until", [0, 1, 2, 3, 40, 5000])
def test_a_node_begins_two_cycles_after_its_tile_last_holds_it(until: int) -> None:
    result = held(relay(programs=1, tile_ports=True), until, 0, 0, 0, timing="self-timed")
    begins = max(1 + C, until + 1 if until else 0)
    assert departures(result, 0, UP)[0][0] == begins + 1
    usual = simulated(relay(programs=1, tile_ports=True), "self-timed")
    assert result.cycles == usual.cycles + begins - (1 + C)


@pytest.mark.parametrize("timing", TIMINGS)
def test_a_held_node_ends_no_step(timing: str) -> None:
    """Node 2 sends and receives nothing, but with a barrier all nodes wait for it."""
    made = relay(programs=1, tile_ports=True)
    usual, late = simulated(made, timing), held(made, 0, 0, 30, 0, timing=timing)
    if timing == "barrier":
        # The held node's step is over in cycle 31, and ``advance`` is 1 in cycle 32.
        assert departures(late, 1, UP)[0][0] == 33 + 1
    else:
        assert (late.cycles, list(late.trace)) == (usual.cycles, list(usual.trace))
    assert late.finished


def test_what_cannot_be_is_refused() -> None:
    plain, tiles = relay(), relay(programs=1, tile_ports=True)
    zeros = np.zeros(4, dtype=np.int64)
    star = program({}, {}, switch_star(3), programs=1, tile_ports=True)
    for made, control, refusal in (
        (plain, Control(limit=3), "control must be left out in a network without programs"),
        (relay(programs=1), Control(hold=zeros), "hold must be left out in a network without tile"),
        (tiles, Control(hold=zeros[:3]), r"hold must be int64 of shape \(4,\)"),
        (tiles, Control(hold=zeros - 1), "hold must be at least 0, not -1"),
        (tiles, Control(slot_words=0), "words of the program must be 1 to 64, not 0"),
        (tiles, Control(limit=-1), "limit must be 0 to 4294967295, not -1"),
        (star, Control(hold=zeros + 1), "hold of node 0, a switch must be 0 to 0, not 1"),
    ):
        with pytest.raises(InvalidInput, match=refusal):
            simulated(made, control=control)


@pytest.mark.parametrize("until", [1, 2, 40])
def test_a_run_that_does_not_finish_is_given_up_later_if_a_tile_holds_its_node(until: int) -> None:
    # Node 3 expects a packet that nobody sends.
    made = program({}, {3: [1]}, programs=1, tile_ports=True)
    usual, late = (held(made, hold, 0, 0, 0, timing="self-timed") for hold in (0, until))
    assert not late.finished
    assert late.cycles == usual.cycles + until + 1
