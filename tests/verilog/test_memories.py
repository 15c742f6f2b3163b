"""Memories as Verilog: initial contents in simulation, and attributes for synthesis."""

import pytest
from amaranth.hdl import Module
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, Out

from eyecast.verilog.hierarchy import Division
from eyecast.verilog.text import module_texts


class Reader(Component):
    """A component that reads one word of a memory of four words, or of ``depth`` words."""

    def __init__(self, *initial: int, depth: int = 4) -> None:
        super().__init__({"word": Out(8)})
        self.initial, self.depth = initial, depth

    def elaborate(self, _platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(shape=8, depth=self.depth, init=self.initial)
        m.d.comb += self.word.eq(memory.read_port().data)
        return m


def read_by_synthesis(*initial: int) -> str:
    """Return the memory's module without the lines that synthesis does not read."""
    division = Division()
    division.add(Reader(*initial), "reader")
    (text,) = (text for text in module_texts(division).values() if "words [0:3]" in text)
    before, guard, after = text.partition("`ifndef SYNTHESIS\n")
    return before + after.partition("`endif\n")[2] if guard else text


@pytest.mark.parametrize("initial", [(), (0, 0, 0)])
def test_synthesis_does_not_read_a_loop_that_clears_words(initial: tuple[int, ...]) -> None:
    text = read_by_synthesis(*initial)
    assert "endmodule" in text
    assert "initial" not in text
    assert "integer" not in text


def test_synthesis_reads_words_that_are_not_0() -> None:
    text = read_by_synthesis(0, 5)
    assert "  initial begin" in text
    assert "words[1] = 8'h5;" in text


@pytest.mark.parametrize("initial", [(), (5,)])
def test_a_memory_of_one_word_is_a_register(initial: tuple[int, ...]) -> None:
    division = Division()
    division.add(Reader(*initial, depth=1), "reader")
    (text,) = (text for text in module_texts(division).values() if "words;" in text)
    assert f"  initial words = 8'h{sum(initial)};" in text
