"""An input port of the router: what arrives is routed, buffered, and asks to go on.

::

    link ──► arrival: route ──► buffer of VC 0 ──► front: request, flit
                           └──► buffer of VC 1 ──► …

docs/router.md, section 3, says what is done with the flit at the front of a buffer. Where it asks
to go depends on nothing but itself and the packet before it in the buffer. So it is found, and the
header rewritten, when the flit arrives, and is buffered with it: one decoder serves all VCs, and
what is at the front can ask at once.
"""

from collections.abc import Sequence

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig
from .flit_buffer import FlitBuffer
from .link import Ejection, Link, connect_ejection, flit_layout, slot_layout
from .technology import PLAIN, Technology


def vcs_layout(config: NetworkConfig, outputs: int) -> data.ArrayLayout:
    """Return one bit per VC for each output port that an input port leads to.

    These are all except the port of its own number, because a packet never turns back.
    """
    return data.ArrayLayout(config.vcs, outputs)


def route_layout(config: NetworkConfig, outputs: int) -> data.StructLayout:
    """Route of a flit: its output port, one-hot among those an input port leads to, and its VC.

    Without a port and with a VC of 1: the flit is used up, and is dropped. With a VC of 0: it may
    go nowhere.
    """
    return data.StructLayout({"port": outputs, "vc": max(1, config.header.vc_bits)})


def vc_lines(config: NetworkConfig, route: data.View) -> Value:
    """Return the VC of a route that has a port, one-hot."""
    if config.vcs == 1:
        return C(1, 1)
    return Cat(route.vc == vc for vc in range(config.vcs))


def is_used_up(config: NetworkConfig, route: data.View) -> Value:
    """Tell whether the flit of that route, if there is one, is dropped."""
    if config.vcs == 1:
        # A route that has a port has VC 0.
        return route.vc.any()
    return route.vc.any() & ~route.port.any()


def routed_layout(config: NetworkConfig, outputs: int) -> data.StructLayout:
    """Return a buffer entry: a flit as it leaves, and its route to one of ``outputs`` outputs."""
    return data.StructLayout({"flit": flit_layout(config), "route": route_layout(config, outputs)})


class Arrival(Component):
    """Finds where what arrives is to go, for all VCs of an input port.

    Used by :class:`InputPort` and :class:`.DirectRouter`.

    Parameters
    ----------
    config
        Of the network.
    outputs
        Numbers of the output ports that it leads to, ascending. Where 0 is not among them, at an
        input from the interface and in a switch, nothing is delivered.

    Members
    -------
    link : In(Ejection)
        What arrives in this cycle.
    linked : In(ports)
        Output ports that lead somewhere; constant for a node.
    lost : In(1)
        The buffer is full: the flit of this cycle changes nothing.
    item : Out
        The flit as it leaves, in the cycle in which it arrives, and its route if it is not
        ``following``. Valid while something arrives.
    following : Out(1)
        The flit of this cycle goes by the route of the packet's first flit. Valid while something
        arrives.
    stray : Out(1)
        The flit of this cycle may go nowhere. Valid while something arrives that is not
        ``following``.

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
        # What may go nowhere stays, and what is behind it too: it may count as a packet, unless
        # routers lose it.
        self._elaborate_packets(m, leads if self._config.contention_free else slot.port.any())
        # Of what leads nowhere the data are never seen.
        with m.If(~self.following & ~delivered):
            m.d.comb += self.item.flit.data.eq(self._rewritten(slot))
        return m

    def _elaborate_route(self, m: Module, slot, delivered, leads) -> None:
        """Decode the output port and VC that a header flit requests ("Request")."""
        config, flit, route = self._config, self.link.flit, self.item.route
        asked_port, asked_vc = Signal.like(route.port), Signal.like(route.vc)
        # Signals of their own: a simulator sees a loop where part of one depends on another part.
        port = Signal.like(route.port)
        asked = [delivered if port == 0 else slot.port == port for port in self._outputs]
        vcs = range(config.vcs)
        # What is delivered keeps its VC.
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
            # With one VC there is none to ask for.
            route.vc.eq(Mux(leads & (config.vcs > 1), asked_vc, flit.head & used_up)),
        ]

    def _elaborate_packets(self, m: Module, begins: Value) -> None:
        """Track packets by VC; an arriving flit ``begins`` a packet if none is under way."""
        under_way = Signal(self._config.vcs)
        for vc in range(self._config.vcs):
            arrives = self.link.valid[vc] & ~self.lost
            begun = under_way[vc] | (arrives & begins)
            m.d.sync += under_way[vc].eq(begun & ~(arrives & self.link.flit.tail))
        # With one VC there is no need to look whether something arrives at all.
        arriving = under_way if self._config.vcs == 1 else under_way & self.link.valid
        m.d.comb += self.following.eq(arriving.any())

    def _rewritten(self, slot: data.View) -> Value:
        """Count the hop; after the last hop of a slot, shift the slot out."""
        low = self._config.header.port_bits
        high = low + self._config.header.hop_bits
        old = self.link.flit.data
        # One less, bit by bit: a carry chain would be large for so few bits.
        less = Cat(bit ^ ~slot.more[:place].any() for place, bit in enumerate(slot.more))
        counted = Cat(old[:low], less, old[high:])
        return Mux(slot.more == 0, old >> self._config.header.slot_bits, counted)


class InputChannel(Component):
    """One VC of an input port. Used by :class:`InputPort`.

    Parameters
    ----------
    config
        Of the network.
    outputs
        As for :class:`Arrival`.
    vc
        Its number.
    technology
        What it is made of.

    Members
    -------
    write : In(1)
        A flit arrives for this VC in this cycle.
    item : In
        It and its route. Valid while ``write`` is 1.
    held : In
        Per output port and VC: a packet holds it in this cycle.
    request : Out
        Per output port and VC: the front flit asks for it in this cycle. One-hot, or 0, as where
        there is no flit.
    front : Out
        The front flit and its route. Valid while it asks.
    take : In(1)
        It leaves in this cycle, granted. Only where it asks.
    credit : Out(1)
        A flit leaves the buffer in this cycle, granted or dropped.
    stalled : Out(1)
        The flit that leaves in this cycle, granted, did not leave when it first could have.
    overflow : Out(1)
        A flit arrives in this cycle and the buffer is full.
    bad_route : Out(1)
        The front flit may go nowhere: from the cycle in which it comes to the front on.

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
        # Without a flit there is no route but one that is held, and so not free.
        route, goes_on = self.front.route, self._goes_on(m, buffer, holding)
        for place, (port, asked) in enumerate(zip(self._outputs, route.port, strict=True)):
            own_or_free = goes_on.replicate(self._config.vcs) | ~self.held[place]
            # What is delivered keeps its VC.
            vc = C(1 << self._vc) if port == 0 else vc_lines(self._config, route)
            m.d.comb += self.request[place].eq(Mux(asked, own_or_free & vc, 0))

    def _goes_on(self, m: Module, buffer: FlitBuffer, holding: Signal) -> Signal:
        """Tell whether there is a flit with the previous flit's route."""
        goes_on = Signal()
        if self._config.vcs == 1:
            m.d.comb += goes_on.eq(holding & buffer.front_valid)
            return goes_on
        # The longest way through a router of several VCs begins here: it is told a cycle before.
        after = ~self.front.flit.tail & buffer.followed
        stays = holding & (buffer.front_valid | buffer.followed)
        m.d.sync += goes_on.eq(Mux(self.take, after, stays))
        return goes_on


class InputPort(Component):
    """The VCs of one input port. Used by :class:`.Router`.

    Parameters
    ----------
    config
        Of the network.
    outputs
        As for :class:`Arrival`.
    technology
        What it is made of.

    Members
    -------
    link : In(Link)
        From the neighbour, or from the network interface (port 0).
    linked : In(ports)
        As for :class:`Arrival`.
    held : In
        As for :class:`InputChannel`.
    requests, fronts, take : array, by VC
        As ``request``, ``front`` and ``take`` of each :class:`InputChannel`.
    stalls : Out(vcs)
        As ``stalled`` of each :class:`InputChannel`.
    overflow, bad_route : Out(1)
        As for :class:`InputChannel`, of any VC.

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
