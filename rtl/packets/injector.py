"""The injection of a sender's flits, by credit (docs/router.md, section 4, "Sender")."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import Component, In, Out

from ...model.network.config import NetworkConfig
from .credits import CreditCounter


class Injector(Component):
    """Lets an offered flit leave if its VC has a credit. Used by :class:`.Sender`.

    Members
    -------
    wanted : In(1)
        High in a cycle in which a flit is offered.
    begins : In(1)
        High if the offered flit begins a packet. The others follow it on its VC.
    first_vc : In(vcs)
        The VC of the packet that begins, one-hot. Valid while ``begins`` is 1.
    valid, credit : Out(vcs), In(vcs)
        As for :class:`.Link`. A network without contention has no credits.
    injected : Out(1)
        High in a cycle in which the offered flit leaves.
    stalled : Out(1)
        High in a cycle in which a flit leaves that has waited for a credit.
    keeps_credit : Out(1)
        High while the VC of the last injected flit has a credit.
    credit_overflow : Out(1)
        High in a cycle in which a credit comes back while none was out.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__(
            {
                "wanted": In(1),
                "begins": In(1),
                "first_vc": In(config.vcs),
                "valid": Out(config.vcs),
                "credit": In(config.vcs),
                "injected": Out(1),
                "stalled": Out(1),
                "keeps_credit": Out(1),
                "credit_overflow": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Choose the VC, and look for its credit."""
        m = Module()
        vc, waited = Signal(self._config.vcs, name="vc"), Signal(name="waited")
        # With one VC the initial value never changes, so that this becomes no register.
        kept_vc = Signal.like(vc, init=1, name="kept_vc")
        has_credit: Value = C(1)
        keeps_credit: Value = C(1)
        if not self._config.contention_free:
            available = self._elaborate_credits(m)
            has_credit, keeps_credit = (vc & available).any(), (kept_vc & available).any()
        m.d.comb += [
            vc.eq(Mux(self.begins, self.first_vc, kept_vc)),
            self.injected.eq(self.wanted & has_credit),
            self.valid.eq(Mux(self.injected, vc, 0)),
            self.stalled.eq(self.injected & waited),
            self.keeps_credit.eq(keeps_credit),
        ]
        m.d.sync += waited.eq(self.wanted & ~self.injected)
        with m.If(self.injected):
            m.d.sync += kept_vc.eq(vc)
        return m

    def _elaborate_credits(self, m: Module) -> Value:
        """Count the credits; return the VCs that have one."""
        counters = [CreditCounter(self._config) for _ in range(self._config.vcs)]
        for number, counter in enumerate(counters):
            m.submodules[f"credits_{number}"] = counter
            m.d.comb += [
                counter.spend.eq(self.valid[number]),
                counter.earn.eq(self.credit[number]),
            ]
        overflow = Cat(counter.overflow for counter in counters).any()
        m.d.comb += self.credit_overflow.eq(overflow)
        return Cat(counter.available for counter in counters)
