"""An engine whose buses run on a clock of their own (docs/router.md, section 21, "Another clock").

::

    clk          AXI4-Lite, AXI-Streams ─► FIFO ─┐
                 Wishbone ─► request, answer ─►  │ eyecast_engine
                 done, interrupt ◄─ registers ─◄ ┘                    engine_clk
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from amaranth.hdl import Cat, ClockDomain, ClockSignal, Module, ResetSignal, Signal
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.fifo import AsyncFIFO
from amaranth.lib.wiring import Component, In, Signature, connect, flipped

from ..model.network.buses import HostBus, TileBus
from ..model.network.config import NetworkConfig
from .controlled import STATE_OUTPUTS
from .engine import engine_signature
from .tiles import add_by_name

BUSES, ENGINE = "sync", "engine"
"""The clock domains of the buses and of the engine."""
ENTRIES = 4
"""Entries of a FIFO, a power of two."""
_ASKS = ("wb_we_i", "wb_adr_i", "wb_sel_i", "wb_dat_i")


class _Channel(NamedTuple):
    """A stream of a bus: the names of its payload, and of its handshake."""

    payload: tuple[str, ...]
    valid: str
    ready: str


def _channels(names: list[str]) -> Iterator[_Channel]:
    """Yield the channels among the names of an engine's ports."""
    for valid in names:
        if valid.startswith(("s_axi_", "s_axis_", "m_axis_")) and valid.endswith("valid"):
            prefix, both = valid.removesuffix("valid"), ("valid", "ready")
            payload = [
                name
                for name in names
                if name.startswith(prefix) and name.removeprefix(prefix) not in both
            ]
            yield _Channel(tuple(payload), valid, f"{prefix}ready")


class Crossing(Component):
    """An engine behind asynchronous FIFOs.

    Parameters
    ----------
    config, host, tile
        The network, and the buses in front of its host port and of its tile ports.
    engine
        The name of the engine's module.

    Members
    -------
    Those of :class:`.Engine`, and

    engine_clk, engine_rst : In(1)
        The engine's clock and reset.

    """

    def __init__(
        self, config: NetworkConfig, host: HostBus, tile: TileBus | None, engine: str
    ) -> None:
        self._inside, self._module, self._host = engine_signature(config, host, tile), engine, host
        clock = {"engine_clk": In(1), "engine_rst": In(1)}
        super().__init__(Signature({**self._inside.members, **clock}))

    def elaborate(self, _platform: object) -> Module:
        """Add the engine on its clock, and a way to and from each of its ports."""
        m = Module()
        m.domains += ClockDomain(ENGINE)
        m.d.comb += [
            ClockSignal(ENGINE).eq(self.engine_clk),
            ResetSignal(ENGINE).eq(self.engine_rst),
        ]
        reset, clock = ResetSignal(ENGINE), ClockSignal(ENGINE)
        engine = add_by_name(m, self._module, self._inside, "engine", reset, clock)
        for channel in _channels(list(self._inside.members)):
            self._elaborate_channel(m, engine, channel)
        if self._host is HostBus.WISHBONE:
            self._elaborate_wishbone(m, engine)
        for name in STATE_OUTPUTS:
            inside, outside = getattr(engine, name), getattr(self, name)
            m.submodules[f"{name}_registers"] = FFSynchronizer(inside, outside, o_domain=BUSES)
        m.d.comb += self.cycle.eq(engine.cycle)
        for name in self._inside.members:
            if name.startswith("tile_"):
                connect(m, getattr(flipped(self), name), getattr(engine, name))
        return m

    def _elaborate_channel(self, m: Module, engine: Any, channel: _Channel) -> None:
        """Add the FIFO of a channel, from the buses to the engine or back."""
        inward = self.signature.members[channel.valid].flow == In
        source, sink = (self, engine) if inward else (engine, self)
        given = Cat(getattr(source, name) for name in channel.payload)
        taken = Cat(getattr(sink, name) for name in channel.payload)
        fifo = _fifo(len(given), inward=inward)
        m.submodules[channel.valid.removesuffix("valid").removesuffix("_t")] = fifo
        m.d.comb += [
            fifo.w_data.eq(given),
            fifo.w_en.eq(getattr(source, channel.valid)),
            getattr(source, channel.ready).eq(fifo.w_rdy),
            taken.eq(fifo.r_data),
            getattr(sink, channel.valid).eq(fifo.r_rdy),
            fifo.r_en.eq(getattr(sink, channel.ready)),
        ]

    def _elaborate_wishbone(self, m: Module, engine: Any) -> None:
        """Hand accesses to the engine one by one, and show the answers to those that still wait."""
        given = Cat(getattr(self, name) for name in _ASKS)
        answer = Cat(engine.wb_err_o, engine.wb_dat_o)
        m.submodules.accesses = accesses = _fifo(len(given), inward=True)
        m.submodules.answers = answers = _fifo(len(answer), inward=False)
        # An access is under way; its initiator has given it up; its answer is shown.
        under_way, given_up, over, refused = Signal(), Signal(), Signal(), Signal()
        asks = Signal()
        m.d.comb += [
            asks.eq(self.wb_cyc_i & self.wb_stb_i),
            accesses.w_data.eq(given),
            accesses.w_en.eq(asks & ~under_way & ~over),
            answers.r_en.eq(under_way),
            self.wb_stall_o.eq(~over),
            self.wb_ack_o.eq(over & ~refused & asks),
            self.wb_err_o.eq(over & refused & asks),
        ]
        m.d.sync += over.eq(0)
        with m.If(~under_way):
            m.d.sync += [under_way.eq(accesses.w_en & accesses.w_rdy), given_up.eq(0)]
        with m.Elif(answers.r_rdy):
            waits = asks & ~given_up
            m.d.sync += [
                under_way.eq(0),
                over.eq(waits),
                Cat(refused, self.wb_dat_o).eq(answers.r_data),
            ]
        with m.Elif(~asks):
            m.d.sync += given_up.eq(1)
        answered = engine.wb_ack_o | engine.wb_err_o
        m.d.comb += [
            Cat(getattr(engine, name) for name in _ASKS).eq(accesses.r_data),
            engine.wb_cyc_i.eq(accesses.r_rdy),
            engine.wb_stb_i.eq(accesses.r_rdy),
            accesses.r_en.eq(answered),
            answers.w_data.eq(answer),
            answers.w_en.eq(answered),
        ]


def _fifo(width: int, *, inward: bool) -> AsyncFIFO:
    """Return a FIFO from the buses to the engine, or back."""
    writes, reads = (BUSES, ENGINE) if inward else (ENGINE, BUSES)
    return AsyncFIFO(width=width, depth=ENTRIES, w_domain=writes, r_domain=reads)
