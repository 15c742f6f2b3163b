"""Words that come meet words that are there: each is written when it should be, and none is lost.

What must be written is reckoned here word by word, from docs/router.md, section 19, with Python's
numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component
from helpers.amaranth_simulation import simulate

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.operators import Operator
from eyecast.model.network.topology import mesh
from eyecast.rtl.combiner import Combiner
from eyecast.rtl.operators import OperatorPorts

WIDTH, WORDS = 16, 8
"""Few words, so that many meet in one."""

CYCLES = 150


def signed(word: int) -> int:
    return word - (word >> (WIDTH - 1) << WIDTH)


MEANINGS: dict[str, Callable[[int, int], int]] = {
    "add": lambda x, y: (x + y) % 2**WIDTH,
    "min": min,
    "max": max,
    "min-signed": lambda x, y: min(x, y, key=signed),
    "max-signed": lambda x, y: max(x, y, key=signed),
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "twice": lambda x, y: (2 * x + y) % 2**WIDTH,
}


class Twice(Component):
    """An operator of a user's own, of three cycles, whose words must not change places."""

    def __init__(self, width: int) -> None:
        super().__init__(OperatorPorts(width))

    def elaborate(self, _platform: object) -> Module:
        m = Module()
        there, coming, later = (Signal.like(self.there) for _ in range(3))
        m.d.sync += [
            there.eq(self.there << 1),
            coming.eq(self.coming),
            later.eq(there + coming),
            self.result.eq(later),
        ]
        return m


TWICE = Operator("twice", latency=3, component=Twice)


@dataclass(frozen=True)
class Word:
    """What comes at a lane: its place, its operator (0: none), and the place that it reads."""

    address: int
    word: int
    operator: int
    source: int


class Bench:
    """A combiner, its memory, and what the memory must hold."""

    def __init__(self, *operators: Operator | str, seed: int = 1, **limits: Any) -> None:
        self.config = NetworkConfig(
            topology=mesh((2, 2)),
            flit_width=WIDTH,
            message_words=WORDS,
            steps=3,
            operators=operators,
            **limits,
        )
        self.combiner = Combiner(self.config)
        self.draw = random.Random(seed)
        self.memory = [self.draw.getrandbits(WIDTH) for _ in range(WORDS)]
        self.late = 1 + self.config.operator_latency
        self.written: list[list[tuple[int, int]]] = [[] for _ in range(self.late)]
        self.module = self._module()

    def _module(self) -> Module:
        m = Module()
        m.submodules.combiner = combiner = self.combiner
        m.submodules.memory = memory = Memory(shape=WIDTH, depth=WORDS, init=self.memory)
        for write, read, stored in zip(
            combiner.writes, combiner.reads, combiner.stored, strict=True
        ):
            port, source = memory.write_port(), memory.read_port()
            m.d.comb += [
                port.en.eq(write.enable),
                port.addr.eq(write.address),
                port.data.eq(write.word),
                stored.enable.eq(write.enable),
                stored.address.eq(write.address),
                stored.word.eq(write.word),
                source.addr.eq(read.address),
                read.word.eq(source.data),
            ]
        return m

    def drawn(self) -> Word:
        """A word for any place, by any operator."""
        operator = self.draw.randrange(len(self.config.operators) + 1)
        address = self.draw.randrange(WORDS)
        source = self.draw.choice([address, address ^ WORDS // 2]) if operator else address
        return Word(address, self.draw.getrandbits(WIDTH), operator, source)

    def take(self, words: list[Word | None]) -> None:
        """One cycle of the page: a lower lane's word is there for a higher one's."""
        written = []
        for word in filter(None, words):
            result = word.word
            if word.operator:
                operator = self.config.operators[word.operator - 1]
                result = MEANINGS[operator.name](self.memory[word.source], word.word)
            self.memory[word.address] = result
            written.append((word.address, result))
        self.written.append(written)

    def must_write(self) -> dict[int, int]:
        """What the memory is to be given in this cycle: of one place, the highest lane's word."""
        return dict(self.written.pop(0))

    async def require_writes(self, ctx: Any) -> None:
        writes = [write for write in self.combiner.writes if ctx.get(write.enable)]
        places = [ctx.get(write.address) for write in writes]
        assert len(set(places)) == len(places)
        words = [ctx.get(write.word) for write in writes]
        assert dict(zip(places, words, strict=True)) == self.must_write()

    def offer(self, ctx: Any, lane: int, word: Word | None) -> None:
        port = self.combiner.words[lane]
        ctx.set(port.leaves, word is not None)
        ctx.set(port.enable, word is not None)
        if word is not None:
            for name in ("address", "word", "operator", "source"):
                ctx.set(getattr(port, name), getattr(word, name))


def draw_words(bench: Bench) -> Iterator[list[Word | None]]:
    """Words for every lane, now and then none."""
    for _ in range(CYCLES):
        yield [bench.drawn() if bench.draw.random() < 0.8 else None for _ in bench.combiner.words]


def run(bench: Bench) -> None:
    """What comes in every cycle is written 1 + D cycles later."""

    async def testbench(ctx: Any) -> None:
        for words in draw_words(bench):
            for lane, word in enumerate(words):
                bench.offer(ctx, lane, word)
            bench.take(words)
            await bench.require_writes(ctx)
            await ctx.tick()

    simulate(bench.module, testbench)


@pytest.mark.parametrize("operator", sorted(set(MEANINGS) - {"twice"}))
def test_each_operator_of_words_that_come_one_after_the_other(operator: str) -> None:
    run(Bench(operator, vcs=2))


def test_several_operators_chosen_word_by_word() -> None:
    run(Bench("min-signed", "add", "xor", vcs=2))


@pytest.mark.parametrize("seed", [1, 2])
def test_words_of_several_lanes_for_one_place_are_all_in_it(seed: int) -> None:
    """The lower lane's first, and of those that only replace the highest one's stays."""
    run(Bench("add", "min", all_port=True, seed=seed))


@pytest.mark.parametrize("operators", [(TWICE,), ("max", TWICE), (TWICE, "add")])
def test_a_slow_operator_waits_for_what_it_needs(operators: tuple[Operator | str, ...]) -> None:
    """As the page says: while the word that it needs left port 0 in one of the D cycles before.

    Of two packets that have begun one goes on in every cycle, if the network is let.
    """
    bench = Bench(*operators, vcs=2)
    latency = bench.config.operator_latency
    waited = 0

    async def testbench(ctx: Any) -> None:
        nonlocal waited
        # The places of the words that left in the last cycles.
        left: list[int | None] = [None] * latency
        nexts = [bench.drawn() for _ in range(2)]
        for _ in range(CYCLES):
            for vc, word in enumerate(nexts):
                port = bench.combiner.next_words[vc]
                ctx.set(port.combines, word.operator > 0)
                ctx.set(port.source, word.source)
            accepts = not any(word.operator and word.source in left for word in nexts)
            assert ctx.get(bench.combiner.accept) == accepts
            waited += not accepts
            vc = bench.draw.randrange(3)
            word = nexts[vc] if vc < 2 and accepts else None
            bench.offer(ctx, 0, word)
            bench.take([word])
            if word is not None:
                nexts[vc] = bench.drawn()
            left = [*left[1:], None if word is None else word.address]
            await bench.require_writes(ctx)
            await ctx.tick()

    simulate(bench.module, testbench)
    assert CYCLES // 10 < waited < CYCLES


def test_an_operator_without_a_component_of_its_ports_cannot_be_built() -> None:
    with pytest.raises(TypeError, match="operator nothing has no component"):
        run(Bench(Operator("nothing")))
    narrow = Operator("narrow", component=lambda width: Twice(width - 1))
    with pytest.raises(TypeError, match="operator narrow has other ports"):
        run(Bench(narrow))
