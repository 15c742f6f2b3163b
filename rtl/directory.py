"""The directory of loaded programs: the address, length, mode and limit of each."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig
from .parts.host_map import EntryField
from .parts.table import PROGRAM_BITS

MODE_BITS = 2
"""Width of a mode: bit 0 is ``barrier``, bit 1 ``half_duplex``."""


class Directory(Component):
    """Memory with an entry for each program, which the host writes and reads.

    Used by :class:`.Controller`.

    Members
    -------
    program : In(4)
        The number of the program whose entry is read or written; always less than ``programs``.
    write : In(1)
        High to write a word of the entry at the end of this cycle.
    field : In(2)
        The :class:`EntryField` to write, and the one that ``word`` shows.
    write_data : In(narrow_width)
        The word to write. Valid while ``write`` is 1.
    base, words, limit : Out(narrow_width)
        The entry's words, in every cycle. ``words`` is 0 until the host has written it since reset.
    mode : Out(2)
        The entry's mode, in every cycle.
    word : Out(narrow_width)
        The word of the entry that ``field`` names.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        width = config.narrow_width
        super().__init__(
            {
                "program": In(PROGRAM_BITS),
                "write": In(1),
                "field": In(2),
                "write_data": In(width),
                "base": Out(width),
                "words": Out(width),
                "mode": Out(MODE_BITS),
                "limit": Out(width),
                "word": Out(width),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build a memory for each field; remember the entries whose length the host has written."""
        m = Module()
        programs = self._config.programs
        loaded = Signal(programs)
        shown = {field: getattr(self, field.name.lower()) for field in EntryField}
        for field, value in shown.items():
            memory = Memory(shape=len(value), depth=programs, init=[])
            m.submodules[f"directory_{field.name.lower()}"] = memory
            write_port, read_port = memory.write_port(), memory.read_port(domain="comb")
            kept = read_port.data
            if field == EntryField.WORDS:
                kept = Mux(loaded.bit_select(self.program, 1), kept, 0)
            m.d.comb += [
                write_port.addr.eq(self.program),
                write_port.data.eq(self.write_data),
                write_port.en.eq(self.write & (self.field == field)),
                read_port.addr.eq(self.program),
                value.eq(kept),
            ]
        with m.If(self.write & (self.field == EntryField.WORDS)):
            m.d.sync += loaded.bit_select(self.program, 1).eq(1)
        m.d.comb += self.word.eq(Array(shown.values())[self.field])
        return m
