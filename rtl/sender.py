"""The sending half of the network interface (docs/router.md, section 4, "Table" and "Sender")."""

import enum

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Member, Out

from ..model.network.config import NetworkConfig, bits_for
from .credits import CreditCounter
from .host_port import Causes, Flag
from .link import CYCLE_BITS, Link, slot_layout
from .memory_ports import WordRead, WordWrite
from .row_of_streams import add_coming, loads_of_streams, row_of_streams
from .steps import StepClock
from .table import TableRead
from .technology import PLAIN, Technology
from .window import next_place
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


def _row_layout(config: NetworkConfig) -> data.StructLayout:
    """Return the layout of the row under way.

    ``place`` is the address of the row's next word, ``left`` the number of words left. ``too_long``
    is set if the row ends beyond the message memory, ``no_header`` if it has no header flit.
    """
    widths = dict(config.table.fields)
    return data.StructLayout(
        {
            "step": widths["step"],
            "header_flits": widths["header_flits"],
            "place": config.length_bits,
            "left": config.length_bits,
            "too_long": 1,
            "no_header": 1,
            "start": widths["start"],
            **(row_of_streams(config) if config.streams else {}),
        }
    )


def _is_less(first: Value, second: Value) -> Value:
    """Return 1 if the first number is less than the second.

    Bit by bit: a carry chain would be slow and large for so few bits.
    """
    less, equal = C(0), C(1)
    for a, b in reversed(list(zip(first, second, strict=True))):
        less, equal = less | (equal & ~a & b), equal & (a == b)
    return less


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
        # A streamed word leaves too soon after its arrival to be fetched ahead.
        self._fetches_ahead = technology.look_ahead and not config.streams
        self._ports = ports
        # The address bits that the row's window keeps. Reset clears them, because the next address
        # is computed from them before the first row has been read.
        self._fixed = Signal(config.length_bits, name="fixed")
        # A leaving word is known without the examination of a row that begins. Without streams and
        # operators that is no faster.
        self._leaves_early = bool(config.streams or config.operators)
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
        """Build the state machine, with the table, the row and the message that it reads."""
        m = Module()
        row = Signal(_row_layout(self._config), reset_less=True)
        vc = Signal(self._config.vcs)
        in_step, sound_slot, due, wanted, injected, in_payload, last_word = (
            Signal(name=name)
            for name in ("in_step", "sound_slot", "due", "wanted", "injected", "payload", "last")
        )
        word_leaves = Signal(name="leaves") if self._leaves_early else injected & in_payload
        place = self._elaborate_message_place(m, row, in_payload, word_leaves, last_word)
        there: Value = C(1)
        if self._config.streams:
            there = add_coming(m, row, self.come, in_payload, word_leaves)
        if self._fetches_ahead:
            word = self._elaborate_word_ahead(m, due, due | wanted, word_leaves)
        else:
            word = self.message.word
            m.d.comb += self.message.address.eq(place)
        self._elaborate_checks(m, row, in_step, sound_slot)
        self._elaborate_flit(m, row, word, in_payload, last_word)
        has_credit = self._elaborate_injection(m, vc, wanted, injected)
        if self._leaves_early:
            m.d.comb += word_leaves.eq(in_payload & there & has_credit)
        programs = self._config.programs
        with m.FSM(init=(SenderState.EXPECT if programs else SenderState.CONTROL).name):
            with m.State(SenderState.CONTROL.name):
                if programs:
                    with m.If(self.table.beyond):
                        self._refuse_row(m)
                    with m.Else():
                        self._elaborate_control(m, row, in_step)
                else:
                    self._elaborate_control(m, row, in_step)
            with m.State(SenderState.READY.name):
                self._elaborate_ready(m, row, in_step, sound_slot, due, wanted)
                m.d.comb += vc.eq(self._first_vc(self.table.word))
                with m.If(injected):
                    m.d.comb += self.begins.eq(~row.stream.any() if self._config.streams else 1)
                    self._header_flit_left(m, row, last_word)
            with m.State(SenderState.HEADER.name):
                m.d.comb += [self.state.eq(SenderState.HEADER), wanted.eq(1)]
                with m.If(injected):
                    self._header_flit_left(m, row, last_word)
            with m.State(SenderState.PAYLOAD.name):
                m.d.comb += [wanted.eq(there), in_payload.eq(1)]
                self._elaborate_payload(m, injected & last_word)
            self._elaborate_last_states(m)
            if programs:
                with m.State(SenderState.EXPECT.name):
                    self._elaborate_expect(m)
        if programs:
            self._elaborate_fetches(m, due, wanted, in_payload)
        self._elaborate_parity(m, injected, in_payload)
        return m

    def _elaborate_payload(self, m: Module, ends: Value) -> None:
        """Send words of the message until the packet ends."""
        m.d.comb += self.state.eq(SenderState.PAYLOAD)
        with m.If(ends):
            m.next = SenderState.CONTROL.name

    def _elaborate_fetches(
        self, m: Module, due: Signal, wanted: Signal, in_payload: Signal
    ) -> None:
        """Set ``fetches`` if the word being read may be injected in the next cycle."""
        # A held row injects nothing in this cycle, so no payload in the next one.
        offered = wanted | in_payload if self._config.streams else wanted
        m.d.comb += self.fetches.eq((due & ~self.hold) | offered)

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

    def _elaborate_parity(self, m: Module, injected: Signal, in_payload: Signal) -> None:
        """With parity, check each word in the cycle in which it is used."""
        if not self._config.parity:
            return

        def is_in(*states: SenderState) -> Value:
            return Cat(self.state == state for state in states).any()

        loaded = is_in(SenderState.EXPECT, SenderState.CONTROL) & ~self.table.beyond
        examined = is_in(SenderState.READY) & ~self.hold
        from_table = loaded | examined | (injected & ~in_payload)
        m.d.comb += self.causes.parity.eq(
            (from_table & self.table.damaged) | (injected & in_payload & self.message.damaged)
        )

    def _refuse_row(self, m: Module) -> None:
        """Stop with a flag."""
        m.d.comb += self.causes.bad_row.eq(1)
        m.next = SenderState.FAILED.name

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

    def _elaborate_checks(self, m: Module, row, in_step: Signal, sound_slot: Signal) -> None:
        """Check the row's step and first hop; in registers, if the sender looks ahead."""
        if self._look_ahead:
            self._compare_step(m, in_step, row.step)
            with m.If(self.table.advance):
                m.d.sync += sound_slot.eq(self._is_sound(self.table.next_word))
        else:
            m.d.comb += [
                in_step.eq(row.step == self.clock.step),
                sound_slot.eq(self._is_sound(self.table.word)),
            ]

    def _compare_step(self, m: Module, in_step: Signal, step: Value) -> None:
        """Set the register ``in_step`` if the next cycle is in the ``step`` of the row."""
        m.d.sync += in_step.eq(
            Mux(self.clock.rises, step == self.clock.next_step, step == self.clock.step)
        )

    def _elaborate_message_place(
        self, m: Module, row, in_payload: Signal, word_leaves: Value, last_word: Signal
    ) -> Signal:
        """Fetch the word that may be injected in the next cycle; return its address."""
        place = Signal.like(row.place)
        if self._config.window_bits:
            next_word = next_place(row.place, self._fixed, word_leaves)
        else:
            next_word = row.place + word_leaves
        m.d.comb += [
            place.eq(next_word),
            # One word is left while it is injected; before, the row has none at all.
            last_word.eq(row.left == in_payload),
        ]
        m.d.sync += [row.place.eq(place), row.left.eq(row.left - word_leaves)]
        return place

    def _elaborate_word_ahead(
        self, m: Module, due: Signal, offered: Value, word_leaves: Value
    ) -> Signal:
        """Return the register of the word to be injected, as for :class:`.Table`.

        While the row is ``offered`` the memory reads the word behind it. Before, it reads the
        row's first word in every cycle, because that word may still arrive.
        """
        shown, fetched = Signal.like(self.message.word, name="shown"), Signal(name="fetched")
        address = Signal.like(self.message.address)
        # A register, because the cycle leaves no time for an addition.
        next_address = Signal.like(address)
        goes_on = (due & ~fetched) | word_leaves
        m.d.comb += self.message.address.eq(Mux(goes_on, next_address, address))
        m.d.sync += [
            address.eq(self.message.address),
            next_address.eq(self.message.address + 1),
            fetched.eq(offered),
        ]
        with m.If(~fetched | word_leaves):
            m.d.sync += shown.eq(self.message.word)
        return shown

    def _elaborate_flit(
        self, m: Module, row, word: Signal, in_payload: Signal, last_word: Signal
    ) -> None:
        """Connect the offered flit: a header flit from the table, or a word of the message."""
        is_last = last_word & (in_payload | (row.header_flits == 1))
        m.d.comb += [
            self.link.flit.data.eq(Mux(in_payload, word, self.table.word)),
            self.link.flit.head.eq(~in_payload),
            self.link.flit.tail.eq(is_last),
        ]

    def _elaborate_control(self, m: Module, row, in_step: Signal) -> None:
        """Read the control words into the row's fields; a first word of step 0 ends the table.

        A sender that looks ahead compares the row's step while it is read, and lets the message
        memory read the row's first word at once.
        """
        config = self._config
        word = Signal(range(config.table.control_words))
        positions = config.table.positions
        fields, words = {}, {}
        for (name, width), (index, low) in zip(config.table.fields, positions, strict=True):
            fields[name], words[name] = self.table.word[low : low + width], index
        # The source address is in the same control word as the length, or in an earlier one.
        known = words["source_address"] == words["length"]
        source = fields["source_address"] if known else row.place
        end = source + fields["length"]
        loads = {name: row[name].eq(fields[name]) for name in ("step", "start")}
        loads["header_flits"] = [
            row.header_flits.eq(fields["header_flits"]),
            row.no_header.eq(fields["header_flits"] == 0),
        ]
        loads["source_address"] = row.place.eq(fields["source_address"])
        loads["length"] = [row.left.eq(fields["length"])]
        if not config.window_bits:
            loads["length"].append(row.too_long.eq(end > config.message_words))
        if config.streams:
            loads |= loads_of_streams(config, row, self._fixed, fields, words)
        for name, load in loads.items():
            with m.If(word == words[name]):
                m.d.sync += load
        if self._look_ahead:
            with m.If(word == words["step"]):
                self._compare_step(m, in_step, fields["step"])
        if self._fetches_ahead:
            is_read = word == words["source_address"]
            m.d.comb += self.message.address.eq(Mux(is_read, fields["source_address"], row.place))
        m.d.comb += self.table.advance.eq(1)
        with m.If((word == 0) & (fields["step"] == 0)):
            m.next = SenderState.ENDED.name
        with m.Else():
            m.d.sync += word.eq(word + 1)
            with m.If(word == config.table.control_words - 1):
                m.d.sync += word.eq(0)
                m.next = SenderState.READY.name

    def _first_slot(self, word: Value) -> data.View:
        """Return the first hop of a row's route, from its first header flit."""
        return slot_layout(self._config)(word[: self._config.header.slot_bits])

    def _first_vc(self, word: Value) -> Value:
        """Return the VC of the first hop, one-hot."""
        slot = self._first_slot(word)
        return Cat(slot.vc == number for number in range(self._config.vcs))

    def _is_sound(self, word: Value) -> Value:
        """Return 1 if the first hop's port and VC exist."""
        slot = self._first_slot(word)
        by_port = (slot.port >= self._ports.start) & (slot.port < self._ports.stop)
        return by_port & self._first_vc(word).any()

    def _elaborate_ready(
        self, m: Module, row, in_step: Signal, sound_slot: Signal, due, wanted
    ) -> None:
        """Wait for the row's step; refuse a row that the network cannot carry out."""
        late = _is_less(row.step, self.clock.step)
        unsound = row.no_header | row.too_long | ~sound_slot
        if self._config.streams:
            unsound |= row.no_stream
        m.d.comb += [
            self.state.eq(SenderState.READY),
            self.over.eq(~(in_step | late)),
            due.eq(in_step & (row.start <= self.now + 1)),
            # A row that is due is not late.
            wanted.eq(due & ~unsound & ~self.hold),
            self.causes.bad_row.eq((unsound | late) & ~self.hold),
        ]
        with m.If(self.causes.bad_row):
            m.next = SenderState.FAILED.name

    def _header_flit_left(self, m: Module, row, last_word) -> None:
        """Go on to the next header flit, to the payload, or to the next row."""
        m.d.comb += self.table.advance.eq(1)
        m.d.sync += row.header_flits.eq(row.header_flits - 1)
        with m.If(row.header_flits != 1):
            m.next = SenderState.HEADER.name
        with m.Elif(last_word):
            m.next = SenderState.CONTROL.name
        with m.Else():
            m.next = SenderState.PAYLOAD.name

    def _elaborate_injection(self, m: Module, vc, wanted, injected) -> Value:
        """Inject a wanted flit if its packet's VC has a credit; return 1 if the kept VC has one.

        A network without contention has no credits.
        """
        # With one VC the initial value never changes, so that this becomes no register.
        kept_vc, waited = Signal.like(vc, init=1, name="kept_vc"), Signal(name="waited")
        if self._config.contention_free:
            has_credit: Value = C(1)
            kept_credit = C(1)
        else:
            available = self._available(m)
            has_credit = (vc & available).any()
            kept_credit = (kept_vc & available).any()
        m.d.comb += [
            vc.eq(kept_vc),
            injected.eq(wanted & has_credit),
            self.link.valid.eq(Mux(injected, vc, 0)),
            self.stalled.eq(injected & waited),
        ]
        m.d.sync += waited.eq(wanted & ~injected)
        with m.If(injected):
            m.d.sync += kept_vc.eq(vc)
        return kept_credit

    def _available(self, m: Module) -> Value:
        """Return the VCs that have a credit."""
        counters = [CreditCounter(self._config) for _ in range(self._config.vcs)]
        for number, counter in enumerate(counters):
            m.submodules[f"credits_{number}"] = counter
            m.d.comb += [
                counter.spend.eq(self.link.valid[number]),
                counter.earn.eq(self.link.credit[number]),
            ]
        overflow = Cat(counter.overflow for counter in counters).any()
        m.d.comb += self.causes.credit_overflow.eq(overflow)
        return Cat(counter.available for counter in counters)
