"""The injection of a sender's flits, by credit (docs/router.md, section 4, "Sender").

Used by :class:`.Sender`.
"""

from typing import Any

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value

from ..model.network.config import NetworkConfig
from .credits import CreditCounter


class Injector:
    """The offered flit, its VC, and the credits that let it leave.

    Parameters
    ----------
    m
        The module of the sender, to which the injector adds its gates.
    config
        The network.
    ports
        The ports of the sender.

    Attributes
    ----------
    wanted : Signal
        High in a cycle in which a flit is offered. Set by the sender's states.
    vc : Signal
        The VC of the offered flit, one-hot. A state that begins a packet sets it; otherwise it is
        the VC of the last injected flit.
    injected : Signal
        High in a cycle in which the offered flit leaves.
    keeps_credit : Value
        High while the VC of the last injected flit has a credit. Valid after ``elaborate``.

    """

    def __init__(self, m: Module, config: NetworkConfig, ports: Any) -> None:
        self._m, self._config, self._ports = m, config, ports
        self.vc = Signal(config.vcs, name="vc")
        self.wanted = Signal(name="wanted")
        self.injected = Signal(name="injected")
        self.keeps_credit: Value = C(1)

    def elaborate(self) -> None:
        """Inject a wanted flit if its VC has a credit; a network without contention has none."""
        m, ports = self._m, self._ports
        # With one VC the initial value never changes, so that this becomes no register.
        kept_vc, waited = Signal.like(self.vc, init=1, name="kept_vc"), Signal(name="waited")
        has_credit: Value = C(1)
        if not self._config.contention_free:
            available = self._available()
            has_credit = (self.vc & available).any()
            self.keeps_credit = (kept_vc & available).any()
        m.d.comb += [
            self.vc.eq(kept_vc),
            self.injected.eq(self.wanted & has_credit),
            ports.link.valid.eq(Mux(self.injected, self.vc, 0)),
            ports.stalled.eq(self.injected & waited),
        ]
        m.d.sync += waited.eq(self.wanted & ~self.injected)
        with m.If(self.injected):
            m.d.sync += kept_vc.eq(self.vc)

    def _available(self) -> Value:
        """Return the VCs that have a credit."""
        m, ports = self._m, self._ports
        counters = [CreditCounter(self._config) for _ in range(self._config.vcs)]
        for number, counter in enumerate(counters):
            m.submodules[f"credits_{number}"] = counter
            m.d.comb += [
                counter.spend.eq(ports.link.valid[number]),
                counter.earn.eq(ports.link.credit[number]),
            ]
        overflow = Cat(counter.overflow for counter in counters).any()
        m.d.comb += ports.causes.credit_overflow.eq(overflow)
        return Cat(counter.available for counter in counters)
