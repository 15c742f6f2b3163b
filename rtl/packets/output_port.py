"""An output port of the router: grant, hold, credits (docs/router.md, sections 2 and 3)."""

from collections.abc import Sequence

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ...model.network.config import NetworkConfig
from ..parts.arbiter import Arbiter
from ..parts.assertions import Assertions, asserted, one_hot_or_zero
from ..parts.crossbar import CrossbarMux
from ..parts.link import Link, flit_layout, rest_bits
from ..parts.technology import PLAIN, Technology
from .credits import CreditCounter


@asserted
class OutputPort(Component):
    """Grants one of the buffers that ask for this output, and sends that buffer's flit.

    Used by :class:`.Router`. Its *candidates* are the buffers of all input ports except the one of
    its own number: those of links by number, then those of the interface. The interface's are
    missing at port 0 and in a switch.

    Parameters
    ----------
    config
        The network.
    port
        Number of the port.
    inputs
        Numbers of the candidates' input ports, in that order. Empty in a switch with one port,
        where no flit ever leaves.
    technology
        How the crossbar is made.

    Members
    -------
    requests : In(candidates), by VC
        A bit for each candidate: high while its front flit asks for this output and VC.
    flits : In
        The front flit of each candidate. Valid while it asks.
    grants : Out(candidates)
        The candidate whose flit leaves in this cycle, one-hot; 0 if no flit leaves.
    link : Out(Link)
        The link to the neighbor, or to the network interface (port 0, which ignores credits). It
        carries the granted flit in the same cycle.
    accept : In(1)
        Only for port 0, which has no credits: high if the interface takes a flit in this cycle.
    rest : In(rest_bits)
        Only for the port of a link, where links differ in their rates: the cycles after a flit in
        which no other may leave. Constant.
    held : Out(vcs)
        Per VC: high while a packet holds it, from the cycle after its first flit has left until the
        cycle in which its tail leaves.
    credit_overflow : Out(1)
        High if a credit comes back while all slots at the far end are free.

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
        self._rest_bits = rest_bits(config) if port else 0
        self._inputs = inputs
        self._candidates = len(inputs) * vcs
        super().__init__(
            {
                "requests": In(self._candidates).array(vcs),
                "flits": In(data.ArrayLayout(flit_layout(config), self._candidates)),
                "grants": Out(self._candidates),
                "link": Out(Link(config)),
                "accept": In(1),
                **({"rest": In(self._rest_bits)} if self._rest_bits else {}),
                "held": Out(vcs),
                "credit_overflow": Out(1),
            }
        )

    def assertions(self, check: Assertions) -> None:
        """State that packets pass whole, and that a flit leaves only for a free slot."""
        if not self._inputs:
            return
        vcs, link = range(self._config.vcs), self.link
        for candidate in range(self._candidates):
            asked = Cat(self.requests[vc][candidate] for vc in vcs)
            check.requires(f"one_request_of_{candidate}", one_hot_or_zero(asked))
            if self._port == 0:
                check.requires(
                    f"own_vc_of_{candidate}", ~(asked & ~(1 << candidate % len(vcs))).any()
                )
        flit = C(0, len(link.flit.as_value()))
        for grant, each in zip(self.grants, self.flits, strict=True):
            flit |= Mux(grant, each.as_value(), 0)
        check.ensures("one_flit", one_hot_or_zero(self.grants) & one_hot_or_zero(link.valid))
        check.ensures("flit_of_the_grant", link.flit.as_value() == flit)
        for vc in vcs:
            self._assert_whole(check, vc)
            if self._port:
                self._assert_credits(check, vc)
        if self._port == 0:
            check.ensures("flit_if_accepted", self.accept | ~link.valid.any())

    def _assert_whole(self, check: Assertions, vc: int) -> None:
        """State that a VC is held from a packet's first flit to its tail, by its buffer."""
        sent, tail, held = self.link.valid[vc], self.link.flit.tail, self.held[vc]
        goes_on = check.before(Mux(sent, ~tail, held))
        holder = check.latest(self.grants, sent)
        check.requires(f"requests_of_the_holder_{vc}", ~held | ~(self.requests[vc] & ~holder).any())
        check.ensures(f"held_from_head_to_tail_{vc}", held == goes_on)
        check.ensures(f"flits_of_the_holder_{vc}", ~(held & sent) | (self.grants == holder))

    def _assert_credits(self, check: Assertions, vc: int) -> None:
        """State that credits of a VC are neither made up nor lost."""
        sent, back, depth = self.link.valid[vc], self.link.credit[vc], self._config.depth
        away = check.count(sent, back, limit=depth)
        check.requires(f"credit_of_a_flit_{vc}", ~back | (away != 0))
        check.ensures(f"no_credit_overflow_{vc}", ~self.credit_overflow)
        check.ensures(f"flit_for_a_free_slot_{vc}", ~sent | (away < depth))
        others = Cat(self.link.valid[other] for other in range(self._config.vcs) if other != vc)
        asked = self.requests[vc].any() & (away < depth)
        if not self._rest_bits:
            # A link with a rate rests between two flits.
            check.ensures(f"flit_if_ready_{vc}", ~asked | sent | others.any())

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
            # With one VC every flit sets the turn; all flits of a packet set it to the same value.
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
        # The register is the complement of ``held``: it takes the tail mark without a gate.
        free = Signal(self._config.vcs, init=-1)
        m.d.comb += self.held.eq(~free)
        for vc in range(self._config.vcs):
            with m.If(self.link.valid[vc]):
                m.d.sync += free[vc].eq(self.link.flit.tail)

    def _elaborate_credits(self, m: Module, arbiter: Arbiter) -> None:
        """Add a credit counter per VC, and the rest between two flits."""
        counters = []
        rested: Value = C(1)
        if self._rest_bits:
            left = Signal(self._rest_bits, name="rest_left")
            rested = ~left.any()
            with m.If(self.link.valid.any()):
                m.d.sync += left.eq(self.rest)
            with m.Elif(left.any()):
                m.d.sync += left.eq(left - 1)
        for vc in range(self._config.vcs):
            m.submodules[f"credits_{vc}"] = counter = CreditCounter(self._config)
            counters.append(counter)
            m.d.comb += [
                counter.spend.eq(self.link.valid[vc]),
                counter.earn.eq(self.link.credit[vc]),
                arbiter.credited[vc].eq(counter.available & rested),
            ]
        overflow = Cat(counter.overflow for counter in counters).any()
        m.d.comb += self.credit_overflow.eq(overflow)
