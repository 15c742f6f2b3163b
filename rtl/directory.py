"""The directory of the programs that are resident: where each is, and how it is run."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig
from .host_map import EntryField
from .table import PROGRAM_BITS

MODE_BITS = 2
"""Width of a mode: bit 0 is ``barrier``, bit 1 ``half_duplex``."""


class Directory(Component):
    """An entry for each program, which the host writes and reads. Used by :class:`.Controller`.

    Members
    -------
    program : In(4)
        Whose entry; one that there is.
    write : In(1)
        A word of it is written at the end of this cycle.
    field : In(2)
        Which one, an :class:`EntryField`; also the one that ``word`` shows.
    write_data : In(flit_width)
        Valid while ``write`` is 1.
    base, words, limit : Out(flit_width)
        The entry, in every cycle; ``words`` is 0 where no program has been loaded since reset.
    mode : Out(2)
        The same.
    word : Out(flit_width)
        The word of it that ``field`` asks for.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        width = config.flit_width
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
        """Build a memory for each word of an entry; keep which lengths were written since reset."""
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
