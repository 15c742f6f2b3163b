"""The network interface of a node (docs/router.md, sections 4 and 6).

::

    host port ──► tables, expected ──► lane ──► inject (port 0 of the router)
        │                          ┌──► │ ▲ ◄── eject
        │                     step │    │ │
        │    advance (barrier) ──► steps◄ │ words
        └──◄─────────────────────► message memory

In an all-port network (docs/router.md, section 14) it has a lane for every link, each with an
injection and an ejection port of its own, and the message memory has as many read and write ports.
"""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import C, Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib.wiring import Component, In, Out, connect, flipped

from ..model.network.config import SIGNATURE_BITS, NetworkConfig, bits_for
from .combiner import Combiner
from .host_access import carried_out
from .host_port import (
    Causes,
    Flag,
    HostPort,
    HostSpace,
    StatusWord,
    expectation_words,
    flags_layout,
    node_bits,
    table_address_bits,
)
from .lane import Lane, lane_flags
from .link import CYCLE_BITS, Ejection, Link, router_ports
from .loaded_memory import add_loaded_memory
from .router import ROUTER_FLAGS
from .shared_memory import SharedMemory
from .status import kept_flags, status_answer, words_of
from .steps import StepKeeper
from .table import ProgramPlace
from .technology import PLAIN, Technology
from .tile_port import Doorbell, TilePort


def _writes(lanes: Sequence[Lane], combiner: Combiner | None) -> Sequence[Any]:
    """Writes into the message memory, by lane."""
    return [lane.message_write for lane in lanes] if combiner is None else combiner.writes


class NetworkInterface(Component):
    """Executes a node's tables; with ``trace`` it also counts the stalled flits.

    Used by :class:`.Tile`.

    Members
    -------
    node : In
        The node's number; constant.
    injections, ejections : array of Link, array of Ejection
        To and from port 0 of the router, or its injection and ejection ports.
    accept : Out(1)
        The flit that leaves port 0 of the router in this cycle is taken. Always 1 but in a network
        with timed rows.
    router_causes : In(Causes)
        Those that the router sees in this cycle. Not looked at in reset.
    router_stalls : In(router_ports * vcs)
        Flits leaving the router in this cycle that have waited there. Looked at with ``trace``.
    router_signature : In(32)
        What the router has sent before this cycle, folded; of no bits in a network without
        signatures.
    barrier, half_duplex, advance : In(1)
        As for :class:`.StepKeeper`.
    program : In(ProgramPlace)
        Only in a network with programs: as for :class:`.Table`.
    host : In(HostPort)
        Loads and reads; see :class:`.HostPort`.
    tile : In(TilePort)
        Only in a network with tile ports.
    over, finished : Out(1)
        The node's part of the step of this cycle is done; of the program. 0 while ``flagged``.
    flagged : Out(1)
        A flag is set: from the cycle after its cause until reset.
    damaged : Out(1)
        Only with parity: a damaged word is shown to the tile or the host in this cycle.

    """

    def __init__(
        self, config: NetworkConfig, *, trace: bool = False, technology: Technology = PLAIN
    ) -> None:
        self._config = config
        # A damaged word is shown to the tile or the host, or combined, in this cycle.
        self._shows_damaged = Signal()
        self._trace = trace
        self._technology = technology
        super().__init__(
            {
                "node": In(node_bits(config)),
                "injections": Out(Link(config)).array(config.lanes),
                "ejections": In(Ejection(config)).array(config.lanes),
                "accept": Out(1),
                "router_causes": In(Causes(*ROUTER_FLAGS)),
                "router_stalls": In(len(router_ports(config)) * config.vcs),
                "router_signature": In(SIGNATURE_BITS if config.signature else 0),
                "barrier": In(1),
                "half_duplex": In(1),
                "advance": In(1),
                **({"program": In(ProgramPlace(config))} if config.programs else {}),
                "host": In(HostPort(config)),
                **({"tile": In(TilePort(config))} if config.tile_ports else {}),
                "over": Out(1),
                "finished": Out(1),
                "flagged": Out(1),
                **({"damaged": Out(1)} if config.parity else {}),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """The parts of the drawing above, flags, and what the host reads."""
        m = Module()
        m.submodules.steps = steps = StepKeeper(self._config)
        layout = flags_layout(parity=self._config.parity)
        flags = Signal(layout)
        stalled_flits = Signal(self._config.flit_width)
        selected = Signal()
        lanes = [self._add_lane(m, number, steps, selected) for number in range(self._config.lanes)]
        if not self._config.programs:
            m.d.comb += selected.eq(self.host.node == self.node)
        self._elaborate_steps(m, steps, lanes)
        self._elaborate_flags(m, flags, steps, lanes)
        if self._trace:
            stalls = Cat(self.router_stalls, *(lane.stalled for lane in lanes))
            m.d.sync += stalled_flits.eq(stalled_flits + sum(stalls))
        if self._config.tile_ports:
            self._elaborate_tile(m, steps, lanes)
        combiner = self._add_combiner(m, lanes) if self._config.operators else None
        if self._config.programs:
            message_word = self._elaborate_shared_message(m, lanes, selected, combiner)
        else:
            message_word = self._elaborate_message(m, lanes, selected, combiner)
        if self._config.timed_rows:
            self._elaborate_timing(m, lanes[0], selected)
        else:
            slow = combiner if self._config.operator_latency else None
            m.d.comb += self.accept.eq(1 if slow is None else slow.accept)
        status_word = self._elaborate_status(m, flags, steps, lanes, stalled_flits, selected)
        # What the host reads is a cycle late, as the memory is; it must also be read in reset.
        message_shown = Signal(reset_less=True)
        m.d.sync += message_shown.eq(selected & (self.host.space == HostSpace.MESSAGE))
        m.d.comb += self.host.read_data.eq(status_word | Mux(message_shown, message_word, 0))
        return m

    def _host_writes(self, selected: Signal, space: HostSpace) -> Value:
        """The host writes to ``space`` of this node in this cycle."""
        written = selected & self.host.write & (self.host.space == space)
        return written if self._config.programs else written & ResetSignal()

    def _add_lane(self, m: Module, number: int, steps: StepKeeper, selected: Signal) -> Lane:
        """A lane, and its wires to the router and from the host; it shares the node's step."""
        m.submodules[f"lane_{number}"] = lane = Lane(
            self._config, number=number, technology=self._technology
        )
        connect(m, lane.injection, flipped(self.injections[number]))
        connect(m, flipped(self.ejections[number]), lane.ejection)
        connect(m, steps.clock, lane.clock)
        m.d.comb += [
            lane.table.enable.eq(self._table_written(selected, number)),
            lane.table.address.eq(self.host.address),
            lane.table.word.eq(self.host.write_data),
        ]
        if self._config.programs:
            connect(m, flipped(self).program, lane.program)
        else:
            first = number * self._config.mask_words
            words = range(first, first + self._config.mask_words)
            expected = Cat(self._expectation(m, selected, word) for word in words)
            m.d.comb += lane.expected.eq(expected)
        halted = self.flagged | steps.held if self._config.tile_ports else self.flagged
        m.d.comb += [lane.hold.eq(halted), lane.barrier.eq(self.barrier)]
        return lane

    def _add_combiner(self, m: Module, lanes: Sequence[Lane]) -> Combiner:
        """Add the part between lanes and memory of a network with operators."""
        m.submodules.combiner = combiner = Combiner(self._config, technology=self._technology)
        for lane, word in zip(lanes, combiner.words, strict=True):
            connect(m, lane.message_write, word)
        if self._config.operator_latency:
            for next_word, here in zip(lanes[0].next_words, combiner.next_words, strict=True):
                connect(m, next_word, here)
        return combiner

    def _table_written(self, selected: Signal, number: int) -> Value:
        """The host writes to the table of lane ``number``."""
        written = self._host_writes(selected, HostSpace.TABLE)
        if self._config.all_port:
            written &= self.host.address[table_address_bits(self._config) :] == number
        return written

    def _expectation(self, m: Module, selected: Signal, word: int) -> Signal:
        """A word of the host's space of expectations: kept through reset."""
        kept = Signal(self._config.flit_width, name=f"expectation_{word}", reset_less=True)
        address = self.host.address[: bits_for(expectation_words(self._config) - 1)]
        written = self._host_writes(selected, HostSpace.EXPECTED) & (address == word)
        with m.If(written):
            m.d.sync += kept.eq(self.host.write_data)
        return kept

    def _elaborate_steps(self, m: Module, steps: StepKeeper, lanes: Sequence[Lane]) -> None:
        """The lanes' parts in the step."""
        m.d.comb += [
            steps.progress.step_done.eq(Cat(lane.progress.step_done for lane in lanes).all()),
            steps.progress.all_done.eq(Cat(lane.progress.all_done for lane in lanes).all()),
            steps.progress.begins.eq(Cat(lane.progress.begins for lane in lanes).any()),
            steps.progress.receives.eq(Cat(lane.progress.receives for lane in lanes).any()),
            steps.flagged.eq(self.flagged),
            steps.barrier.eq(self.barrier),
            steps.advance.eq(self.advance),
            steps.half_duplex.eq(self.half_duplex),
            self.over.eq(steps.over),
            self.finished.eq(steps.finished),
        ]
        if self._config.streams:
            for number, lane in enumerate(lanes):
                connect(m, lane.come, *(each.comes[number] for each in lanes))

    def _elaborate_flags(self, m: Module, flags, steps, lanes: Sequence[Lane]) -> None:
        """Set at the end of the cycle in which the cause is seen, and kept until reset."""

        def cause(flag: Flag) -> Value:
            name, once = flag.member, (self.router_causes, steps.causes)
            may = flag in lane_flags(self._config)
            of_lanes = Cat(getattr(lane.causes, name) for lane in lanes if may)
            seen = [getattr(part, name) for part in once if name in part.signature.members]
            return reduce(or_, [*seen, of_lanes.any()])

        causes: dict[Flag, Value] = {each: cause(each) for each in Flag if each != Flag.PARITY}
        if self._config.parity:
            causes[Flag.PARITY] = cause(Flag.PARITY) | self._shows_damaged
        kept = kept_flags(m, causes)
        m.d.comb += flags.eq(kept)
        if not self._technology.look_ahead:
            m.d.comb += self.flagged.eq(flags.as_value().any())
            return
        # This cause is told a cycle late. Of a bad write it is known too late in the cycle for
        # more than its own register; all others share one, so that a row may soon begin.
        unexpected, others = Signal(name="unexpected"), Signal(name="others")
        m.d.comb += unexpected.eq(causes[Flag.UNEXPECTED_RECEIVE])
        with m.If(Cat(value for flag, value in causes.items() if flag != Flag.BAD_WRITE).any()):
            m.d.sync += others.eq(1)
        m.d.comb += [
            flags.unexpected_receive.eq(kept.unexpected_receive | unexpected),
            self.flagged.eq(others | unexpected | kept.bad_write),
        ]

    def _elaborate_message(
        self, m: Module, lanes: Sequence[Lane], selected: Signal, combiner: Combiner | None
    ) -> Value:
        """The message memory of a network without programs. Gives the word read for the host."""
        host_word = self.host.write_data
        if combiner is not None:
            m.d.comb += combiner.host_word.eq(self.host.write_data)
            host_word = combiner.writes[0].word
            for write, stored in zip(combiner.writes, combiner.stored, strict=True):
                m.d.comb += [
                    stored.enable.eq(write.enable),
                    stored.address.eq(write.address),
                    stored.word.eq(write.word),
                ]
        return add_loaded_memory(
            m,
            self._config,
            self._technology,
            host=self.host,
            host_writes=self._host_writes(selected, HostSpace.MESSAGE),
            host_word=host_word,
            writes=_writes(lanes, combiner),
            reads=[lane.message_read for lane in lanes],
            reads_to_combine=combiner.reads if combiner is not None else (),
        )

    def _elaborate_shared_message(
        self, m: Module, lanes: Sequence[Lane], selected: Signal, combiner: Combiner | None
    ) -> Value:
        """The message memory of a network with programs. Gives the word read for the host."""
        m.submodules.message = message = SharedMemory(self._config, technology=self._technology)
        writes = _writes(lanes, combiner)
        ports = zip(lanes, writes, message.writes, message.reads, strict=True)
        for lane, write, write_port, read_port in ports:
            connect(m, write, write_port)
            connect(m, lane.message_read, read_port)
        if combiner is not None:
            for read, port in zip(combiner.reads, message.reads_to_combine, strict=True):
                connect(m, read, port)
            for port, stored in zip(message.stored, combiner.stored, strict=True):
                connect(m, port, stored)
            m.d.comb += [
                message.stores.eq(combiner.stores[0]),
                message.combines.eq(combiner.combines[0]),
            ]
        is_message = self.host.space == HostSpace.MESSAGE
        free = Mux(self.host.write, message.write_free, message.read_free)
        m.d.comb += [
            selected.eq(carried_out(m, self.host, self.node, free | ~is_message)),
            message.fetches.eq(lanes[0].fetches),
            message.host_address.eq(self.host.address),
            message.host_word.eq(self.host.write_data),
            message.host_writes.eq(self._host_writes(selected, HostSpace.MESSAGE)),
            message.host_reads.eq(selected & is_message & ~self.host.write),
        ]
        if self._config.tile_ports:
            self._connect_tile(m, message)
        if self._config.parity:
            self._elaborate_damage(m, message, combiner)
        return message.reads[0].word

    def _elaborate_damage(
        self, m: Module, message: SharedMemory, combiner: Combiner | None
    ) -> None:
        """A damaged word is told to the host or the tile that reads it, and sets a flag."""
        shown = Signal(reset_less=True)
        m.d.sync += shown.eq(message.host_reads)
        m.d.comb += self.host.damaged.eq(shown & message.reads[0].damaged)
        to_tile, combined = C(0), C(0)
        if self._config.tile_ports:
            to_tile = self.tile.read_damaged
            m.d.comb += to_tile.eq(message.tile_answered & message.tile_read.damaged)
        if combiner is not None:
            combined = combiner.damaged.any()
        m.d.comb += [
            self.damaged.eq(self.host.damaged | to_tile),
            self._shows_damaged.eq(self.damaged | combined),
        ]

    def _connect_tile(self, m: Module, message: SharedMemory) -> None:
        """The tile's way to the memory."""
        tile = self.tile
        m.d.comb += [
            message.tile_write.enable.eq(tile.write_valid),
            message.tile_write.address.eq(tile.write_address),
            message.tile_write.word.eq(tile.write_data),
            tile.write_ready.eq(message.tile_write_ready),
            message.tile_reads.eq(tile.read_valid),
            message.tile_read.address.eq(tile.read_address),
            tile.read_ready.eq(message.tile_read_ready),
            tile.read_answered.eq(message.tile_answered),
            tile.read_data.eq(message.tile_read.word),
        ]

    def _elaborate_tile(self, m: Module, steps: StepKeeper, lanes: Sequence[Lane]) -> None:
        """The tile holds the node back, and is told of packets, step and run."""
        tile, runs = self.tile, ~ResetSignal()
        m.submodules.doorbell = doorbell = Doorbell(self._config)
        for lane, arrival in zip(lanes, doorbell.arrivals, strict=True):
            connect(m, lane.arrival, arrival)
        held = Signal(reset_less=True)
        m.d.sync += held.eq(tile.hold)
        m.d.comb += [
            steps.held.eq(held),
            tile.arrived.eq(doorbell.arrived),
            tile.arrived_step.eq(doorbell.step),
            tile.step.eq(steps.clock.step),
            tile.finished.eq(steps.finished & runs),
            tile.running.eq(runs),
            tile.program.eq(self.program.program),
        ]

    def _elaborate_timing(self, m: Module, lane: Lane, selected: Signal) -> None:
        """Build the parts for timed rows: a cycle count, packets awaited, refusal."""
        first = self._config.mask_words
        now = Signal(CYCLE_BITS)
        refusal = self._expectation(m, selected, first + 1)
        m.d.sync += now.eq(now + 1)
        m.d.comb += [
            lane.now.eq(now),
            lane.awaited.eq(self._expectation(m, selected, first)),
            self.accept.eq(~refusal.bit_select(now[:4], 1)),
        ]

    def _elaborate_status(
        self, m: Module, flags, steps, lanes, stalled_flits: Signal, selected: Signal
    ) -> Signal:
        """The status word at the host's address, a cycle later; 0 if it asks for none of these."""
        first, *others = lanes
        words: dict[int, Any] = {
            StatusWord.FLAGS: flags,
            StatusWord.STEP: steps.clock.step,
            StatusWord.SENDER_STATE: first.sender_state,
            StatusWord.STALLED_FLITS: stalled_flits,
        }
        arrived = [word for lane in lanes for word in words_of(self._config, lane.arrived)]
        states = [lane.sender_state for lane in others]
        signature = words_of(self._config, self.router_signature)
        words |= dict(enumerate([*arrived, *states, *signature], int(StatusWord.ARRIVED)))
        return status_answer(m, self._config, self.host, words, selected)
