"""Rows that send on arriving words, and windows, cycle by cycle: docs/router.md, section 20.

Expected cycles are computed by hand from the page; CS is the first cycle of step 1, in a network
where a row has two control words. A word is its node times 256, plus its address, plus 1.
"""

from typing import Any

import numpy as np
import pytest
from helpers.all_port_programs import all_port
from helpers.programs import DOWN, UP, departures, flags, program, put, simulated, words

from eyecast.model.network.operators import Operator
from eyecast.model.network.topology import torus
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row

CS = 2


def streaming(
    rows: dict[int, list[Row]], receives: dict[int, list[int]], *given: Any, **limits: Any
) -> Program:
    made = program(rows, receives, *given, streams=True, **limits)
    assert made.config.table.control_words == CS
    return made


def chain(length: int, hops: int = 1, **limits: Any) -> Program:
    """Return a message that goes down a line of four nodes, or two of them, in one step."""
    nodes = range(0, 4, hops)
    rows = {
        node: [put(1, (UP, hops), source=16, target=16, length=length, stream=int(node > 0))]
        for node in nodes
        if node + hops < 4
    }
    return streaming(rows, {node: [1] for node in nodes if node}, **limits)


# ---- Chains and rings --------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 2, 7])
@pytest.mark.parametrize("port_model", ["half-duplex", "full-duplex"])
def test_a_chain_takes_four_cycles_for_each_further_link(length: int, port_model: str) -> None:
    made = chain(length, port_model=port_model)
    result = simulated(made, "barrier")
    assert result.finished
    assert result.cycles == CS + (1 + length + 4) - 2 + 2 * (1 + 3)
    assert not result.flags.any()
    assert not result.stalled_flits.any()
    assert (result.memory[:, 16 : 16 + length] == words(made)[0, 16 : 16 + length]).all()
    # All nodes inject their heads at the same time. A word leaves port 0 of each node four cycles
    # after it left port 0 of the node before.
    for node in (1, 2, 3):
        left = [CS + 2, *(CS + 3 + word + 4 * (node - 1) for word in range(length))]
        assert [cycle for cycle, _, _ in departures(result, node, 0)] == left


@pytest.mark.parametrize("latency", [0, 2])
def test_with_operators_a_further_send_takes_d_and_one_cycle_more(latency: int) -> None:
    slow = [Operator("later", latency, lambda there, coming, _bits: there * np.uint64(3) + coming)]
    rows = {
        0: [put(1, (UP, 2), source=16, target=16, length=5, operator=1)],
        2: [put(1, (UP, 1), source=16, target=16, length=5, operator=1, stream=1)],
    }
    made = streaming(rows, {2: [1], 3: [1]}, operators=slow)
    there, result = words(made)[:, 16:21], simulated(made, "barrier")
    assert result.cycles == CS + (2 + 5 + 5 + latency) - 2 + (1 + 4 + latency)
    # A node sends on the combined words.
    at_2 = there[2] * np.uint64(3) + there[0]
    assert (result.memory[2, 16:21] == at_2).all()
    assert (result.memory[3, 16:21] == there[3] * np.uint64(3) + at_2).all()


@pytest.mark.parametrize(
    ("lead", "last"),
    [
        # Words follow each other without a gap if the lead is four words or more.
        (6, 12),
        (4, 12),
        # Otherwise word i leaves four cycles after word i - lead.
        (3, 1 + 3 * 4 + 2),
        (2, 1 + 5 * 4 + 1),
        (1, 1 + 11 * 4),
    ],
)
def test_in_a_ring_all_send_their_own_words_and_then_what_comes(lead: int, last: int) -> None:
    # Node n sends down, from address 32 + 2n on in a window of 16 words.
    ring = {"length": 12, "stream": 1, "lead": lead, "window": 4}
    rows = {
        node: [put(1, (DOWN, 1), source=32 + 2 * node, target=32 + 2 * node, **ring)]
        for node in range(4)
    }
    made = streaming(rows, {node: [1] for node in range(4)}, torus((4,)), "half-duplex")
    result = simulated(made, "barrier")
    # The last word is injected ``last`` cycles after the head, and leaves port 0 two later.
    assert result.cycles == CS + last + 3
    assert not result.flags.any()
    assert not result.stalled_flits.any()


def test_a_ring_gathers_the_blocks_of_all() -> None:
    ring = {"length": 12, "stream": 1, "lead": 4, "window": 4}
    rows = {
        node: [put(1, (DOWN, 1), source=32 + 4 * node, target=32 + 4 * node, **ring)]
        for node in range(4)
    }
    made = streaming(rows, {node: [1] for node in range(4)}, torus((4,)))
    there, result = words(made), simulated(made, "barrier")
    blocks = [there[node, 32 + 4 * node : 36 + 4 * node] for node in range(4)]
    assert (result.memory[:, 32:48] == np.concatenate(blocks)).all()
    changed = result.memory != there
    assert not changed[:, :32].any()
    assert not changed[:, 48:].any()


def test_a_ring_without_a_lead_waits_for_itself() -> None:
    rows = {node: [put(1, (DOWN, 1), length=4, stream=1)] for node in range(4)}
    result = simulated(streaming(rows, {node: [1] for node in range(4)}, torus((4,))), "barrier")
    assert not result.finished
    assert not result.flags.any()
    assert [flit.cycle for flit in result.trace if flit.port == 0] == [CS + 2] * 4


# ---- Arriving words ----------------------------------------------------------------------------


def test_a_flit_that_waits_for_a_credit_while_its_word_is_there_is_stalled() -> None:
    rows = {
        0: [put(1, (UP, 1), source=16, target=16, length=6)],
        1: [put(1, (UP, 2), source=16, target=16, length=6, stream=1)],
        2: [put(1, (UP, 1), source=64, target=64, length=20)],
    }
    result = simulated(streaming(rows, {1: [1], 3: [1, 2]}), "barrier", cycle_limit=80)
    # The head of node 1 waits in router 2 for output VC (1, 0), which node 2's packet holds from
    # CS + 1 to CS + 21. Word 0 is behind it, words 1 and 2 are in the router of node 1.
    through = [cycle for cycle, _, _ in departures(result, 2, UP)]
    assert through[:21] == [CS + 1 + place for place in range(21)]
    assert through[21] == CS + 22
    # Word 1 waits there for a credit, and word 3 in the sender; no other word comes to the front
    # before its credit. The time in which words 0 to 3 had not arrived does not count.
    assert int(result.stalled_flits[1]) == 2


def test_words_of_continued_packets_and_of_other_steps_are_not_counted() -> None:
    rows = {
        0: [
            put(1, (UP, 1), source=16, target=16, length=3, continued=1),
            put(1, (UP, 1), source=19, target=19, length=2),
        ],
        1: [put(1, (UP, 1), source=16, target=16, length=3, stream=1)],
    }
    result = simulated(streaming(rows, {1: [1], 2: [1]}), "barrier", cycle_limit=100)
    # Two of five arriving words are of the step.
    assert len(departures(result, 2, 0)) == 1 + 2


def test_a_word_that_is_not_written_is_not_sent_on() -> None:
    rows = {
        0: [put(1, (UP, 1), target=98, length=4)],
        1: [put(1, (UP, 1), target=0, length=4, stream=1)],
    }
    made = streaming(rows, {1: [1], 2: [1]}, message_words=100)
    result = simulated(made, "barrier", cycle_limit=100)
    assert len(departures(result, 2, 0)) == 1 + 2
    assert flags(result) == {1: {"bad_write"}}


@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
def test_words_of_a_step_are_not_there_for_the_next(timing: str) -> None:
    rows = {
        0: [put(1, (UP, 1), length=4, target=16), put(2, (UP, 1), length=4, target=32)],
        1: [put(2, (UP, 1), source=32, target=32, length=4, stream=1)],
    }
    made = streaming(rows, {1: [1, 2], 2: [2]})
    result = simulated(made, timing)
    assert result.memory[2, 32:36].tolist() == [1, 2, 3, 4]
    arrived = [cycle for cycle, _, _ in departures(result, 1, 0)][-4:]
    assert [cycle for cycle, _, _ in departures(result, 2, 0)][-4:] == [c + 4 for c in arrived]


def test_each_lane_has_words_of_its_own_to_send_on() -> None:
    # In a square node 1 gets words from 0 by port 1 and from 3 by port 2, and sends each on to the
    # other.
    rows = {
        0: [put(1, (1, 1), source=16, target=16, length=3)],
        3: [put(1, (2, 1), source=32, target=32, length=5)],
        1: [
            put(1, (1, 1), source=32, target=64, length=5, stream=2),
            put(1, (2, 1), source=16, target=64, length=3, stream=1),
        ],
    }
    receives = {1: [(1, 1), (1, 2)], 0: [(1, 1)], 3: [(1, 2)]}
    made = all_port(rows, receives, streams=True)
    there, result = words(made), simulated(made, "barrier")
    assert result.cycles == CS + (1 + 5 + 4) - 2 + (1 + 3)
    assert not result.flags.any()
    assert (result.memory[0, 64:69] == there[3, 32:37]).all()
    assert (result.memory[3, 64:67] == there[0, 16:19]).all()


# ---- Windows and bad rows ----------------------------------------------------------------------


def test_addresses_run_round_in_a_window_at_both_ends() -> None:
    row = put(1, (UP, 1), source=14, target=46, length=7, window=3)
    made = streaming({0: [row]}, {1: [1]})
    result = simulated(made, "barrier")
    # Source addresses are 14, 15, then 8 to 12; target addresses 46, 47, then 40 to 44.
    changed = {a: int(result.memory[1, a]) for a in range(256) if result.memory[1, a] < 257}
    assert changed == {46: 15, 47: 16, 40: 9, 41: 10, 42: 11, 43: 12, 44: 13}


def test_across_turns_the_top_bit_of_the_address_that_was_wrapped() -> None:
    row = put(1, (UP, 1), source=6, target=134, length=3, window=3, operator=2)
    made = streaming({0: [row]}, {1: [1]}, operators="add")
    there, result = words(made), simulated(made, "barrier")
    assert [int(result.memory[1, a]) for a in (134, 135, 128)] == [
        int(there[1, a - 128] + there[0, b]) for a, b in ((134, 6), (135, 7), (128, 0))
    ]


@pytest.mark.parametrize(
    ("fields", "bad"),
    [
        ({"stream": 1}, False),
        ({"window": 3, "length": 8}, False),
        ({"window": 3, "length": 9}, True),
        ({"window": 7, "source": 5, "length": 99}, True),
        ({"window": 5, "source": 70, "length": 1}, False),
        ({"window": 5, "source": 99, "length": 1}, True),
        ({"window": 1, "source": 70, "length": 2}, False),
        ({"window": 1, "source": 70, "length": 3}, True),
        # Without a window only the end matters.
        ({"source": 90, "length": 10}, False),
        ({"source": 90, "length": 11}, True),
        # The message wraps in the window of four words from 96 to 99.
        ({"window": 2, "source": 98, "length": 4}, False),
    ],
)
def test_a_row_is_bad_for_what_the_page_says(fields: dict[str, int], bad: bool) -> None:
    made = streaming({0: [put(1, (UP, 1), **fields)]}, {1: [1]}, message_words=100)
    result = simulated(made, "barrier", cycle_limit=150)
    assert flags(result).get(0, set()) == ({"bad_row"} if bad else set())


@pytest.mark.parametrize(("stream", "bad"), [(2, False), (3, True)])
def test_a_row_that_streams_a_lane_that_is_not_there_is_bad(stream: int, bad: bool) -> None:
    # A number for two lanes takes two bits, so 3 can be written but names no lane.
    row = put(1, (1, 1), stream=stream)
    made = all_port({0: [row]}, {}, streams=True)
    assert flags(simulated(made, "barrier", cycle_limit=50)) == ({0: {"bad_row"}} if bad else {})


def test_a_window_of_a_number_that_can_be_written_and_is_too_large_is_bad() -> None:
    # 32 words: 5 bits of address, windows up to 4 in 3 bits.
    row = put(1, (UP, 1), window=5)
    made = streaming({0: [row]}, {1: [1]}, message_words=32, steps=1, flit_width=16)
    assert flags(simulated(made, "barrier", cycle_limit=50)) == {0: {"bad_row"}}
