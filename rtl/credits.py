"""The credits of one VC of a link (docs/router.md, section 2)."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig


class CreditCounter(Component):
    """The places that are free in the buffer at the far end of a link, for one VC.

    Used by :class:`.OutputPort` and :class:`.Sender`.

    Members
    -------
    available : Out(1)
        A place was free before this cycle: a flit may leave in it.
    spend : In(1)
        A flit leaves for the buffer in this cycle. Only while ``available`` is 1.
    earn : In(1)
        A credit comes back in this cycle: from the next one on its place is free.
    overflow : Out(1)
        A credit comes back in this cycle and none was out. The count stays.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._depth = config.depth
        super().__init__(
            {
                "available": Out(1),
                "spend": In(1),
                "earn": In(1),
                "overflow": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Keep one bit for each slot, the lowest set; so a request waits for no adder."""
        m = Module()
        places = Signal(self._depth, init=-1)
        full = places[-1]
        m.d.comb += [
            self.available.eq(places[0]),
            self.overflow.eq(self.earn & full),
        ]
        with m.If(self.spend ^ self.earn):
            m.d.sync += places.eq(Mux(self.earn, Cat(1, places), places[1:]))
        return m
