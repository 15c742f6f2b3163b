"""The credits of one VC of a link (docs/router.md, section 2)."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig


class CreditCounter(Component):
    """The places that are free in the buffer at the far end of a link, for one VC.

    Attributes
    ----------
    available : Out(1)
        There is a free place.
    spend, earn : In(1)
        A flit leaves for it; a credit comes back.
    overflow : Out(1)
        A credit comes back and none was out. The count stays.

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
        """Keep one bit for each place, the lowest set: no sum is in the way of a request."""
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
