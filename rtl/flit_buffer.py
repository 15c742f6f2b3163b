"""The first-in first-out buffer of one VC of an input port."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Out

from ..model.config import NetworkConfig
from .link import flit_layout


class FlitBuffer(Component):
    """``depth`` flits, first in, first out; one written in a cycle is at the front in the next.

    Attributes
    ----------
    write, write_flit : In
        A flit arrives in this cycle.
    front_valid, front : Out
        The oldest flit, if there is one.
    pop : In(1)
        The front flit leaves in this cycle. Only where ``front_valid``.
    overflow : Out(1)
        A flit arrives and the buffer is full. The flit is lost.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._depth = config.depth
        self._layout = flit_layout(config)
        super().__init__(
            {
                "write": In(1),
                "write_flit": In(self._layout),
                "front_valid": Out(1),
                "front": Out(self._layout),
                "pop": In(1),
                "overflow": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """A memory read without a clock, so that the flit leaves in the cycle after it came."""
        m = Module()
        m.submodules.storage = storage = Memory(shape=self._layout, depth=self._depth, init=[])
        write_port, read_port = storage.write_port(), storage.read_port(domain="comb")
        level = Signal(range(self._depth + 1))
        full = level == self._depth
        stored = Signal()
        m.d.comb += [
            stored.eq(self.write & ~full),
            self.overflow.eq(self.write & full),
            write_port.en.eq(stored),
            write_port.data.eq(self.write_flit),
            self.front_valid.eq(level != 0),
            self.front.eq(read_port.data),
        ]
        with m.If(stored):
            m.d.sync += write_port.addr.eq(self._after(write_port.addr))
        with m.If(self.pop):
            m.d.sync += read_port.addr.eq(self._after(read_port.addr))
        m.d.sync += level.eq(level + stored - self.pop)
        return m

    def _after(self, place: Signal) -> Value:
        """The place after ``place`` in the ring of ``depth`` places."""
        if self._depth & (self._depth - 1) == 0:
            return place + 1
        return Mux(place == self._depth - 1, 0, place + 1)
