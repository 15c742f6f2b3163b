"""A node's signature: a CRC of every flit its router sends (docs/router.md, section 12)."""

from amaranth.hdl import C, Cat, Module, Mux, Value
from amaranth.lib.wiring import Component, In, Out

from ...model.network.config import SIGNATURE_BITS, NetworkConfig
from .link import CYCLE_BITS, Ejection, router_ports
from .technology import PLAIN, Technology

POLYNOMIAL = 0x04C11DB7
"""Polynomial of the usual 32-bit CRC (ITU-T V.42), without its highest term."""
PLACES_PER_PORT = 3
"""Bits by which port p + 1's data are rotated further than port p's."""


class SignatureRegister(Component):
    """Signature of the flits that leave a router, or a ``switch``. Used by :class:`.Tile`.

    Members
    -------
    sent : array of Ejection, In
        The flit that leaves each output port in this cycle. A switch has only the ports of links.
    cycle : In(32)
        The number of this cycle. Used if a flit leaves.
    value : Out(32)
        The signature of all cycles since reset, without this one.

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
            # With ``crossbar_rests_at_zero``, a port is 0 already if no flit leaves by it.
            counts = C(1) if self._zero else sent.valid.any()
            word ^= Mux(counts, _folded(sent).rotate_left(places), 0)
        feedback = Mux(self.value[-1], POLYNOMIAL, 0)
        with m.If(Cat(sent.valid for sent in self.sent).any()):
            m.d.sync += self.value.eq((self.value << 1) ^ feedback ^ word)
        return m


def _folded(sent) -> Value:
    """Return the xor of the 32-bit pieces of a flit and its VC."""
    bits = Cat(sent.flit.data, sent.flit.head, sent.flit.tail, sent.valid)
    folded = C(0, SIGNATURE_BITS)
    for low in range(0, len(bits), SIGNATURE_BITS):
        folded ^= bits[low : low + SIGNATURE_BITS]
    return folded
