"""Round-robin choice (docs/router.md, section 3: grant)."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import Component, In, Out


class RoundRobinArbiter(Component):
    """Picks one request, the first in cyclic order from the turn, which then goes to the next one.

    Parameters
    ----------
    inputs
        Number of requesters, at least 1.

    Attributes
    ----------
    requests : In(inputs)
        One bit per requester.
    grant : Out(inputs)
        The chosen one, one-hot; 0 where there is no request. Combinational. At the end of the
        cycle the turn goes to the requester after it.

    """

    def __init__(self, inputs: int) -> None:
        self._inputs = inputs
        super().__init__({"requests": In(inputs), "grant": Out(inputs)})

    def elaborate(self, _platform: object) -> Module:
        """A mask of those from the turn on; the lowest masked request wins, else the lowest."""
        m = Module()
        # After the last requester it is empty, which means the same as full.
        from_turn, masked = Signal(self._inputs), Signal(self._inputs)
        m.d.comb += [
            masked.eq(self.requests & from_turn),
            self.grant.eq(Mux(masked.any(), _lowest(masked), _lowest(self.requests))),
        ]
        with m.If(self.requests.any()):
            m.d.sync += from_turn.eq(_above(self.grant))
        return m


def _above(bits: Signal) -> Value:
    """The places above the lowest bit that is set.

    Written out: a subtraction would take a carry chain, slow and large for so few bits.
    """
    return Cat(bits[:place].any() for place in range(len(bits)))


def _lowest(bits: Signal) -> Value:
    """The lowest bit that is set, alone."""
    return bits & ~_above(bits)
