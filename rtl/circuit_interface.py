"""The network interface of a node of a network with circuits (docs/router.md, section 23).

::

    host ──► entries ──► run table
    host ──► message memory ──► host                                        in reset
             message memory ──► input register 0 ──► router ──► arrived ──┐
                   ▲                                                      │
                   └──────────────────────── operators ◄──────────────────┘
"""

import enum
from collections.abc import Mapping

from amaranth.hdl import C, Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import SIGNATURE_BITS, NetworkConfig, bits_for
from .host_map import HostSpace, StatusWord
from .host_port import HostPort, node_bits
from .link import WordLink
from .memory_ports import WordWrite
from .operators import combined
from .run_entry import entry_bits, entry_words, word_bits
from .run_table import CurrentRun, exceeds
from .status import status_answer, words_of
from .technology import PLAIN, Technology

REPLACES = 1
"""The value of ``receive`` of a word that replaces the stored word; greater ones combine."""


class CircuitFlag(enum.IntEnum):
    """Bit numbers of a node's sticky flags in a network with circuits."""

    LOST_WORD = 0
    MISSING_WORD = 2
    BAD_ROUTE = 3
    SEND_AND_RECEIVE = 5
    BAD_ROW = 6
    BAD_WRITE = 7


class CircuitInterface(Component):
    """Reads the words that a node sends, writes those that it receives, and answers the host.

    Used by :class:`.CircuitTile`.

    Members
    -------
    node : In
        The node's number; constant.
    half_duplex : In(1)
        High: a node that sends and receives in the same cycle sets a flag. Constant during a run.
    run : In(CurrentRun)
        The current entry of the run table.
    entry : Out(WordWrite)
        Entries that the host writes, in reset only.
    injection : Out(WordLink)
        Input register 0 of the router: the word that was read two cycles before.
    ejection : In(WordLink)
        The word that leaves by output 0 of the router.
    sum_leaves : In(1)
        Only with operators: that word is a sum. Valid while ``ejection.valid`` is high.
    lost_word, missing_word, bad_route : In(1)
        Causes of flags that the router sees in this cycle. Ignored in reset.
    router_signature : In(32)
        Signature of what the router has sent before this cycle; 0 bits wide without signatures.
    host : In(HostPort)
        Loads and reads; see :class:`.HostPort`.
    finished : Out(1)
        High when the node has done its runs and has written every word. Low while ``flagged`` is
        high.
    flagged : Out(1)
        High from the cycle after the cause of a flag until reset.

    """

    def __init__(self, config: NetworkConfig, *, technology: Technology = PLAIN) -> None:
        self._config = config
        self._technology = technology
        super().__init__(
            {
                "node": In(node_bits(config)),
                "half_duplex": In(1),
                "run": In(CurrentRun(config)),
                "entry": Out(WordWrite(bits_for(config.table_words - 1), entry_bits(config))),
                "injection": Out(WordLink(config)),
                "ejection": In(WordLink(config)),
                **({"sum_leaves": In(1)} if config.operators else {}),
                "lost_word": In(1),
                "missing_word": In(1),
                "bad_route": In(1),
                "router_signature": In(SIGNATURE_BITS if config.signature else 0),
                "host": In(HostPort(config)),
                "finished": Out(1),
                "flagged": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build the message memory with the ways to and from it, flags, and the host's answers."""
        m = Module()
        config = self._config
        m.submodules.message_memory = memory = Memory(
            shape=config.flit_width,
            depth=config.message_words,
            init=[],
            attrs=self._technology.memory_attributes,
        )
        selected = Signal()
        m.d.comb += selected.eq(self.host.node == self.node)
        self._elaborate_entries(m, selected)
        shown, bad_read = self._elaborate_sending(m, memory)
        bad_write = self._elaborate_receiving(m, memory, selected)
        flags = self._elaborate_flags(
            m,
            {
                CircuitFlag.LOST_WORD: self.lost_word,
                CircuitFlag.MISSING_WORD: self.missing_word,
                CircuitFlag.BAD_ROUTE: self.bad_route,
                CircuitFlag.SEND_AND_RECEIVE: (
                    self.half_duplex & self.injection.valid & self.ejection.valid
                ),
                CircuitFlag.BAD_ROW: bad_read | self.run.overrun,
                CircuitFlag.BAD_WRITE: bad_write,
            },
        )
        self._elaborate_finished(m)
        status = self._elaborate_status(m, flags, selected)
        # What the host reads is a cycle late, as the memory is; it must also be read in reset.
        message_shown = Signal(reset_less=True)
        m.d.sync += message_shown.eq(selected & (self.host.space == HostSpace.MESSAGE))
        m.d.comb += self.host.read_data.eq(status | Mux(message_shown, shown, 0))
        return m

    def _host_writes(self, selected: Value, space: HostSpace) -> Value:
        """Return 1 if the host writes to ``space`` of this node in this cycle."""
        return selected & self.host.write & (self.host.space == space) & ResetSignal()

    def _elaborate_entries(self, m: Module, selected: Value) -> None:
        """Keep the words of an entry until the host writes the last one, which writes the entry."""
        shift, words = word_bits(self._config), entry_words(self._config)
        number, written = self.host.address[:shift], self._host_writes(selected, HostSpace.TABLE)
        kept: list[Value] = []
        for word in range(words - 1):
            kept.append(Signal(self._config.flit_width, name=f"entry_word_{word}", reset_less=True))
            with m.If(written & (number == word)):
                m.d.sync += kept[-1].eq(self.host.write_data)
        m.d.comb += [
            self.entry.enable.eq(written & (number == words - 1)),
            self.entry.address.eq(self.host.address[shift:]),
            self.entry.word.eq(Cat(kept, self.host.write_data)),
        ]

    def _is_beyond(self, address: Value) -> Value:
        """Return 1 if an address is not one of the message memory."""
        return exceeds(address, self._config.message_words - 1)

    def _elaborate_sending(self, m: Module, memory: Memory) -> tuple[Value, Value]:
        """Read the words to send, in reset those that the host asks for.

        Return the word for the host, and whether the address of a word to send is beyond the
        memory.
        """
        read_port, run = memory.read_port(), self.run
        beyond = Signal(name="reads_beyond")
        is_read, is_held = Signal(), Signal()
        held = Signal(self._config.flit_width, reset_less=True)
        m.d.comb += [
            read_port.addr.eq(Mux(ResetSignal(), self.host.address, run.send_address)),
            beyond.eq(run.sends & self._is_beyond(run.send_address)),
            self.injection.valid.eq(is_held),
            self.injection.word.eq(held),
        ]
        m.d.sync += [
            is_read.eq(run.sends & ~beyond),
            is_held.eq(is_read),
            held.eq(read_port.data),
        ]
        # The host of a board looks at the word many cycles later.
        shown = held if self._technology.look_ahead else read_port.data
        return shown, beyond

    def _elaborate_receiving(self, m: Module, memory: Memory, selected: Value) -> Signal:
        """Write the words that arrive, in reset those of the host.

        Return whether a word that would be written in this cycle cannot be written.
        """
        operators = len(self._config.operators)
        address, receive = self._elaborate_place(m)
        beyond = self._is_beyond(address) | exceeds(receive, operators + 1)
        layout = data.StructLayout(
            {
                "stores": 1,
                "fails": 1,
                "address": len(address),
                "receive": len(receive),
                "word": self._config.flit_width,
            }
        )
        arrived, written = Signal(layout, name="arrived"), Signal(layout, name="written")
        received = self.ejection.valid & receive.any()
        m.d.sync += [
            arrived.stores.eq(received & ~beyond),
            arrived.fails.eq(received & beyond),
            arrived.address.eq(address),
            arrived.receive.eq(receive),
            arrived.word.eq(self.ejection.word),
        ]
        word: Value = arrived.word
        if operators:
            m.d.sync += written.eq(arrived)
            word = self._elaborate_operators(m, memory, address, written)
        else:
            m.d.comb += written.eq(arrived)
        write_port = memory.write_port()
        with m.If(ResetSignal()):
            m.d.comb += [
                write_port.addr.eq(self.host.address),
                write_port.data.eq(self.host.write_data),
                write_port.en.eq(self._host_writes(selected, HostSpace.MESSAGE)),
            ]
        with m.Else():
            m.d.comb += [
                write_port.addr.eq(written.address),
                write_port.data.eq(word),
                write_port.en.eq(written.stores),
            ]
        return written.fails

    def _elaborate_place(self, m: Module) -> tuple[Signal, Signal]:
        """Return address and ``receive`` of the word that leaves by output 0 in this cycle."""
        run = self.run
        address = Signal.like(run.receive_address, name="address")
        receive = Signal.like(run.receive, name="receive")
        m.d.sync += [address.eq(run.receive_address), receive.eq(run.receive)]
        if not self._config.operators:
            return address, receive
        # A sum belongs to the entry of the words that it is made of, one cycle earlier.
        sum_address = Signal.like(address, name="sum_address")
        sum_receive = Signal.like(receive, name="sum_receive")
        m.d.sync += [sum_address.eq(address), sum_receive.eq(receive)]
        place_address, place_receive = Signal.like(address), Signal.like(receive)
        m.d.comb += [
            place_address.eq(Mux(self.sum_leaves, sum_address, address)),
            place_receive.eq(Mux(self.sum_leaves, sum_receive, receive)),
        ]
        return place_address, place_receive

    def _elaborate_operators(
        self, m: Module, memory: Memory, address: Value, written: data.View
    ) -> Signal:
        """Return the word to write: the arrived word, or the result of an operator."""
        read_port = memory.read_port()
        there = Signal(self._config.flit_width, reset_less=True)
        word = Signal(self._config.flit_width, name="result")
        m.d.comb += read_port.addr.eq(address)
        m.d.sync += there.eq(read_port.data)
        m.d.comb += word.eq(written.word)
        with m.Switch(written.receive):
            for place, operator in enumerate(self._config.operators):
                with m.Case(REPLACES + 1 + place):
                    result = combined(m, f"own_{place}", operator, there, written.word)
                    m.d.comb += word.eq(result)
        return word

    def _elaborate_flags(self, m: Module, causes: Mapping[CircuitFlag, Value]) -> Signal:
        """Set each flag at the end of its cause's cycle; return them."""
        flags = Signal(max(CircuitFlag) + 1)
        for flag, cause in causes.items():
            with m.If(cause):
                m.d.sync += flags[flag].eq(1)
        m.d.comb += self.flagged.eq(flags.any())
        return flags

    def _elaborate_finished(self, m: Module) -> None:
        """Raise ``finished`` when the words of the last run have been written."""
        ended = Signal(5 if self._config.operators else 3)
        m.d.sync += ended.eq(Cat(self.run.ended, ended))
        m.d.comb += self.finished.eq(ended[-1] & ~self.flagged)

    def _elaborate_status(self, m: Module, flags: Signal, selected: Value) -> Signal:
        """Return the status word at the host's address, a cycle later; 0 if it asks for none."""
        run, signature = self.run, words_of(self._config, self.router_signature)
        words = {
            StatusWord.FLAGS: flags,
            StatusWord.STEP: run.number,
            StatusWord.SENDER_STATE: Cat(run.begun & ~run.ended, C(0, 1), run.ended),
            **dict(enumerate(signature, int(StatusWord.ARRIVED))),
        }
        return status_answer(m, self._config, self.host, words, selected)
