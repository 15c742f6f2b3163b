"""The controller of an engine: loads, starts, stops and watches programs while a chip runs.

It is written to docs/router.md, section 16::

    host ◄──► request ──► check, registers, directory ──► run control ──► core reset, program
                 │                                            ▲
                 └──────► tiles: memories, status             └── state of all nodes
"""

from collections.abc import Mapping

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import Component, In, Out, connect, flipped

from ..model.network.config import NetworkConfig
from ..model.network.config_file import identity
from .directory import Directory
from .parts.host_map import CONTROLLER_ENTRIES, CONTROLLER_SPACE, Command, ControllerWord
from .parts.host_port import HostPort, RequestPort, flags_layout
from .parts.link import CYCLE_BITS
from .request_check import RequestCheck
from .request_under_way import RequestUnderWay
from .run_control import AllNodes, RunControl, run_layout

IDENTITY_BITS = 32
"""Width of a network's identity."""


class Controller(Component):
    """Carries out the requests of a host, one after the other. Used by :class:`.Network`.

    Members
    -------
    host : In(RequestPort)
        The requests of the host.
    tiles : Out(HostPort)
        The requests to all tiles; their answers arrive combined into one.
    nodes : In(AllNodes)
        The state of all nodes. Valid in every cycle.
    reset : Out(1)
        High while the core is held in reset.
    run : Out(run_layout)
        The program to run; constant from the first cycle of the ``reset`` before its run on.
    busy, done, error, interrupt : Out(1)
        The states that section 16 defines.
    cycle : Out(32)
        The number of the run's current cycle; after a run, of its last cycle.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        outside = {name: Out(1) for name in ("busy", "done", "error", "interrupt")}
        super().__init__(
            {
                "host": In(RequestPort(config)),
                "tiles": Out(HostPort(config)),
                "nodes": In(AllNodes(config)),
                # The core is in reset from power-up on.
                "reset": Out(1, init=1),
                "run": Out(run_layout(config)),
                **outside,
                "cycle": Out(CYCLE_BITS),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build the parts of the drawing above."""
        m = Module()
        config = self._config
        m.submodules.control = control = RunControl(config)
        m.submodules.directory = directory = Directory(config)
        m.submodules.check = check = RequestCheck(config)
        m.submodules.under_way = under_way = RequestUnderWay(config)
        connect(m, flipped(self).nodes, control.nodes)
        connect(m, flipped(self).host, under_way.host)
        connect(m, under_way.tiles, flipped(self).tiles)
        image, enable = Signal(IDENTITY_BITS, name="image"), Signal(name="enable")
        interrupts: Value = control.ended
        enable_word: Value = enable
        if config.parity:
            damaged = self._damaged(m, control)
            interrupts, enable_word = interrupts | damaged, Cat(enable, damaged)
        self._elaborate_state(m, control)
        self._elaborate_check(m, check, under_way.request, control, directory, image)
        carried_out, kept = Signal(), {ControllerWord.IMAGE: image, ControllerWord.ENABLE: enable}
        m.d.comb += [
            self.interrupt.eq(interrupts & enable),
            under_way.local.eq(under_way.request.space == CONTROLLER_SPACE),
            under_way.refusal.eq(check.refusal),
            carried_out.eq(under_way.accepts & under_way.local),
        ]
        self._elaborate_writes(m, carried_out, under_way.request, directory, kept)
        self._elaborate_commands(m, carried_out, check, control, directory)
        result = self._elaborate_culprit(m, under_way, control)
        words = {
            ControllerWord.IDENTITY: C(identity(config), IDENTITY_BITS),
            ControllerWord.RESULT: result,
            ControllerWord.CYCLE: control.cycle,
            ControllerWord.QUEUED: Mux(control.queued, control.next_run.program + 1, 0),
            **kept,
            ControllerWord.ENABLE: enable_word,
        }
        self._elaborate_reads(m, under_way, directory, words)
        return m

    def _damaged(self, m: Module, control: RunControl) -> Signal:
        """Return a bit set by a damaged word shown to tile or host, cleared by an acknowledge."""
        damaged = Signal(name="damaged")
        with m.If(control.acknowledge):
            m.d.sync += damaged.eq(0)
        with m.If(self.nodes.damaged):
            m.d.sync += damaged.eq(1)
        return damaged

    def _elaborate_state(self, m: Module, control: RunControl) -> None:
        """Drive the core's reset and program, and the outputs that tell the state."""
        m.d.comb += [
            self.reset.eq(control.reset),
            self.busy.eq(control.busy),
            self.done.eq(control.done),
            self.error.eq(control.error),
            self.run.eq(control.run),
            self.cycle.eq(control.cycle),
        ]

    def _elaborate_check(
        self, m: Module, check: RequestCheck, request, control, directory, image: Signal
    ) -> None:
        """Connect the inputs of the request check."""
        m.d.comb += [
            check.request.eq(request),
            check.base.eq(directory.base),
            check.words.eq(directory.words),
            check.image.eq(image),
            check.busy.eq(self.busy),
            check.queued.eq(control.queued),
            check.run.eq(control.run),
            check.next_run.eq(control.next_run),
            directory.program.eq(check.program),
            directory.field.eq(request.address),
        ]

    def _elaborate_writes(
        self,
        m: Module,
        carried_out: Signal,
        request,
        directory: Directory,
        kept: Mapping[ControllerWord, Signal],
    ) -> None:
        """Write the controller's registers and the directory."""
        written = carried_out & request.write
        m.d.comb += [
            directory.write.eq(written & (request.address >= CONTROLLER_ENTRIES)),
            directory.write_data.eq(request.write_data),
        ]
        for address, register in kept.items():
            with m.If(written & (request.address == address)):
                m.d.sync += register.eq(request.write_data)

    def _elaborate_commands(
        self, m: Module, carried_out: Signal, check: RequestCheck, control, directory
    ) -> None:
        """Tell run control the command that is carried out, and the program that a start names."""
        request, offered = check.request, control.offered
        is_command = carried_out & request.write & (request.address == ControllerWord.COMMAND)
        commands = {
            Command.START: control.start,
            Command.STOP: control.stop,
            Command.ACKNOWLEDGE: control.acknowledge,
        }
        for number, command in commands.items():
            m.d.comb += command.eq(is_command & (request.write_data[:8] == number))
        m.d.comb += [
            offered.program.eq(check.program),
            offered.base.eq(directory.base),
            offered.end.eq(directory.base + directory.words),
            offered.barrier.eq(directory.mode[0]),
            offered.half_duplex.eq(directory.mode[1]),
            offered.limit.eq(directory.limit),
        ]

    def _elaborate_culprit(
        self, m: Module, under_way: RequestUnderWay, control: RunControl
    ) -> Value:
        """Read the culprit's flags after a failure; return the result word of the last run."""
        flags, known = Signal(flags_layout(parity=True), name="flags"), Signal(name="known")
        m.d.comb += [
            under_way.fetch.eq(self.error & ~known),
            under_way.fetch_node.eq(control.culprit),
        ]
        with m.If(under_way.fetched):
            m.d.sync += [flags.eq(self.tiles.read_data), known.eq(1)]
        with m.If(control.starting):
            m.d.sync += [flags.eq(0), known.eq(0)]
        return Cat(flags, control.state, known, control.run.program, control.culprit)

    def _elaborate_reads(
        self,
        m: Module,
        under_way: RequestUnderWay,
        directory: Directory,
        words: Mapping[ControllerWord, Value],
    ) -> None:
        """Return the controller's word at a request's address; 0 for any other request."""
        request, word = under_way.request, Signal(self._config.narrow_width)
        with m.If(request.address >= CONTROLLER_ENTRIES):
            m.d.comb += word.eq(directory.word)
        with m.Else(), m.Switch(request.address[:3]):
            for address, value in words.items():
                with m.Case(address):
                    m.d.comb += word.eq(value)
        shown = under_way.local & ~request.write
        m.d.comb += under_way.word.eq(Mux(shown, word, 0))
