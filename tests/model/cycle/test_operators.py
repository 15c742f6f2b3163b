"""Packets that are combined, cycle by cycle: docs/router.md, section 19.

Expected cycles are worked out by hand from the page; C is the first cycle of step 1. On a line of
four nodes a word is its node times 256, plus its address, plus 1.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.all_port_programs import all_port
from helpers.programs import DOWN, UP, C, departures, flags, program, put, simulated, words
from helpers.soak.operators import with_operator
from helpers.soak.programs import memories, program_networks, programs
from helpers.soak.samples import sampled
from helpers.untimed import carried_out
from hypothesis import strategies as st

from eyecast.model.base.errors import InvalidInput
from eyecast.model.cycle.model import run
from eyecast.model.network.operators import BUILT_IN, Operator
from eyecast.model.program.deadlock import DeadlockError, certify
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row

IN_PLACE, ACROSS = 1, 2
"""Operator fields for the first operator of a network."""


def later_sum(there: Any, coming: Any, _bits: Any) -> Any:
    """Return the result of a custom operator that depends on the order of its words."""
    return there * np.uint64(3) + coming


def slow(latency: int) -> tuple[Operator]:
    return (Operator("later-sum", latency, later_sum),)


def pair(first: Row, second: Row, **limits: Any) -> Program:
    """Return packets from nodes 0 and 2 of a line to node 1, on VCs 0 and 1.

    Node 1 also expects a packet of step 2 that never comes.
    """
    return program({0: [first], 2: [second]}, {1: [1, 2]}, vcs=2, **limits)


def one_word(result: Any, node: int = 1, address: int = 16) -> int:
    return int(result.memory[node, address])


# ---- Time of writes --------------------------------------------------------------------------


@pytest.mark.parametrize("latency", [0, 1, 3])
@pytest.mark.parametrize("operator", [0, IN_PLACE, ACROSS])
def test_each_step_takes_d_and_one_cycle_more(latency: int, operator: int) -> None:
    rows = {
        0: [put(1, (UP, 2), length=3, target=16, operator=operator)],
        1: [put(2, (UP, 1), length=5, target=32, operator=operator)],
    }
    result = simulated(program(rows, {2: [1, 2]}, operators=slow(latency)), "barrier")
    costs = 2 + 3 + 5 + latency, 1 + 5 + 5 + latency
    assert result.finished
    assert result.cycles == C + sum(costs) - 2
    # The tail of step 1 leaves in C + 6; it is written at the end of C + 7 + D.
    assert result.step_ends.tolist() == [C + 8 + latency, result.cycles]
    assert not result.flags.any()


def test_a_packet_of_its_header_alone_ends_as_late() -> None:
    alone = program({0: [put(1, (UP, 1), length=0)]}, {1: [1]}, operators=slow(2))
    assert simulated(alone, "barrier").cycles == C + (1 + 0 + 5 + 2) - 2


def test_a_word_is_sent_from_two_cycles_after_it_was_written() -> None:
    # Word i leaves port 0 of node 1 in C + 3 + i, and is written at the end of C + 4 + i. Node 1
    # injects its own word i of the same address in C + 1 + i + k; flits of another row delay it by
    # k cycles.
    for before, fresh in ((1, False), (2, False), (3, True)):
        rows = {
            0: [put(1, (UP, 1), length=4, target=16)],
            1: [put(1, (UP, 1), length=before), put(1, (UP, 1), source=16, target=32, length=4)],
        }
        made = program(rows, {1: [1]}, operators="add")
        result = simulated(made, "self-timed", cycle_limit=40)
        # The second row begins in C + before + 2, so its word i is injected in C + before + 3 + i.
        sent = result.memory[2, 32:36].tolist()
        assert sent == [1, 2, 3, 4] if fresh else sent == [256 + 17 + i for i in range(4)]


# ---- Results ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_word_becomes_what_its_operator_makes_of_it(name: str) -> None:
    network = {"operators": ["xor", name] if name != "xor" else ["add", name], "flit_width": 24}
    rows = {
        0: [put(1, (UP, 1), target=16, length=8, operator=3)],
        2: [put(2, (DOWN, 1), target=24, length=8, operator=4)],
    }
    made = program(rows, {1: [1, 2]}, **network)
    memory = np.random.default_rng(1).integers(0, 1 << 24, (4, 256), dtype=np.uint64)
    result = run(made, memory, timing="barrier")
    assert result.finished
    expected = memory.copy()
    meaning = BUILT_IN[name]
    expected[1, 16:24] = meaning.combine(memory[1, 16:24], memory[0, :8], 24)
    expected[1, 24:32] = meaning.combine(memory[1, 128 + 24 : 128 + 32], memory[2, :8], 24)
    assert (result.memory == expected).all()


def test_an_operator_of_ones_own_keeps_the_bits_of_a_word() -> None:
    network = {"operators": slow(3), "flit_width": 24, "message_words": 4}
    made = program({0: [put(1, (UP, 1), target=2, operator=IN_PLACE)]}, {1: [1]}, **network)
    memory = np.full((4, 4), 0xFFFFFF, dtype=np.uint64)
    assert one_word(run(made, memory, timing="barrier"), 1, 2) == 4 * 0xFFFFFF % (1 << 24)


@pytest.mark.parametrize("meaning", [None, lambda there, coming, bits: ""])
def test_an_operator_that_cannot_run_is_refused(meaning: Any) -> None:
    made = program({}, {}, operators=[Operator("own", 1, meaning)])
    with pytest.raises(InvalidInput, match="operator own must be"):
        simulated(made)


# ---- Two packets for one word ----------------------------------------------------------------


def test_of_two_packets_for_one_word_both_are_in_it() -> None:
    both = pair(
        put(1, (UP, 1, 0), length=3, target=16, operator=IN_PLACE),
        put(1, (DOWN, 1, 1), length=3, target=16, operator=IN_PLACE),
        operators="add",
    )
    result = simulated(both, "barrier", cycle_limit=60)
    # The packets' flits take turns: no flit waits for the memory.
    assert [(cycle, vc) for cycle, vc, _ in departures(result, 1, 0)] == [
        (C + 2 + place, place % 2) for place in range(8)
    ]
    there = words(both)
    assert (result.memory[1, 16:19] == there[1, 16:19] + there[0, :3] + there[2, :3]).all()
    # Only one packet may end in a step.
    assert flags(result) == {1: {"unexpected_receive"}}


def test_a_word_waits_for_the_one_that_it_is_combined_with() -> None:
    both = pair(
        put(1, (UP, 1, 0), target=16, operator=IN_PLACE),
        put(1, (DOWN, 1, 1), target=16, operator=IN_PLACE),
        operators=slow(2),
    )
    result = simulated(both, "barrier", cycle_limit=60)
    # The heads leave in C + 2 and C + 3, the word of VC 0 in C + 4. The next two cycles accept no
    # flit, and the word of VC 1 leaves in C + 7.
    left = [C + 2, C + 3, C + 4, C + 7]
    assert [cycle for cycle, _, _ in departures(result, 1, 0)] == left
    assert result.stalled_flits.tolist() == [0, 3, 0, 0]
    there = words(both)
    assert one_word(result) == (int(there[1, 16]) * 3 + int(there[0, 0])) * 3 + int(there[2, 0])


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        ({"target": 16}, {"target": 16, "operator": IN_PLACE}, True),
        ({"target": 16, "operator": IN_PLACE}, {"target": 16}, False),
        ({"target": 16, "operator": IN_PLACE}, {"target": 17, "operator": IN_PLACE}, False),
        ({"target": 16 + 128}, {"target": 16, "operator": ACROSS}, True),
        ({"target": 16}, {"target": 16, "operator": ACROSS}, False),
        # There is no operator for number 3, so the word is combined with nothing.
        ({"target": 16}, {"target": 16, "operator": 3}, False),
        # Word 200 is beyond the memory.
        ({"target": 200}, {"target": 200, "operator": IN_PLACE}, False),
    ],
)
def test_only_a_word_that_is_combined_with_a_recent_one_waits(
    first: dict[str, int], second: dict[str, int], waits: bool
) -> None:
    limits = {"operators": slow(1), "message_words": 200}
    both = pair(put(1, (UP, 1, 0), **first), put(1, (DOWN, 1, 1), **second), **limits)
    result = simulated(both, "barrier", cycle_limit=60)
    left = [C + 2, C + 3, C + 4, C + 6 if waits else C + 5]
    assert [cycle for cycle, _, _ in departures(result, 1, 0)] == left


def test_a_packet_that_is_over_waits_for_nothing() -> None:
    # The next word on VC 0 would be combined with word 17, if the packet had a further word.
    over = put(1, (UP, 1, 0), target=16, operator=IN_PLACE)
    both = pair(over, put(1, (DOWN, 1, 1), target=17, length=3), operators=slow(2))
    result = simulated(both, "barrier", cycle_limit=60)
    left = [C + 2, C + 3, C + 4, C + 5, C + 6, C + 7]
    assert [cycle for cycle, _, _ in departures(result, 1, 0)] == left


def test_while_one_vc_waits_nothing_is_accepted() -> None:
    rows = {
        0: [put(1, (UP, 1, 0), target=16)],
        2: [put(1, (DOWN, 1, 1), target=16, operator=IN_PLACE)],
        3: [put(1, (DOWN, 2, 2), target=32, length=2)],
    }
    made = program(rows, {1: [1, 2]}, vcs=3, operators=slow(3))
    result = simulated(made, "barrier", cycle_limit=60)
    # Without the wait VC 2 would be next: its head is at the front from C + 3 on.
    assert [(cycle, vc) for cycle, vc, _ in departures(result, 1, 0)] == [
        *((C + 2, 0), (C + 3, 1), (C + 4, 2), (C + 5, 0)),
        *((C + 9, 1), (C + 10, 2), (C + 11, 2)),
    ]


@pytest.mark.parametrize("operators", [(IN_PLACE, IN_PLACE), (0, IN_PLACE), (IN_PLACE, 0)])
def test_of_two_lanes_in_one_cycle_the_lower_counts_as_before(operators: tuple[int, int]) -> None:
    # Node 3 of a square gets packets from node 2 by port 1 and from node 1 by port 2.
    rows = {
        2: [put(1, (1, 1), target=16, operator=operators[0])],
        1: [put(1, (2, 1), target=16, operator=operators[1])],
    }
    made = all_port(rows, {3: [(1, 1), (1, 2)]}, operators=slow(0))
    result = simulated(made, "barrier")
    there = words(made)
    expected = int(there[3, 16])
    for operator, sender in zip(operators, (2, 1), strict=True):
        coming = int(there[sender, 0])
        expected = coming if operator == 0 else expected * 3 + coming
    assert one_word(result, 3) == expected
    assert not result.flags.any()
    assert result.cycles == C + (1 + 1 + 5) - 2


# ---- Flags -----------------------------------------------------------------------------------


@pytest.mark.parametrize("latency", [0, 2])
@pytest.mark.parametrize(
    ("fields", "flag"),
    [
        ({"operator": 3}, "bad_write"),
        ({"target": 199, "length": 2}, "bad_write"),
        ({"target": 99, "length": 1, "operator": ACROSS}, "bad_write"),
    ],
)
def test_what_is_not_written_is_flagged_when_it_would_be(
    latency: int, fields: dict[str, int], flag: str
) -> None:
    row = put(1, (UP, 1), **{"length": 1, **fields})
    made = program({0: [row]}, {1: [1]}, operators=slow(latency), message_words=200)
    seen = C + 2 + row.length + 2 + latency
    before, after = (simulated(made, "barrier", cycle_limit=seen + late) for late in (-1, 0))
    assert (flags(before), flags(after)) == ({}, {1: {flag}})
    wrong = row.length - 1 if row.length == 2 else 0
    there = words(made)
    assert (
        after.memory[1, row.target_address + wrong :] == there[1, row.target_address + wrong :]
    ).all()


def test_across_takes_the_word_of_the_other_half_where_there_is_one() -> None:
    row = put(1, (UP, 1), target=127, length=2, operator=ACROSS)
    made = program({0: [row]}, {1: [1]}, operators="add", message_words=256)
    there, result = words(made), simulated(made, "barrier")
    assert one_word(result, 1, 127) == there[1, 255] + there[0, 0]
    assert one_word(result, 1, 128) == there[1, 0] + there[0, 1]


def test_a_packet_of_another_step_is_flagged_when_it_ends() -> None:
    # Step 2 begins at node 0 as its first row is sent; nothing else happens in step 1.
    made = program({0: [put(2, (UP, 1))]}, {1: [1]}, operators=slow(1))
    flagged = simulated(made, "self-timed", cycle_limit=60)
    assert flags(flagged) == {1: {"unexpected_receive"}}


# ---- Nothing else changes --------------------------------------------------------------------


@pytest.mark.parametrize("latency", [0, 2])
def test_operators_that_nobody_uses_change_when_packets_end_and_nothing_else(latency: int) -> None:
    rows = {
        0: [put(1, (UP, 2), length=3, target=16), put(2, (UP, 1), target=40)],
        1: [put(2, (UP, 2), length=4, target=48)],
        3: [put(1, (DOWN, 2), length=2, target=32)],
    }
    receives = {1: [1, 2], 2: [1], 3: [2]}
    plain = simulated(program(rows, receives), "barrier")
    slower = simulated(program(rows, receives, operators=slow(latency)), "barrier")
    late = 1 + latency
    assert (slower.memory == plain.memory).all()
    assert slower.step_ends.tolist() == (plain.step_ends + late * np.arange(1, 3)).tolist()
    assert slower.cycles == plain.cycles + 2 * late
    before = plain.trace.cycle <= plain.step_ends[0]
    assert (slower.trace.cycle == plain.trace.cycle + np.where(before, 0, late)).all()


# ---- Random programs that combine, stream and use windows, against an untimed interpreter -------


@st.composite
def drawn_programs(draw: st.DrawFn) -> tuple[Program, npt.NDArray[np.uint64]]:
    config = draw(program_networks().flatmap(with_operator))
    packets = 3 * config.topology.nodes
    made = draw(programs(config, draw(st.integers(1, 3)), (packets, packets)))
    return made, draw(memories(config))


def compare(number: int, count: int) -> int:
    """Run drawn programs; return how many were free of deadlock."""
    ran = 0
    for seed, (made, memory) in enumerate(sampled(drawn_programs(), number, count)):
        made.check()
        try:
            certify(made)
        except DeadlockError:
            continue
        expected = carried_out(made, memory, seed)
        result = run(made, memory, timing="barrier", record_trace=False)
        assert result.finished, seed
        assert not result.flags.any(), seed
        assert (result.memory == expected).all(), seed
        ran += 1
    return ran


def test_drawn_programs_leave_the_words_that_no_time_changes() -> None:
    assert compare(0, 20) > 5


@pytest.mark.slow
def test_many_drawn_programs_leave_the_words_that_no_time_changes() -> None:
    assert compare(1, 600) > 240
