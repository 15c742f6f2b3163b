"""The states of an engine: which program runs, which comes next, how a run ends.

This is the middle of the controller (docs/router.md, section 16, "The controller")::

    start, stop ──► state, program, queue ──► core reset, the program's place and timing
                      ▲
    done, error ──────┴──► cycle, culprit, interrupt
"""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out, Signature

from ..model.network.config import NetworkConfig, bits_for
from .parts.host_map import RunState, table_address_bits
from .parts.host_port import node_bits
from .parts.link import CYCLE_BITS
from .parts.table import PROGRAM_BITS


def run_layout(config: NetworkConfig) -> data.StructLayout:
    """Return the layout of a program's settings: number, first and end address, timing, limit."""
    return data.StructLayout(
        {
            "program": PROGRAM_BITS,
            "base": table_address_bits(config),
            "end": bits_for(config.table_words),
            "barrier": 1,
            "half_duplex": 1,
            "limit": config.narrow_width,
        }
    )


class AllNodes(Signature):
    """State of all nodes together, as the controller sees it; the directions are the nodes'.

    Members
    -------
    finished, flagged : Out(1)
        High when all nodes are finished; high while some node has a flag set. Both are low while
        ``heard`` is low.
    heard : Out(1)
        High while the state seen here is from after the last core reset. Barrier registers delay
        it.
    first_flagged, first_unfinished : Out(node_bits)
        The lowest node with a flag set, and the lowest node that is not finished. Each is valid if
        there is such a node and ``heard`` is 1.
    damaged : Out(1)
        Only with parity: high while some node shows a damaged word to its tile or the host, in core
        reset too.

    """

    def __init__(self, config: NetworkConfig) -> None:
        bits = node_bits(config)
        super().__init__(
            {
                "finished": Out(1),
                "flagged": Out(1),
                "heard": Out(1),
                "first_flagged": Out(bits),
                "first_unfinished": Out(bits),
                **({"damaged": Out(1)} if config.parity else {}),
                **({"held": Out(1), "first_held": Out(bits)} if config.waits_for_tiles else {}),
            }
        )


class RunControl(Component):
    """Starts, watches and ends runs. Used by :class:`.Controller`.

    Members
    -------
    start : In(1)
        High to start the program ``offered``, or to queue it while another one runs. Only while
        ``queued`` is 0.
    offered : In(run_layout)
        The program to start. Valid while ``start`` is 1.
    stop, acknowledge : In(1)
        High in the cycle of that command.
    nodes : In(AllNodes)
        The state of all nodes, in every cycle.
    state : Out(RunState)
        The state of the engine, in every cycle.
    reset : Out(1)
        High while the core is held in reset.
    starting, busy, done, error : Out(1)
        High in *starting*; in *starting* and *running*; in *done*; in *failed* and *timed out*.
    run : Out(run_layout)
        The program that is running or has run. Changes only when the state becomes *starting*.
    queued : Out(1)
        High while a program is queued.
    next_run : Out(run_layout)
        The queued program. Valid while ``queued`` is 1.
    cycle : Out(32)
        The number of the run's current cycle; after a run, of its last cycle.
    culprit : Out(node_bits)
        The node whose flag ended the last run, or that was not finished at its limit, or that its
        tile kept from starting; otherwise 0.
    never_ran : Out(1)
        Only with circuits and tile ports: high if the last run was timed out before it began.
    ended : Out(1)
        High if a run has ended without a stop since the last ``acknowledge``.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        layout = run_layout(config)
        super().__init__(
            {
                "start": In(1),
                "offered": In(layout),
                "stop": In(1),
                "acknowledge": In(1),
                "nodes": In(AllNodes(config)),
                "state": Out(RunState),
                **{name: Out(1) for name in ("reset", "starting", "busy", "done", "error")},
                "run": Out(layout),
                "queued": Out(1),
                "next_run": Out(layout),
                "cycle": Out(CYCLE_BITS),
                "culprit": Out(node_bits(config)),
                "ended": Out(1),
                **({"never_ran": Out(1)} if config.waits_for_tiles else {}),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build the state machine; a stop has the highest priority."""
        m = Module()
        self._elaborate_outputs(m)
        begins = Signal()
        with m.If(self.acknowledge):
            m.d.sync += self.ended.eq(0)
        with m.Switch(self.state):
            with m.Case(RunState.STARTING):
                self._elaborate_starting(m)
            with m.Case(RunState.RUNNING):
                self._elaborate_queue(m)
                with m.If(~self.stop):
                    self._elaborate_running(m)
            with m.Case(RunState.DONE):
                m.d.comb += begins.eq(self.start | self.queued)
            with m.Default():
                m.d.comb += begins.eq(self.start)
        with m.If(self.stop):
            m.d.sync += [self.state.eq(RunState.IDLE), self.queued.eq(0)]
        with m.Elif(begins):
            self._begin(m)
        return m

    def _elaborate_outputs(self, m: Module) -> None:
        """Tell the state by bits, so that no other module decodes it."""

        def is_in(*states: RunState) -> Value:
            return Cat(self.state == state for state in states).any()

        in_reset = is_in(RunState.IDLE, RunState.STARTING)
        if self._config.waits_for_tiles:
            in_reset |= self.never_ran & is_in(RunState.TIMED_OUT)
        m.d.comb += [
            self.reset.eq(in_reset),
            self.starting.eq(is_in(RunState.STARTING)),
            self.busy.eq(is_in(RunState.STARTING, RunState.RUNNING)),
            self.done.eq(is_in(RunState.DONE)),
            self.error.eq(is_in(RunState.FAILED, RunState.TIMED_OUT)),
        ]

    def _begin(self, m: Module) -> None:
        """Start the queued program, or the offered one."""
        m.d.sync += [
            self.state.eq(RunState.STARTING),
            self.run.eq(Mux(self.queued, self.next_run.as_value(), self.offered.as_value())),
            self.queued.eq(0),
            self.cycle.eq(0),
            self.culprit.eq(0),
        ]
        if self._config.waits_for_tiles:
            m.d.sync += self.never_ran.eq(0)

    def _elaborate_starting(self, m: Module) -> None:
        """Hold the core in reset until all settings that it needs have arrived."""
        last = self._config.barrier_registers + 1
        held = Signal(range(last + 1))
        self._elaborate_queue(m)
        m.d.sync += held.eq(held + 1)
        with m.If(held == last):
            m.d.sync += self.state.eq(RunState.RUNNING)
        with m.If((held == last) | self.stop):
            m.d.sync += held.eq(0)
        if self._config.waits_for_tiles:
            self._elaborate_waiting(m, held, (held == last) & self.nodes.held & ~self.stop)

    def _elaborate_waiting(self, m: Module, held: Signal, waits: Value) -> None:
        """Stay in *starting* while a tile holds its node, but not longer than the limit."""
        waited, limit = Signal.like(self.run.limit, name="waited"), self.run.limit
        m.d.sync += waited.eq(0)
        with m.If(waits & limit.any() & (waited == limit)):
            self._end(m, RunState.TIMED_OUT, self.nodes.first_held)
            m.d.sync += self.never_ran.eq(1)
        with m.Elif(waits):
            m.d.sync += [
                self.state.eq(RunState.STARTING),
                held.eq(held),
                waited.eq(waited + 1),
            ]

    def _elaborate_queue(self, m: Module) -> None:
        """Queue a program that is offered during a run."""
        with m.If(self.start):
            m.d.sync += [self.queued.eq(1), self.next_run.eq(self.offered)]

    def _elaborate_running(self, m: Module) -> None:
        """End a run: a flag has priority over everything, and completion over the limit."""
        nodes, next_cycle = self.nodes, Signal(CYCLE_BITS + 1)
        m.d.comb += next_cycle.eq(self.cycle + 1)
        with m.If(nodes.flagged):
            self._end(m, RunState.FAILED, nodes.first_flagged)
        with m.Elif(nodes.finished):
            self._end(m, RunState.DONE)
        with m.Elif(nodes.heard & (next_cycle == self.run.limit)):
            self._end(m, RunState.TIMED_OUT, nodes.first_unfinished)
        with m.Elif(nodes.heard):
            m.d.sync += self.cycle.eq(next_cycle)

    def _end(self, m: Module, state: RunState, culprit: Value | None = None) -> None:
        """End the run, which no stop has ended; with a culprit, drop the queued program."""
        m.d.sync += [self.state.eq(state), self.ended.eq(1)]
        if culprit is not None:
            m.d.sync += [self.culprit.eq(culprit), self.queued.eq(0)]
