"""An output port of the router: grant, hold, credits (docs/router.md, sections 2 and 3)."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ..model.config import NetworkConfig
from .arbiter import RoundRobinArbiter
from .link import Link, flit_layout


class CreditCounter(Component):
    """The places that are free in the buffer at the far end of a link, for one VC.

    Attributes
    ----------
    available : Out(1)
        There is a free place.
    spend, earn : In(1)
        A flit leaves for it; a credit comes back.
    underflow, overflow : Out(1)
        A flit has left without a credit, in the cycle before; a credit comes back and none was out.
        The count stays.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._depth = config.depth
        super().__init__(
            {
                "available": Out(1),
                "spend": In(1),
                "earn": In(1),
                "underflow": Out(1),
                "overflow": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """A counter that starts full. What is spent is known last, and only chooses."""
        m = Module()
        count = Signal(range(self._depth + 1), init=self._depth)
        empty, full = Signal(), Signal()
        m.d.comb += [
            empty.eq(count == 0),
            full.eq(count == self._depth),
            self.available.eq(~empty),
            self.overflow.eq(self.earn & full),
        ]
        m.d.sync += self.underflow.eq(self.spend & empty)
        with m.If(self.spend & ~self.earn & ~empty):
            m.d.sync += count.eq(count - 1)
        with m.Elif(~self.spend & self.earn & ~full):
            m.d.sync += count.eq(count + 1)
        return m


class OutputPort(Component):
    """Grants one of the buffers that ask for it and sends that buffer's flit.

    Buffers of all input ports but the one beside it, in order of their numbers, are its
    *candidates*.

    Attributes
    ----------
    requests : In(candidates)
        Buffers whose front flit may leave by this output.
    vcs, flits : In
        The front flit of each candidate: its output VC (one-hot), and itself.
    grants : Out(candidates)
        The one whose flit leaves in this cycle, one-hot.
    link : Out(Link)
        To the neighbour, or to the network interface (port 0, where credits are not looked at).
    accept : In(1)
        The interface takes a flit in this cycle; for port 0, which has no credits.
    credited, held : Out(vcs)
        Per VC: it has a credit, or for port 0 the interface accepts; a packet holds it.
    credit_underflow, credit_overflow : Out(1)
        What must never happen.

    """

    def __init__(self, config: NetworkConfig, *, port: int) -> None:
        self._config = config
        self._port = port
        vcs = config.vcs
        self._candidates = (config.topology.ports - 1) * vcs
        super().__init__(
            {
                "requests": In(self._candidates),
                "vcs": In(data.ArrayLayout(vcs, self._candidates)),
                "flits": In(data.ArrayLayout(flit_layout(config), self._candidates)),
                "grants": Out(self._candidates),
                "link": Out(Link(config)),
                "accept": In(1),
                "credited": Out(vcs),
                "held": Out(vcs),
                "credit_underflow": Out(1),
                "credit_overflow": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Arbiter, crossbar column, held VCs, credit counters."""
        m = Module()
        m.submodules.arbiter = arbiter = RoundRobinArbiter(self._candidates)
        m.d.comb += [
            arbiter.requests.eq(self.requests),
            self.grants.eq(arbiter.grant),
            self.link.flit.eq(self._granted(self.flits)),
            self.link.valid.eq(self._granted(self.vcs)),
        ]
        self._elaborate_holding(m)
        if self._port == 0:
            m.d.comb += self.credited.eq(self.accept.replicate(self._config.vcs))
        else:
            self._elaborate_credits(m)
        return m

    def _granted(self, values: data.View) -> Value:
        """The granted candidate's value, as an AND-OR of all: the grant is one-hot."""
        chosen = C(0)
        for place in range(self._candidates):
            chosen |= Mux(self.grants[place], Value.cast(values[place]), 0)
        return chosen

    def _elaborate_holding(self, m: Module) -> None:
        """A VC is held from the first flit of a packet to its tail."""
        held = Signal(self._config.vcs)
        m.d.comb += self.held.eq(held)
        for vc in range(self._config.vcs):
            with m.If(self.link.valid[vc]):
                m.d.sync += held[vc].eq(~self.link.flit.tail)

    def _elaborate_credits(self, m: Module) -> None:
        """A credit counter per VC."""
        counters = []
        for vc in range(self._config.vcs):
            m.submodules[f"credits_{vc}"] = counter = CreditCounter(self._config)
            counters.append(counter)
            m.d.comb += [
                counter.spend.eq(self.link.valid[vc]),
                counter.earn.eq(self.link.credit[vc]),
                self.credited[vc].eq(counter.available),
            ]
        m.d.comb += [
            self.credit_underflow.eq(Cat(counter.underflow for counter in counters).any()),
            self.credit_overflow.eq(Cat(counter.overflow for counter in counters).any()),
        ]
