"""Serial lines between a computer and simulated pins: of a network in Verilator, or a host."""

import random
from collections import deque
from dataclasses import replace

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Out
from amaranth.sim import Simulator

from eyecast.boards.proof.proof import build_design, rtl_design
from eyecast.boards.proof.simulated_board import SimulatedBoard
from eyecast.boards.registry import BAUD, find_board
from eyecast.boards.serial.computer import Pace
from eyecast.boards.serial.device import UartHost

PERIOD = 1e-6
DIVISOR = 4
TIMEOUT = 128
BYTE_CYCLES = 10 * DIVISOR
# A board whose clock is so slow that a bit of the line takes eight cycles.
FAST = replace(find_board("ice40-hx8k"), clock=8 * BAUD)


def rtl_board(config, cycles=1_000_000):
    """Return a board for this network, with more cycles than any run here takes."""
    return SimulatedBoard(build_design(rtl_design(FAST, config)), FAST, cycles=cycles)


class SimulatedLine:
    """A line to the pins ``rx`` and ``tx`` of a design; its time is the simulator's."""

    def __init__(self, design, *, divisor=DIVISOR, timeout=TIMEOUT):
        self.name = "simulated"
        self.pace = Pace(
            byte=10 * divisor * PERIOD, latency=100 * PERIOD, silence=2 * timeout * PERIOD
        )
        self.sent, self.received = deque(), bytearray()
        self._design, self._divisor = design, divisor
        # Whole cycles: the simulator must not be asked for a time in the past.
        self._cycles = 0
        self.simulator = Simulator(design)
        self.simulator.add_clock(PERIOD)
        self.simulator.add_testbench(self._drive, background=True)
        self.simulator.add_testbench(self._listen, background=True)

    def now(self):
        return self._cycles * PERIOD

    def write(self, data):
        self.sent.extend(data)

    def low(self, cycles):
        """Hold the line low for this many cycles, and then high for some cycles."""
        self.sent.append(-cycles)
        self.run((cycles + 20 * BYTE_CYCLES) * PERIOD)

    def read(self, most, seconds):
        # Bytes that are still being sent come first.
        while self.sent:
            self.run(self.pace.byte)
        deadline = self.now() + seconds
        while len(self.received) < most and self.now() < deadline:
            self.run(self.pace.byte)
        data, self.received[:] = bytes(self.received[:most]), self.received[most:]
        return data

    def run(self, seconds):
        self._cycles += round(seconds / PERIOD)
        self.simulator.run_until(self._cycles * PERIOD)

    async def _bits_pass(self, ctx, bits):
        # A delay, because waiting for every cycle would take longer than the design itself.
        await ctx.delay(bits * self._divisor * PERIOD)

    async def _drive(self, ctx):
        ctx.set(self._design.rx, 1)
        while True:
            if not self.sent:
                await self._bits_pass(ctx, 1)
                continue
            byte = self.sent.popleft()
            if byte < 0:
                ctx.set(self._design.rx, 0)
                await ctx.delay(-byte * PERIOD)
                ctx.set(self._design.rx, 1)
                continue
            bits = 0x200 | byte << 1
            for place in range(10):
                ctx.set(self._design.rx, bits >> place & 1)
                await self._bits_pass(ctx, 1)

    async def _listen(self, ctx):
        while True:
            await ctx.negedge(self._design.tx)
            await self._bits_pass(ctx, 0.5)
            byte = 0
            for place in range(8):
                await self._bits_pass(ctx, 1)
                byte |= ctx.get(self._design.tx) << place
            await self._bits_pass(ctx, 1)
            assert ctx.get(self._design.tx) == 1
            self.received.append(byte)


class LossyLine:
    """A wrapper of a line that sometimes loses, flips, doubles and invents bytes."""

    def __init__(self, line, *, seed, rate):
        self.name, self.pace = line.name, line.pace
        self._line, self._draw, self._rate = line, random.Random(seed), rate

    def now(self):
        return self._line.now()

    def write(self, data):
        self._line.write(self._spoil(data))

    def read(self, most, seconds):
        return self._spoil(self._line.read(most, seconds))

    def _spoil(self, data):
        spoilt = bytearray()
        for byte in data:
            if self._draw.random() >= self._rate:
                spoilt.append(byte)
                continue
            spoilt += self._draw.choice(
                (
                    b"",
                    bytes((byte ^ 1 << self._draw.randrange(8),)),
                    bytes((byte, byte)),
                    bytes((self._draw.randrange(256), byte)),
                )
            )
        return bytes(spoilt)


class HostBesideMemory(Component):
    """A serial host with one memory instead of a network; it counts the writes."""

    def __init__(self, config, *, divisor=DIVISOR, timeout=TIMEOUT):
        self.host = UartHost(config, divisor=divisor, timeout=timeout)
        self.writes = Signal(16)
        self._width = config.flit_width
        super().__init__({"rx": In(1, init=1), "tx": Out(1, init=1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.host = host = self.host
        m.submodules.memory = memory = Memory(shape=self._width, depth=1024, init=[])
        read, write = memory.read_port(), memory.write_port()
        port = host.host
        place = (port.node << 6 | port.space << 4 | port.address[:4])[:10]
        m.d.comb += [
            host.rx.eq(self.rx),
            self.tx.eq(host.tx),
            read.addr.eq(place),
            write.addr.eq(place),
            write.data.eq(port.write_data),
            write.en.eq(port.write),
            port.read_data.eq(read.data),
            host.done.eq(Mux(host.network_reset, 0, 1)),
            host.cycle.eq(0x12345678),
        ]
        m.d.sync += self.writes.eq(self.writes + port.write)
        return m
