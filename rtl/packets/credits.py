"""The credits of one VC of a link (docs/router.md, section 2)."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib.wiring import Component, In, Out

from ...model.network.config import NetworkConfig
from ..parts.assertions import Assertions, asserted


@asserted
class CreditCounter(Component):
    """Count of the free slots in the buffer at the far end of a link, for one VC.

    Used by :class:`.OutputPort` and :class:`.Sender`.

    Members
    -------
    available : Out(1)
        High while a slot is free: a flit may leave in this cycle.
    spend : In(1)
        High in the cycle in which a flit leaves for the buffer. Only while ``available`` is 1.
    earn : In(1)
        High in the cycle in which a credit comes back. Its slot is free from the next cycle on.
    overflow : Out(1)
        High if a credit comes back while all slots are free. The count does not change then.

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

    def assertions(self, check: Assertions) -> None:
        """State that credits are neither made up nor lost."""
        kept = self.earn & (self.spend | ~self.overflow)
        free = check.count(kept, self.spend, limit=self._depth, init=self._depth)
        check.requires("spend_of_a_credit", self.available | ~self.spend)
        check.ensures("no_more_credits_than_slots", free <= self._depth)
        check.ensures("available_while_a_slot_is_free", self.available == (free != 0))
        check.ensures(
            "overflow_while_all_are_free", self.overflow == (self.earn & (free == self._depth))
        )

    def elaborate(self, _platform: object) -> Module:
        """Keep the count as ones from bit 0 on, so that no request waits for an adder."""
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
