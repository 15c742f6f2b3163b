"""Wishbone B4 in front of the host port (docs/router.md, section 21)."""

from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import Component, In, Out, Signature, connect, flipped

from ..model.network.buses import bus_data_bits
from ..model.network.config import NetworkConfig
from .bus_access import BusAccess, address_layout
from .parts.assertions import Assertions, asserted
from .parts.host_port import Refusal, RequestPort


class WishboneBus(Signature):
    """Wishbone B4 with byte addresses; names are the target's, directions the initiator's."""

    def __init__(self, config: NetworkConfig) -> None:
        width = bus_data_bits(config)
        super().__init__(
            {
                "cyc_i": Out(1),
                "stb_i": Out(1),
                "we_i": Out(1),
                "adr_i": Out(address_layout(config).size),
                "sel_i": Out(width // 8),
                "dat_i": Out(width),
                "dat_o": In(width),
                "ack_o": In(1),
                "err_o": In(1),
                "stall_o": In(1),
            }
        )


@asserted
class Wishbone(Component):
    """Carries out the accesses of an initiator, one at a time. Used by :class:`.Engine`.

    Members
    -------
    bus : In(WishboneBus)
        The bus of the initiator.
    host : Out(RequestPort)
        The requests to the network.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__({"bus": In(WishboneBus(config)), "host": Out(RequestPort(config))})

    def assertions(self, check: Assertions) -> None:
        """State that each access has one answer of one cycle."""
        bus, host = self.bus, self.host
        check.one_request(host)
        asks, over = bus.cyc_i & bus.stb_i, bus.ack_o | bus.err_o
        waits = check.before(asks & ~over)
        check.ensures("one_kind_of_answer", ~(bus.ack_o & bus.err_o))
        check.ensures("answer_of_an_access", ~over | asks)
        check.ensures("no_answer_at_once", ~over | waits)
        check.ensures("one_cycle_for_each_answer", ~check.before(over) | ~over)
        check.ensures("stalled_until_the_answer", ~over | ~bus.stall_o)
        check.ensures("requests_are_of_the_bus", ~host.valid | asks)
        told = check.before(host.answered & (host.refusal == Refusal.NONE))
        same = bus.dat_o == check.before(host.read_data)
        check.ensures("data_of_the_answer", ~(told & bus.ack_o) | same)

    def elaborate(self, _platform: object) -> Module:
        """Answer each access by one cycle of ``ack_o`` or ``err_o``, in which no access begins."""
        m = Module()
        m.submodules.access = bridge = BusAccess(self._config)
        connect(m, bridge.host, flipped(self.host))
        bus, access = self.bus, bridge.access
        done, refused = Signal(), Signal()
        over, asks = done | refused, bus.cyc_i & bus.stb_i
        m.d.comb += [
            access.valid.eq(asks & ~over),
            access.write.eq(bus.we_i),
            access.address.eq(bus.adr_i),
            access.data.eq(bus.dat_i),
            access.bytes.eq(bus.sel_i),
            bus.stall_o.eq(~over),
            # If the initiator gives an access up in the cycle of its answer, there is no answer.
            bus.ack_o.eq(done & asks),
            bus.err_o.eq(refused & asks),
        ]
        is_refused = access.refusal != Refusal.NONE
        m.d.sync += [
            done.eq(access.answered & ~is_refused),
            refused.eq(access.answered & is_refused),
        ]
        with m.If(access.answered):
            m.d.sync += bus.dat_o.eq(access.read_data)
        return m
