"""The table of a sender (docs/router.md, section 4, "Table"): a memory that is read word by word.

::

    host ──► memory ──► word                             as a rule

    host ──► memory ──► read ──► two words kept ──┐
        └──► words 0 and 1 ─────► (in reset) ─────┴──► word      where ``look_ahead`` is set
"""

from amaranth.hdl import Module, Mux, ResetSignal, Signal
from amaranth.lib.memory import Memory, ReadPort
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig
from .host_port import table_address_bits
from .technology import PLAIN, Technology


class Table(Component):
    """Shows the table's words one after the other; word 0 after a cycle of reset.

    In a technology with ``look_ahead`` set the word is in a register, and so are those behind it: a
    block RAM answers late, and may be so far away that what it is asked and what it answers have a
    cycle each to get there. So that one cycle of reset is enough for both, words 0 and 1 are kept
    beside the memory.

    Attributes
    ----------
    write, write_address, write_word : In
        Into the memory; in reset.
    advance : In(1)
        Show the next word from the next cycle on.
    word : Out(flit_width)
        The word shown.
    next_word : Out(flit_width)
        What an ``advance`` in this cycle makes the word; with ``look_ahead`` only.

    """

    def __init__(self, config: NetworkConfig, *, technology: Technology = PLAIN) -> None:
        self._config = config
        self._technology = technology
        super().__init__(
            {
                "write": In(1),
                "write_address": In(table_address_bits(config)),
                "write_word": In(config.flit_width),
                "advance": In(1),
                "word": Out(config.flit_width),
                "next_word": Out(config.flit_width),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """The memory, the place in it that is read, and what is shown."""
        m = Module()
        m.submodules.memory = memory = Memory(
            shape=self._config.flit_width,
            depth=self._config.table_words,
            init=[],
            attrs=self._technology.memory_attributes,
        )
        write_port, read_port = memory.write_port(), memory.read_port()
        m.d.comb += [
            write_port.addr.eq(self.write_address),
            write_port.data.eq(self.write_word),
            write_port.en.eq(self.write),
        ]
        if self._technology.look_ahead:
            self._elaborate_place(m, read_port, first=2)
            self._elaborate_queue(m, read_port)
        else:
            m.d.comb += read_port.en.eq(self.advance | ResetSignal())
            self._elaborate_place(m, read_port, first=0)
            m.d.comb += self.word.eq(read_port.data)
        return m

    def _elaborate_place(self, m: Module, read_port: ReadPort, *, first: int) -> None:
        """The place of the word that is read next; in reset the ``first`` is read."""
        place = Signal.like(read_port.addr, init=(first + 1) % (1 << len(read_port.addr)))
        m.d.comb += read_port.addr.eq(Mux(ResetSignal(), first, place))
        with m.If(self.advance):
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
        advanced, before = Signal(init=1), Signal()
        keeps, keeps_two = Signal(), Signal()
        m.d.comb += [
            keeps.eq(~(advanced & before)),
            keeps_two.eq(~(advanced | before)),
            self.next_word.eq(Mux(keeps, next_kept, read)),
            self.word.eq(shown),
        ]
        m.d.sync += [
            read.eq(read_port.data),
            advanced.eq(self.advance),
            before.eq(advanced),
        ]
        with m.If(ResetSignal()):
            m.d.sync += [shown.eq(word_0), next_kept.eq(word_1)]
        with m.Else():
            with m.If(self.advance):
                m.d.sync += shown.eq(self.next_word)
            with m.If(self.advance | ~keeps):
                m.d.sync += next_kept.eq(Mux(keeps_two, last_kept, read))
            with m.If(~keeps_two):
                m.d.sync += last_kept.eq(read)

    def _written(self, m: Module, place: int) -> Signal:
        """The word that the host has last written to a place, kept through reset."""
        word = Signal(self._config.flit_width, name=f"word_{place}", reset_less=True)
        with m.If(self.write & (self.write_address == place)):
            m.d.sync += word.eq(self.write_word)
        return word
