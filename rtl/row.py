"""The row that a sender carries out (docs/router.md, section 4, "Table" and "Sender").

Used by :class:`.Sender`.
"""

from typing import Any

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data

from ..model.network.config import NetworkConfig
from .link import slot_layout
from .row_of_streams import loads_of_streams, row_of_streams


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


class RowReader:
    """The registers of the row under way, which its control words fill.

    Parameters
    ----------
    m
        The module of the sender, to which the reader adds its gates.
    config
        The network.
    ports
        The ports of the sender.
    links
        The ports of the router by which the first hop of a row's route may lead.
    look_ahead
        Whether a row's step and first hop are compared while they are read.
    fetches_ahead
        Whether the message memory reads the row's first word while the row is read.

    Attributes
    ----------
    row : View
        The registers of the row under way.
    fixed : Signal
        The address bits that the row's window keeps. Reset clears them, because the next address is
        computed from them before the first row has been read.
    in_step : Signal
        High while the node's step is the row's.
    sound_slot : Signal
        High while the first hop's port and VC exist. Valid while the row waits.

    """

    def __init__(
        self,
        m: Module,
        config: NetworkConfig,
        ports: Any,
        *,
        links: range,
        look_ahead: bool,
        fetches_ahead: bool,
    ) -> None:
        self._m, self._config, self._ports = m, config, ports
        self._links, self._look_ahead, self._fetches_ahead = links, look_ahead, fetches_ahead
        self.row = Signal(_row_layout(config), reset_less=True, name="row")
        self.fixed = Signal(config.length_bits, name="fixed")
        self.in_step, self.sound_slot = Signal(name="in_step"), Signal(name="sound_slot")

    def elaborate(self) -> None:
        """Check the row's step and first hop; in registers, if the sender looks ahead."""
        m, table = self._m, self._ports.table
        if self._look_ahead:
            self._compare_step(self.row.step)
            with m.If(table.advance):
                m.d.sync += self.sound_slot.eq(self._is_sound(table.next_word))
        else:
            m.d.comb += [
                self.in_step.eq(self.row.step == self._ports.clock.step),
                self.sound_slot.eq(self._is_sound(table.word)),
            ]

    def read(self, *, at_the_end: str, when_read: str) -> None:
        """Load the row's registers from this cycle's control word.

        A first word of step 0 ends the table: the next state is ``at_the_end``. After the row's
        last control word it is ``when_read``. A sender that looks ahead compares the row's step
        while it is read, and lets the message memory read the row's first word at once.
        """
        config, m, ports = self._config, self._m, self._ports
        word = Signal(range(config.table.control_words))
        positions = config.table.positions
        fields, words = {}, {}
        for (name, width), (index, low) in zip(config.table.fields, positions, strict=True):
            fields[name], words[name] = ports.table.word[low : low + width], index
        for name, load in self._loads(fields, words).items():
            with m.If(word == words[name]):
                m.d.sync += load
        if self._look_ahead:
            with m.If(word == words["step"]):
                self._compare_step(fields["step"])
        if self._fetches_ahead:
            is_read = word == words["source_address"]
            address = Mux(is_read, fields["source_address"], self.row.place)
            m.d.comb += ports.message.address.eq(address)
        m.d.comb += ports.table.advance.eq(1)
        with m.If((word == 0) & (fields["step"] == 0)):
            m.next = at_the_end
        with m.Else():
            m.d.sync += word.eq(word + 1)
            with m.If(word == config.table.control_words - 1):
                m.d.sync += word.eq(0)
                m.next = when_read

    def _loads(self, fields: dict[str, Value], words: dict[str, int]) -> dict[str, Any]:
        """Return, by field, the assignments that load the row's registers when it is read.

        ``words`` tells in which control word each field is.
        """
        config, row = self._config, self.row
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
            loads |= loads_of_streams(config, row, self.fixed, fields, words)
        return loads

    def _compare_step(self, step: Value) -> None:
        """Set the register ``in_step`` if the next cycle is in the ``step`` of the row."""
        clock = self._ports.clock
        self._m.d.sync += self.in_step.eq(
            Mux(clock.rises, step == clock.next_step, step == clock.step)
        )

    def _first_slot(self, word: Value) -> data.View:
        """Return the first hop of a row's route, from its first header flit."""
        return slot_layout(self._config)(word[: self._config.header.slot_bits])

    def first_vc(self, word: Value) -> Value:
        """Return the VC of the first hop, one-hot, from the row's first header flit."""
        slot = self._first_slot(word)
        return Cat(slot.vc == number for number in range(self._config.vcs))

    def _is_sound(self, word: Value) -> Value:
        """Return 1 if the first hop's port and VC exist."""
        slot = self._first_slot(word)
        by_port = (slot.port >= self._links.start) & (slot.port < self._links.stop)
        return by_port & self.first_vc(word).any()


class RowGate:
    """The wait of a row for its step, and the refusal of a row that cannot be carried out.

    Parameters
    ----------
    m
        The module of the sender, to which the gate adds its gates.
    config
        The network.
    ports
        The ports of the sender.
    reader
        The row that waits.

    Attributes
    ----------
    due : Signal
        High while the waiting row may begin, if it is sound and the node is not held.

    """

    def __init__(self, m: Module, config: NetworkConfig, ports: Any, reader: RowReader) -> None:
        self._m, self._config, self._ports, self._reader = m, config, ports, reader
        self.due = Signal(name="due")

    def wait(self, wanted: Signal) -> None:
        """Offer the row's first header flit, in ``wanted``, when the row may begin."""
        row, ports, in_step = self._reader.row, self._ports, self._reader.in_step
        late = _is_less(row.step, ports.clock.step)
        unsound = row.no_header | row.too_long | ~self._reader.sound_slot
        if self._config.streams:
            unsound |= row.no_stream
        self._m.d.comb += [
            ports.over.eq(~(in_step | late)),
            self.due.eq(in_step & (row.start <= ports.now + 1)),
            # A row that is due is not late.
            wanted.eq(self.due & ~unsound & ~ports.hold),
            ports.causes.bad_row.eq((unsound | late) & ~ports.hold),
        ]
