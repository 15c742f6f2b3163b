"""Operators in a network, in Amaranth's own simulator: words, cycles and flags by hand.

The step of a send over h links with L words takes h + L + 5 + D cycles (docs/router.md, section
19): 1 + D more than in section 5.
"""

from dataclasses import replace
from typing import Any

import pytest
from amaranth.hdl import ClockDomain
from helpers.amaranth_simulation import simulate
from helpers.network_in_python import NetworkBench, cycle_of_error, run_by_hand, wait
from helpers.own_operator import TWICE
from helpers.programs import DOWN, UP, C, program, put, words

from eyecast.model.cycle.model import run
from eyecast.model.network.topology import mesh
from eyecast.model.program.row import Row
from eyecast.rtl.parts.host_map import HostSpace, StatusWord
from eyecast.sim.loading import prepare

PAIR, THREE = mesh((2,)), mesh((3,))
BAD_WRITE = 1 << 7
SLOW = pytest.mark.slow
LIMIT = 40
"""More cycles than any program here takes."""


def by(operator: int, row: Row) -> Row:
    """Return the row with its operator field: 2o - 1 combines by operator o in place, 2o across."""
    return replace(row, operator=operator)


def run_cycles(*steps: tuple[int, int], latency: int = 0) -> int:
    """Return the cycles of a run; ``steps`` has the hops and words of each step's longest send."""
    return C + sum(hops + words + 5 + latency for hops, words in steps) - 2


@pytest.mark.parametrize("look_ahead", [False, pytest.param(True, marks=SLOW)])
def test_an_exchange_sends_what_was_there_before(clock: ClockDomain, look_ahead: bool) -> None:
    """Both nodes add across in one step; the next step sends a sum from the other half."""
    rows = {
        0: [by(2, put(1, (UP, 1), length=2, target=4)), put(2, (UP, 1), source=5)],
        1: [by(2, put(1, (DOWN, 1), length=2, target=4))],
    }
    made = program(rows, {0: [1], 1: [1, 2]}, PAIR, "exchange", operators="add", message_words=8)
    run_by_hand(
        clock,
        made,
        {0: {0: 1, 1: 2, 4: 99}, 1: {0: 10, 1: 20, 4: 99}},
        {0: {0: 1, 1: 2, 4: 11, 5: 22}, 1: {0: 22, 1: 20, 4: 11, 5: 22}},
        cycles=run_cycles((1, 2), (1, 1)),
        look_ahead=look_ahead,
    )


def test_an_operator_of_three_cycles(clock: ClockDomain) -> None:
    """The operator adds twice the stored word; every packet, even one that replaces, is as late."""
    rows = {
        0: [by(1, put(1, (UP, 1), length=2, target=1)), put(3, (UP, 1), source=3, target=6)],
        1: [by(2, put(2, (DOWN, 1), length=2, source=1, target=5))],
    }
    made = program(rows, {1: [1, 3], 0: [2]}, PAIR, operators=[TWICE], message_words=8)
    run_by_hand(
        clock,
        made,
        {0: {0: 5, 1: 6, 2: 7, 3: 8}, 1: {1: 10, 2: 20}},
        {1: {1: 25, 2: 46, 6: 8}, 0: {5: 2 * 6 + 25, 6: 2 * 7 + 46}},
        cycles=run_cycles((1, 2), (1, 2), (1, 1), latency=3),
    )


@pytest.mark.parametrize(
    ("target", "memory", "stalled"),
    [
        pytest.param(7, 8, 1, id="beyond the addresses", marks=SLOW),
        pytest.param(5, 6, 1, id="beyond the memory", marks=SLOW),
        pytest.param(6, 8, 2, id="the same word"),
    ],
)
def test_a_word_beyond_the_memory_is_not_waited_for(
    clock: ClockDomain, target: int, memory: int, stalled: int
) -> None:
    """Node 2's second word is for an address beyond the memory, or for 7.

    Node 0's word is for the same address modulo 8. Its header waits until the packet of node 2 has
    ended, and its word only if that is for 7.
    """
    rows = {
        0: [by(1, put(1, (UP, 1), target=(target + 1) % 8))],
        2: [put(1, (DOWN, 1), length=2, target=target)],
    }
    made = program(rows, {1: [1]}, THREE, operators=[TWICE], message_words=memory)
    predicted = run(made, words(made), timing="barrier", cycle_limit=LIMIT)
    bench = NetworkBench(clock, made.config, trace=True)
    job = prepare(made, [], timing="barrier", read_words=0, cycle_limit=0)

    async def testbench(ctx: Any) -> None:
        await bench.load(ctx, job)
        await wait(ctx, LIMIT)
        counts = [
            await bench.read(ctx, node, HostSpace.STATUS, StatusWord.STALLED_FLITS)
            for node in range(3)
        ]
        assert counts == predicted.stalled_flits.tolist() == [0, stalled, 0]

    simulate(bench.module, testbench)


@pytest.mark.parametrize(
    ("operator", "target", "words", "there"),
    [
        pytest.param(3, 0, 2, 0, id="no such operator"),
        pytest.param(2, 2, 2, 1, id="the other half ends", marks=SLOW),
        pytest.param(1, 6, 2, 1, id="the memory ends", marks=SLOW),
    ],
)
def test_a_word_that_cannot_be_combined_is_not_written(
    clock: ClockDomain, operator: int, target: int, words: int, there: int
) -> None:
    """The flag is set when the first such word would have been written, 1 + D cycles later."""
    row = by(operator, put(1, (UP, 1), length=words, target=target))
    made = program({0: [row]}, {1: [1]}, PAIR, operators="add", message_words=7)
    bench = NetworkBench(clock, made.config)
    job = prepare(made, [], timing="barrier", read_words=0, cycle_limit=0)
    loads = [(node, 0, address, 10 + address) for node in (0, 1) for address in range(7)]
    # The header leaves port 0 of node 1 in cycle C + 2, word i in cycle C + 3 + i.
    first_bad = C + 3 + there + 1

    async def testbench(ctx: Any) -> None:
        await bench.write(ctx, [*loads, *job.writes.tolist()], barrier=True)
        assert await cycle_of_error(ctx, bench, 40) == first_bad + 1
        assert await bench.read(ctx, 1, HostSpace.STATUS, StatusWord.FLAGS) == BAD_WRITE
        ctx.set(bench.reset, 1)
        for address in range(target + there, 7):
            assert await bench.read(ctx, 1, HostSpace.MESSAGE, address) == 10 + address

    simulate(bench.module, testbench)
