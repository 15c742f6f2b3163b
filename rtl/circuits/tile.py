"""A tile of a network with circuits (docs/router.md, section 23).

::

               run table ──► network interface ◄──► host
                   │ setting      ▲ │ word
                   ▼              │ ▼
    links ──► link registers ──► router ──► links
                                    └──► signature    (in a network with signatures)

The tile of a switch has the same parts, but no message memory and no words to or from it.
"""

from amaranth.hdl import Module, Mux, Print, Signal
from amaranth.lib.wiring import Component, connect, flipped

from ...model.network.config import NetworkConfig
from ..parts.link import printed_line, printed_ports
from ..parts.signature_register import SignatureRegister
from ..parts.technology import PLAIN, Technology
from ..parts.tile_signature import tile_signature
from .interface import CircuitInterface
from .lane import lane_suffixes
from .router import CircuitRouter
from .run_table import RunTable

BODY = 0
"""The kind of a flit without marks, and the VC of all words, as a trace has them."""


class CircuitTile(Component):
    """One node's hardware in a network with circuits. Used by :class:`.Network`.

    Parameters and members are those of a :class:`.Tile`. Its links carry words. ``linked``,
    ``barrier`` and ``advance`` have no effect.
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
        super().__init__(tile_signature(config, trace=trace, switch=switch))

    def elaborate(self, _platform: object) -> Module:
        """Run table, router and interface, joined at port 0 or at the ports of the lanes."""
        m = Module()
        config, technology, switch = self._config, self._technology, self._switch
        m.submodules.run_table = table = RunTable(config, technology=technology)
        m.submodules.router = router = CircuitRouter(config, switch=switch, technology=technology)
        m.submodules.network_interface = interface = CircuitInterface(
            config, switch=switch, technology=technology
        )
        connect(m, table.run, interface.run)
        connect(m, interface.entry, table.write)
        lanes = [] if switch else lane_suffixes(config)
        for place, lane in enumerate(lanes):
            connect(m, getattr(interface, f"injection{lane}"), router.inputs[place])
            connect(m, router.outputs[place], getattr(interface, f"ejection{lane}"))
        for index in range(config.topology.ports - 1):
            self._connect_from_link(m, self.inputs[index], router.inputs[len(lanes) + index])
            connect(m, router.outputs[len(lanes) + index], flipped(self.outputs[index]))
        connect(m, flipped(self.host), interface.host)
        if config.operators and not switch:
            m.d.comb += interface.sum_leaves.eq(router.sum_leaves)
        m.d.comb += [
            router.setting.eq(table.setting),
            interface.lost_word.eq(router.lost_word),
            interface.missing_word.eq(router.missing_word),
            interface.bad_route.eq(router.bad_route),
            interface.node.eq(self.node),
            *([] if switch else [interface.half_duplex.eq(self.half_duplex)]),
            self.over.eq(interface.finished),
            self.finished.eq(interface.finished),
            self.flagged.eq(interface.flagged),
        ]
        if config.programs:
            self._connect_program(m, table, interface)
        if config.signature:
            self._elaborate_signature(m, router, interface)
        if self._trace:
            self._elaborate_trace(m, router)
        return m

    def _connect_program(self, m: Module, table: RunTable, interface: CircuitInterface) -> None:
        """Connect the place of the running program, the tile's port, and what the tile tells."""
        config = self._config
        m.d.comb += [table.base.eq(self.program.base), table.end.eq(self.program.end)]
        if self._switch:
            return
        if config.tile_ports:
            connect(m, flipped(self).tile, interface.tile)
            m.d.comb += [
                interface.program.eq(self.program.program),
                self.held.eq(interface.held),
            ]
        if config.parity:
            m.d.comb += self.damaged.eq(interface.damaged)

    def _connect_from_link(self, m: Module, link, port) -> None:
        """Delay the words of a link by its registers."""
        valid, word = link.valid, link.word
        for _ in range(self._config.link_registers):
            late_valid = Signal(name="late_valid")
            late_word = Signal.like(word, name="late_word", reset_less=True)
            m.d.sync += [late_valid.eq(valid), late_word.eq(word)]
            valid, word = late_valid, late_word
        m.d.comb += [port.valid.eq(valid), port.word.eq(word)]

    def _elaborate_signature(
        self, m: Module, router: CircuitRouter, interface: CircuitInterface
    ) -> None:
        """Fold the words that leave the router; the host reads the signature as status words."""
        m.submodules.signature = register = SignatureRegister(
            self._config, switch=self._switch, technology=self._technology
        )
        for output, sent in zip(router.outputs, register.sent, strict=True):
            m.d.comb += [
                sent.valid.eq(output.valid),
                sent.flit.data.eq(Mux(output.valid, output.word, 0)),
            ]
        m.d.comb += [
            register.cycle.eq(self.cycle),
            interface.router_signature.eq(register.value),
        ]

    def _elaborate_trace(self, m: Module, router: CircuitRouter) -> None:
        """Print every word that leaves an output port, in decimal (docs/router.md, section 7)."""
        ports = printed_ports(self._config, switch=self._switch)
        for port, output in zip(ports, router.outputs, strict=True):
            numbers = (self.cycle, self.node, port, BODY, BODY)
            line = printed_line(self._config, numbers, output.word)
            with m.If(output.valid):
                m.d.sync += Print(line, end="")
