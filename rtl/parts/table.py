"""The table of a sender (docs/router.md, section 4, "Table"): a memory that is read word by word.

::

    host ──► memory ──► word                             without ``look_ahead``

    host ──► memory ──► read ──► two words kept ──┐
        └──► words 0 and 1 ─────► (in reset) ─────┴──► word      with ``look_ahead``
"""

from amaranth.hdl import Module, Mux, ResetSignal, Signal
from amaranth.lib.memory import Memory, ReadPort
from amaranth.lib.wiring import Component, In, Out, Signature

from ...model.network.config import NetworkConfig, bits_for
from ...model.network.table_format import HEADER_COUNT_BITS
from .host_map import table_address_bits
from .memory_ports import WordWrite, is_damaged, stored
from .technology import PLAIN, Technology


class TableRead(Signature):
    """Words of a table, one after the other; the directions are the reader's.

    Members
    -------
    advance : Out(1)
        High to show the next word from the next cycle on. Ignored in reset.
    word : In(narrow_width)
        The word shown: after reset word 0, or the program's first word; the next word after each
        cycle with an ``advance``. Valid in every cycle.
    next_word : In(narrow_width)
        The word shown in the next cycle, if ``advance`` is 1 in this one. 0 without ``look_ahead``.
    beyond : In(1)
        Only in a network with programs: high if ``word`` comes after the program's last word.
    damaged : In(1)
        Only in a network with parity: high if ``word`` is not the word that was written.

    """

    def __init__(self, config: NetworkConfig) -> None:
        width = config.narrow_width
        of_programs = {"beyond": In(1)} if config.programs else {}
        if config.parity:
            of_programs["damaged"] = In(1)
        super().__init__(
            {"advance": Out(1), "word": In(width), "next_word": In(width), **of_programs}
        )


PROGRAM_BITS = 4
"""Width of a program's number."""


class ProgramPlace(Signature):
    """Addresses of the running program in every table; the directions are the controller's.

    Members
    -------
    base, end : Out
        The address of the program's first word, and the address after its last word. Constant from
        the last cycle of reset on.
    program : Out(4)
        Only in a network with tile ports: the program's number.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(
            {
                "base": Out(table_address_bits(config)),
                "end": Out(bits_for(config.table_words)),
                **({"program": Out(PROGRAM_BITS)} if config.tile_ports else {}),
            }
        )


class Table(Component):
    """A table of a node, which the host writes and a :class:`.Sender` reads.

    Used by :class:`.Lane`. In a technology with ``look_ahead``, registers hold the word shown and
    the words read ahead, because a block RAM answers late and may be far away. The address and the
    answer have one cycle each for their way. Words 0 and 1 are also kept in registers, so that one
    cycle of reset is enough.

    Members
    -------
    write : In(WordWrite)
        Writes of the host, in reset only. At least one more cycle of reset follows the last write.
    read : In(TableRead)
        The words, shown one by one.
    program : In(ProgramPlace)
        Only in a network with programs: the program whose words are shown.

    """

    def __init__(self, config: NetworkConfig, *, technology: Technology = PLAIN) -> None:
        self._config = config
        self._technology = technology
        super().__init__(
            {
                "write": In(WordWrite(table_address_bits(config), config.narrow_width)),
                "read": In(TableRead(config)),
                **({"program": In(ProgramPlace(config))} if config.programs else {}),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build the memory, the read address, and the shown word."""
        m = Module()
        m.submodules.table_memory = memory = Memory(
            shape=self._config.narrow_width + self._config.parity,
            depth=self._config.table_words,
            init=[],
            attrs=self._technology.memory_attributes,
        )
        write_port, read_port = memory.write_port(), memory.read_port()
        m.d.comb += [
            write_port.addr.eq(self.write.address),
            write_port.data.eq(stored(self.write.word, parity=self._config.parity)),
            write_port.en.eq(self.write.enable),
        ]
        if self._technology.look_ahead:
            self._elaborate_place(m, read_port, first=2)
            self._elaborate_queue(m, read_port)
        else:
            m.d.comb += read_port.en.eq(self.read.advance | ResetSignal())
            if self._config.programs:
                self._elaborate_place_in_program(m, read_port)
            else:
                self._elaborate_place(m, read_port, first=0)
            m.d.comb += self.read.word.eq(read_port.data)
            if self._config.parity:
                m.d.comb += self.read.damaged.eq(is_damaged(read_port.data))
        return m

    def _elaborate_place(self, m: Module, read_port: ReadPort, *, first: int) -> None:
        """Add the address of the word to read next; in reset the word ``first`` is read."""
        place = Signal.like(read_port.addr, init=(first + 1) % (1 << len(read_port.addr)))
        m.d.comb += read_port.addr.eq(Mux(ResetSignal(), first, place))
        with m.If(self.read.advance):
            m.d.sync += place.eq(place + 1)

    def _elaborate_place_in_program(self, m: Module, read_port: ReadPort) -> None:
        """Add the address of the word to read next, from the program's first word on.

        The word shown is the one before.
        """
        # A wrong row may read header flits beyond the program: the address must not wrap to 0.
        most = self._config.table_words + (1 << HEADER_COUNT_BITS)
        place = Signal(range(most + 1), reset_less=True)
        m.d.comb += [
            read_port.addr.eq(Mux(ResetSignal(), self.program.base, place)),
            self.read.beyond.eq(place > self.program.end),
        ]
        with m.If(ResetSignal()):
            m.d.sync += place.eq(self.program.base + 1)
        with m.Elif(self.read.advance):
            m.d.sync += place.eq(place + 1)

    def _elaborate_queue(self, m: Module, read_port: ReadPort) -> None:
        """Build the registers of the word shown, and of up to two further words.

        While word i is shown, the memory is asked for word i + 3; the answer is in ``read`` two
        cycles later. So each of the last two cycles without an ``advance`` leaves one word to keep.
        After reset, words 0 and 1 come from their own registers.
        """
        word_0, word_1 = (self._written(m, place) for place in (0, 1))
        shown, read = Signal.like(word_0), Signal.like(word_0)
        next_kept, last_kept = Signal.like(word_0), Signal.like(word_0)
        # ``advance`` of the last two cycles; after reset as if word 1 were kept.
        advanced, before = Signal(init=1, name="advanced"), Signal(name="before")
        keeps, keeps_two = Signal(name="keeps"), Signal(name="keeps_two")
        m.d.comb += [
            keeps.eq(~(advanced & before)),
            keeps_two.eq(~(advanced | before)),
            self.read.next_word.eq(Mux(keeps, next_kept, read)),
            self.read.word.eq(shown),
        ]
        m.d.sync += [
            read.eq(read_port.data),
            advanced.eq(self.read.advance),
            before.eq(advanced),
        ]
        with m.If(ResetSignal()):
            m.d.sync += [shown.eq(word_0), next_kept.eq(word_1)]
        with m.Else():
            with m.If(self.read.advance):
                m.d.sync += shown.eq(self.read.next_word)
            with m.If(self.read.advance | ~keeps):
                m.d.sync += next_kept.eq(Mux(keeps_two, last_kept, read))
            with m.If(~keeps_two):
                m.d.sync += last_kept.eq(read)

    def _written(self, m: Module, place: int) -> Signal:
        """Return a register with the word that the host last wrote to ``place``, without reset."""
        word = Signal(self._config.narrow_width, name=f"word_{place}", reset_less=True)
        with m.If(self.write.enable & (self.write.address == place)):
            m.d.sync += word.eq(self.write.word)
        return word
