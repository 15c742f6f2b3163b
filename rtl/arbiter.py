"""Round-robin choice (docs/router.md, section 3: choose, grant)."""

from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import Component, In, Out


class RoundRobinArbiter(Component):
    """Picks one request, the first in cyclic order from the turn.

    Parameters
    ----------
    inputs
        Number of requesters, at least 1.

    Attributes
    ----------
    requests : In(inputs)
        One bit per requester.
    grant : Out(inputs)
        The chosen one, one-hot; 0 where there is no request. Combinational.
    accept : In(1)
        The choice is carried out: at the end of the cycle the turn goes to the requester after it.

    """

    def __init__(self, inputs: int) -> None:
        self._inputs = inputs
        super().__init__({"requests": In(inputs), "grant": Out(inputs), "accept": In(1)})

    def elaborate(self, _platform: object) -> Module:
        """A mask of those from the turn on; the lowest masked request wins, else the lowest."""
        m = Module()
        from_turn = Signal(self._inputs, init=-1)
        masked = Signal(self._inputs)
        m.d.comb += masked.eq(self.requests & from_turn)
        candidates = Signal(self._inputs)
        m.d.comb += candidates.eq(self.requests)
        with m.If(masked.any()):
            m.d.comb += candidates.eq(masked)
        m.d.comb += self.grant.eq(candidates & -candidates)
        with m.If(self.accept):
            # Every bit above the granted one. After the last requester the mask is empty, which
            # chooses as a full one does.
            m.d.sync += from_turn.eq(~(self.grant | (self.grant - 1)))
        return m
