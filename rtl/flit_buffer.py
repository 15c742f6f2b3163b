"""The first-in first-out buffer of one VC of an input port."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Out


class FlitBuffer(Component):
    """``depth`` flits, first in, first out; one written in a cycle is at the front in the next.

    Parameters
    ----------
    layout
        Of a flit and what is buffered with it.
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
    overflow : Out(1)
        A flit arrives and the buffer is full. The flit is lost.

    """

    def __init__(self, layout: data.StructLayout, *, depth: int) -> None:
        self._layout = layout
        self._depth = depth
        super().__init__(
            {
                "write": In(1),
                "write_item": In(layout),
                "front_valid": Out(1),
                "front": Out(layout),
                "pop": In(1),
                "overflow": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """A memory read without a clock, so that the flit leaves in the cycle after it came."""
        m = Module()
        m.submodules.storage = storage = Memory(shape=self._layout, depth=self._depth, init=[])
        write_port, read_port = storage.write_port(), storage.read_port(domain="comb")
        # Laps, counted modulo 2, tell a full buffer from an empty one: the places are the same.
        write_lap, read_lap = Signal(), Signal()
        stored, same_place = Signal(), Signal()
        m.d.comb += [
            same_place.eq(write_port.addr == read_port.addr),
            self.front_valid.eq(~(same_place & (write_lap == read_lap))),
            self.overflow.eq(self.write & same_place & (write_lap != read_lap)),
            stored.eq(self.write & ~self.overflow),
            write_port.en.eq(stored),
            write_port.data.eq(self.write_item),
            self.front.eq(read_port.data),
        ]
        self._advance(m, stored, write_port.addr, write_lap)
        self._advance(m, self.pop, read_port.addr, read_lap)
        return m

    def _advance(self, m: Module, when: Value, place: Signal, lap: Signal) -> None:
        """Go on to the next place in the ring, and after the last one to the next lap."""
        last = place == self._depth - 1
        with m.If(when):
            m.d.sync += [place.eq(Mux(last, 0, place + 1)), lap.eq(lap ^ last)]
