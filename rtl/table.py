"""The table of a sender (docs/router.md, section 4, "Table"): a memory that is read word by word.

::

    host ──► memory ──► word                             as a rule

    host ──► memory ──► read ──► two words kept ──┐
        └──► words 0 and 1 ─────► (in reset) ─────┴──► word      where ``look_ahead`` is set
"""

from amaranth.hdl import Module, Mux, ResetSignal, Signal
from amaranth.lib.memory import Memory, ReadPort
from amaranth.lib.wiring import Component, In, Out, Signature

from ..model.network.config import NetworkConfig, bits_for
from ..model.network.table_format import HEADER_COUNT_BITS
from .host_map import table_address_bits
from .memory_ports import WordWrite, is_damaged, stored
from .technology import PLAIN, Technology


class TableRead(Signature):
    """Words of a table, one after the other; the directions are the reader's.

    Members
    -------
    advance : Out(1)
        From the next cycle on ``word`` is the next one. Not looked at in reset.
    word : In(flit_width)
        The word shown: word 0 from the end of a cycle of reset on, then one further for each cycle
        with an ``advance``. Valid in every cycle.
    next_word : In(flit_width)
        The word that an ``advance`` in this cycle leads to. Valid in every cycle, and only in a
        technology with ``look_ahead``; 0 in others.

    beyond : In(1)
        Only in a network with programs: the word shown is not one of the program.
    damaged : In(1)
        Only in a network with parity: it is not the one that was written.

    """

    def __init__(self, config: NetworkConfig) -> None:
        width = config.flit_width
        of_programs = {"beyond": In(1)} if config.programs else {}
        if config.parity:
            of_programs["damaged"] = In(1)
        super().__init__(
            {"advance": Out(1), "word": In(width), "next_word": In(width), **of_programs}
        )


PROGRAM_BITS = 4
"""Width of a program's number."""


class ProgramPlace(Signature):
    """The place of the program that runs in every table; the directions are the controller's.

    Members
    -------
    base, end : Out
        The address of its first word, and the one behind its last word. Constant from the last
        cycle of reset on.
    program : Out(4)
        Its number, only in a network with tile ports.

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

    Used by :class:`.Lane`. In a technology with ``look_ahead`` the word shown is in a register, and
    so are those behind it: a block RAM answers late, and may be so far away that what it is asked
    and what it answers have a cycle each to get there. So that one cycle of reset is enough for
    both, words 0 and 1 are kept beside the memory.

    Members
    -------
    write : In(WordWrite)
        Writes of the host, in reset only; a cycle of reset without one follows them.
    read : In(TableRead)
        The words, shown one by one.
    program : In(ProgramPlace)
        Only in a network with programs: the words to show.

    """

    def __init__(self, config: NetworkConfig, *, technology: Technology = PLAIN) -> None:
        self._config = config
        self._technology = technology
        super().__init__(
            {
                "write": In(WordWrite(table_address_bits(config), config.flit_width)),
                "read": In(TableRead(config)),
                **({"program": In(ProgramPlace(config))} if config.programs else {}),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build the memory, the read address, and the shown word."""
        m = Module()
        m.submodules.table_memory = memory = Memory(
            shape=self._config.flit_width + self._config.parity,
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
        """The place of the word that is read next; in reset the ``first`` is read."""
        place = Signal.like(read_port.addr, init=(first + 1) % (1 << len(read_port.addr)))
        m.d.comb += read_port.addr.eq(Mux(ResetSignal(), first, place))
        with m.If(self.read.advance):
            m.d.sync += place.eq(place + 1)

    def _elaborate_place_in_program(self, m: Module, read_port: ReadPort) -> None:
        """The same from the program's first word on; the word shown is the one before."""
        # Header flits beyond the program are read, and its place must not come round to 0.
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
        """The word shown, and up to two words between it and the one that has been read.

        The memory is asked for the word three behind the one shown, and what it answers is in
        ``read`` two cycles later. So each of the last two cycles without an ``advance`` has left
        a word to be kept. After reset words 0 and 1 are those that the host has written last.
        """
        word_0, word_1 = (self._written(m, place) for place in (0, 1))
        shown, read = Signal.like(word_0), Signal.like(word_0)
        next_kept, last_kept = Signal.like(word_0), Signal.like(word_0)
        # The last two cycles; after reset as if word 1 were kept.
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
        """The word that the host has last written to a place, kept through reset."""
        word = Signal(self._config.flit_width, name=f"word_{place}", reset_less=True)
        with m.If(self.write.enable & (self.write.address == place)):
            m.d.sync += word.eq(self.write.word)
        return word
