"""A lane: a node's path into the network and its path out (docs/router.md, section 4).

::

    host ──► table ─────────► sender ──► inject (port 0 of the router, or injection port l)
                                ▲ step
    expected ─────────────► arrival record ──► arrived
                                ▲ arrival
    message memory ◄──────── receiver ◄── eject (port 0, or ejection port l)

A node has one, and in an all-port network one for each link.
"""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib.wiring import Component, In, Member, Out, connect, flipped

from ...model.network.config import NetworkConfig
from ..parts.combiner import NextWord
from ..parts.host_map import table_address_bits
from ..parts.host_port import Causes, Flag
from ..parts.link import CYCLE_BITS, Ejection, Link
from ..parts.memory_ports import WordRead, WordWrite
from ..parts.table import ProgramPlace, Table
from ..parts.technology import PLAIN, Technology
from ..parts.tile_port import PacketArrival
from .receiver import Receiver, message_signature
from .sender import Sender
from .steps import ArrivalRecord, Progress, StepClock
from .word_count import ComingWords, WordCount

LANE_FLAGS = (
    Flag.CREDIT_OVERFLOW,
    Flag.UNEXPECTED_RECEIVE,
    Flag.BAD_ROW,
    Flag.BAD_WRITE,
)
"""Flags that a lane may set."""


def lane_flags(config: NetworkConfig) -> tuple[Flag, ...]:
    """Return the flags that a lane of this network may set."""
    return (*LANE_FLAGS, Flag.PARITY) if config.parity else LANE_FLAGS


class Lane(Component):
    """Sender with its table, and receiver with its record. Used by :class:`.NetworkInterface`.

    Parameters
    ----------
    config
        The network.
    number
        Index of the lane at its node, from 0. In an all-port network it serves link ``number`` + 1.

    Members
    -------
    injection : Out(Link)
        The link into port 0 of the router, or into an injection port.
    ejection : In(Ejection)
        The link from port 0 of the router, or from an ejection port.
    table : In(WordWrite)
        Writes of the host to the table memory, in reset only.
    message_read : Out(WordRead)
        Reads of the message memory. Ignored in reset.
    message_write : Out(WordWrite)
        Writes to the message memory. Ignored in reset. In a network with operators an
        :class:`.ArrivingWord`.
    next_words : array of NextWord, Out
        Only with slow operators: as for :class:`.Receiver`.
    come : Out(ComingWords)
        Only in a network with streams: as for :class:`.WordCount`.
    comes : array of ComingWords, In
        Only with ``come``: ``come`` of each lane.
    clock : In(StepClock)
        The node's step, in every cycle.
    now : In(32)
        As for :class:`.Sender`.
    hold : In(1)
        As for :class:`.Sender`.
    barrier : In(1)
        As for :class:`.ArrivalRecord`.
    expected, awaited : In
        As for :class:`.ArrivalRecord`; ``expected`` not in a network with programs.
    program : In(ProgramPlace)
        Only in a network with programs: as for :class:`.Table`.
    fetches : Out(1)
        Only with ``program``: as for :class:`.Sender`.
    arrival : Out(PacketArrival)
        Only with ``program``: the end of a packet, as for :class:`.Receiver`.
    arrived : Out(2**step_bits)
        As for :class:`.ArrivalRecord`.
    progress : Out(Progress)
        The lane's part of the node's progress. Valid in every cycle.
    stalled : Out(1)
        High if the flit injected in this cycle has waited for a credit.
    causes : Out(Causes)
        The causes of :class:`.Sender`, :class:`.ArrivalRecord` and :class:`.Receiver`.
    sender_state : Out(3)
        The value of a :class:`.SenderState`. Valid in every cycle.

    """

    def __init__(
        self, config: NetworkConfig, *, number: int, technology: Technology = PLAIN
    ) -> None:
        self._config = config
        self._technology = technology
        links = range(1, config.topology.ports)
        self._ports = links[number : number + 1] if config.all_port else links
        super().__init__(
            {
                "injection": Out(Link(config)),
                "ejection": In(Ejection(config)),
                "table": In(WordWrite(table_address_bits(config), config.narrow_width)),
                "message_read": Out(
                    WordRead(config.address_bits, config.flit_width, parity=config.parity)
                ),
                "message_write": Out(message_signature(config, technology)),
                **self._further_members(),
                "clock": In(StepClock(config)),
                "now": In(CYCLE_BITS),
                "hold": In(1),
                "barrier": In(1),
                **self._loading(),
                "awaited": In(config.narrow_width),
                "arrived": Out(1 << config.step_bits),
                "progress": Out(Progress()),
                "stalled": Out(1),
                "causes": Out(Causes(*lane_flags(config))),
                "sender_state": Out(3),
            }
        )

    def _further_members(self) -> dict[str, Member]:
        """Return the members that only networks with slow operators, or with streams, have."""
        config, members = self._config, {}
        if config.operator_latency:
            members["next_words"] = Out(NextWord(config)).array(config.vcs)
        if config.streams:
            members["come"] = Out(ComingWords(config))
            members["comes"] = In(ComingWords(config)).array(config.lanes)
        return members

    def _loading(self) -> dict[str, Member]:
        """Return the members that load expectations: from the host, or from a program."""
        if not self._config.programs:
            return {"expected": In(1 << self._config.step_bits)}
        return {
            "program": In(ProgramPlace(self._config)),
            "fetches": Out(1),
            "arrival": Out(PacketArrival(self._config)),
        }

    def elaborate(self, _platform: object) -> Module:
        """Build the parts of the drawing above."""
        m = Module()
        technology = self._technology
        m.submodules.sender_table = table = Table(self._config, technology=technology)
        m.submodules.sender = sender = Sender(
            self._config, ports=self._ports, technology=technology
        )
        m.submodules.receiver = receiver = Receiver(self._config, technology=technology)
        m.submodules.record = record = ArrivalRecord(self._config, technology=technology)
        outside = flipped(self)
        connect(m, outside.table, table.write)
        connect(m, table.read, sender.table)
        connect(m, outside.clock, sender.clock)
        connect(m, sender.message, outside.message_read)
        connect(m, sender.link, outside.injection)
        connect(m, outside.ejection, receiver.ejection)
        connect(m, receiver.message, outside.message_write)
        connect(m, receiver.arrival, record.arrival)
        m.d.comb += [
            sender.now.eq(self.now),
            sender.hold.eq(self.hold),
            record.step.eq(self.clock.step),
            record.barrier.eq(self.barrier),
            record.expected.eq(self._expected(m, table, sender, receiver)),
            record.awaited.eq(self.awaited),
            self.arrived.eq(record.arrived),
            self.stalled.eq(sender.stalled),
            self.sender_state.eq(sender.state),
            self.progress.begins.eq(sender.begins),
            self.progress.receives.eq(record.receives),
            self.progress.step_done.eq(sender.over & record.step_received),
            self.progress.all_done.eq(sender.ended & record.all_received),
            self.causes.credit_overflow.eq(sender.causes.credit_overflow),
            self.causes.bad_row.eq(sender.causes.bad_row),
            self.causes.unexpected_receive.eq(record.causes.unexpected_receive),
            self.causes.bad_write.eq(receiver.causes.bad_write),
        ]
        if self._config.parity:
            m.d.comb += self.causes.parity.eq(sender.causes.parity)
        if self._config.operator_latency:
            for word, here in zip(receiver.next_words, self.next_words, strict=True):
                m.d.comb += [here.combines.eq(word.combines), here.source.eq(word.source)]
        if self._config.streams:
            self._elaborate_count(m, sender, receiver)
        return m

    def _elaborate_count(self, m: Module, sender: Sender, receiver: Receiver) -> None:
        """Count the arrived words, because senders of streams wait for them."""
        m.submodules.count = count = WordCount(self._config)
        outside = flipped(self)
        connect(m, outside.clock, count.clock)
        connect(m, count.come, outside.come)
        for come, of_sender in zip(self.comes, sender.come, strict=True):
            connect(m, flipped(come), of_sender)
        m.d.comb += [
            count.written.eq(receiver.written),
            count.step.eq(receiver.arrival.step),
        ]

    def _expected(self, m: Module, table: Table, sender: Sender, receiver: Receiver) -> Value:
        """Return the expected steps; in a network with programs the sender reads them."""
        if not self._config.programs:
            return self.expected
        connect(m, flipped(self).program, table.program)
        m.d.comb += [
            self.fetches.eq(sender.fetches),
            self.arrival.valid.eq(receiver.arrival.valid),
            self.arrival.step.eq(receiver.arrival.step),
        ]
        words = []
        for number in range(self._config.mask_words):
            word = Signal(self._config.narrow_width, name=f"expected_{number}", reset_less=True)
            with m.If(sender.expectation.enable & (sender.expectation.address == number)):
                m.d.sync += word.eq(sender.expectation.word)
            words.append(word)
        return Cat(words)
