"""The registers of a link, where links differ (docs/router.md, section 24).

::

    tile n ──► register ──► … ──► tile m     flits
           ◄── register ◄── … ◄──            credits

In other networks all links have the same registers, and they are in the tiles.
"""

from amaranth.hdl import Module, Signal, Value
from amaranth.lib.wiring import Component, In, Out

from ...model.network.config import NetworkConfig
from .link import Link


def delayed(m: Module, value: Value, cycles: int) -> Value:
    """Return ``value``, this many cycles late, and 0 after reset until it arrives."""
    for _ in range(cycles):
        register = Signal(len(value))
        m.d.sync += register.eq(value)
        value = register
    return value


class LinkRegisters(Component):
    """A link with registers for its flits and for the credits that come back.

    Used by :func:`.add_tiles`.

    Parameters
    ----------
    config
        The network.
    registers
        Registers each way.

    Members
    -------
    source, sink : Link
        The ends: at the tile that sends flits, and at the one that gets them.

    """

    def __init__(self, config: NetworkConfig, registers: int) -> None:
        self._registers = registers
        super().__init__({"source": In(Link(config)), "sink": Out(Link(config))})

    def elaborate(self, _platform: object) -> Module:
        """Delay what passes, both ways."""
        m = Module()
        source, sink = self.source, self.sink
        m.d.comb += [
            sink.valid.eq(delayed(m, source.valid, self._registers)),
            sink.flit.eq(delayed(m, source.flit.as_value(), self._registers)),
            source.credit.eq(delayed(m, sink.credit, self._registers)),
        ]
        return m
