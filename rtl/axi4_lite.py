"""AXI4-Lite in front of the host port (docs/router.md, section 21)."""

import enum

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import Component, In, Out, Signature, connect, flipped

from ..model.network.buses import bus_data_bits
from ..model.network.config import NetworkConfig
from .bus_access import BusAccess, address_layout
from .parts.assertions import Assertions, asserted
from .parts.host_port import Refusal, RequestPort


class Response(enum.IntEnum):
    """Answers to a write or a read, as the standard codes them."""

    OKAY = 0
    SLVERR = 2
    DECERR = 3


class Axi4LiteBus(Signature):
    """The five channels of AXI4-Lite, as the standard has them; directions are the manager's."""

    def __init__(self, config: NetworkConfig) -> None:
        address, width = address_layout(config).size, bus_data_bits(config)
        super().__init__(
            {
                "awaddr": Out(address),
                "awprot": Out(3),
                "awvalid": Out(1),
                "awready": In(1),
                "wdata": Out(width),
                "wstrb": Out(width // 8),
                "wvalid": Out(1),
                "wready": In(1),
                "bresp": In(2),
                "bvalid": In(1),
                "bready": Out(1),
                "araddr": Out(address),
                "arprot": Out(3),
                "arvalid": Out(1),
                "arready": In(1),
                "rdata": In(width),
                "rresp": In(2),
                "rvalid": In(1),
                "rready": Out(1),
            }
        )


@asserted
class Axi4Lite(Component):
    """Carries out writes and reads of a manager, one at a time. Used by :class:`.Engine`.

    The manager holds address and data until the access is over, so no register keeps them here.

    Members
    -------
    bus : In(Axi4LiteBus)
        The bus of the manager.
    host : Out(RequestPort)
        The requests to the network.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__({"bus": In(Axi4LiteBus(config)), "host": Out(RequestPort(config))})

    def assertions(self, check: Assertions) -> None:
        """State that offers stay until they are taken, and that each request has one response."""
        bus, host = self.bus, self.host
        check.one_request(host)
        wrote, read = bus.awvalid & bus.awready, bus.arvalid & bus.arready
        answers = {
            "b": (bus.bvalid, bus.bready, bus.bresp, wrote),
            "r": (bus.rvalid, bus.rready, Cat(bus.rresp, bus.rdata), read),
        }
        for name, (valid, ready, response, taken) in answers.items():
            check.ensures(f"{name}_stays", check.stays(valid, ready, response))
            owed = check.count(taken, valid & ready, limit=1)
            check.ensures(f"one_{name}_for_each_request", (owed == 1) == valid)
            check.ensures(f"no_second_{name}", owed <= 1)
        check.ensures("address_with_data", wrote == (bus.wvalid & bus.wready))
        written = Mux(host.write, host.write_data, 0)
        offer = Cat(host.space, host.node, host.address, host.write, written)
        check.ensures("request_stays", check.stays(host.valid, host.ready, offer))
        check.ensures("requests_are_of_the_bus", ~host.valid | bus.awvalid | bus.arvalid)
        check.ensures("write_in_its_cycle", ~(wrote & read))

    def elaborate(self, _platform: object) -> Module:
        """Choose a write or a read, carry it out, respond."""
        m = Module()
        m.submodules.access = bridge = BusAccess(self._config)
        connect(m, bridge.host, flipped(self.host))
        bus, access = self.bus, bridge.access
        # ``write`` tells the kind of the access under way.
        active, write = Signal(), Signal()
        self._elaborate_choice(m, active, write, access.answered)
        m.d.comb += [
            access.valid.eq(active),
            access.write.eq(write),
            access.address.eq(Mux(write, bus.awaddr, bus.araddr)),
            access.data.eq(bus.wdata),
            access.bytes.eq(bus.wstrb),
            bus.awready.eq(access.answered & write),
            bus.wready.eq(access.answered & write),
            bus.arready.eq(access.answered & ~write),
        ]
        response = _response(access.refusal)
        with m.If(bus.awready):
            m.d.sync += [bus.bvalid.eq(1), bus.bresp.eq(response)]
        with m.Elif(bus.bready):
            m.d.sync += bus.bvalid.eq(0)
        with m.If(bus.arready):
            m.d.sync += [bus.rvalid.eq(1), bus.rresp.eq(response), bus.rdata.eq(access.read_data)]
        with m.Elif(bus.rready):
            m.d.sync += bus.rvalid.eq(0)
        return m

    def _elaborate_choice(self, m: Module, active: Signal, write: Signal, over: Value) -> None:
        """Begin an access; if both wait, the write comes first, and the read follows it."""
        bus, may_write, may_read = self.bus, Signal(), Signal()
        m.d.comb += [
            may_write.eq(bus.awvalid & bus.wvalid & ~bus.bvalid),
            may_read.eq(bus.arvalid & ~bus.rvalid),
        ]
        with m.If(active):
            m.d.sync += active.eq(~over)
        with m.Else():
            m.d.sync += [active.eq(may_write | may_read), write.eq(may_write)]


def _response(refusal: Value) -> Value:
    """Return the bus's answer to a refusal."""
    late = Mux(refusal == Refusal.NONE, Response.OKAY, Response.SLVERR)
    return Mux(refusal == Refusal.NO_SUCH_WORD, Response.DECERR, late)
