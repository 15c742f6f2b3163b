"""Switches, in Amaranth's own simulator: docs/router.md, section 15."""

from typing import Any

import pytest
from amaranth.hdl import ClockDomain
from helpers.amaranth_simulation import simulate
from helpers.network_in_python import NetworkBench, wait
from helpers.router_page import blocks, host_words, section

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import Topology
from eyecast.model.run.signature import signatures
from eyecast.model.run.trace import COLUMNS, Flit, Trace
from eyecast.rtl.parts.host_map import EJECTION_PORT, HostSpace, StatusWord, status_words
from eyecast.rtl.parts.host_port import Flag

STAR = graph([[-1, 1, 2, 3], [-1, 0, -1, -1], [-1, 0, -1, -1], [-1, 0, -1, -1]], [0])
"""The network of the page's worked example: a switch, node 0, and three leaves."""
PAIR = graph([[-1, 1], [-1, 0]], [0])
"""A node, and a switch with one link, which no flit can ever leave."""
WRITES, TRACE = blocks(section("### Worked example"))
CYCLES = 7

SLOW = pytest.mark.slow
VARIANTS = [
    pytest.param({"signature": True}, id="signature"),
    pytest.param({}, id="base", marks=SLOW),
    pytest.param({"contention_free": True, "signature": True}, id="contention-free", marks=SLOW),
    pytest.param({"all_port": True}, id="all-port", marks=SLOW),
]
"""Networks in which the worked example has the same flits."""


def printed(text: str) -> Trace:
    """Return the trace that the tiles have printed."""
    flits = [Flit(*map(int, line.split())) for line in text.splitlines()]
    delivered = [flit._replace(port=0) if flit.port > EJECTION_PORT else flit for flit in flits]
    return Trace.from_flits(delivered)


@pytest.mark.parametrize("barrier", [True, pytest.param(False, marks=SLOW)])
@pytest.mark.parametrize("limits", VARIANTS)
def test_worked_example(
    clock: ClockDomain,
    capsys: pytest.CaptureFixture[str],
    limits: dict[str, Any],
    barrier: bool,
) -> None:
    config = NetworkConfig(topology=STAR, **limits)
    bench = NetworkBench(clock, config, trace=True)
    status: list[int] = []

    async def testbench(ctx) -> None:
        await bench.write(ctx, host_words(WRITES), barrier=barrier)
        assert await bench.cycles_to_done(ctx, 2 * CYCLES) == CYCLES
        assert ctx.get(bench.network.cycle) == CYCLES
        assert not ctx.get(bench.network.error)
        for address in range(status_words(config)):
            status.append(await bench.read(ctx, 0, HostSpace.STATUS, address))
        ctx.set(bench.reset, 1)
        assert await bench.read(ctx, 3, HostSpace.MESSAGE, 4) == 0xA1
        assert await bench.read(ctx, 3, HostSpace.MESSAGE, 5) == 0xA2

    simulate(bench.module, testbench)
    trace = printed(capsys.readouterr().out)
    assert "\n".join([",".join(COLUMNS), *map(str, trace), ""]) == TRACE
    expected = [0] * status_words(config)
    if config.signature:
        expected[-1] = int(signatures(trace, config)[0])
        assert expected[-1]
    assert status == expected


@pytest.mark.parametrize(
    ("registers", "look_ahead"),
    [(0, False), pytest.param(0, True, marks=SLOW), pytest.param(3, True, marks=SLOW)],
)
def test_what_is_written_to_a_switch_is_ignored(
    clock: ClockDomain, registers: int, look_ahead: bool
) -> None:
    config = NetworkConfig(
        topology=PAIR, barrier_registers=registers, message_words=4, table_words=4
    )
    bench = NetworkBench(clock, config, look_ahead=look_ahead)
    spaces = [(space, address) for space in HostSpace for address in range(4)]

    async def testbench(ctx) -> None:
        ends = 1, HostSpace.TABLE, 0, 0
        await bench.write(ctx, [ends, *((0, *place, 0xFF) for place in spaces)], barrier=True)
        assert await bench.cycles_to_done(ctx, 20) == 1 + registers
        for reset in (0, 1):
            ctx.set(bench.reset, reset)
            for space, address in spaces:
                assert await bench.read(ctx, 0, space, address) == 0

    simulate(bench.module, testbench)


@pytest.mark.parametrize(
    ("topology", "header"),
    [
        # A slot with port 1; then the deliver code 2, step 1, address 0.
        pytest.param(PAIR, 1 + (2 + 4) * 4, id="pair"),
        pytest.param(STAR, 0xC1, id="star", marks=SLOW),
    ],
)
@pytest.mark.parametrize("limits", VARIANTS)
def test_bad_route(
    clock: ClockDomain, topology: Topology, header: int, limits: dict[str, Any]
) -> None:
    """A flit with the deliver code stays at a switch, and the run is never done."""
    bench = NetworkBench(clock, NetworkConfig(topology=topology, **limits))
    rows = [(1, HostSpace.TABLE, at, word) for at, word in enumerate((0x20011, header, 0))]

    async def testbench(ctx) -> None:
        await bench.write(ctx, rows, barrier=True)
        await ctx.tick()
        for cycle in range(30):
            assert ctx.get(bench.network.error) == (cycle >= 4)
            assert not ctx.get(bench.network.done)
            await ctx.tick()
        for each in range(topology.nodes):
            flags = await bench.read(ctx, each, HostSpace.STATUS, StatusWord.FLAGS)
            assert flags == (1 << Flag.BAD_ROUTE if each == 0 else 0)

    simulate(bench.module, testbench)


def test_stalled_flits(clock: ClockDomain) -> None:
    """Of two packets to node 3, the second waits at the switch for two cycles, its tail at node 2.

    The second packet has the worked example's words, but step 2.
    """
    bench = NetworkBench(clock, NetworkConfig(topology=STAR), trace=True)
    header = 1 + (3 << 4) + (4 + (2 << 3) + (8 << 7) << 8)
    more = [(2, HostSpace.TABLE, 0, 0x20012), (2, HostSpace.TABLE, 1, header)]
    more += [(3, HostSpace.EXPECTED, 0, 0b110)]

    async def testbench(ctx) -> None:
        await bench.write(ctx, [*host_words(WRITES), *more], barrier=False)
        # The second tail leaves the switch in cycle 8, and port 0 of node 3 in cycle 9.
        assert await bench.cycles_to_done(ctx, 20) == 10
        stalled = [
            await bench.read(ctx, node, HostSpace.STATUS, StatusWord.STALLED_FLITS)
            for node in range(STAR.nodes)
        ]
        assert stalled == [1, 0, 1, 0]

    simulate(bench.module, testbench)


@SLOW
def test_flags_and_counters_are_cleared_by_reset(clock: ClockDomain) -> None:
    bench = NetworkBench(clock, NetworkConfig(topology=STAR), trace=True)
    wrong = [(1, HostSpace.TABLE, at, word) for at, word in enumerate((0x20011, 0xC1, 0))]

    async def testbench(ctx) -> None:
        await bench.write(ctx, wrong, barrier=True)
        await wait(ctx, 10)
        assert ctx.get(bench.network.error)
        # The held output is free too: otherwise the next packet would not get through.
        await bench.write(ctx, host_words(WRITES), barrier=True)
        assert await bench.cycles_to_done(ctx, 2 * CYCLES) == CYCLES

    simulate(bench.module, testbench)
