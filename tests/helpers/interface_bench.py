"""A network interface with a drawn program, in a drawn network, compared with the page.

The network takes and returns credits, lets drawn packets leave port 0, and raises the step as a
barrier does. :mod:`helpers.whole_interface` computes the interface's expected outputs.
"""

import random
from typing import Any

from amaranth.hdl import ClockDomain, Module, ResetSignal, Signal

from eyecast.model.network.config import NetworkConfig
from eyecast.rtl.packets.interface import NetworkInterface
from eyecast.rtl.parts.host_map import HostSpace, StatusWord, table_address_bits
from eyecast.rtl.parts.host_port import Flag
from eyecast.rtl.parts.technology import Technology

from .amaranth_simulation import simulate
from .interface_parts import Leaving, Packet, Seen
from .whole_interface import STATES, Interface

CYCLES = 160
"""Cycles of a run."""

READ_CYCLES = 3
"""Cycles until the host has a word that it reads without a controller, at most."""

STEPS = 6
"""Steps of a drawn program."""

STREAMED = 3
"""Words that a row waits for, at most; a packet of a step has at least this many."""


class Bench:
    """An interface in Amaranth's own simulator."""

    def __init__(self, config: NetworkConfig, *, look_ahead: bool = False) -> None:
        self.config = config
        # Words that are fetched ahead must not be written while their row is under way.
        self.read_words = config.message_words // 2 if look_ahead else config.message_words
        self.first_written = self.read_words if look_ahead else 0
        technology = Technology(look_ahead=look_ahead)
        self.interface = NetworkInterface(config, trace=True, technology=technology)
        self.reset, self.module = Signal(init=1), Module()
        self.module.domains.sync = ClockDomain()
        self.module.d.comb += ResetSignal().eq(self.reset)
        self.module.submodules.interface = self.interface
        self.rows_seen: set[tuple[str, str, str]] = set()
        self.flags_seen: set[str] = set()

    def run(self, *seeds: int) -> None:
        """Run the program drawn from each seed."""

        async def testbench(ctx: Any) -> None:
            for seed in seeds:
                run = DrawnRun(self, ctx, seed)
                await run.load()
                for _ in range(CYCLES):
                    await run.cycle()
                await run.require_memory()
                self.rows_seen |= run.page.rows_seen
                self.flags_seen |= run.page.flags

        simulate(self.module, testbench)


class DrawnRun:
    """A run of a drawn program; without ``mischief`` no input is faulty."""

    def __init__(self, bench: Bench, ctx: Any, seed: int) -> None:
        self.config, self.ctx, self.interface = bench.config, ctx, bench.interface
        self.reset = bench.reset
        self.read_words, self.first_written = bench.read_words, bench.first_written
        self.draw = random.Random(seed)
        self.mischief = (0.0, 0.03, 0.15)[seed % 3]
        # Probabilities of a credit from the router, and of a flit at port 0; both are low at times.
        self.credit_rate, self.flit_rate = (self.draw.choice([0.15, 0.9]) for _ in range(2))
        self.hold_rate = self.draw.choice([0.1, 0.6])
        config, draw = self.config, self.draw
        lanes = range(config.lanes)
        self.barrier = config.streams or bool(config.operators) or draw.random() < 0.5
        self.expected = [
            sum(1 << step for step in range(1, 1 + STEPS) if draw.random() < 0.6) for _ in lanes
        ]
        self.tables = [self._table(lane) for lane in lanes]
        self.base = draw.randrange(3) if config.programs else 0
        limits = [len(table) for table in self.tables]
        if config.programs and draw.random() < 3 * self.mischief:
            limits = [draw.choice([1, draw.randrange(1, 8)])] * len(limits)
        self.words = max(limits)
        self.memory = [draw.getrandbits(config.flit_width) for _ in range(config.message_words)]
        self.awaited = draw.randrange(6) if config.timed_rows else 0
        self.refusal = draw.getrandbits(16) & draw.getrandbits(16) if config.timed_rows else 0
        self.half_duplex = draw.random() < 3 * self.mischief
        self.quiet = False
        self.page = Interface(
            config,
            self.tables,
            self.expected,
            self.memory,
            words=self.words,
            barrier=self.barrier,
            half_duplex=self.half_duplex,
            awaited=self.awaited,
            refusal=self.refusal,
        )
        self.out: list[list[int]] = [[] for _ in lanes]
        """VCs of the flits in the router's buffers, by lane."""
        self.open: dict[tuple[int, int], int] = {}
        """Remaining payload words of the packet under way, by lane and VC."""
        self.promised = list(self.expected)
        self.was_over = False
        self.asked: tuple[int, int] | None = None
        self.read: int | None = None
        """The word that the tile requested in the last cycle."""
        self.rung: list[int] = []
        """Steps of the packets that ended in the last cycle."""

    def _misdone(self) -> bool:
        return self.draw.random() < self.mischief

    # ---- Program --------------------------------------------------------------------------------

    def _table(self, lane: int) -> list[int]:
        """Return the words of a table; with a controller they follow those of ``expected``."""
        config, draw = self.config, self.draw
        width = config.flit_width
        words = []
        if config.programs:
            mask = self.expected[lane]
            words = [mask >> width * word & (1 << width) - 1 for word in range(config.mask_words)]
        step = 1
        for _ in range(draw.randrange(1, 10)):
            step = min(STEPS, step + draw.choice([0, 0, 1, 1, 2]))
            words += self._row(lane, step)
        return [*words, 0]

    def _row(self, lane: int, step: int) -> list[int]:
        config, draw = self.config, self.draw
        fields = {"step": step, "header_flits": draw.choice([1, 1, 2, 3])}
        window = draw.randrange(config.most_window + 1) if draw.random() < 0.5 else 0
        room = 1 << window if window else self.read_words
        fields["length"] = draw.randrange(min(room, 6) + 1)
        most = self.read_words if window else self.read_words - fields["length"] + 1
        fields["source_address"] = draw.randrange(most)
        if config.streams:
            # Lanes that get a packet of the step: it has the words that the row waits for.
            coming = [one + 1 for one in range(config.lanes) if self.expected[one] >> step & 1]
            stream = draw.choice([0, *coming, *coming])
            waits = draw.randrange(min(fields["length"], STREAMED) + 1)
            fields |= {"window": window, "stream": stream}
            fields["lead"] = fields["length"] - waits if stream else 0
        if config.timed_rows:
            fields["start"] = draw.randrange(CYCLES // 2)
        widths = dict(config.table.fields)
        if self._misdone():
            name = draw.choice([name for name in fields if widths[name]])
            # A step of 0 would end the table.
            fields[name] = max(draw.getrandbits(widths[name]), name == "step")
        words = [0] * config.table.control_words
        for (name, _), (word, low) in zip(config.table.fields, config.table.positions, strict=True):
            words[word] |= fields.get(name, 0) << low
        ports = range(1, config.topology.ports)
        port = lane + 1 if config.all_port else draw.choice(ports)
        vc = draw.randrange(config.vcs)
        if self._misdone():
            port, vc = draw.randrange(config.topology.ports + 1), draw.randrange(config.vcs + 1)
        header = config.header
        slot = port | vc << header.port_bits + header.hop_bits
        slot &= (1 << header.slot_bits) - 1
        flits = [draw.getrandbits(config.flit_width) for _ in range(fields["header_flits"])]
        if flits:
            flits[0] = flits[0] >> header.slot_bits << header.slot_bits | slot
        return words + flits

    # ---- Host -----------------------------------------------------------------------------------

    async def load(self) -> None:
        """Write memories and tables in reset, and release it."""
        ctx, interface, config = self.ctx, self.interface, self.config
        ctx.set(self.reset, 1)
        ctx.set(interface.barrier, self.barrier)
        ctx.set(interface.half_duplex, self.half_duplex)
        ctx.set(interface.advance, 0)
        for lane in range(config.lanes):
            ctx.set(interface.ejections[lane].valid, 0)
            ctx.set(interface.injections[lane].credit, 0)
        if config.programs:
            ctx.set(interface.program.base, self.base)
            ctx.set(interface.program.end, self.base + self.words)
        if config.tile_ports:
            for name in ("hold", "read_valid", "write_valid"):
                ctx.set(getattr(interface.tile, name), 0)
        for address, word in enumerate(self.memory):
            await self._write(HostSpace.MESSAGE, address, word)
        for lane, table in enumerate(self.tables):
            first = (lane << table_address_bits(config)) + self.base
            for address, word in enumerate([*table, 0, 0, 0, 0], first):
                await self._write(HostSpace.TABLE, address, word)
            if not config.programs:
                for word in range(config.mask_words):
                    low = word * config.flit_width
                    mask = self.expected[lane] >> low & (1 << config.flit_width) - 1
                    address = lane * config.mask_words + word
                    await self._write(HostSpace.EXPECTED, address, mask)
        if config.timed_rows:
            await self._write(HostSpace.EXPECTED, config.mask_words, self.awaited)
            await self._write(HostSpace.EXPECTED, config.mask_words + 1, self.refusal)
        await ctx.tick()
        ctx.set(self.reset, 0)

    async def _write(self, space: HostSpace, address: int, word: int) -> None:
        ctx, host = self.ctx, self.interface.host
        ctx.set(host.space, space)
        ctx.set(host.address, address)
        ctx.set(host.write_data, word)
        ctx.set(host.write, 1)
        await self._carry_out(cycles=1)
        ctx.set(host.write, 0)

    async def _carry_out(self, cycles: int) -> int:
        """Return the word read; without a controller a request takes this many cycles."""
        ctx, host = self.ctx, self.interface.host
        if not self.config.programs:
            for _ in range(cycles):
                await ctx.tick()
            return ctx.get(host.read_data)
        ctx.set(host.valid, 1)
        await ctx.tick()
        while not ctx.get(host.answered):
            await ctx.tick()
        word = ctx.get(host.read_data)
        ctx.set(host.valid, 0)
        await ctx.tick()
        return word

    async def require_memory(self) -> None:
        """Let the last words be written; then require the page's memory in reset."""
        ctx, host = self.ctx, self.interface.host
        self.quiet = True
        for _ in range(2 + self.config.operator_latency):
            await self.cycle()
        ctx.set(self.reset, 1)
        ctx.set(host.space, HostSpace.MESSAGE)
        for address, word in enumerate(self.page.memory):
            ctx.set(host.address, address)
            assert await self._carry_out(READ_CYCLES) == word, address

    def _status(self, seen: Seen) -> dict[int, int]:
        """Return the status words by address (docs/router.md, sections 6 and 14)."""
        config = self.config
        flags = sum(1 << flag for flag in Flag if flag.member in seen.flags)
        words = {
            StatusWord.FLAGS: flags,
            StatusWord.STEP: seen.step,
            StatusWord.SENDER_STATE: STATES.index(seen.states[0]),
            StatusWord.STALLED_FLITS: seen.stalled_before,
        }
        masks = []
        for arrived in seen.arrived:
            for word in range(config.mask_words):
                masks.append(arrived >> word * config.flit_width & (1 << config.flit_width) - 1)
        states = [STATES.index(state) for state in seen.states[1:]]
        return words | dict(enumerate([*masks, *states], int(StatusWord.ARRIVED)))

    # ---- A cycle --------------------------------------------------------------------------------

    async def cycle(self) -> None:
        """Clock the interface once, and compare its outputs with the page."""
        ctx, interface, draw, config = self.ctx, self.interface, self.draw, self.config
        accept = self.page.accepts()
        leaving = [self._leaving(lane, accept) for lane in range(config.lanes)]
        advance = self.barrier and self.was_over and draw.random() < 0.5
        causes = ["overflow"] if draw.random() < self.mischief / 100 else []
        hold = config.tile_ports and draw.random() < self.hold_rate
        ctx.set(interface.advance, advance)
        ctx.set(interface.router_causes.overflow, bool(causes))
        if config.tile_ports:
            ctx.set(interface.tile.hold, hold)
        for lane, flit in enumerate(leaving):
            self._show_leaving(lane, flit)
        credits = [self._credits(lane) for lane in range(config.lanes)]
        for lane, vcs in enumerate(credits):
            ctx.set(interface.injections[lane].credit, sum(1 << vc for vc in vcs))
        self._ask()
        seen = self.page.cycle_of(advance, leaving)
        self._compare(seen)
        tile_write = self._tile(seen) if config.tile_ports else None
        self.page.end(credits, hold=hold, causes=causes, tile_write=tile_write)
        for lane, flit in enumerate(seen.injected):
            if flit is not None and not config.contention_free:
                self.out[lane].append(flit[0])
        self.was_over = seen.over and not seen.finished and not advance
        self.status = self._status(seen)
        await ctx.tick()

    def _leaving(self, lane: int, accept: bool) -> Leaving | None:
        """Draw the output of an ejection port: a flit of a packet under way, or of a new packet."""
        draw, config = self.draw, self.config
        if self.quiet or not accept or draw.random() > self.flit_rate:
            return None
        vc = draw.randrange(config.vcs)
        word = draw.getrandbits(config.flit_width)
        if (lane, vc) in self.open:
            self.open[lane, vc] -= 1
            left = self.open[lane, vc]
            if not left:
                del self.open[lane, vc]
            return Leaving(vc, None, word, tail=not left)
        packet = self._packet(lane)
        if packet is None:
            return None
        delivery, length = packet
        if length:
            self.open[lane, vc] = length
        return Leaving(vc, delivery, word, tail=not length)

    def _packet(self, lane: int) -> tuple[Packet, int] | None:
        """Draw a packet that is expected or of step 0; with mischief, any packet."""
        draw, config, step = self.draw, self.config, self.page.step
        due = [each for each in range(1, 1 + STEPS) if self.promised[lane] >> each & 1]
        if self.barrier:
            due = [each for each in due if each == step]
        if due and draw.random() < 0.7:
            chosen = draw.choice(due)
            self.promised[lane] &= ~(1 << chosen)
        elif draw.random() < (0.8 if config.operators else 0.2):
            chosen = 0
        elif self._misdone():
            chosen = draw.randrange(1, 1 + STEPS)
        else:
            return None
        # Lanes that write to one word in the same cycle leave it undefined, except with operators.
        apart = config.all_port and not config.operators
        first, region = self.first_written, config.message_words - self.first_written
        if apart:
            region //= config.lanes
            first += region * lane
        window = draw.randrange(config.most_window + 1) if draw.random() < 0.5 and not apart else 0
        least = STREAMED if config.streams and chosen else 0
        length = draw.randrange(least, min(region, 5) + 1)
        last = region if window or not length else region - length + 1
        address = first + draw.randrange(last)
        operator = draw.randrange(2 * len(config.operators) + 1)
        if self._misdone() and not apart:
            address = draw.randrange(first, 1 << config.address_bits)
            operator = draw.getrandbits(config.operator_bits) if config.operators else 0
        return Packet(chosen, address, operator, window), length

    def _show_leaving(self, lane: int, flit: Leaving | None) -> None:
        ctx, ejection, header = self.ctx, self.interface.ejections[lane], self.config.header
        ctx.set(ejection.valid, 0 if flit is None else 1 << flit.vc)
        if flit is None:
            return
        data = flit.word
        if flit.delivery is not None:
            packet = flit.delivery
            data = int(header.delivery(packet.step, packet.address, packet.operator, packet.window))
        ctx.set(ejection.flit.data, data)
        ctx.set(ejection.flit.head, flit.delivery is not None)
        ctx.set(ejection.flit.tail, flit.tail)

    def _credits(self, lane: int) -> list[int]:
        """Draw the VCs whose buffer frees a slot in this cycle."""
        back = []
        for vc in {*self.out[lane]}:
            if self.draw.random() < self.credit_rate:
                self.out[lane].remove(vc)
                back.append(vc)
        return back

    def _ask(self) -> None:
        """Request a status word, and compare the word requested before."""
        ctx, host, config = self.ctx, self.interface.host, self.config
        ctx.set(host.space, HostSpace.STATUS)
        if self.asked is not None and (not config.programs or ctx.get(host.answered)):
            address, _ = self.asked
            assert ctx.get(host.read_data) == self.status[address], (
                self.page.cycle - 1,
                StatusWord(address) if address <= 4 else address,
            )
            self.asked = None
            if config.programs:
                ctx.set(host.valid, 0)
                return
        if self.asked is None:
            addresses = range(4 + config.lanes * config.mask_words + config.lanes - 1)
            self.asked = self.draw.choice(addresses), self.page.cycle
            ctx.set(host.address, self.asked[0])
            if config.programs:
                ctx.set(host.valid, 1)

    def _compare(self, seen: Seen) -> None:
        """Compare the interface's outputs with the page."""
        ctx, interface, cycle = self.ctx, self.interface, self.page.cycle
        shown: list[Any] = []
        for injection in interface.injections:
            valid = ctx.get(injection.valid)
            flit = injection.flit
            marks = bool(ctx.get(flit.head)), bool(ctx.get(flit.tail))
            shown.append((valid.bit_length() - 1, ctx.get(flit.data), *marks) if valid else None)
        assert shown == seen.injected, (cycle, seen)
        names = "over", "finished", "flagged", "accept"
        wanted = seen.over, seen.finished, bool(seen.flags), seen.accept
        outputs = tuple(bool(ctx.get(getattr(interface, name))) for name in names)
        assert dict(zip(names, outputs, strict=True)) == dict(zip(names, wanted, strict=True)), (
            cycle,
            seen,
        )

    def _tile(self, seen: Seen) -> tuple[int, int] | None:
        """Let the tile read and write; return the word that it writes at the end of the cycle."""
        ctx, tile, draw, config = self.ctx, self.interface.tile, self.draw, self.config
        if self.page.cycle:
            assert (ctx.get(tile.read_answered), ctx.get(tile.arrived)) == (
                self.read is not None,
                bool(self.rung),
            )
            assert self.read in (None, ctx.get(tile.read_data))
            assert not self.rung or ctx.get(tile.arrived_step) == self.rung[0]
        assert (ctx.get(tile.read_ready), ctx.get(tile.write_ready)) == (
            seen.read_free,
            seen.write_free,
        ), (self.page.cycle, seen)
        assert ctx.get(tile.step) == seen.step
        assert bool(ctx.get(tile.finished)) == seen.finished
        asks, address = draw.random() < 0.5, draw.randrange(config.message_words)
        ctx.set(tile.read_valid, asks)
        ctx.set(tile.read_address, address)
        self.read = self.page.memory[address] if asks and seen.read_free else None
        self.rung = seen.ends
        writes, address = draw.random() < 0.3, draw.randrange(config.message_words)
        word = draw.getrandbits(config.flit_width)
        ctx.set(tile.write_valid, writes)
        ctx.set(tile.write_address, address)
        ctx.set(tile.write_data, word)
        return (address, word) if writes and seen.write_free else None
