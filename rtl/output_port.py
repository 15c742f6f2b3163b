"""An output port of the router: grant, hold, credits (docs/router.md, sections 2 and 3)."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ..model.config import NetworkConfig
from .arbiter import RoundRobinArbiter
from .crossbar import CrossbarMux
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
        A flit leaves without a credit; a credit comes back and none was out. The count stays.

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
        """As many bits as there are places, the lowest set: no sum is in the way of a request."""
        m = Module()
        places = Signal(self._depth, init=-1)
        full = places[-1]
        m.d.comb += [
            self.available.eq(places[0]),
            self.underflow.eq(self.spend & ~self.available),
            self.overflow.eq(self.earn & full),
        ]
        with m.If(self.spend ^ self.earn):
            m.d.sync += places.eq(Mux(self.earn, Cat(1, places), places[1:]))
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
        groups, vcs = self._config.topology.ports - 1, self._config.vcs
        m.submodules.arbiter = arbiter = RoundRobinArbiter(groups, vcs)
        m.submodules.crossbar = crossbar = CrossbarMux(flit_layout(self._config).size, groups, vcs)
        m.d.comb += [
            arbiter.requests.eq(self.requests),
            self.grants.eq(arbiter.grant),
            crossbar.values.eq(self.flits),
            crossbar.grant.eq(arbiter.grant),
            crossbar.wins.eq(arbiter.wins),
            crossbar.group.eq(arbiter.group),
            crossbar.candidates.eq(arbiter.candidates),
            self.link.flit.eq(crossbar.value),
            self.link.valid.eq(self._granted_vc(arbiter)),
        ]
        self._elaborate_holding(m)
        if self._port == 0:
            m.d.comb += self.credited.eq(self.accept.replicate(self._config.vcs))
        else:
            self._elaborate_credits(m)
        return m

    def _granted_vc(self, arbiter: RoundRobinArbiter) -> Value:
        """The granted candidate's VC; none where nothing is granted."""
        granted = C(0)
        for group, wins in enumerate(arbiter.wins):
            vc = C(0)
            for member, is_candidate in enumerate(arbiter.candidates[group]):
                vc |= Mux(is_candidate, self.vcs[group * self._config.vcs + member], 0)
            granted |= Mux(wins, vc, 0)
        return granted

    def _elaborate_holding(self, m: Module) -> None:
        """A VC is held from the first flit of a packet to its tail."""
        # Not "held": what comes through the crossbar goes into the register as it is.
        free = Signal(self._config.vcs, init=-1)
        m.d.comb += self.held.eq(~free)
        for vc in range(self._config.vcs):
            with m.If(self.link.valid[vc]):
                m.d.sync += free[vc].eq(self.link.flit.tail)

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
