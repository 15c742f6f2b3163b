"""Streams and windows in a network, in Amaranth's own simulator, with cycles by hand.

By section 20 of docs/router.md, a chain takes the cycles of its first send, and h + 3 for each
further send; with operators h + 4 + D.
"""

from dataclasses import replace
from typing import Any

import pytest
from amaranth.hdl import ClockDomain, Module, ResetSignal, Signal
from amaranth.lib.wiring import connect
from helpers.amaranth_simulation import simulate
from helpers.network_in_python import NetworkBench, cycle_of_error, run_by_hand
from helpers.programs import UP, program, put

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh, ring
from eyecast.model.program.row import Row
from eyecast.rtl.packets.sender import Sender, SenderState
from eyecast.rtl.parts.host_map import HostSpace, StatusWord
from eyecast.rtl.parts.table import Table
from eyecast.sim.loading import prepare

PAIR, THREE = mesh((2,)), mesh((3,))
BAD_ROW = 1 << 6
SLOW = pytest.mark.slow


def streams(row: Row, lead: int = 0, **fields: int) -> Row:
    """Return the row as one that streams."""
    return replace(row, stream=1, lead=lead, **fields)


def test_rows_that_leave_their_window_or_the_memory_are_bad() -> None:
    """A row of 2^w words fits its window; one more word does not (section 20, "Windows")."""
    config = NetworkConfig(
        topology=PAIR, message_words=23, table_words=8, flit_width=40, streams=True
    )
    fields = dict(config.table.fields)
    assert config.table.control_words == 1
    m, reset = Module(), Signal()
    m.domains.sync = ClockDomain()
    m.submodules.table = table = Table(config)
    m.submodules.sender = sender = Sender(config, ports=range(1, 3))
    m.d.comb += ResetSignal().eq(reset)
    connect(m, table.read, sender.table)
    cases = [
        (window, source, length)
        for window in range(8)
        for source in (0, 3, 8, 15, 16, 19, 22)
        for length in {0, 2**window - 1, 2**window, 2**window + 1, 23 - source, 24 - source}
        if length < 2 ** fields["length"]
    ]

    def is_bad(window: int, source: int, length: int) -> bool:
        """Tell whether a row is bad by the page's rule; an address has 5 bits."""
        if not window:
            return source + length > 23
        return window > 4 or length > 2**window or source | 2**window - 1 >= 23

    async def bench(ctx: Any) -> None:
        ctx.set(sender.clock.step, 1)
        ctx.set(table.write.enable, 1)
        for window, source, length in cases:
            row = {"step": 1, "header_flits": 1, "source_address": source, "length": length}
            row["window"] = window
            places = zip(config.table.fields, config.table.positions, strict=True)
            control = sum(row.get(name, 0) << low for (name, _), (_, low) in places)
            ctx.set(reset, 1)
            # A control word, and a header flit by port 1.
            for address, each in enumerate((control, 1)):
                ctx.set(table.write.address, address)
                ctx.set(table.write.word, each)
                await ctx.tick()
            ctx.set(reset, 0)
            await ctx.tick()
            assert ctx.get(sender.state) == SenderState.READY.value
            assert ctx.get(sender.causes.bad_row) == is_bad(window, source, length)

    simulate(m, bench)
    assert {is_bad(*case) for case in cases} == {False, True}


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
    """Half-duplex: a node may send on the words that it receives."""
    options = {"look_ahead": limits.pop("look_ahead", False)}
    late = "operators" in limits
    lane = 2 if "all_port" in limits else 1
    # With an operator every node adds its own words.
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
    """Each of three nodes on a ring sends its own two words, then the arriving words, in one step.

    The six words are in a window of eight, 8 to 15; the first address differs at every node.
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
        # A node's own words come first, then those of the node below it, then those of the third.
        {
            n: {places[n][2 * ago + word]: 10 * ((n - ago) % 3) + 1 + word}
            for n in nodes
            for ago in range(3)
            for word in range(2)
        },
        # Word i is injected four cycles after word i - 2, not two.
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
    """A row is examined in the cycle after its control words, and refused at that cycle's end."""
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
