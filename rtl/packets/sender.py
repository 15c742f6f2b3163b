"""The sending half of the network interface (docs/router.md, section 4, "Table" and "Sender").

::

    table ──────► row ──► state ──► injector ──► link
                   │        ▲ step      ▲ credits
                   ▼        │
    message memory ───► message fetch (only if the sender looks ahead)
"""

import enum

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import Component, In, Member, Out, connect, flipped

from ...model.network.config import NetworkConfig, bits_for
from ..parts.host_port import Causes, Flag
from ..parts.link import CYCLE_BITS, Link
from ..parts.memory_ports import WordRead, WordWrite
from ..parts.table import TableRead
from ..parts.technology import PLAIN, Technology
from .injector import Injector
from .message_fetch import MessageFetch
from .row import Row
from .row_of_streams import StreamWait
from .steps import StepClock
from .word_count import ComingWords


class SenderState(enum.Enum):
    """State of a sender; the host reads the value."""

    CONTROL = 0
    READY = 1
    HEADER = 2
    PAYLOAD = 3
    ENDED = 4
    FAILED = 5
    EXPECT = 6


class Sender(Component):
    """Carries out the rows of the table, one after the other. Used by :class:`.Lane`.

    Parameters
    ----------
    config
        The network.
    ports
        The ports by which the first hop of a row's route may lead.
    technology
        What the sender is made of: whether it looks ahead.

    Members
    -------
    table : Out(TableRead)
        The words of the table, in every cycle.
    message : Out(WordRead)
        The message memory, which is read in every cycle.
    clock : In(StepClock)
        The node's step, in every cycle.
    now : In(32)
        The number of this cycle, 0 after reset; always 0 in a network without timed rows.
    hold : In(1)
        While high, no row begins and none is refused.
    come : array of ComingWords, In
        Only in a network with streams: the words that have arrived, by lane.
    link : Out(Link)
        Into port 0 of the router, or an injection port. A flit is valid only in a cycle in which
        its VC has a credit; a network without contention has no credits.
    begins : Out(1)
        High in the cycle in which the first header flit of a row is injected; low for a row that
        streams.
    over : Out(1)
        High while the next row is of a later step than this cycle's, and after the last row. Low
        while a row is under way or its control words are read.
    ended : Out(1)
        High from the cycle after the end of the table was read until reset.
    stalled : Out(1)
        High in a cycle in which a flit is injected that has waited for a credit.
    causes : Out(Causes)
        ``bad_row``: high in a cycle in which a row is refused; the sender has failed from the next
        cycle until reset. ``credit_overflow``: high in a cycle in which a credit comes back while
        none was out. ``parity``: high in a cycle in which a damaged word is loaded, examined or
        injected.
    state : Out(SenderState)
        The state, in every cycle; the host reads its number.
    expectation : Out(WordWrite)
        Only in a network with programs: words of ``expected``, which precede the rows.
    fetches : Out(1)
        Only in a network with programs: high if the word that ``message`` reads in this cycle may
        be injected in the next cycle.

    """

    def __init__(
        self, config: NetworkConfig, *, ports: range, technology: Technology = PLAIN
    ) -> None:
        self._config = config
        self._look_ahead = technology.look_ahead
        self._links = ports
        first = SenderState.EXPECT if config.programs else SenderState.CONTROL
        super().__init__(
            {
                "table": Out(TableRead(config)),
                "message": Out(
                    WordRead(config.address_bits, config.flit_width, parity=config.parity)
                ),
                "clock": In(StepClock(config)),
                "now": In(CYCLE_BITS),
                "hold": In(1),
                **({"come": In(ComingWords(config)).array(config.lanes)} if config.streams else {}),
                "link": Out(Link(config)),
                "begins": Out(1),
                "over": Out(1),
                "ended": Out(1),
                "stalled": Out(1),
                "causes": Out(Causes(*self._flags())),
                "state": Out(SenderState, init=first),
                **self._members_of_programs(),
            }
        )

    def _flags(self) -> list[Flag]:
        """Return the flags that the sender may set."""
        flags = [Flag.CREDIT_OVERFLOW, Flag.BAD_ROW]
        return [*flags, Flag.PARITY] if self._config.parity else flags

    def _members_of_programs(self) -> dict[str, Member]:
        """Return the members that only a network with programs has."""
        config = self._config
        if not config.programs:
            return {}
        expectation = WordWrite(bits_for(config.mask_words - 1), config.narrow_width)
        return {"expectation": Out(expectation), "fetches": Out(1)}

    def elaborate(self, _platform: object) -> Module:
        """Build the parts of the drawing above and the state machine that joins them."""
        m, config = Module(), self._config
        m.submodules.row = row = Row(config, links=self._links, look_ahead=self._look_ahead)
        m.submodules.injector = injector = Injector(config)
        connect(m, flipped(self.clock), row.clock)
        leaves, in_payload = Signal(name="leaves"), Signal(name="in_payload")
        there = self._elaborate_there(m, row, leaves)
        m.d.comb += [
            row.word.eq(self.table.word),
            row.now.eq(self.now),
            row.payload.eq(in_payload),
            row.word_leaves.eq(leaves),
            in_payload.eq(self.state == SenderState.PAYLOAD),
            # Known without the examination of a row that begins.
            leaves.eq(in_payload & there & injector.keeps_credit),
        ]
        if self._look_ahead:
            m.d.comb += [row.next_word.eq(self.table.next_word), row.advance.eq(self.table.advance)]
        due = Signal(name="due")
        m.d.comb += due.eq((self.state == SenderState.READY) & row.due)
        word = self._elaborate_message(m, row, injector, due=due, leaves=leaves)
        self._elaborate_link(m, row, injector, word)
        self._elaborate_states(m, row, injector, there)
        if config.programs:
            # A held row injects nothing in this cycle, so no payload in the next one.
            offered = injector.wanted | in_payload if config.streams else injector.wanted
            m.d.comb += self.fetches.eq((due & ~self.hold) | offered)
        if config.parity:
            self._elaborate_parity(m, injector.injected, in_payload)
        return m

    def _elaborate_there(self, m: Module, row: Row, leaves: Signal) -> Value:
        """Return whether the next word has arrived: always, except in a row that streams."""
        if not self._config.streams:
            return C(1)
        m.submodules.stream = stream = StreamWait(self._config)
        for come, here in zip(self.come, stream.come, strict=True):
            connect(m, flipped(come), here)
        m.d.comb += [
            stream.row.eq(row.stream),
            stream.payload.eq(row.payload),
            stream.leaves.eq(leaves),
        ]
        return stream.there

    def _elaborate_message(
        self, m: Module, row: Row, injector: Injector, *, due: Value, leaves: Value
    ) -> Value:
        """Read the message memory; return the word that is injected next."""
        message = self.message
        # A streamed word leaves too soon after its arrival to be fetched ahead.
        if not self._look_ahead or self._config.streams:
            m.d.comb += message.address.eq(row.address)
            return message.word
        m.submodules.fetch = fetch = MessageFetch(self._config)
        m.d.comb += [
            fetch.read.eq(row.read),
            fetch.first.eq(row.first),
            fetch.due.eq(due),
            fetch.wanted.eq(injector.wanted),
            fetch.leaves.eq(leaves),
            fetch.answer.eq(message.word),
            message.address.eq(fetch.address),
        ]
        return fetch.word

    def _elaborate_link(self, m: Module, row: Row, injector: Injector, word: Value) -> None:
        """Offer a header flit from the table, its bits above 0 in wide words, or a word to send."""
        flit = self.link.flit
        m.d.comb += [
            flit.data.eq(Mux(row.payload, word, self.table.word)),
            flit.head.eq(~row.payload),
            flit.tail.eq(row.last_word & (row.payload | row.last_header)),
            injector.first_vc.eq(row.first_vc),
            self.link.valid.eq(injector.valid),
            injector.credit.eq(self.link.credit),
            self.stalled.eq(injector.stalled),
            self.causes.credit_overflow.eq(injector.credit_overflow),
        ]

    def _elaborate_states(self, m: Module, row: Row, injector: Injector, there: Value) -> None:
        """Do what each state does; the sender stays in ENDED and FAILED until reset."""
        with m.Switch(self.state):
            with m.Case(SenderState.CONTROL):
                self._elaborate_control(m, row)
            with m.Case(SenderState.READY):
                self._elaborate_ready(m, row, injector)
            with m.Case(SenderState.HEADER):
                m.d.comb += injector.wanted.eq(1)
                with m.If(injector.injected):
                    self._header_flit_left(m, row)
            with m.Case(SenderState.PAYLOAD):
                m.d.comb += injector.wanted.eq(there)
                with m.If(injector.injected & row.last_word):
                    m.d.sync += self.state.eq(SenderState.CONTROL)
            with m.Case(SenderState.ENDED):
                m.d.comb += [self.over.eq(1), self.ended.eq(1)]
            if self._config.programs:
                with m.Case(SenderState.EXPECT):
                    self._elaborate_expect(m)

    def _elaborate_control(self, m: Module, row: Row) -> None:
        """Read the control words of the next row; in a program they have a limit."""
        beyond = self.table.beyond if self._config.programs else C(0)
        with m.If(beyond):
            self._refuse_row(m)
        with m.Else():
            m.d.comb += [row.read.eq(1), self.table.advance.eq(1)]
            with m.If(row.ends):
                m.d.sync += self.state.eq(SenderState.ENDED)
            with m.Elif(row.complete):
                m.d.sync += self.state.eq(SenderState.READY)

    def _elaborate_ready(self, m: Module, row: Row, injector: Injector) -> None:
        """Begin the row in its step, or refuse it."""
        m.d.comb += [
            self.over.eq(row.later),
            injector.begins.eq(1),
            # A row that is due is not late.
            injector.wanted.eq(row.due & ~row.unsound & ~self.hold),
        ]
        with m.If((row.unsound | row.late) & ~self.hold):
            self._refuse_row(m)
        with m.If(injector.injected):
            begins = ~row.stream.stream.any() if self._config.streams else 1
            m.d.comb += self.begins.eq(begins)
            self._header_flit_left(m, row)

    def _header_flit_left(self, m: Module, row: Row) -> None:
        """Go on to the next header flit, to the payload, or to the next row."""
        m.d.comb += [self.table.advance.eq(1), row.header_leaves.eq(1)]
        with m.If(~row.last_header):
            m.d.sync += self.state.eq(SenderState.HEADER)
        with m.Elif(row.last_word):
            m.d.sync += self.state.eq(SenderState.CONTROL)
        with m.Else():
            m.d.sync += self.state.eq(SenderState.PAYLOAD)

    def _elaborate_expect(self, m: Module) -> None:
        """Read the words of ``expected``, with which a program begins."""
        word = Signal(range(self._config.mask_words))
        m.d.comb += [
            self.expectation.address.eq(word),
            self.expectation.word.eq(self.table.word),
        ]
        with m.If(self.table.beyond):
            self._refuse_row(m)
        with m.Else():
            m.d.comb += [self.expectation.enable.eq(1), self.table.advance.eq(1)]
            m.d.sync += word.eq(word + 1)
            with m.If(word == self._config.mask_words - 1):
                m.d.sync += self.state.eq(SenderState.CONTROL)

    def _refuse_row(self, m: Module) -> None:
        """Stop with a flag."""
        m.d.comb += self.causes.bad_row.eq(1)
        m.d.sync += self.state.eq(SenderState.FAILED)

    def _elaborate_parity(self, m: Module, injected: Value, in_payload: Value) -> None:
        """Check each word in the cycle in which it is used."""

        def is_in(*states: SenderState) -> Value:
            return Cat(self.state == state for state in states).any()

        loaded = is_in(SenderState.EXPECT, SenderState.CONTROL) & ~self.table.beyond
        examined = is_in(SenderState.READY) & ~self.hold
        from_table = loaded | examined | (injected & ~in_payload)
        m.d.comb += self.causes.parity.eq(
            (from_table & self.table.damaged) | (injected & in_payload & self.message.damaged)
        )
