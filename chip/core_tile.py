"""The tile of a chip: a PicoRV32 core, its memory, and its way to the node's tile port.

::

              ┌────────────────────────── core tile ─────────────────────────┐
              │ ┌──────────┐  load,   ┌────────────────────────────────────┐ │
              │ │ PicoRV32 │  store   │ own memory                         │ │
              │ │          │◄────────►│ message words ◄────────────────────┼─┼──► tile port
              │ └──────────┘          │ registers: rank, console, call ... │ │    words
              │                       └────────────────────────────────────┘ │
              └───────────────────────── node 0: the host's requests ────────┘──► request port

A call is two accesses: CALL asks for a program, WAIT is answered when the node has done its part.
Node 0 starts a program when all cores ask: what arrives at a node never meets words that its core
still reads or has not written yet.
"""

from collections.abc import Callable

from amaranth.hdl import (
    Cat,
    ClockSignal,
    Const,
    Format,
    Instance,
    Module,
    Mux,
    Print,
    ResetSignal,
    Signal,
    Value,
)
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out, Signature

from ..model.network.config import NetworkConfig
from ..rtl.parts.host_map import CONTROLLER_SPACE, Command, ControllerWord
from ..rtl.parts.host_port import Refusal, RequestPort
from ..rtl.parts.table import PROGRAM_BITS
from ..rtl.parts.tile_port import TilePort
from .memory_map import MEMORY_WORDS, MISTAKES, Event, Place, Register

CORE, MEMORY_MODULE = "picorv32", "core_memory"
OPTIONS = {
    "ENABLE_COUNTERS": 0,
    "BARREL_SHIFTER": 1,
    "ENABLE_FAST_MUL": 1,
    "ENABLE_DIV": 1,
    "STACKADDR": 4 * MEMORY_WORDS,
}
"""Parameters of the core that are not its defaults."""
RANK_BITS = 16

BUS = data.StructLayout(
    {
        "valid": 1,
        "fetches": 1,
        "reads_next": 1,
        "next_address": 32,
        "address": 32,
        "strobe": 4,
        "write_data": 32,
        "ready": 1,
        "read_data": 32,
    }
)
"""An access of the core: it stays valid until it is ready; ``strobe`` is 0 for a load.

While ``reads_next`` is 1, the core is about to load from ``next_address``.
"""


class CoreSignature(Signature):
    """The ports of a :class:`CoreTile`.

    Members
    -------
    port : Out(TilePort)
        To the node.
    host : Out(RequestPort)
        To the network's controller; only node 0 uses it.
    rank : In(16)
        The node's number.
    begun : In(1)
        High from the cycle on in which cores may begin.
    cycle : In(32)
        Cycles since they began.
    begins : Out(1)
        High while this core lets all begin.
    asks : Out(1)
        High while the core waits for a run that has not begun.
    all_ask : In(1)
        High while all cores do.
    waits, ended, wrong : Out(1)
        The core waits for a call; it has ended; it has trapped, or done what a core must not do.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(
            {
                "port": Out(TilePort(config)),
                "host": Out(RequestPort(config)),
                "rank": In(RANK_BITS),
                "begun": In(1),
                "cycle": In(32),
                "all_ask": In(1),
                **dict.fromkeys(("begins", "asks", "waits", "ended", "wrong"), Out(1)),
            }
        )


class CoreTile(Component):
    """A core at a node; its members are those of :class:`CoreSignature`."""

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__(CoreSignature(config))

    def elaborate(self, _platform: object) -> Module:
        """Connect the core to its memory, the message memory and the registers."""
        m = Module()
        bus, trap, fetched = Signal(BUS), Signal(), Signal(32)
        ready = {place: Signal(name=f"{place.name.lower()}_ready") for place in Place}
        asked = {place: Signal(name=f"{place.name.lower()}_asked") for place in Place}
        words = {place: Signal(32, name=f"{place.name.lower()}_word") for place in Place}
        self._elaborate_core(m, bus, trap)
        active = bus.valid & ~(self.ended | self.wrong)
        for place in Place:
            m.d.comb += asked[place].eq(active & (bus.address[28:] == place))
        m.d.comb += [
            bus.ready.eq(Cat((asked[place] & ready[place]) for place in Place).any()),
            bus.read_data.eq(sum(Mux(asked[place], words[place], 0) for place in Place)),
        ]
        with m.If(bus.valid & bus.fetches):
            m.d.sync += fetched.eq(bus.address)
        self._report(m, trap & ~(self.ended | self.wrong), Event.TRAP, fetched)
        self._report(m, active & ~Cat(asked.values()).any(), Event.ADDRESS, bus.address)
        self._elaborate_memory(m, bus, *(of[Place.MEMORY] for of in (asked, ready, words)))
        self._elaborate_messages(m, bus, *(of[Place.MESSAGES] for of in (asked, ready, words)))
        self._elaborate_registers(m, bus, *(of[Place.REGISTERS] for of in (asked, ready, words)))
        return m

    def _report(self, m: Module, condition: Value, event: Event, value: Value) -> None:
        """Print a line in a cycle with ``condition``; a mistake stops the tile."""
        with m.If(condition):
            line = Format("chip {:d} {:d} {:d} {:d}\n", self.cycle, self.rank, event.value, value)
            m.d.sync += Print(line, end="")
            if event in MISTAKES:
                m.d.sync += self.wrong.eq(1)

    def _elaborate_core(self, m: Module, bus: data.View, trap: Signal) -> None:
        """Add the core."""
        m.submodules.core = Instance(
            CORE,
            *(("p", name, value) for name, value in OPTIONS.items()),
            i_clk=ClockSignal(),
            i_resetn=~ResetSignal(),
            o_trap=trap,
            o_mem_valid=bus.valid,
            o_mem_instr=bus.fetches,
            o_mem_addr=bus.address,
            o_mem_la_read=bus.reads_next,
            o_mem_la_addr=bus.next_address,
            o_mem_wstrb=bus.strobe,
            o_mem_wdata=bus.write_data,
            i_mem_ready=bus.ready,
            i_mem_rdata=bus.read_data,
            i_irq=Const(0, 32),
            i_pcpi_wr=Const(0),
            i_pcpi_rd=Const(0, 32),
            i_pcpi_wait=Const(0),
            i_pcpi_ready=Const(0),
        )

    def _elaborate_memory(
        self, m: Module, bus: data.View, asked: Signal, ready: Signal, word: Signal
    ) -> None:
        """Add the core's own memory, which reads ahead and so answers at once."""
        m.submodules.memory = Instance(
            MEMORY_MODULE,
            p_WORDS=MEMORY_WORDS,
            i_clk=ClockSignal(),
            i_reads=bus.reads_next,
            i_read_address=bus.next_address[2:28],
            i_address=bus.address[2:28],
            i_write=Mux(asked, bus.strobe, 0),
            i_write_data=bus.write_data,
            o_read_data=word,
        )
        within = bus.address[2:28] < MEMORY_WORDS
        self._report(m, asked & ~within, Event.ADDRESS, bus.address)
        m.d.comb += ready.eq(within)

    def _elaborate_messages(
        self, m: Module, bus: data.View, asked: Signal, ready: Signal, word: Signal
    ) -> None:
        """Read and write the node's message memory, when the network does not.

        A store of a part of a word reads the word first. So it is not one access: the network may
        write the word between the two, and is then overwritten.
        """
        port, taken, changed = self.port, Signal(), Signal()
        address, stored = bus.address[2:28], Signal()
        whole, reads = bus.strobe.all(), ~bus.strobe.all()
        within = address < self._config.message_words
        merged, kept = Signal(32), Signal(32)
        for place in range(4):
            part = slice(8 * place, 8 * place + 8)
            stays = ~bus.strobe[place]
            m.d.comb += merged[part].eq(Mux(stays, port.read_data[part], bus.write_data[part]))
        self._report(m, asked & ~within, Event.ADDRESS, bus.address)
        m.d.comb += [
            port.read_address.eq(address),
            port.write_address.eq(address),
            port.write_data.eq(Mux(whole, bus.write_data, kept)),
            port.read_valid.eq(asked & within & reads & ~taken & ~changed),
            port.write_valid.eq(asked & within & (whole | changed)),
            word.eq(port.read_data),
            ready.eq(Mux(bus.strobe.any(), stored, taken)),
        ]
        m.d.comb += stored.eq(port.write_valid & port.write_ready)
        self._report(m, stored, Event.STORE, Cat(port.write_data, address))
        self._report(m, taken & ~bus.strobe.any(), Event.LOAD, Cat(port.read_data, address))
        m.d.sync += taken.eq(port.read_valid & port.read_ready)
        with m.If(taken & bus.strobe.any()):
            m.d.sync += [changed.eq(1), kept.eq(merged)]
        with m.If(ready):
            m.d.sync += changed.eq(0)

    def _elaborate_registers(
        self, m: Module, bus: data.View, asked: Signal, ready: Signal, word: Signal
    ) -> None:
        """Answer loads and stores of the registers."""
        writes, value = bus.strobe.any(), bus.write_data
        number = bus.address[2:28]

        def written(register: Register) -> Value:
            return asked & writes & (number == register)

        answered, called = Signal(), self._elaborate_calls(m, written(Register.CALL), value)
        self._elaborate_host(m, written, value, answered)
        m.d.comb += ready.eq(1)
        with m.Switch(number):
            with m.Case(Register.RANK):
                m.d.comb += word.eq(self.rank)
            with m.Case(Register.SIZE):
                m.d.comb += word.eq(self._config.topology.nodes)
            with m.Case(Register.CYCLE):
                m.d.comb += word.eq(self.cycle)
            with m.Case(Register.WAIT):
                m.d.comb += [ready.eq(~called), self.waits.eq(asked & called)]
            with m.Case(Register.BEGIN):
                m.d.comb += ready.eq(writes | self.begun)
            with m.Case(Register.HOST_DATA):
                m.d.comb += ready.eq(answered)
        m.d.comb += self.begins.eq(written(Register.BEGIN))
        self._report(m, written(Register.CONSOLE), Event.CONSOLE, value)
        self._report(m, written(Register.EXIT), Event.EXIT, value)
        with m.If(written(Register.STOP)):
            m.d.sync += self.ended.eq(1)

    def _elaborate_calls(self, m: Module, calls: Value, program: Value) -> Signal:
        """Ask for runs; return whether a call has not returned yet.

        Runs follow calls one by one, because none begins before all cores ask for it.
        """
        port, wanted = self.port, Signal(PROGRAM_BITS, name="wanted")
        ran, open_ = Signal(), Signal(name="open")
        m.d.sync += ran.eq(port.running)
        begins = port.running & ~ran
        self._report(m, begins & (self.rank == 0), Event.RUN, port.program)
        self._report(m, calls, Event.CALL, program)
        with m.If(calls):
            m.d.sync += [self.asks.eq(1), wanted.eq(program), open_.eq(1)]
        with m.If(begins):
            m.d.sync += self.asks.eq(0)
        here = open_ & port.running & ran & ~self.asks
        self._report(m, here & (port.program != wanted), Event.OTHER_CALL, port.program)
        returns = here & port.finished
        self._report(m, returns, Event.RETURN, wanted)
        with m.If(returns):
            m.d.sync += open_.eq(0)
        return open_

    def _elaborate_host(
        self, m: Module, written: Callable[[Register], Value], value: Value, answered: Signal
    ) -> None:
        """Send the starts of programs, and the words that the core writes as the host."""
        host, program = self.host, Signal(PROGRAM_BITS, name="program")
        starts, under_way, is_start = Signal(), Signal(), Signal()
        place, space = Signal(len(host.node)), Signal(len(host.space))
        address = Signal(len(host.address))
        m.d.comb += [
            host.write.eq(1),
            host.valid.eq(~under_way & Mux(starts, self.all_ask, written(Register.HOST_DATA))),
            host.node.eq(Mux(starts, 0, place)),
            host.space.eq(Mux(starts, CONTROLLER_SPACE, space)),
            host.address.eq(Mux(starts, ControllerWord.COMMAND, address)),
            host.write_data.eq(Mux(starts, Cat(Const(Command.START, 8), program), value)),
        ]
        with m.If(host.valid & host.ready):
            m.d.sync += [under_way.eq(1), is_start.eq(starts)]
        with m.If(host.answered):
            m.d.sync += under_way.eq(0)
            with m.If((host.refusal == Refusal.NONE) & is_start):
                m.d.sync += starts.eq(0)
            with m.If((host.refusal == Refusal.NONE) & ~is_start):
                m.d.comb += answered.eq(1)
                m.d.sync += address.eq(address + 1)
        refused = host.answered & (host.refusal != Refusal.NONE) & (host.refusal != Refusal.NOT_NOW)
        self._report(m, refused, Event.REFUSED, Mux(is_start, ControllerWord.COMMAND, address))
        with m.If(written(Register.CALL) & (self.rank == 0)):
            m.d.sync += [starts.eq(1), program.eq(value)]
        with m.If(written(Register.HOST_PLACE)):
            m.d.sync += Cat(place, space).eq(Cat(value[: len(place)], value[16:]))
        with m.If(written(Register.HOST_ADDRESS)):
            m.d.sync += address.eq(value)
