"""The row that a sender carries out (docs/router.md, section 4, "Table" and "Sender").

::

    table ──► control words ──► row ──► may it begin? is it sound? where is its next word?
                                 ▲
                                 └── flits that leave
"""

from typing import Any

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ...model.network.config import NetworkConfig
from ..parts.link import CYCLE_BITS, slot_layout
from .row_of_streams import loads_of_streams, stream_layout
from .steps import StepClock
from .window import next_place


def _row_layout(config: NetworkConfig) -> data.StructLayout:
    """Return the layout of the row under way.

    ``place`` is the address of the row's next word, ``left`` the number of words left. ``too_long``
    is set if the row ends beyond the message memory, ``no_header`` if it has no header flit,
    ``no_stream`` if it names a stream or a window that the network lacks.
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
            **({"streamed": stream_layout(config), "no_stream": 1} if config.streams else {}),
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


class Row(Component):
    """The row under way: its control words fill it, and the flits that leave empty it.

    Used by :class:`.Sender`. "Waits" is said of a row that has been read and has not begun.

    Parameters
    ----------
    config
        The network.
    links
        The ports of the router by which the first hop of a row's route may lead.
    look_ahead
        Whether the row's step and first hop are compared while they are read.

    Members
    -------
    word : In(narrow_width)
        The table's word: while the row is read a control word, then a header flit.
    next_word, advance : In
        Only with ``look_ahead``: members of :class:`.TableRead`.
    clock : In(StepClock)
        The node's step, in every cycle.
    now : In(32)
        As for :class:`.Sender`.
    read : In(1)
        High in a cycle in which ``word`` is a control word of the row.
    ends : Out(1)
        High if that word ends the table. Valid while ``read`` is 1.
    complete : Out(1)
        High if that word is the row's last control word. Valid while ``read`` is 1.
    first : Out(address_bits)
        Only with ``look_ahead``: the address of the row's first word. Valid while ``read`` is 1,
        from the control word with that address on.
    due : Out(1)
        High while the waiting row may begin, if it is sound.
    later, late : Out(1)
        High while the waiting row is of a later step, or of an earlier one.
    unsound : Out(1)
        High while the waiting row cannot be carried out.
    first_vc : Out(vcs)
        The VC of the first hop, one-hot. Valid while the row waits.
    payload : In(1)
        High in a cycle in which the sender injects words.
    header_leaves, word_leaves : In(1)
        High in a cycle in which a header flit, or a word, of the row leaves.
    last_header : Out(1)
        High if no header flit is left after this one.
    last_word : Out(1)
        High if no word is left after the one being injected, or none at all.
    address : Out(address_bits)
        The address of the word that may be injected in the next cycle.
    stream : Out(stream_layout)
        Only in a network with streams: the row's stream.

    """

    def __init__(self, config: NetworkConfig, *, links: range, look_ahead: bool) -> None:
        self._config, self._links, self._look_ahead = config, links, look_ahead
        of_table = {"word": In(config.narrow_width)}
        if look_ahead:
            of_table |= {"next_word": In(config.narrow_width), "advance": In(1)}
        super().__init__(
            {
                **of_table,
                "clock": In(StepClock(config)),
                "now": In(CYCLE_BITS),
                "read": In(1),
                "ends": Out(1),
                "complete": Out(1),
                **({"first": Out(config.address_bits)} if look_ahead else {}),
                "due": Out(1),
                "later": Out(1),
                "late": Out(1),
                "unsound": Out(1),
                "first_vc": Out(config.vcs),
                "payload": In(1),
                "header_leaves": In(1),
                "word_leaves": In(1),
                "last_header": Out(1),
                "last_word": Out(1),
                "address": Out(config.address_bits),
                **({"stream": Out(stream_layout(config))} if config.streams else {}),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Empty the row, fill it, and tell whether it may begin."""
        m = Module()
        row = Signal(_row_layout(self._config), reset_less=True, name="kept")
        # Reset clears the mask, because the next address is computed from it before the first row
        # has been read.
        fixed = Signal(self._config.length_bits, name="fixed")
        self._elaborate_leaving(m, row, fixed)
        in_step = self._elaborate_reading(m, row, fixed)
        self._elaborate_waiting(m, row, in_step)
        return m

    def _elaborate_leaving(self, m: Module, row: data.View, fixed: Signal) -> None:
        """Count the words that leave, and advance the address in the row's window."""
        config, place = self._config, Signal.like(row.place)
        if config.window_bits:
            m.d.comb += place.eq(next_place(row.place, fixed, self.word_leaves))
        else:
            m.d.comb += place.eq(row.place + self.word_leaves)
        m.d.comb += [
            self.address.eq(place),
            self.last_header.eq(row.header_flits == 1),
            # One word is left while it is injected; before, the row has none at all.
            self.last_word.eq(row.left == self.payload),
        ]
        m.d.sync += [row.place.eq(place), row.left.eq(row.left - self.word_leaves)]
        if config.streams:
            m.d.comb += self.stream.eq(row.streamed)
            with m.If(self.word_leaves):
                m.d.sync += row.streamed.ahead.eq(row.streamed.ahead + 1)

    def _elaborate_reading(self, m: Module, row: data.View, fixed: Signal) -> Value:
        """Load the registers from the control words; return whether the node's step is the row's.

        Without a control word, count the header flits. A first word of step 0 ends the table.
        """
        config, number = self._config, Signal(range(self._config.table.control_words))
        fields, words = {}, {}
        positions = config.table.positions
        for (name, width), (index, low) in zip(config.table.fields, positions, strict=True):
            fields[name], words[name] = self.word[low : low + width], index
        m.d.comb += [
            self.ends.eq((number == 0) & (fields["step"] == 0)),
            self.complete.eq(number == config.table.control_words - 1),
        ]
        with m.If(self.read):
            for name, load in self._loads(row, fixed, fields, words).items():
                with m.If(number == words[name]):
                    m.d.sync += load
            with m.If(~self.ends):
                m.d.sync += number.eq(Mux(self.complete, 0, number + 1))
        # In the other branch, so that these registers have an enable.
        with m.Elif(self.header_leaves):
            m.d.sync += row.header_flits.eq(row.header_flits - 1)
        if not self._look_ahead:
            return row.step == self.clock.step
        is_read = number == words["source_address"]
        m.d.comb += self.first.eq(Mux(is_read, fields["source_address"], row.place))
        in_step = Signal(name="in_step")
        m.d.sync += in_step.eq(self._is_next(row.step))
        with m.If(self.read & (number == words["step"])):
            m.d.sync += in_step.eq(self._is_next(fields["step"]))
        return in_step

    def _is_next(self, step: Value) -> Value:
        """Return 1 if the next cycle is in ``step``."""
        clock = self.clock
        return Mux(clock.rises, step == clock.next_step, step == clock.step)

    def _loads(
        self, row: data.View, fixed: Signal, fields: dict[str, Value], words: dict[str, int]
    ) -> dict[str, Any]:
        """Return, by field, the assignments that load the row's registers when it is read.

        ``words`` tells in which control word each field is.
        """
        config = self._config
        # The source address is in the same control word as the length, or in an earlier one.
        known = words["source_address"] == words["length"]
        source = fields["source_address"] if known else row.place
        end = source + fields["length"]
        loads: dict[str, Any] = {name: row[name].eq(fields[name]) for name in ("step", "start")}
        loads["header_flits"] = [
            row.header_flits.eq(fields["header_flits"]),
            row.no_header.eq(fields["header_flits"] == 0),
        ]
        loads["source_address"] = row.place.eq(fields["source_address"])
        loads["length"] = [row.left.eq(fields["length"])]
        if not config.window_bits:
            loads["length"].append(row.too_long.eq(end > config.message_words))
        if config.streams:
            loads |= loads_of_streams(config, row, fixed, fields, words)
        return loads

    def _elaborate_waiting(self, m: Module, row: data.View, in_step: Value) -> None:
        """Compare the waiting row's step, and check the row and its first hop."""
        unsound = row.no_header | row.too_long | ~self._elaborate_slot(m)
        if self._config.streams:
            unsound |= row.no_stream
        m.d.comb += [
            self.due.eq(in_step & (row.start <= self.now + 1)),
            self.late.eq(_is_less(row.step, self.clock.step)),
            self.later.eq(~(in_step | self.late)),
            self.unsound.eq(unsound),
            self.first_vc.eq(self._vc(self.word)),
        ]

    def _elaborate_slot(self, m: Module) -> Value:
        """Return whether the first hop's port and VC exist, for the row that waits."""
        if not self._look_ahead:
            return self._is_sound(self.word)
        sound_slot = Signal(name="sound_slot")
        with m.If(self.advance):
            m.d.sync += sound_slot.eq(self._is_sound(self.next_word))
        return sound_slot

    def _slot(self, word: Value) -> data.View:
        """Return the first hop of a row's route, from its first header flit."""
        return slot_layout(self._config)(word[: self._config.header.slot_bits])

    def _vc(self, word: Value) -> Value:
        """Return the VC of the first hop, one-hot, from the row's first header flit."""
        slot = self._slot(word)
        return Cat(slot.vc == number for number in range(self._config.vcs))

    def _is_sound(self, word: Value) -> Value:
        """Return 1 if the first hop's port and VC exist."""
        slot = self._slot(word)
        by_port = (slot.port >= self._links.start) & (slot.port < self._links.stop)
        return by_port & self._vc(word).any()
