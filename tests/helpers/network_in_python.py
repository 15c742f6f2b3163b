"""A whole network and its host in Amaranth's own simulator."""

from collections.abc import Sequence
from typing import Any

import pytest
from amaranth.hdl import ClockDomain, Module, ResetSignal, Signal

from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.program.program import Program
from eyecast.rtl import tiles
from eyecast.rtl.network import Network
from eyecast.rtl.parts.host_map import HostSpace
from eyecast.rtl.parts.technology import Technology
from eyecast.sim.loading import prepare

from .amaranth_simulation import simulate


def one_clock(monkeypatch: pytest.MonkeyPatch) -> ClockDomain:
    """Give all domains one clock.

    The network's own domains have a copy of the clock, which this simulator takes to be later: a
    word written at one edge would be read at the other.
    """
    main = ClockDomain("sync")

    def domain(name: str, *, local: bool) -> ClockDomain:
        made = ClockDomain(name, local=local)
        made.clk = main.clk
        return made

    monkeypatch.setattr(tiles, "ClockDomain", domain)
    monkeypatch.setattr(tiles, "ClockSignal", lambda *_name: Signal())
    return main


class NetworkBench:
    """A network, its reset, and its host port."""

    def __init__(
        self,
        clock: ClockDomain,
        config: NetworkConfig,
        *,
        look_ahead: bool = False,
        trace: bool = False,
    ) -> None:
        self.config, self.look_ahead = config, look_ahead
        self.network = Network(config, trace=trace, technology=Technology(look_ahead=look_ahead))
        self.reset, self.module = Signal(init=1), Module()
        self.module.domains += clock
        self.module.d.comb += ResetSignal().eq(self.reset)
        self.module.submodules.network = self.network

    async def load(self, ctx, job) -> None:
        """Write the job's words in reset, and release it."""
        await self.write(ctx, job.writes.tolist(), barrier=job.barrier)

    async def write(self, ctx, words: Sequence[Sequence[int]], *, barrier: bool) -> None:
        """Write words (node, space, address, word) in reset, and release it."""
        host = self.network.host
        ctx.set(self.reset, 1)
        ctx.set(self.network.barrier, barrier)
        ctx.set(host.write, 1)
        for node, space, address, word in words:
            ctx.set(host.node, node)
            ctx.set(host.space, space)
            ctx.set(host.address, address)
            ctx.set(host.write_data, word)
            await ctx.tick()
        ctx.set(host.write, 0)
        await ctx.tick()
        ctx.set(self.reset, 0)

    async def interrupt(self, ctx, cycles: int) -> None:
        """Reset the network for a cycle, after this many cycles."""
        await wait(ctx, cycles)
        ctx.set(self.reset, 1)
        await ctx.tick()
        ctx.set(self.reset, 0)

    async def cycles_to_done(self, ctx, limit: int) -> int:
        """Return the cycles until ``done``, counted from the first cycle without reset."""
        await ctx.tick()
        for cycle in range(limit):
            if ctx.get(self.network.done):
                return cycle
            await ctx.tick()
        return limit

    async def read(self, ctx, node: int, space: HostSpace, address: int) -> int:
        host = self.network.host
        ctx.set(host.node, node)
        ctx.set(host.space, space)
        ctx.set(host.address, address)
        late = self.look_ahead and space == HostSpace.MESSAGE
        await wait(ctx, 2 + self.config.barrier_registers + late)
        return ctx.get(host.read_data)


async def wait(ctx, cycles: int) -> None:
    """Wait this many cycles. A tick with ``repeat`` would end at a reset."""
    for _ in range(cycles):
        await ctx.tick()


def run_by_hand(
    clock: ClockDomain,
    program: Program,
    words: dict[int, dict[int, int]],
    expected: dict[int, dict[int, int]],
    *,
    cycles: int,
    barrier: bool = True,
    half_duplex: bool = False,
    look_ahead: bool = False,
) -> None:
    """Run a program with initial ``words`` by node and address; require its number of cycles.

    Require the ``expected`` words afterwards, and no flag.
    """
    bench = NetworkBench(clock, program.config, look_ahead=look_ahead)
    timing = Timing.BARRIER if barrier else Timing.SELF_TIMED
    job = prepare(program, [], timing=timing, read_words=0, cycle_limit=0)
    loads = [
        (n, int(HostSpace.MESSAGE), *pair) for n, held in words.items() for pair in held.items()
    ]

    async def testbench(ctx: Any) -> None:
        ctx.set(bench.network.half_duplex, half_duplex)
        await bench.write(ctx, [*loads, *job.writes.tolist()], barrier=barrier)
        assert await bench.cycles_to_done(ctx, 2 * cycles) == cycles
        assert not ctx.get(bench.network.error)
        ctx.set(bench.reset, 1)
        for node, held in expected.items():
            for address, word in held.items():
                assert await bench.read(ctx, node, HostSpace.MESSAGE, address) == word

    simulate(bench.module, testbench)


async def cycle_of_error(ctx: Any, bench: NetworkBench, limit: int) -> int:
    """Return the first cycle after reset in which ``error`` is high."""
    await ctx.tick()
    for cycle in range(limit):
        if ctx.get(bench.network.error):
            return cycle
        await ctx.tick()
    return limit
