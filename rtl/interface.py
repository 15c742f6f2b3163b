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
from typing import Any

from amaranth.hdl import Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import SIGNATURE_BITS, NetworkConfig, bits_for
from .host_port import (
    Flag,
    HostPort,
    HostSpace,
    StatusWord,
    expectation_words,
    looks_ahead,
    memory_attributes,
    node_bits,
    table_address_bits,
)
from .lane import Lane
from .link import CYCLE_BITS, Ejection, Link, connect_ejection, connect_link, router_ports
from .steps import StepKeeper


class NetworkInterface(Component):
    """Executes a node's tables; with ``trace`` it also counts the stalled flits.

    Attributes
    ----------
    node : In
        The node's number; constant.
    injections, ejections : array of Link, array of Ejection
        To and from port 0 of the router, or its injection and ejection ports.
    accept : Out(1)
        The flit that leaves port 0 of the router in this cycle is taken.
    router_overflow, router_credit_overflow, router_bad_route : In(1)
        The router's flags.
    router_stalls : In(router_ports * vcs)
        Flits leaving the router in this cycle that have waited there.
    router_signature : In(32)
        What the router has sent, folded; of no bits in a network without signatures.
    barrier, half_duplex, advance : In(1)
        As for :class:`StepKeeper`.
    host : HostPort
        Loads and reads.
    over, finished, flagged : Out(1)
        The node's part of the step is done; of the program; a flag is set.

    """

    def __init__(self, config: NetworkConfig, *, trace: bool = False) -> None:
        self._config = config
        self._trace = trace
        super().__init__(
            {
                "node": In(node_bits(config)),
                "injections": Out(Link(config)).array(config.lanes),
                "ejections": In(Ejection(config)).array(config.lanes),
                "accept": Out(1),
                "router_overflow": In(1),
                "router_credit_overflow": In(1),
                "router_bad_route": In(1),
                "router_stalls": In(router_ports(config) * config.vcs),
                "router_signature": In(SIGNATURE_BITS if config.signature else 0),
                "barrier": In(1),
                "half_duplex": In(1),
                "advance": In(1),
                "host": In(HostPort(config)),
                "over": Out(1),
                "finished": Out(1),
                "flagged": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The parts of the drawing above, flags, and what the host reads."""
        m = Module()
        m.submodules.steps = steps = StepKeeper(self._config)
        flags, stalled_flits = Signal(max(Flag) + 1), Signal(self._config.flit_width)
        selected = Signal()
        lanes = [self._add_lane(m, number, steps, selected) for number in range(self._config.lanes)]
        m.d.comb += selected.eq(self.host.node == self.node)
        self._elaborate_steps(m, steps, lanes)
        self._elaborate_flags(m, platform, flags, steps, lanes)
        if self._trace:
            stalls = Cat(self.router_stalls, *(lane.stalled for lane in lanes))
            m.d.sync += stalled_flits.eq(stalled_flits + sum(stalls))
        message_word = self._elaborate_message(m, platform, lanes, selected)
        if self._config.timed_rows:
            self._elaborate_timing(m, lanes[0], selected)
        else:
            m.d.comb += self.accept.eq(1)
        status_word = self._elaborate_status(m, flags, steps, lanes, stalled_flits, selected)
        # What the host reads is a cycle late, as the memory is; it must also be read in reset.
        message_shown = Signal(reset_less=True)
        m.d.sync += message_shown.eq(selected & (self.host.space == HostSpace.MESSAGE))
        m.d.comb += self.host.read_data.eq(status_word | Mux(message_shown, message_word, 0))
        return m

    def _host_writes(self, selected: Signal, space: HostSpace) -> Value:
        """The host writes to ``space`` of this node in this cycle."""
        return selected & self.host.write & (self.host.space == space) & ResetSignal()

    def _add_lane(self, m: Module, number: int, steps: StepKeeper, selected: Signal) -> Lane:
        """A lane, and its wires to the router and from the host; it shares the node's step."""
        m.submodules[f"lane_{number}"] = lane = Lane(self._config, number=number)
        connect_link(m, lane.injection, self.injections[number])
        connect_ejection(m, self.ejections[number], lane.ejection)
        first = number * self._config.mask_words
        words = range(first, first + self._config.mask_words)
        m.d.comb += [
            lane.table_write.eq(self._table_written(selected, number)),
            lane.table_write_address.eq(self.host.address),
            lane.table_write_word.eq(self.host.write_data),
            lane.expected.eq(Cat(self._expectation(m, selected, word) for word in words)),
            lane.step.eq(steps.step),
            lane.rises.eq(steps.rises),
            lane.next_step.eq(steps.next_step),
            lane.hold.eq(self.flagged),
            lane.barrier.eq(self.barrier),
        ]
        return lane

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
            steps.step_done.eq(Cat(lane.step_done for lane in lanes).all()),
            steps.all_done.eq(Cat(lane.all_done for lane in lanes).all()),
            steps.begins.eq(Cat(lane.begins for lane in lanes).any()),
            steps.receives.eq(Cat(lane.receives for lane in lanes).any()),
            steps.flagged.eq(self.flagged),
            steps.barrier.eq(self.barrier),
            steps.advance.eq(self.advance),
            steps.half_duplex.eq(self.half_duplex),
            self.over.eq(steps.over),
            self.finished.eq(steps.finished),
        ]

    def _elaborate_flags(
        self, m: Module, platform: object, flags, steps, lanes: Sequence[Lane]
    ) -> None:
        """Set at the end of the cycle in which the cause is seen, and kept until reset."""

        def of_lanes(name: str) -> Value:
            return Cat(getattr(lane, name) for lane in lanes).any()

        causes = {
            Flag.OVERFLOW: self.router_overflow,
            Flag.CREDIT_OVERFLOW: self.router_credit_overflow | of_lanes("credit_overflow"),
            Flag.BAD_ROUTE: self.router_bad_route,
            Flag.UNEXPECTED_RECEIVE: of_lanes("unexpected_receive"),
            Flag.SEND_AND_RECEIVE: steps.send_and_receive,
            Flag.BAD_ROW: of_lanes("bad_row"),
            Flag.BAD_WRITE: of_lanes("bad_write"),
        }
        kept = Signal.like(flags)
        for flag, cause in causes.items():
            with m.If(cause):
                m.d.sync += kept[flag].eq(1)
        if not looks_ahead(platform):
            m.d.comb += [flags.eq(kept), self.flagged.eq(flags.any())]
            return
        # This cause is told a cycle late. Of a bad write it is known too late in the cycle for
        # more than its own register; all others share one, so that a row may soon begin.
        unexpected, others = Signal(), Signal()
        m.d.comb += unexpected.eq(causes[Flag.UNEXPECTED_RECEIVE])
        with m.If(Cat(cause for flag, cause in causes.items() if flag != Flag.BAD_WRITE).any()):
            m.d.sync += others.eq(1)
        m.d.comb += [
            flags.eq(kept | unexpected << Flag.UNEXPECTED_RECEIVE),
            self.flagged.eq(others | unexpected | kept[Flag.BAD_WRITE]),
        ]

    def _elaborate_message(
        self, m: Module, platform: object, lanes: Sequence[Lane], selected: Signal
    ) -> Value:
        """The message memory, the host's in reset and else the network's. Gives the word read."""
        config = self._config
        m.submodules.message = message = Memory(
            shape=config.flit_width,
            depth=config.message_words,
            init=[],
            attrs=memory_attributes(platform),
        )
        ports = [(message.write_port(), message.read_port()) for _ in lanes]
        host_write, host_read = ports[0]
        with m.If(ResetSignal()):
            m.d.comb += [
                host_write.addr.eq(self.host.address),
                host_write.data.eq(self.host.write_data),
                host_write.en.eq(self._host_writes(selected, HostSpace.MESSAGE)),
                host_read.addr.eq(self.host.address),
            ]
        with m.Else():
            for lane, (write_port, read_port) in zip(lanes, ports, strict=True):
                m.d.comb += [
                    write_port.addr.eq(lane.write_address),
                    write_port.data.eq(lane.write_word),
                    write_port.en.eq(lane.write),
                    read_port.addr.eq(lane.message_address),
                ]
        for lane, (_, read_port) in zip(lanes, ports, strict=True):
            m.d.comb += lane.message_word.eq(read_port.data)
        if not looks_ahead(platform):
            return host_read.data
        # The host of a board looks at it many cycles later.
        late_word = Signal(config.flit_width, reset_less=True)
        m.d.sync += late_word.eq(host_read.data)
        return late_word

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
            StatusWord.STEP: steps.step,
            StatusWord.SENDER_STATE: first.sender_state,
            StatusWord.STALLED_FLITS: stalled_flits,
        }
        arrived = [word for lane in lanes for word in self._words(lane.arrived)]
        states = [lane.sender_state for lane in others]
        signature = self._words(self.router_signature)
        words |= dict(enumerate([*arrived, *states, *signature], int(StatusWord.ARRIVED)))
        asked = Signal(self._config.flit_width)
        status_word = Signal.like(asked, reset_less=True)
        with m.Switch(self.host.address[: bits_for(len(words) - 1)]):
            for address, word in words.items():
                with m.Case(address):
                    m.d.comb += asked.eq(word)
        is_status = selected & (self.host.space == HostSpace.STATUS)
        m.d.sync += status_word.eq(Mux(is_status, asked, 0))
        return status_word

    def _words(self, bits: Signal) -> list[Value]:
        """Bits in words of the host's, the lowest first."""
        width = self._config.flit_width
        return [bits[low : low + width] for low in range(0, len(bits), width)]
