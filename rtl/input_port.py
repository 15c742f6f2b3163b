"""An input port of the router: buffers, requests, choice among VCs (docs/router.md, section 3)."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ..model.config import NetworkConfig
from .arbiter import RoundRobinArbiter
from .flit_buffer import FlitBuffer
from .link import Link, flit_layout, slot_layout


def availability_layout(config: NetworkConfig) -> data.ArrayLayout:
    """One bit per VC for each output port."""
    return data.ArrayLayout(config.vcs, config.topology.ports)


class InputChannel(Component):
    """One VC of an input port: its buffer, the route it holds, and what its front flit asks for.

    Attributes
    ----------
    write, write_flit : In
        A flit arrives for this VC.
    linked : In(ports)
        Output ports that lead somewhere; constant for a node.
    unheld, credited : In
        Per output port and VC: no packet holds it; it has a credit, or for port 0 the interface
        accepts.
    eligible : Out(1)
        The front flit may go if it is granted.
    port, vc : Out
        Where it asks to go, both one-hot.
    flit : Out
        It, as it leaves: rewritten if it is sent on by its own first slot.
    take : In(1)
        It leaves in this cycle.
    dropped : Out(1)
        A used-up header flit leaves the buffer in this cycle and goes nowhere.
    stalled : Out(1)
        The flit that leaves in this cycle did not leave when it first could have.
    overflow, bad_route : Out(1)
        What must never happen.

    """

    def __init__(self, config: NetworkConfig, *, port: int, vc: int) -> None:
        self._config = config
        self._port = port
        self._vc = vc
        ports, vcs = config.topology.ports, config.vcs
        super().__init__(
            {
                "write": In(1),
                "write_flit": In(flit_layout(config)),
                "linked": In(ports),
                "unheld": In(availability_layout(config)),
                "credited": In(availability_layout(config)),
                "eligible": Out(1),
                "port": Out(ports),
                "vc": Out(vcs),
                "flit": Out(flit_layout(config)),
                "take": In(1),
                "dropped": Out(1),
                "stalled": Out(1),
                "overflow": Out(1),
                "bad_route": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Buffer, request, eligibility, and the route held from head to tail."""
        m = Module()
        m.submodules.buffer = buffer = FlitBuffer(self._config)
        slot = Signal(slot_layout(self._config))
        asked_port, asked_vc = Signal.like(self.port), Signal.like(self.vc)
        holding = Signal()
        held_port, held_vc = Signal.like(self.port), Signal.like(self.vc)
        m.d.comb += [
            buffer.write.eq(self.write),
            buffer.write_flit.eq(self.write_flit),
            buffer.pop.eq(self.take | self.dropped),
            self.overflow.eq(buffer.overflow),
            slot.eq(buffer.front.data[: slot.shape().size]),
            self.port.eq(Mux(holding, held_port, asked_port)),
            self.vc.eq(Mux(holding, held_vc, asked_vc)),
        ]
        self._elaborate_request(m, buffer, slot, holding, asked_port, asked_vc)
        self._elaborate_eligibility(m, buffer, holding, asked_port)
        self._elaborate_rewriting(m, buffer, slot, holding, asked_port)
        with m.If(self.take):
            m.d.sync += [
                holding.eq(~buffer.front.tail),
                held_port.eq(self.port),
                held_vc.eq(self.vc),
            ]
        self._elaborate_stall(m, buffer)
        return m

    def _elaborate_request(self, m, buffer, slot, holding, asked_port, asked_vc) -> None:
        """Where a flit without a route asks to go: cases 2 and 3 of "Request"."""
        config = self._config
        delivered = Signal()
        m.d.comb += delivered.eq(slot.port == config.deliver_code)
        for port in range(config.topology.ports):
            # A packet never turns back: no wire leads from an input port to the output beside it.
            if port != self._port:
                asked = delivered if port == 0 else (slot.port == port)
                m.d.comb += asked_port[port].eq(asked & self.linked[port])
        with m.If(delivered):
            m.d.comb += asked_vc.eq(1 << self._vc)
        with m.Else():
            for vc in range(config.vcs):
                m.d.comb += asked_vc[vc].eq(slot.vc == vc)
        used_up = slot.port == 0
        first = buffer.front_valid & ~holding
        impossible = Mux(used_up, buffer.front.tail, ~(asked_port.any() & asked_vc.any()))
        m.d.comb += [
            self.bad_route.eq(first & (~buffer.front.head | impossible)),
            self.dropped.eq(first & buffer.front.head & used_up & ~buffer.front.tail),
        ]

    def _elaborate_eligibility(self, m, buffer, holding, asked_port) -> None:
        """The output VC is this packet's or free, and has a credit, or the interface accepts."""
        config = self._config
        free, credited = Signal(), Signal()
        wanted = [
            (self.port[port] & self.vc[vc], port, vc)
            for port in range(config.topology.ports)
            for vc in range(config.vcs)
        ]
        m.d.comb += [
            free.eq(Cat(want & self.unheld[port][vc] for want, port, vc in wanted).any()),
            credited.eq(Cat(want & self.credited[port][vc] for want, port, vc in wanted).any()),
            self.eligible.eq(
                buffer.front_valid
                & (holding | (free & asked_port.any() & ~self.bad_route))
                & credited
            ),
        ]

    def _elaborate_rewriting(self, m, buffer, slot, holding, asked_port) -> None:
        """Count the hop that the first flit of a packet makes, or shift its finished slot out."""
        m.d.comb += self.flit.eq(buffer.front)
        with m.If(~holding & ~asked_port[0]):
            with m.If(slot.more == 0):
                m.d.comb += self.flit.data.eq(buffer.front.data >> self._config.slot_bits)
            with m.Else():
                low = self._config.port_bits
                high = low + self._config.hop_bits
                m.d.comb += self.flit.data[low:high].eq(slot.more - 1)

    def _elaborate_stall(self, m, buffer) -> None:
        """Remember that the front flit has waited; it counts when it leaves."""
        waited = Signal()
        m.d.comb += self.stalled.eq(self.take & waited)
        m.d.sync += waited.eq(buffer.front_valid & ~self.take & ~self.dropped)


class InputPort(Component):
    """The VCs of one input port, of which one flit a cycle goes on.

    Attributes
    ----------
    link : In(Link)
        From the neighbour, or from the network interface (port 0).
    linked, unheld, credited : In
        As for :class:`InputChannel`.
    request : Out(ports)
        The output port that the chosen VC asks for, one-hot; 0 where no VC is eligible.
    vc, flit : Out
        Of the chosen VC, as for :class:`InputChannel`.
    granted : In(1)
        The output port takes the flit.
    stalled, overflow, bad_route : Out(1)
        As for :class:`InputChannel`, of any VC.

    """

    def __init__(self, config: NetworkConfig, *, port: int) -> None:
        self._config = config
        self._port = port
        ports, vcs = config.topology.ports, config.vcs
        super().__init__(
            {
                "link": In(Link(config)),
                "linked": In(ports),
                "unheld": In(availability_layout(config)),
                "credited": In(availability_layout(config)),
                "request": Out(ports),
                "vc": Out(vcs),
                "flit": Out(flit_layout(config)),
                "granted": In(1),
                "stalled": Out(1),
                "overflow": Out(1),
                "bad_route": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """One channel per VC and a round-robin choice among those with an eligible request."""
        m = Module()
        channels = []
        for vc in range(self._config.vcs):
            channel = InputChannel(self._config, port=self._port, vc=vc)
            m.submodules[f"channel_{vc}"] = channel
            channels.append(channel)
            m.d.comb += [
                channel.write.eq(self.link.valid[vc]),
                channel.write_flit.eq(self.link.flit),
                channel.linked.eq(self.linked),
                channel.unheld.eq(self.unheld),
                channel.credited.eq(self.credited),
                self.link.credit[vc].eq(channel.take | channel.dropped),
            ]
        m.submodules.choose = choose = RoundRobinArbiter(self._config.vcs)
        m.d.comb += [
            choose.requests.eq(Cat(channel.eligible for channel in channels)),
            choose.accept.eq(self.granted),
            self.stalled.eq(Cat(channel.stalled for channel in channels).any()),
            self.overflow.eq(Cat(channel.overflow for channel in channels).any()),
            self.bad_route.eq(Cat(channel.bad_route for channel in channels).any()),
        ]
        for vc, channel in enumerate(channels):
            m.d.comb += channel.take.eq(choose.grant[vc] & self.granted)
            with m.If(choose.grant[vc]):
                m.d.comb += [
                    self.request.eq(channel.port),
                    self.vc.eq(channel.vc),
                    self.flit.eq(channel.flit),
                ]
        return m
