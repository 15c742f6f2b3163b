"""An input port of the router: it routes and buffers arriving flits, and requests their outputs.

::

    link ──► arrival: route ──► buffer of VC 0 ──► front: request, flit
                           └──► buffer of VC 1 ──► …

docs/router.md, section 3, defines the request of the flit at the front of a buffer. It depends only
on the flit and on its packet, so the port decodes it when the flit arrives. The port also rewrites
the header then, and buffers the flit with its route. So one decoder serves all VCs, and the front
flit can ask at once.
"""

from collections.abc import Sequence

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ...model.network.config import NetworkConfig
from ..parts.link import Ejection, Link, connect_ejection, flit_layout, slot_layout
from ..parts.technology import PLAIN, Technology
from .flit_buffer import FlitBuffer


def vcs_layout(config: NetworkConfig, outputs: int) -> data.ArrayLayout:
    """Return a layout with one bit per VC for each of ``outputs`` output ports.

    An input port leads to all output ports except its own number, because no packet turns back.
    """
    return data.ArrayLayout(config.vcs, outputs)


def route_layout(config: NetworkConfig, outputs: int) -> data.StructLayout:
    """Return the layout of a flit's route: output port, one-hot among ``outputs``, and output VC.

    If no bit of the output port is set, the flit goes nowhere: output VC 1 marks a used-up flit,
    which is dropped, and output VC 0 a wrong route.
    """
    return data.StructLayout({"port": outputs, "vc": max(1, config.header.vc_bits)})


def vc_lines(config: NetworkConfig, route: data.View) -> Value:
    """Return the VC of a route, one-hot. Valid if the route has a port."""
    if config.vcs == 1:
        return C(1, 1)
    return Cat(route.vc == vc for vc in range(config.vcs))


def is_used_up(config: NetworkConfig, route: data.View) -> Value:
    """Tell whether the route marks a used-up flit, which is dropped."""
    if config.vcs == 1:
        # A route that has a port has VC 0.
        return route.vc.any()
    return route.vc.any() & ~route.port.any()


def routed_layout(config: NetworkConfig, outputs: int) -> data.StructLayout:
    """Return a buffer entry: a flit as it leaves, and its route to one of ``outputs`` outputs."""
    return data.StructLayout({"flit": flit_layout(config), "route": route_layout(config, outputs)})


class Arrival(Component):
    """Decoder of the arriving flit's route, for all VCs of an input port.

    Used by :class:`InputPort` and :class:`.DirectRouter`.

    Parameters
    ----------
    config
        The network.
    outputs
        Numbers of the output ports to which this input leads, ascending. Without 0, as for an input
        from the interface and in a switch, no flit is delivered.

    Members
    -------
    link : In(Ejection)
        The flit that arrives in this cycle.
    linked : In(ports)
        A bit for each output port, set if the port has a link; constant for a node.
    lost : In(1)
        High if the buffer is full: the flit of this cycle changes nothing.
    item : Out
        The flit as it will leave, in the cycle of its arrival. Its route too, if it is not
        ``following``. Valid while a flit arrives.
    following : Out(1)
        High if the flit takes the route of its packet's first flit. Valid while a flit arrives.
    stray : Out(1)
        High if the flit has a wrong route. Valid while a flit arrives that is not ``following``.

    """

    def __init__(self, config: NetworkConfig, *, outputs: Sequence[int]) -> None:
        self._config = config
        self._outputs = outputs
        super().__init__(
            {
                "link": In(Ejection(config)),
                "linked": In(config.topology.ports),
                "lost": In(1),
                "item": Out(routed_layout(config, len(outputs))),
                "following": Out(1),
                "stray": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Route and rewrite a packet's first flit; leave the others unchanged."""
        m = Module()
        flit = self.link.flit
        slot = Signal(slot_layout(self._config))
        leads, delivered = Signal(name="leads"), Signal(name="delivered")
        m.d.comb += [slot.eq(flit.data[: slot.shape().size]), self.item.flit.eq(flit)]
        if 0 in self._outputs:
            m.d.comb += delivered.eq(slot.port == self._config.header.deliver_code)
        self._elaborate_route(m, slot, delivered, leads)
        # With buffers, a flit with a wrong route stays and blocks the VC, so it may begin a packet.
        # A router without buffers drops it, so it must not.
        self._elaborate_packets(m, leads if self._config.contention_free else slot.port.any())
        # The data of a flit without an output never matter.
        with m.If(~self.following & ~delivered):
            header = self._config.narrow_width
            m.d.comb += self.item.flit.data[:header].eq(self._rewritten(slot))
        return m

    def _elaborate_route(self, m: Module, slot, delivered, leads) -> None:
        """Decode the output port and VC that a header flit requests ("Request")."""
        config, flit, route = self._config, self.link.flit, self.item.route
        asked_port, asked_vc = Signal.like(route.port), Signal.like(route.vc)
        # Separate signals: a simulator sees a loop if a bit of a signal depends on another bit.
        port = Signal.like(route.port)
        asked = [delivered if port == 0 else slot.port == port for port in self._outputs]
        vcs = range(config.vcs)
        # A delivered flit keeps its VC.
        arrived_vc = Cat(
            Cat(self.link.valid[vc] for vc in vcs if vc >> bit & 1).any()
            for bit in range(config.header.vc_bits)
        )
        open_ports = Mux(delivered | (slot.vc < config.vcs), self.linked, 0)
        used_up = (slot.port == 0) & ~flit.tail
        m.d.comb += [
            asked_port.eq(
                Cat(a & open_ports[p] for a, p in zip(asked, self._outputs, strict=True))
            ),
            asked_vc.eq(Mux(delivered, arrived_vc, slot.vc)),
            port.eq(Mux(flit.head, asked_port, 0)),
            route.port.eq(port),
            leads.eq(port.any()),
            self.stray.eq(~flit.head | ~(asked_port.any() | used_up)),
            # With one VC, the field is set only for a used-up flit.
            route.vc.eq(Mux(leads & (config.vcs > 1), asked_vc, flit.head & used_up)),
        ]

    def _elaborate_packets(self, m: Module, begins: Value) -> None:
        """Track the packet under way on each VC; without one, an arriving flit ``begins`` one."""
        under_way = Signal(self._config.vcs)
        for vc in range(self._config.vcs):
            arrives = self.link.valid[vc] & ~self.lost
            begun = under_way[vc] | (arrives & begins)
            m.d.sync += under_way[vc].eq(begun & ~(arrives & self.link.flit.tail))
        # With one VC ``valid`` is left out: ``following`` is used only while a flit arrives.
        arriving = under_way if self._config.vcs == 1 else under_way & self.link.valid
        m.d.comb += self.following.eq(arriving.any())

    def _rewritten(self, slot: data.View) -> Value:
        """Count the hop; after the last hop of a slot, shift the slot out."""
        low = self._config.header.port_bits
        high = low + self._config.header.hop_bits
        old = self.link.flit.data[: self._config.narrow_width]
        # Subtract 1 by gates: a carry chain would be large for a few bits.
        less = Cat(bit ^ ~slot.more[:place].any() for place, bit in enumerate(slot.more))
        counted = Cat(old[:low], less, old[high:])
        return Mux(slot.more == 0, old >> self._config.header.slot_bits, counted)


class InputChannel(Component):
    """One VC of an input port. Used by :class:`InputPort`.

    Parameters
    ----------
    config
        The network.
    outputs
        As for :class:`Arrival`.
    vc
        Number of the VC.
    technology
        How the buffer is made.

    Members
    -------
    write : In(1)
        High in a cycle in which a flit arrives for this VC.
    item : In
        The flit and its route. Valid while ``write`` is 1.
    held : In
        Per output port and VC: high while a packet holds the output VC.
    request : Out
        Per output port and VC: high while the front flit asks for the output VC. One-hot; 0 if no
        flit asks.
    front : Out
        The front flit and its route. Valid while it asks.
    take : In(1)
        High in the cycle in which the front flit is granted and leaves. Only while it asks.
    credit : Out(1)
        High in a cycle in which a flit leaves the buffer, granted or dropped.
    stalled : Out(1)
        High if the flit that is granted in this cycle has waited at the front.
    overflow : Out(1)
        High if a flit arrives while the buffer is full.
    bad_route : Out(1)
        High while the front flit has a wrong route.

    """

    def __init__(
        self,
        config: NetworkConfig,
        *,
        outputs: Sequence[int],
        vc: int,
        technology: Technology = PLAIN,
    ) -> None:
        self._config = config
        self._technology = technology
        self._outputs = outputs
        self._vc = vc
        count = len(outputs)
        super().__init__(
            {
                "write": In(1),
                "item": In(routed_layout(config, count)),
                "held": In(vcs_layout(config, count)),
                "request": Out(vcs_layout(config, count)),
                "front": Out(routed_layout(config, count)),
                "take": In(1),
                "credit": Out(1),
                "stalled": Out(1),
                "overflow": Out(1),
                "bad_route": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build the buffer, and the request of its front flit."""
        m = Module()
        m.submodules.buffer = buffer = FlitBuffer(
            routed_layout(self._config, len(self._outputs)),
            depth=self._config.depth,
            technology=self._technology,
        )
        holding, waited = Signal(name="holding"), Signal(name="waited")
        route, used_up = self.front.route, Signal()
        m.d.comb += [
            buffer.write.eq(self.write),
            buffer.write_item.eq(self.item),
            self.overflow.eq(buffer.overflow),
            self.front.eq(buffer.front),
            used_up.eq(is_used_up(self._config, route)),
            self.bad_route.eq(~route.as_value().any()),
            buffer.pop.eq(self.take | (used_up & buffer.front_valid)),
            buffer.keep_route.eq(~(self.take & self.front.flit.tail) & ~used_up),
            self.credit.eq(buffer.pop),
            self.stalled.eq(self.take & waited),
        ]
        self._elaborate_request(m, buffer, holding)
        with m.If(self.take):
            m.d.sync += holding.eq(~self.front.flit.tail)
        m.d.sync += waited.eq(buffer.front_valid & ~buffer.pop)
        return m

    def _elaborate_request(self, m: Module, buffer: FlitBuffer, holding: Signal) -> None:
        """Request the output VC if this packet holds it or nobody does."""
        # Without a flit, the route is empty or its output VC is held, so nothing is requested.
        route, goes_on = self.front.route, self._goes_on(m, buffer, holding)
        for place, (port, asked) in enumerate(zip(self._outputs, route.port, strict=True)):
            own_or_free = goes_on.replicate(self._config.vcs) | ~self.held[place]
            # A delivered flit keeps its VC.
            vc = C(1 << self._vc) if port == 0 else vc_lines(self._config, route)
            m.d.comb += self.request[place].eq(Mux(asked, own_or_free & vc, 0))

    def _goes_on(self, m: Module, buffer: FlitBuffer, holding: Signal) -> Signal:
        """Tell whether the front flit continues a packet that holds its output VC."""
        goes_on = Signal()
        if self._config.vcs == 1:
            m.d.comb += goes_on.eq(holding & buffer.front_valid)
            return goes_on
        # A register, computed a cycle before: with several VCs the longest logic path begins here.
        after = ~self.front.flit.tail & buffer.followed
        stays = holding & (buffer.front_valid | buffer.followed)
        m.d.sync += goes_on.eq(Mux(self.take, after, stays))
        return goes_on


class InputPort(Component):
    """The VCs of one input port. Used by :class:`.Router`.

    Parameters
    ----------
    config
        The network.
    outputs
        As for :class:`Arrival`.
    technology
        How the buffers are made.

    Members
    -------
    link : In(Link)
        The link from the neighbor, or from the network interface (port 0).
    linked : In(ports)
        As for :class:`Arrival`.
    held : In
        As for :class:`InputChannel`.
    requests, fronts, take : array, by VC
        As ``request``, ``front`` and ``take`` of each :class:`InputChannel`.
    stalls : Out(vcs)
        As ``stalled`` of each :class:`InputChannel`.
    overflow, bad_route : Out(1)
        High if that member of some :class:`InputChannel` is high.

    """

    def __init__(
        self, config: NetworkConfig, *, outputs: Sequence[int], technology: Technology = PLAIN
    ) -> None:
        self._config = config
        self._technology = technology
        self._outputs = outputs
        vcs, count = config.vcs, len(outputs)
        super().__init__(
            {
                "link": In(Link(config)),
                "linked": In(config.topology.ports),
                "held": In(vcs_layout(config, count)),
                "requests": Out(vcs_layout(config, count)).array(vcs),
                "fronts": Out(routed_layout(config, count)).array(vcs),
                "take": In(1).array(vcs),
                "stalls": Out(vcs),
                "overflow": Out(1),
                "bad_route": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build the part shared by all VCs, and a channel for each VC."""
        m = Module()
        m.submodules.arrival = arrival = Arrival(self._config, outputs=self._outputs)
        connect_ejection(m, self.link, arrival.link)
        channels = [self._add_channel(m, arrival, vc) for vc in range(self._config.vcs)]
        m.d.comb += [
            arrival.linked.eq(self.linked),
            arrival.lost.eq(self.overflow),
            self.link.credit.eq(Cat(channel.credit for channel in channels)),
            self.stalls.eq(Cat(channel.stalled for channel in channels)),
            self.overflow.eq(Cat(channel.overflow for channel in channels).any()),
            self.bad_route.eq(Cat(channel.bad_route for channel in channels).any()),
        ]
        return m

    def _add_channel(self, m: Module, arrival: Arrival, vc: int) -> InputChannel:
        """Add a VC's buffer after the shared part."""
        m.submodules[f"channel_{vc}"] = channel = InputChannel(
            self._config, outputs=self._outputs, vc=vc, technology=self._technology
        )
        m.d.comb += [
            channel.write.eq(self.link.valid[vc]),
            channel.item.eq(arrival.item),
            channel.held.eq(self.held),
            channel.take.eq(self.take[vc]),
            self.requests[vc].eq(channel.request),
            self.fronts[vc].eq(channel.front),
        ]
        return channel
