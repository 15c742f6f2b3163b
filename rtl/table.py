"""The table of a sender (docs/router.md, section 4, "Table"): a memory that is read word by word.

::

    host ──► memory ──► word                             as a rule

    host ──► memory ──┬──► kept ──┬──► next word ──┐
        │             └───────────┘                ├──► word      where ``look_ahead`` is set
        └──► word 0 ───────────► (in reset) ───────┘
"""

from amaranth.hdl import Module, Mux, ResetSignal, Signal
from amaranth.lib.memory import Memory, ReadPort
from amaranth.lib.wiring import Component, In, Out

from ..model.config import NetworkConfig
from .host import looks_ahead, memory_attributes, table_address_bits


class Table(Component):
    """Shows the table's words one after the other; word 0 after a cycle of reset.

    On a platform with ``look_ahead`` set the word is in a register, and the memory reads the ones
    behind it: a block RAM answers so late that a sender could do little with it in what is left of
    the cycle, and is so far away that it is not asked by what the sender does in this cycle. It
    reads in every cycle the word two behind the one shown. What it answers is the next word
    directly after an ``advance``; then it is kept, as the answer goes on to the one behind it. So
    that one cycle of reset is enough for both, word 0 is kept beside the memory.

    Attributes
    ----------
    write, write_address, write_word : In
        Into the memory; in reset.
    advance : In(1)
        Show the next word from the next cycle on.
    word : Out(flit_width)
        The word shown.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__(
            {
                "write": In(1),
                "write_address": In(table_address_bits(config)),
                "write_word": In(config.flit_width),
                "advance": In(1),
                "word": Out(config.flit_width),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The memory, the place in it that is read, and what is shown."""
        m = Module()
        m.submodules.memory = memory = Memory(
            shape=self._config.flit_width,
            depth=self._config.table_words,
            init=[],
            attrs=memory_attributes(platform),
        )
        write_port, read_port = memory.write_port(), memory.read_port()
        m.d.comb += [
            write_port.addr.eq(self.write_address),
            write_port.data.eq(self.write_word),
            write_port.en.eq(self.write),
        ]
        if looks_ahead(platform):
            self._elaborate_place(m, read_port, first=1)
            self._elaborate_word(m, read_port)
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

    def _elaborate_word(self, m: Module, read_port: ReadPort) -> None:
        """The word shown, which in reset is word 0 as the host has written it last."""
        word_0 = Signal(self._config.flit_width, reset_less=True)
        shown, kept, keeps = Signal.like(word_0), Signal.like(word_0), Signal()
        with m.If(self.write & (self.write_address == 0)):
            m.d.sync += word_0.eq(self.write_word)
        m.d.sync += keeps.eq(~self.advance)
        with m.If(~keeps):
            m.d.sync += kept.eq(read_port.data)
        next_word = Mux(keeps, kept, read_port.data)
        with m.If(self.advance | ResetSignal()):
            m.d.sync += shown.eq(Mux(ResetSignal(), word_0, next_word))
        m.d.comb += self.word.eq(shown)
