"""Streams and windows in a network, in Amaranth's own simulator, reckoned by hand.

Section 20 of docs/router.md: a chain takes the cycles of its first send, and h + 3 for each further
one, with operators h + 4 + D.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from amaranth.hdl import ClockDomain
from helpers.amaranth_simulation import simulate
from helpers.network_in_python import NetworkBench, cycle_of_error, run_by_hand
from helpers.programs import DOWN, UP, program, put

from eyecast.model.network.topology import mesh, ring
from eyecast.model.program.row import Row
from eyecast.rtl.host_port import HostSpace, StatusWord
from eyecast.sim.loading import prepare

PAIR, THREE = mesh((2,)), mesh((3,))
SEND_AND_RECEIVE, BAD_ROW = 1 << 5, 1 << 6
SLOW = pytest.mark.slow


def streams(row: Row, lead: int = 0, **fields: int) -> Row:
    """The row, which sends on what comes."""
    return replace(row, stream=1, lead=lead, **fields)


@pytest.mark.parametrize(
    "limits",
    [
        {},
        pytest.param({"operators": "add"}, marks=SLOW),
        pytest.param({"look_ahead": True}, marks=SLOW),
        pytest.param({"contention_free": True}, marks=SLOW),
        pytest.param({"all_port": True, "operators": "add"}, marks=SLOW),
    ],
)
def test_a_chain_takes_little_more_than_its_first_send(
    clock: ClockDomain, limits: dict[str, Any]
) -> None:
    """Half-duplex: a node may send on what it receives."""
    options = {"look_ahead": limits.pop("look_ahead", False)}
    late = "operators" in limits
    lane = 2 if "all_port" in limits else 1
    # With an operator every node adds what it has.
    first = replace(put(1, (UP, 1), length=4, target=8), operator=int(late))
    then = replace(first, source_address=8, stream=lane, operator=int(late))
    limits = {"message_words": 16, "streams": True, **limits}
    ports = {"receive_ports": {1: [2], 2: [2]}} if "all_port" in limits else {}
    made = program(
        {0: [first], 1: [then]}, {1: [1], 2: [1]}, THREE, "half-duplex", **ports, **limits
    )
    control_words = made.config.table.control_words
    there = {8: 100, 9: 200, 10: 300, 11: 400} if late else {8: 0, 9: 0, 10: 0, 11: 0}
    run_by_hand(
        clock,
        made,
        {0: {0: 1, 1: 2, 2: 3, 3: 4}, 1: there, 2: there},
        {
            1: {8 + i: there[8 + i] + i + 1 for i in range(4)},
            2: {8 + i: 2 * there[8 + i] + i + 1 for i in range(4)},
        },
        cycles=control_words + (1 + 4 + 4 + late) + (1 + 3 + late) - 2,
        half_duplex=True,
        **options,
    )


def test_words_run_round_a_window(clock: ClockDomain) -> None:
    """Three nodes on a ring: each sends its own two words, then what comes, in one step.

    Six words lie in a window of eight, 8 to 15, from a place that is another at every node.
    """
    nodes = range(3)
    own = [8 + (7 - 2 * node) % 8 for node in nodes]
    places = [[8 + (first + word) % 8 for word in range(6)] for first in own]
    rows = {
        node: [
            streams(
                put(1, (UP, 1), length=4, source=own[node], target=places[(node + 1) % 3][2]),
                lead=2,
                window=3,
            )
        ]
        for node in nodes
    }
    made = program(rows, {node: [1] for node in nodes}, ring(3), message_words=16, streams=True)
    run_by_hand(
        clock,
        made,
        {n: {places[n][0]: 10 * n + 1, places[n][1]: 10 * n + 2} for n in nodes},
        # Behind a node's own words come those of the node below it, then those of the third.
        {
            n: {places[n][2 * ago + word]: 10 * ((n - ago) % 3) + 1 + word}
            for n in nodes
            for ago in range(3)
            for word in range(2)
        },
        # A word is injected five cycles behind the one that is two ahead of it, not two: two later.
        cycles=made.config.table.control_words + (1 + 4 + 4) + 2 - 2,
    )


def bad(**fields: int) -> Row:
    return replace(put(1, (UP, 1), length=2), **fields)


@pytest.mark.parametrize(
    ("row", "flag", "limits"),
    [
        pytest.param(
            bad(source_address=8, window=3), BAD_ROW, {"message_words": 12}, id="a window too far"
        ),
        pytest.param(bad(window=2, length=5), BAD_ROW, {}, id="too long", marks=SLOW),
        pytest.param(bad(window=9), BAD_ROW, {"message_words": 512}, id="too large", marks=SLOW),
        pytest.param(
            bad(stream=3), BAD_ROW, {"all_port": True}, id="there is no such lane", marks=SLOW
        ),
        pytest.param(bad(source_address=15), BAD_ROW, {}, id="beyond the memory", marks=SLOW),
        pytest.param(bad(source_address=15, window=3), 0, {}, id="round the end", marks=SLOW),
    ],
)
def test_rows_that_are_refused(
    clock: ClockDomain, row: Row, flag: int, limits: dict[str, Any]
) -> None:
    """A row is examined in the cycle behind its control words, and refused at the end of it."""
    limits = {"message_words": 16, "streams": True, **limits}
    ports = {"receive_ports": {1: [2]}} if "all_port" in limits else {}
    made = program({0: [row]}, {1: [1]}, PAIR, **ports, **limits)
    bench = NetworkBench(clock, made.config)
    job = prepare(made, [], timing="barrier", read_words=0, cycle_limit=0)

    async def testbench(ctx: Any) -> None:
        await bench.load(ctx, job)
        refused = made.config.table.control_words + 1
        assert await cycle_of_error(ctx, bench, 20) == (refused if flag else 20)
        assert await bench.read(ctx, 0, HostSpace.STATUS, StatusWord.FLAGS) == flag

    simulate(bench.module, testbench)


@SLOW
def test_half_duplex_forbids_what_does_not_stream(clock: ClockDomain) -> None:
    rows = {0: [put(1, (UP, 1))], 1: [put(1, (DOWN, 1))]}
    made = program(rows, {0: [1], 1: [1]}, PAIR, message_words=16, streams=True)
    bench = NetworkBench(clock, made.config)
    job = prepare(made, [], timing="barrier", read_words=0, cycle_limit=0)

    async def testbench(ctx: Any) -> None:
        ctx.set(bench.network.half_duplex, 1)
        await bench.load(ctx, job)
        # The row begins in the cycle behind its control words.
        begins = made.config.table.control_words
        assert await cycle_of_error(ctx, bench, 20) == begins + 1
        flags = await bench.read(ctx, 1, HostSpace.STATUS, StatusWord.FLAGS)
        assert flags == SEND_AND_RECEIVE

    simulate(bench.module, testbench)
