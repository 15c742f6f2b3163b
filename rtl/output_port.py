"""An output port of the router: grant, hold, credits (docs/router.md, sections 2 and 3)."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig
from .arbiter import Arbiter
from .credits import CreditCounter
from .crossbar import CrossbarMux
from .link import Link, flit_layout
from .technology import PLAIN, Technology


class OutputPort(Component):
    """Grants one of the buffers that ask for it and sends that buffer's flit.

    Used by :class:`.Router`. Buffers of all input ports but the one beside it are its
    *candidates*: those of links in order of their numbers, then those of the interface, which has
    none at port 0 or in a switch.

    Parameters
    ----------
    config
        Of the network.
    port
        Its number.
    inputs
        Numbers of the input ports of its candidates, in that order. Without any, as in a switch
        that has one port, nothing ever leaves.
    technology
        What it is made of.

    Members
    -------
    requests : In(candidates), by VC
        Candidates whose front flit asks for this output and VC in this cycle.
    flits : In
        The front flit of each candidate. Valid while it asks.
    grants : Out(candidates)
        The one whose flit leaves in this cycle, one-hot; 0 where none does.
    link : Out(Link)
        To the neighbour, or to the network interface (port 0, where credits are not looked at): the
        flit granted, in the same cycle.
    accept : In(1)
        The interface takes a flit in this cycle; for port 0, which has no credits.
    held : Out(vcs)
        Per VC: a packet holds it, from the cycle after its first flit has left to the one in which
        its tail leaves.
    credit_overflow : Out(1)
        A credit comes back in this cycle of which none was out.

    """

    def __init__(
        self,
        config: NetworkConfig,
        *,
        port: int,
        inputs: Sequence[int],
        technology: Technology = PLAIN,
    ) -> None:
        self._config = config
        self._technology = technology
        self._port = port
        vcs = config.vcs
        self._inputs = inputs
        self._candidates = len(inputs) * vcs
        super().__init__(
            {
                "requests": In(self._candidates).array(vcs),
                "flits": In(data.ArrayLayout(flit_layout(config), self._candidates)),
                "grants": Out(self._candidates),
                "link": Out(Link(config)),
                "accept": In(1),
                "held": Out(vcs),
                "credit_overflow": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build the arbiter, the crossbar column, the held VCs and the credit counters."""
        m = Module()
        if not self._inputs:
            return m
        groups, vcs = len(self._inputs), self._config.vcs
        m.submodules.arbiter = arbiter = Arbiter(
            groups, vcs, vcs=vcs, delivers=self._port == 0, interface=0 in self._inputs
        )
        m.submodules.crossbar = crossbar = CrossbarMux(
            flit_layout(self._config).size, groups, vcs, technology=self._technology
        )
        m.d.comb += [
            *(arbiter.requests[vc].eq(self.requests[vc]) for vc in range(vcs)),
            # On one VC further flits of a packet leave the turn where its first one has put it.
            arbiter.begins.eq(-1 if vcs == 1 else ~self.held),
            self.grants.eq(arbiter.grant),
            crossbar.values.eq(self.flits),
            crossbar.grant.eq(arbiter.grant),
            crossbar.wins.eq(arbiter.wins),
            crossbar.group.eq(arbiter.group),
            crossbar.candidates.eq(arbiter.candidates),
            self.link.flit.eq(crossbar.value),
            self.link.valid.eq(arbiter.granted),
        ]
        self._elaborate_holding(m)
        if self._port == 0:
            m.d.comb += arbiter.credited.eq(self.accept.replicate(vcs))
        else:
            self._elaborate_credits(m, arbiter)
        return m

    def _elaborate_holding(self, m: Module) -> None:
        """Hold a VC from the first flit of a packet to its tail."""
        # Not "held": the register takes the flit from the crossbar unchanged.
        free = Signal(self._config.vcs, init=-1)
        m.d.comb += self.held.eq(~free)
        for vc in range(self._config.vcs):
            with m.If(self.link.valid[vc]):
                m.d.sync += free[vc].eq(self.link.flit.tail)

    def _elaborate_credits(self, m: Module, arbiter: Arbiter) -> None:
        """Add a credit counter per VC."""
        counters = []
        for vc in range(self._config.vcs):
            m.submodules[f"credits_{vc}"] = counter = CreditCounter(self._config)
            counters.append(counter)
            m.d.comb += [
                counter.spend.eq(self.link.valid[vc]),
                counter.earn.eq(self.link.credit[vc]),
                arbiter.credited[vc].eq(counter.available),
            ]
        overflow = Cat(counter.overflow for counter in counters).any()
        m.d.comb += self.credit_overflow.eq(overflow)
