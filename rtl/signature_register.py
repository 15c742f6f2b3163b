"""A node's signature: what its router sends, and when, in 32 bits (docs/router.md, section 12)."""

from amaranth.hdl import C, Cat, Module, Mux, Value
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import SIGNATURE_BITS, NetworkConfig
from .link import CYCLE_BITS, Ejection, router_ports
from .technology import PLAIN, Technology

POLYNOMIAL = 0x04C11DB7
"""Of the usual CRC of 32 bits (ITU-T V.42), without its highest term."""
PLACES_PER_PORT = 3
"""Bits by which each port's data are rotated against the previous port's."""


class SignatureRegister(Component):
    """Folds what leaves a router, or that of a ``switch``. Used by :class:`.Tile`.

    Members
    -------
    sent : array of Ejection, In
        What leaves each output port in this cycle; of a switch, those of links.
    cycle : In(32)
        The number of this cycle. Looked at where something leaves.
    value : Out(32)
        The signature of all cycles since reset but this one.

    """

    def __init__(
        self, config: NetworkConfig, *, switch: bool = False, technology: Technology = PLAIN
    ) -> None:
        self._zero = technology.crossbar_rests_at_zero
        self._ports = router_ports(config, switch=switch)
        super().__init__(
            {
                "sent": In(Ejection(config)).array(len(self._ports)),
                "cycle": In(CYCLE_BITS),
                "value": Out(SIGNATURE_BITS),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Advance the CRC in every cycle in which a flit leaves."""
        m = Module()
        word = self.cycle
        for port, sent in zip(self._ports, self.sent, strict=True):
            places = PLACES_PER_PORT * port % SIGNATURE_BITS
            # A port that no flit leaves by may be 0 by itself.
            counts = C(1) if self._zero else sent.valid.any()
            word ^= Mux(counts, _folded(sent).rotate_left(places), 0)
        feedback = Mux(self.value[-1], POLYNOMIAL, 0)
        with m.If(Cat(sent.valid for sent in self.sent).any()):
            m.d.sync += self.value.eq((self.value << 1) ^ feedback ^ word)
        return m


def _folded(sent) -> Value:
    """Fold a flit and its VC into 32 bits, by pieces."""
    bits = Cat(sent.flit.data, sent.flit.head, sent.flit.tail, sent.valid)
    folded = C(0, SIGNATURE_BITS)
    for low in range(0, len(bits), SIGNATURE_BITS):
        folded ^= bits[low : low + SIGNATURE_BITS]
    return folded
