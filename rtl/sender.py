"""The sending half of the network interface (docs/router.md, section 4, "Table" and "Sender").

::

    table ──► row reader ──► row gate ──► injector ──► link
                  │             ▲ step       ▲   ▲ credits
                  ▼                          │
    message memory ───────► message fetch ───┘
"""

import enum

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Member, Out

from ..model.network.config import NetworkConfig, bits_for
from .host_port import Causes, Flag
from .injector import Injector
from .link import CYCLE_BITS, Link
from .memory_ports import WordRead, WordWrite
from .message_fetch import MessageFetch
from .row import RowGate, RowReader
from .steps import StepClock
from .table import TableRead
from .technology import PLAIN, Technology
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
                "state": Out(SenderState),
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
        expectation = WordWrite(bits_for(config.mask_words - 1), config.flit_width)
        return {"expectation": Out(expectation), "fetches": Out(1)}

    def elaborate(self, _platform: object) -> Module:
        """Build the parts of the drawing above and the state machine that joins them."""
        m, config = Module(), self._config
        # A streamed word leaves too soon after its arrival to be fetched ahead.
        ahead = self._look_ahead and not config.streams
        reader = RowReader(
            m, config, self, links=self._links, look_ahead=self._look_ahead, fetches_ahead=ahead
        )
        gate = RowGate(m, config, self, reader)
        injector = Injector(m, config, self)
        fetch = MessageFetch(m, config, self, reader=reader, injector=injector, ahead=ahead)
        fetch.elaborate(gate.due)
        reader.elaborate()
        self._elaborate_flit(m, reader.row, fetch)
        injector.elaborate()
        fetch.elaborate_leaving()
        programs = config.programs
        with m.FSM(init=(SenderState.EXPECT if programs else SenderState.CONTROL).name):
            with m.State(SenderState.CONTROL.name):
                self._elaborate_control(m, reader)
            with m.State(SenderState.READY.name):
                self._elaborate_ready(m, reader, gate, injector, fetch)
            with m.State(SenderState.HEADER.name):
                m.d.comb += [self.state.eq(SenderState.HEADER), injector.wanted.eq(1)]
                with m.If(injector.injected):
                    self._header_flit_left(m, reader.row, fetch.last)
            with m.State(SenderState.PAYLOAD.name):
                self._elaborate_payload(m, injector, fetch)
            self._elaborate_last_states(m)
            if programs:
                with m.State(SenderState.EXPECT.name):
                    self._elaborate_expect(m)
        if programs:
            self._elaborate_fetches(m, gate.due, injector.wanted, fetch.in_payload)
        if config.parity:
            self._elaborate_parity(m, injector.injected, fetch.in_payload)
        return m

    def _elaborate_flit(self, m: Module, row: data.View, fetch: MessageFetch) -> None:
        """Connect the offered flit: a header flit from the table, or a word of the message."""
        is_last = fetch.last & (fetch.in_payload | (row.header_flits == 1))
        m.d.comb += [
            self.link.flit.data.eq(Mux(fetch.in_payload, fetch.word, self.table.word)),
            self.link.flit.head.eq(~fetch.in_payload),
            self.link.flit.tail.eq(is_last),
        ]

    def _elaborate_control(self, m: Module, reader: RowReader) -> None:
        """Read the control words of the next row; in a program they have a limit."""

        def read() -> None:
            reader.read(at_the_end=SenderState.ENDED.name, when_read=SenderState.READY.name)

        if not self._config.programs:
            read()
            return
        with m.If(self.table.beyond):
            self._refuse_row(m)
        with m.Else():
            read()

    def _elaborate_ready(
        self,
        m: Module,
        reader: RowReader,
        gate: RowGate,
        injector: Injector,
        fetch: MessageFetch,
    ) -> None:
        """Begin the row in its step, or refuse it."""
        m.d.comb += self.state.eq(SenderState.READY)
        gate.wait(injector.wanted)
        with m.If(self.causes.bad_row):
            m.next = SenderState.FAILED.name
        m.d.comb += injector.vc.eq(reader.first_vc(self.table.word))
        with m.If(injector.injected):
            begins = ~reader.row.stream.any() if self._config.streams else 1
            m.d.comb += self.begins.eq(begins)
            self._header_flit_left(m, reader.row, fetch.last)

    def _header_flit_left(self, m: Module, row: data.View, last_word: Signal) -> None:
        """Go on to the next header flit, to the payload, or to the next row."""
        m.d.comb += self.table.advance.eq(1)
        m.d.sync += row.header_flits.eq(row.header_flits - 1)
        with m.If(row.header_flits != 1):
            m.next = SenderState.HEADER.name
        with m.Elif(last_word):
            m.next = SenderState.CONTROL.name
        with m.Else():
            m.next = SenderState.PAYLOAD.name

    def _elaborate_payload(self, m: Module, injector: Injector, fetch: MessageFetch) -> None:
        """Send words of the message until the packet ends."""
        m.d.comb += [
            injector.wanted.eq(fetch.there),
            fetch.in_payload.eq(1),
            self.state.eq(SenderState.PAYLOAD),
        ]
        with m.If(injector.injected & fetch.last):
            m.next = SenderState.CONTROL.name

    def _elaborate_last_states(self, m: Module) -> None:
        """Add the states in which the sender stays until reset."""
        with m.State(SenderState.ENDED.name):
            m.d.comb += [
                self.state.eq(SenderState.ENDED),
                self.over.eq(1),
                self.ended.eq(1),
            ]
        with m.State(SenderState.FAILED.name):
            m.d.comb += self.state.eq(SenderState.FAILED)

    def _elaborate_expect(self, m: Module) -> None:
        """Read the words of ``expected``, with which a program begins."""
        word = Signal(range(self._config.mask_words))
        m.d.comb += [
            self.state.eq(SenderState.EXPECT),
            self.expectation.address.eq(word),
            self.expectation.word.eq(self.table.word),
        ]
        with m.If(self.table.beyond):
            self._refuse_row(m)
        with m.Else():
            m.d.comb += [self.expectation.enable.eq(1), self.table.advance.eq(1)]
            m.d.sync += word.eq(word + 1)
            with m.If(word == self._config.mask_words - 1):
                m.next = SenderState.CONTROL.name

    def _refuse_row(self, m: Module) -> None:
        """Stop with a flag."""
        m.d.comb += self.causes.bad_row.eq(1)
        m.next = SenderState.FAILED.name

    def _elaborate_fetches(
        self, m: Module, due: Signal, wanted: Signal, in_payload: Signal
    ) -> None:
        """Set ``fetches`` if the word being read may be injected in the next cycle."""
        # A held row injects nothing in this cycle, so no payload in the next one.
        offered = wanted | in_payload if self._config.streams else wanted
        m.d.comb += self.fetches.eq((due & ~self.hold) | offered)

    def _elaborate_parity(self, m: Module, injected: Signal, in_payload: Signal) -> None:
        """Check each word in the cycle in which it is used."""

        def is_in(*states: SenderState) -> Value:
            return Cat(self.state == state for state in states).any()

        loaded = is_in(SenderState.EXPECT, SenderState.CONTROL) & ~self.table.beyond
        examined = is_in(SenderState.READY) & ~self.hold
        from_table = loaded | examined | (injected & ~in_payload)
        m.d.comb += self.causes.parity.eq(
            (from_table & self.table.damaged) | (injected & in_payload & self.message.damaged)
        )
