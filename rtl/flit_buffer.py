"""The first-in first-out buffer of one VC of an input port."""

import enum

from amaranth.hdl import C, Cat, ClockDomain, ClockSignal, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Out


class BufferStyle(enum.Enum):
    """What the data of flits are kept in; it makes no difference to what a buffer does."""

    MEMORY = "a memory read without a clock: distributed RAM"
    BLOCK_RAM = "a block RAM read at the falling edge"
    REGISTERS = "registers, in which they move up"


_NEVER = C(0, 1)


class FlitBuffer(Component):
    """``depth`` flits, first in, first out; one written in a cycle is at the front in the next.

    A platform may have an attribute ``buffer_style``, a :class:`BufferStyle`.

    Parameters
    ----------
    layout
        Members ``flit`` and ``route``: a flit, and where it is to go.
    depth
        Places, at least 1.

    Attributes
    ----------
    write, write_item : In
        A flit arrives in this cycle.
    front_valid, front : Out
        The oldest flit, if there is one.
    pop : In(1)
        The front flit leaves in this cycle. Only where ``front_valid``.
    keep_route : In(1)
        The flit that comes to the front next goes by the route that is there, and not by the one
        that it was written with.
    overflow : Out(1)
        A flit arrives and the buffer is full. The flit is lost.

    """

    def __init__(self, layout: data.StructLayout, *, depth: int) -> None:
        self._depth = depth
        super().__init__(
            {
                "write": In(1),
                "write_item": In(layout),
                "front_valid": Out(1),
                "front": Out(layout),
                "pop": In(1),
                "keep_route": In(1),
                "overflow": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Routes and marks in registers, so that what is at the front can ask at once.

        How many places are used is told by as many bits, the lowest set.
        """
        m = Module()
        used, stored = Signal(self._depth), Signal()
        m.d.comb += [
            self.front_valid.eq(used[0]),
            self.overflow.eq(self.write & used[-1]),
            stored.eq(self.write & ~used[-1]),
        ]
        with m.If(stored ^ self.pop):
            m.d.sync += used.eq(Mux(stored, Cat(1, used), used[1:]))
        arriving, front = self.write_item, self.front
        self._move_up(m, used, arriving.route, front.route, keep=self.keep_route)
        for mark in ("head", "tail"):
            self._move_up(m, used, arriving.flit[mark], front.flit[mark])
        style = getattr(platform, "buffer_style", BufferStyle.MEMORY)
        if style is BufferStyle.REGISTERS:
            self._move_up(m, used, arriving.flit.data, front.flit.data)
        else:
            self._keep_in_memory(m, stored, falling=style is BufferStyle.BLOCK_RAM)
        return m

    def _move_up(self, m: Module, used: Signal, arriving, front, *, keep: Value = _NEVER) -> None:
        """A place that is free, or becomes free, takes what is behind it, if it need not keep."""
        arriving = Value.cast(arriving)
        behind, behind_used = arriving, _NEVER
        for place in reversed(range(self._depth)):
            held = Signal(len(arriving), name=f"place_{place}", reset_less=True)
            keeps = keep if place == 0 else _NEVER
            with m.If((self.pop | ~used[place]) & ~keeps):
                m.d.sync += held.eq(Mux(behind_used, behind, arriving))
            behind, behind_used = held, used[place]
        m.d.comb += front.eq(behind)

    def _keep_in_memory(self, m: Module, stored: Signal, *, falling: bool) -> None:
        """A ring that can be read in the cycle after it was written.

        A block RAM wants a clock to be read. At the falling edge it has the data for the second
        half of the cycle, in which they pass the crossbar.
        """
        domain, attributes = "comb", {}
        if falling:
            domain, attributes = "falling", {"ram_style": "block"}
            m.domains.falling = ClockDomain(clk_edge="neg", reset_less=True, local=True)
            m.d.comb += ClockSignal("falling").eq(ClockSignal())
        arriving = self.write_item.flit.data
        m.submodules.kept = kept = Memory(
            shape=len(arriving), depth=self._depth, init=[], attrs=attributes
        )
        write_port, read_port = kept.write_port(), kept.read_port(domain=domain)
        m.d.comb += [
            write_port.en.eq(stored),
            write_port.data.eq(arriving),
            self.front.flit.data.eq(read_port.data),
        ]
        self._advance(m, stored, write_port.addr)
        self._advance(m, self.pop, read_port.addr)

    def _advance(self, m: Module, when: Value, place: Signal) -> None:
        """Go on to the next place in the ring."""
        with m.If(when):
            m.d.sync += place.eq(Mux(place == self._depth - 1, 0, place + 1))
