"""The part that bus bridges share: a bus access becomes a request (docs/router.md, section 21)."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out, Signature

from ..model.network.buses import REVISION, bus_data_bits, require_address_bits
from ..model.network.config import NetworkConfig, bits_for
from .parts.host_port import Refusal, RequestPort, host_address_bits, node_bits

REFUSED_WORD = 7
"""Address of the word in which the bridge keeps the last refused access (controller, node 0)."""

REVISION_NODE = 1
"""Node number, in the controller's region, at whose word 0 the bridge shows its revision."""

REFUSAL_BITS = 2


def address_layout(config: NetworkConfig) -> data.StructLayout:
    """Return the fields of a byte address, the lowest first."""
    return data.StructLayout(
        {
            "byte": bits_for(bus_data_bits(config) // 8 - 1),
            "word": host_address_bits(config),
            "node": node_bits(config),
            "region": 2,
        }
    )


class Access(Signature):
    """Accesses of a bus, one at a time; the directions are those of the bus.

    Members
    -------
    valid : Out(1)
        High while there is an access, until it is answered. If ``valid`` falls before, the bus has
        given the access up. The access does not change while ``valid`` is 1.
    write, address, data, bytes : Out
        1 for a write; the byte address; the word to write; one bit for each of its bytes that is
        written. Valid while ``valid`` is 1.
    answered : In(1)
        High in the last cycle of an access.
    read_data, refusal : In
        The word read, and a :class:`.Refusal`. Valid while ``answered`` is 1.

    """

    def __init__(self, config: NetworkConfig) -> None:
        width = bus_data_bits(config)
        super().__init__(
            {
                "valid": Out(1),
                "write": Out(1),
                "address": Out(address_layout(config)),
                "data": Out(width),
                "bytes": Out(width // 8),
                "answered": In(1),
                "read_data": In(width),
                "refusal": In(REFUSAL_BITS),
            }
        )


class BusAccess(Component):
    """Carries out accesses as requests, and keeps the last refused access.

    Used by :class:`.Axi4Lite` and :class:`.Wishbone`. Raises :class:`.InvalidInput` for a network
    with more addresses than a bus has.

    Members
    -------
    access : In(Access)
        The access of the bus.
    host : Out(RequestPort)
        The requests to the network.

    """

    def __init__(self, config: NetworkConfig) -> None:
        require_address_bits(address_layout(config).size)
        super().__init__({"access": In(Access(config)), "host": Out(RequestPort(config))})

    def elaborate(self, _platform: object) -> Module:
        """Send one request at a time to the network; answer the bridge's own words here."""
        m = Module()
        access, host = self.access, self.host
        refused, here = Signal.like(access.read_data), Signal()
        of_bridge = Mux(access.address.node == REVISION_NODE, REVISION, refused)
        # The controller leaves its reset a cycle late, and takes no request before.
        awake = Signal()
        m.d.sync += awake.eq(1)
        with m.FSM():
            with m.State("ASK"), m.If(awake & access.valid):
                m.d.comb += host.valid.eq(~here)
                with m.If(here):
                    m.next = "HERE"
                with m.Elif(host.ready):
                    m.next = "WAIT"
            with m.State("HERE"):
                m.d.comb += [
                    access.answered.eq(access.valid),
                    access.read_data.eq(Mux(access.write, 0, of_bridge)),
                    access.refusal.eq(
                        Mux(access.write & access.bytes.any(), Refusal.NO_SUCH_WORD, Refusal.NONE)
                    ),
                ]
                m.next = "ASK"
            with m.State("WAIT"):
                self._elaborate_wait(m)
        self._elaborate_request(m, here)
        with m.If(access.answered & (access.refusal != Refusal.NONE)):
            m.d.sync += refused.eq(Cat(access.refusal, access.address.as_value()[REFUSAL_BITS:]))
        return m

    def _elaborate_wait(self, m: Module) -> None:
        """Wait for the network, even if the bus no longer waits."""
        access, host, given_up = self.access, self.host, Signal()
        m.d.comb += [
            access.answered.eq(host.answered & access.valid & ~given_up),
            access.read_data.eq(host.read_data),
            access.refusal.eq(host.refusal),
        ]
        m.d.sync += given_up.eq(~host.answered & (given_up | ~access.valid))
        with m.If(host.answered):
            m.next = "ASK"

    def _elaborate_request(self, m: Module, here: Signal) -> None:
        """Read the request; answer partial words and the bridge's own words without the network."""
        access, host, place = self.access, self.host, self.access.address
        is_refused = (place.node == 0) & (place.word == REFUSED_WORD)
        is_revision = (place.node == REVISION_NODE) & (place.word == 0)
        of_bridge = (place.region == 0) & (is_refused | is_revision)
        m.d.comb += [
            here.eq(Mux(access.write, ~access.bytes.all(), of_bridge)),
            # Regions 0, 1, 2, 3 are spaces 2, 3, 0, 1: on the bus the controller comes first.
            host.space.eq(place.region ^ 2),
            host.node.eq(place.node),
            host.address.eq(place.word),
            host.write.eq(access.write),
            host.write_data.eq(access.data),
        ]
