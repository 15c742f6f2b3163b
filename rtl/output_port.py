"""An output port of the router: grant, hold, credits (docs/router.md, sections 2 and 3)."""

from amaranth.hdl import C, Cat, Module, Mux, Signal
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
        """A counter that starts full."""
        m = Module()
        count = Signal(range(self._depth + 1), init=self._depth)
        m.d.comb += [
            self.available.eq(count != 0),
            self.underflow.eq(self.spend & (count == 0)),
            self.overflow.eq(self.earn & (count == self._depth)),
        ]
        with m.If(~self.underflow & ~self.overflow):
            m.d.sync += count.eq(count + self.earn - self.spend)
        return m


class OutputPort(Component):
    """Grants one of the input ports that ask for it and sends that port's flit.

    Attributes
    ----------
    requests : In(ports)
        Input ports whose chosen flit wants this output.
    vcs, flits : In
        The chosen flit of each input port: its output VC (one-hot), and itself.
    grants : Out(ports)
        The input port whose flit leaves in this cycle, one-hot.
    link : Out(Link)
        To the neighbour, or to the network interface (port 0, where credits are not looked at).
    accept : In(1)
        The interface takes a flit in this cycle; for port 0, which has no credits.
    unheld, credited : Out(vcs)
        Per VC: no packet holds it; it has a credit, or for port 0 the interface accepts.
    credit_underflow, credit_overflow : Out(1)
        What must never happen.

    """

    def __init__(self, config: NetworkConfig, *, port: int) -> None:
        self._config = config
        self._port = port
        ports, vcs = config.topology.ports, config.vcs
        super().__init__(
            {
                "requests": In(ports),
                "vcs": In(data.ArrayLayout(vcs, ports)),
                "flits": In(data.ArrayLayout(flit_layout(config), ports)),
                "grants": Out(ports),
                "link": Out(Link(config)),
                "accept": In(1),
                "unheld": Out(vcs),
                "credited": Out(vcs),
                "credit_underflow": Out(1),
                "credit_overflow": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Arbiter, crossbar column, held VCs, credit counters."""
        m = Module()
        m.submodules.arbiter = grant = RoundRobinArbiter(self._config.topology.ports)
        m.d.comb += [
            grant.requests.eq(self.requests),
            grant.accept.eq(grant.grant.any()),
            self.grants.eq(grant.grant),
        ]
        self._elaborate_crossbar(m)
        self._elaborate_holding(m)
        if self._port == 0:
            m.d.comb += self.credited.eq(self.accept.replicate(self._config.vcs))
        else:
            self._elaborate_credits(m)
        return m

    def _inputs(self) -> list[int]:
        """Input ports that can send here: all but the one beside this output."""
        ports = self._config.topology.ports
        return [port for port in range(ports) if port != self._port]

    def _elaborate_crossbar(self, m: Module) -> None:
        """The granted flit, as an AND-OR of all: the grant is one-hot."""
        width = self.link.flit.shape().size
        flit_bits, valid = C(0), C(0)
        for port in self._inputs():
            flit_bits |= Mux(self.grants[port], self.flits[port].as_value(), 0)
            valid |= Mux(self.grants[port], self.vcs[port], 0)
        m.d.comb += [
            self.link.flit.as_value().eq(flit_bits[:width]),
            self.link.valid.eq(valid),
        ]

    def _elaborate_holding(self, m: Module) -> None:
        """A VC is held from the first flit of a packet to its tail."""
        held = Signal(self._config.vcs)
        m.d.comb += self.unheld.eq(~held)
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
