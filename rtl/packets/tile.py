"""A tile: the router and the network interface of one node, as one module.

::

    links ──► router ──ejections──► interface ◄──► host, barrier
    links ◄──   │    ◄──injections──    ▲
                └──► signature ─────────┘        (in a network with signatures)

The tile of a switch has a status instead of the interface, and no port 0::

    links ──► router ──flags──► status ◄──► host
    links ◄──   │                 ▲
                └──► signature ───┘
"""

from amaranth.hdl import Cat, Module, Mux, Print, Signal
from amaranth.lib.wiring import Component, connect, flipped

from ...model.network.config import NetworkConfig
from ..parts.link import (
    connect_ejection,
    printed_line,
    printed_ports,
    rest_bits,
    router_ports,
    tile_registers,
)
from ..parts.link_registers import delayed
from ..parts.signature_register import SignatureRegister
from ..parts.technology import PLAIN, Technology
from ..parts.tile_signature import STEP_INPUTS, tile_signature
from .direct_router import DirectRouter
from .interface import NetworkInterface
from .router import Router
from .switch_status import SwitchStatus


class Tile(Component):
    """One node's hardware. Used by :class:`.Network`.

    All tiles of a network are the same module, and all switches another; ``node`` and ``linked``
    make the difference.

    Parameters
    ----------
    config
        The network.
    trace
        Print every flit that leaves the router, and count the stalled flits.
    switch
        The node is a switch.
    technology
        How the tile's parts are made.

    Members
    -------
    node : In
        The node's number; constant.
    linked : In(ports)
        A bit for each port, set if the port has a link. Bit 0 is set, except in a switch. Constant.
    rests : In
        Only where links differ in their rates: for each link port the cycles for which its output
        rests after a flit, the rate minus 1, in :func:`.rest_bits` each. Constant.
    inputs, outputs : array of Link
        The links; port p is at index p - 1, because port 0 is inside. The tile has the link
        registers that delay arriving flits and credits, unless links differ.
    barrier, half_duplex, advance, program, tile, host, over, finished, flagged, damaged, held
        As for :class:`.NetworkInterface`. A switch has only ``host``, ``over``, ``finished`` and
        ``flagged``.
    cycle : In(32)
        Only with ``trace`` or signatures: the number of this cycle.

    """

    def __init__(
        self,
        config: NetworkConfig,
        *,
        trace: bool = False,
        switch: bool = False,
        technology: Technology = PLAIN,
    ) -> None:
        self._config = config
        self._trace = trace
        self._switch = switch
        self._technology = technology
        self._ports = router_ports(config, switch=switch)
        super().__init__(tile_signature(config, trace=trace, switch=switch))

    def elaborate(self, _platform: object) -> Module:
        """Build router and interface, joined at port 0 or at injection and ejection ports."""
        m = Module()
        config, technology = self._config, self._technology
        kind = DirectRouter if config.contention_free else Router
        m.submodules.router = router = kind(config, switch=self._switch, technology=technology)
        interface: NetworkInterface | SwitchStatus
        if self._switch:
            m.submodules.status = interface = SwitchStatus(config, trace=self._trace)
        else:
            m.submodules.network_interface = interface = NetworkInterface(
                config, trace=self._trace, technology=technology
            )
        lanes = self._ports.count(0)
        for lane in range(lanes):
            connect(m, interface.injections[lane], router.inputs[lane])
            connect_ejection(m, router.outputs[lane], interface.ejections[lane])
        for index in range(self._config.topology.ports - 1):
            self._connect_from_link(m, self.inputs[index], router.inputs[lanes + index])
            self._connect_to_link(m, router.outputs[lanes + index], self.outputs[index])
        m.d.comb += router.linked.eq(self._constant(m, self.linked))
        if rest_bits(config):
            m.d.comb += router.rests.eq(self._constant(m, self.rests))
        if not self._switch:
            m.d.comb += router.accept.eq(interface.accept)
        m.d.comb += interface.router_stalls.eq(router.stalls)
        connect(m, router.causes, interface.router_causes)
        self._elaborate_interface(m, interface)
        if self._config.signature:
            self._elaborate_signature(m, router, interface)
        if self._trace:
            self._elaborate_trace(m, router)
        return m

    def _constant(self, m: Module, value: Signal) -> Signal:
        """Return a node's constant through a register, or itself if tiles are ``flattened``.

        With the register no output depends on an input of the same cycle, so a simulator can
        evaluate each tile once per cycle. Without it, synthesis can use the constant.
        """
        if self._technology.flattened:
            return value
        register = Signal.like(value, reset_less=True)
        m.d.sync += register.eq(value)
        return register

    def _connect_from_link(self, m: Module, link, port) -> None:
        """Connect the end of a link: flits pass the link registers, credits do not."""
        registers = tile_registers(self._config)
        m.d.comb += [
            port.valid.eq(delayed(m, link.valid, registers)),
            port.flit.eq(delayed(m, link.flit.as_value(), registers)),
            link.credit.eq(port.credit),
        ]

    def _connect_to_link(self, m: Module, port, link) -> None:
        """Connect the beginning of a link: credits pass the link registers, flits do not."""
        registers = tile_registers(self._config)
        m.d.comb += [
            link.valid.eq(port.valid),
            link.flit.eq(port.flit),
            port.credit.eq(delayed(m, link.credit, registers)),
        ]

    def _elaborate_interface(self, m: Module, interface: NetworkInterface | SwitchStatus) -> None:
        """Connect the interface to the network and the host."""
        connect(m, flipped(self.host), interface.host)
        m.d.comb += interface.node.eq(self.node)
        if isinstance(interface, NetworkInterface) and self._config.programs:
            connect(m, flipped(self).program, interface.program)
            if self._config.tile_ports:
                connect(m, flipped(self).tile, interface.tile)
            if self._config.parity:
                m.d.comb += self.damaged.eq(interface.damaged)
        for name in () if self._switch else STEP_INPUTS:
            m.d.comb += getattr(interface, name).eq(getattr(self, name))
        m.d.comb += [
            self.over.eq(interface.over),
            self.finished.eq(interface.finished),
            self.flagged.eq(interface.flagged),
        ]

    def _elaborate_signature(self, m: Module, router: Router, interface) -> None:
        """Add the signature of the flits that leave; the host reads it in the status space."""
        m.submodules.signature = register = SignatureRegister(
            self._config, switch=self._switch, technology=self._technology
        )
        for output, sent in zip(router.outputs, register.sent, strict=True):
            connect_ejection(m, output, sent)
        m.d.comb += [
            register.cycle.eq(self.cycle),
            interface.router_signature.eq(register.value),
        ]

    def _elaborate_trace(self, m: Module, router: Router) -> None:
        """Print every flit that leaves an output port, in decimal (docs/router.md, section 7)."""
        ports = printed_ports(self._config, switch=self._switch)
        for port, output in zip(ports, router.outputs, strict=True):
            vc = sum(Mux(output.valid[number], number, 0) for number in range(self._config.vcs))
            # A flit's kind in a trace: bit 0 the head mark, bit 1 the tail mark.
            kind = Cat(output.flit.head, output.flit.tail)
            numbers = (self.cycle, self.node, port, vc, kind)
            line = printed_line(self._config, numbers, output.flit.data)
            with m.If(output.valid.any()):
                m.d.sync += Print(line, end="")
