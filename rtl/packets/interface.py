"""The network interface of a node (docs/router.md, sections 4 and 6).

::

    host ──► message (message.py), and expectations or the tile's port
               │ ▲ words
               ▼ │
             lanes ◄──► router: port 0, or in an all-port network a port for each lane
               │ ▲ step
               ▼ │
    barrier ──► steps

All parts share the flags and the status words, which this module adds.
"""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import C, Cat, Module, ResetSignal, Signal, Value
from amaranth.lib.wiring import Component, In, Out, connect, flipped

from ...model.network.config import SIGNATURE_BITS, NetworkConfig
from ..parts.combiner import Combiner
from ..parts.host_map import HostSpace, StatusWord, table_address_bits
from ..parts.host_port import Causes, Flag, HostPort, flags_layout, node_bits
from ..parts.link import CYCLE_BITS, Ejection, Link, router_ports
from ..parts.message import Expectations, LoadedMessage, Message, SharedMessage
from ..parts.status import host_writes, kept_flags, status_answer, words_of
from ..parts.table import ProgramPlace
from ..parts.technology import PLAIN, Technology
from ..parts.tile_port import Doorbell, TilePort, connect_access
from .lane import Lane, lane_flags
from .router import ROUTER_FLAGS
from .steps import StepKeeper


class NetworkInterface(Component):
    """Executes a node's tables; with ``trace`` it also counts the stalled flits.

    Used by :class:`.Tile`.

    Members
    -------
    node : In
        The node's number; constant.
    injections, ejections : array of Link, array of Ejection
        The links to and from port 0 of the router, or its injection and ejection ports.
    accept : Out(1)
        High in a cycle in which the interface takes the flit that leaves port 0 of the router. Low
        only with timed rows or slow operators.
    router_causes : In(Causes)
        The router's causes of flags. Ignored in reset.
    router_stalls : In(router_ports * vcs)
        High for each flit that leaves the router in this cycle after it has waited there. Ignored
        without ``trace``.
    router_signature : In(32)
        Signature of the flits that the router sent before this cycle; 0 bits without signatures.
    barrier, half_duplex, advance : In(1)
        As for :class:`.StepKeeper`.
    program : In(ProgramPlace)
        Only in a network with programs: as for :class:`.Table`.
    host : In(HostPort)
        Loads and reads; see :class:`.HostPort`.
    tile : In(TilePort)
        Only in a network with tile ports.
    over, finished : Out(1)
        High while the node has done its part of the current step, and of the program. Low while
        ``flagged`` is high.
    flagged : Out(1)
        High from the cycle after the cause of a flag until reset.
    damaged : Out(1)
        Only with parity: high in a cycle in which a damaged word is shown to the tile or the host.

    """

    def __init__(
        self, config: NetworkConfig, *, trace: bool = False, technology: Technology = PLAIN
    ) -> None:
        self._config = config
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
        """Build the parts of the drawing above, flags, and the host's answers."""
        m, config = Module(), self._config
        # Slow operators or the host of timed rows may refuse a flit.
        m.d.comb += self.accept.eq(1)
        kind = SharedMessage if config.programs else LoadedMessage
        m.submodules.message = message = kind(config, technology=self._technology)
        m.submodules.steps = steps = StepKeeper(config)
        lanes = [self._add_lane(m, number, steps, message) for number in range(config.lanes)]
        self._connect_steps(m, steps, lanes)
        combiner = self._add_combiner(m, lanes, message) if config.operators else None
        self._connect_message(m, message, lanes, combiner)
        if config.programs:
            self._connect_program(m, message, lanes)
        else:
            self._add_expectations(m, message, lanes)
        if config.tile_ports:
            self._add_doorbell(m, steps, lanes)
        flags = self._add_flags(m, steps, lanes, self._seen_damage(message, combiner))
        m.d.comb += message.status.eq(self._add_status(m, flags, steps, lanes, message))
        return m

    def _add_lane(self, m: Module, number: int, steps: StepKeeper, message: Message) -> Lane:
        """Add a lane, and its wires to the router and from the host; lanes share the step."""
        m.submodules[f"lane_{number}"] = lane = Lane(
            self._config, number=number, technology=self._technology
        )
        connect(m, lane.injection, flipped(self.injections[number]))
        connect(m, flipped(self.ejections[number]), lane.ejection)
        connect(m, steps.clock, lane.clock)
        written = host_writes(self._config, self.host, message.selected, HostSpace.TABLE)
        if self._config.all_port:
            written &= self.host.address[table_address_bits(self._config) :] == number
        m.d.comb += [
            lane.table.enable.eq(written),
            lane.table.address.eq(self.host.address),
            lane.table.word.eq(self.host.write_data),
        ]
        halted = self.flagged | steps.held if self._config.tile_ports else self.flagged
        m.d.comb += [lane.hold.eq(halted), lane.barrier.eq(self.barrier)]
        return lane

    def _connect_message(
        self, m: Module, message: Message, lanes: Sequence[Lane], combiner: Combiner | None
    ) -> None:
        """Connect the memory to the host and the lanes, or to the combiner between."""
        connect(m, flipped(self.host), message.host)
        m.d.comb += message.node.eq(self.node)
        writes = [lane.message_write for lane in lanes] if combiner is None else combiner.writes
        for lane, write, here, read in zip(
            lanes, writes, message.writes, message.reads, strict=True
        ):
            connect(m, write, here)
            connect(m, lane.message_read, read)

    def _add_combiner(self, m: Module, lanes: Sequence[Lane], message: Message) -> Combiner:
        """Add the combiner between the lanes and the memory of a network with operators."""
        config = self._config
        m.submodules.combiner = combiner = Combiner(config, technology=self._technology)
        for lane, word in zip(lanes, combiner.words, strict=True):
            connect(m, lane.message_write, word)
        for read, port in zip(combiner.reads, message.reads_to_combine, strict=True):
            connect(m, read, port)
        for port, stored in zip(message.stored, combiner.stored, strict=True):
            connect(m, port, stored)
        if config.programs:
            m.d.comb += [
                message.stores.eq(combiner.stores[0]),
                message.combines.eq(combiner.combines[0]),
            ]
        else:
            wide = config.further_pieces
            host_word = message.host_word if wide else self.host.write_data
            m.d.comb += combiner.host_word.eq(host_word)
        if config.operator_latency:
            for next_word, here in zip(lanes[0].next_words, combiner.next_words, strict=True):
                connect(m, next_word, here)
            m.d.comb += self.accept.eq(combiner.accept)
        return combiner

    def _add_expectations(self, m: Module, message: Message, lanes: Sequence[Lane]) -> None:
        """Add what the host expects of the lanes; with timed rows, a cycle count and refusal."""
        config, host = self._config, self.host
        m.submodules.expectations = expectations = Expectations(config)
        m.d.comb += [
            expectations.write.enable.eq(
                host_writes(config, host, message.selected, HostSpace.EXPECTED)
            ),
            expectations.write.address.eq(host.address),
            expectations.write.word.eq(host.write_data),
        ]
        words = iter(expectations.words)
        for lane in lanes:
            m.d.comb += lane.expected.eq(Cat(next(words) for _ in range(config.mask_words)))
        if config.timed_rows:
            now, (awaited, refused) = Signal(CYCLE_BITS, name="now"), words
            m.d.sync += now.eq(now + 1)
            m.d.comb += [
                lanes[0].now.eq(now),
                lanes[0].awaited.eq(awaited),
                self.accept.eq(~refused.bit_select(now[:4], 1)),
            ]

    def _connect_program(self, m: Module, message: Message, lanes: Sequence[Lane]) -> None:
        """Tell the lanes which program runs; give the tile its way to the memory."""
        config = self._config
        for lane in lanes:
            connect(m, flipped(self).program, lane.program)
        m.d.comb += message.fetches.eq(lanes[0].fetches)
        if config.parity:
            m.d.comb += self.damaged.eq(message.damaged)
        if config.tile_ports:
            connect_access(m, self.tile, message.tile)

    def _add_doorbell(self, m: Module, steps: StepKeeper, lanes: Sequence[Lane]) -> None:
        """Let the tile hold the node back; tell the tile of packets, step and run."""
        tile, runs = self.tile, ~ResetSignal()
        m.submodules.doorbell = doorbell = Doorbell(self._config)
        for lane, arrival in zip(lanes, doorbell.arrivals, strict=True):
            connect(m, lane.arrival, arrival)
        held = Signal(name="held", reset_less=True)
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

    def _seen_damage(self, message: Message, combiner: Combiner | None) -> Value:
        """Return a bit, high in a cycle in which a damaged word is shown or combined."""
        if not self._config.parity:
            return C(0)
        return message.damaged if combiner is None else message.damaged | combiner.damaged.any()

    def _connect_steps(self, m: Module, steps: StepKeeper, lanes: Sequence[Lane]) -> None:
        """Combine the lanes' progress into the node's."""
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

    def _add_flags(
        self, m: Module, steps: StepKeeper, lanes: Sequence[Lane], damaged: Value
    ) -> Signal:
        """Add the flags: each is set at the end of its cause's cycle and kept until reset."""

        def cause(flag: Flag) -> Value:
            name, once = flag.member, (self.router_causes, steps.causes)
            may = flag in lane_flags(self._config)
            of_lanes = Cat(getattr(lane.causes, name) for lane in lanes if may)
            seen = [getattr(part, name) for part in once if name in part.signature.members]
            return reduce(or_, [*seen, of_lanes.any()])

        causes: dict[Flag, Value] = {each: cause(each) for each in Flag if each != Flag.PARITY}
        if self._config.parity:
            causes[Flag.PARITY] = cause(Flag.PARITY) | damaged
        kept = kept_flags(m, causes)
        flags = Signal(flags_layout(parity=self._config.parity), name="flags")
        m.d.comb += flags.eq(kept)
        if not self._technology.look_ahead:
            m.d.comb += self.flagged.eq(flags.as_value().any())
            return flags
        # ``unexpected`` comes a cycle late. A bad write is known so late in its cycle that it has
        # its own register. All other causes share one, so that ``flagged`` has a short path.
        unexpected, others = Signal(name="unexpected"), Signal(name="others")
        m.d.comb += unexpected.eq(causes[Flag.UNEXPECTED_RECEIVE])
        with m.If(Cat(value for flag, value in causes.items() if flag != Flag.BAD_WRITE).any()):
            m.d.sync += others.eq(1)
        m.d.comb += [
            flags.unexpected_receive.eq(kept.unexpected_receive | unexpected),
            self.flagged.eq(others | unexpected | kept.bad_write),
        ]
        return flags

    def _add_status(
        self, m: Module, flags: Signal, steps: StepKeeper, lanes: Sequence[Lane], message: Message
    ) -> Signal:
        """Return the status word at the host's address, a cycle later; 0 if it asks for none."""
        stalled_flits = Signal(self._config.narrow_width, name="stalled_flits")
        if self._trace:
            stalls = Cat(self.router_stalls, *(lane.stalled for lane in lanes))
            m.d.sync += stalled_flits.eq(stalled_flits + sum(stalls))
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
        return status_answer(m, self._config, self.host, words, message.selected)
