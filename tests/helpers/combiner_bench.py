"""A combiner alone, with random words, and the words that it must write.

The expected words are computed one by one, from docs/router.md, section 19, with Python's numbers.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Module
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import connect

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.operators import Operator
from eyecast.model.network.topology import mesh
from eyecast.rtl.parts.combiner import Combiner
from eyecast.rtl.parts.shared_memory import SharedMemory

from .amaranth_simulation import simulate

WIDTH, WORDS = 32, 8
"""Few words, so that many packets meet in one."""

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


@dataclass(frozen=True)
class Word:
    """A word at a lane: its index, its operator (0: none), and the index that it reads."""

    address: int
    word: int
    operator: int
    source: int


class Bench:
    """A combiner, its memory, and the memory's expected content."""

    def __init__(
        self,
        *operators: Operator | str,
        seed: int = 1,
        **limits: Any,
    ) -> None:
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
        if self.config.programs:
            self.memory = [0] * WORDS
            self.module = self._module_of_programs()
        else:
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

    def _module_of_programs(self) -> Module:
        """Return the bench with a shared memory, which host and tiles do not use."""
        m = Module()
        m.submodules.combiner = combiner = self.combiner
        m.submodules.memory = self.shared = SharedMemory(self.config)
        for mine, theirs in (
            (combiner.writes, self.shared.writes),
            (combiner.reads, self.shared.reads_to_combine),
            (self.shared.stored, combiner.stored),
        ):
            for one, other in zip(mine, theirs, strict=True):
                connect(m, one, other)
        m.d.comb += [
            self.shared.stores.eq(combiner.stores[0]),
            self.shared.combines.eq(combiner.combines[0]),
        ]
        return m

    def drawn(self) -> Word:
        """Draw a word for any index, by any operator."""
        operator = self.draw.randrange(len(self.config.operators) + 1)
        address = self.draw.randrange(WORDS)
        source = self.draw.choice([address, address ^ WORDS // 2]) if operator else address
        return Word(address, self.draw.getrandbits(WIDTH), operator, source)

    def take(self, words: list[Word | None]) -> None:
        """Carry out a cycle as the page says: a higher lane combines with a lower lane's word."""
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
        """Return the words to write in this cycle; for an index, the highest lane's word."""
        return dict(self.written.pop(0))

    async def require_writes(self, ctx: Any) -> None:
        """Require that the memory's ports write the expected words, and no word twice."""
        ports = self.combiner.stored if self.config.programs else self.combiner.writes
        writes = [port for port in ports if ctx.get(port.enable)]
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
    """Draw words for the lanes; some lanes get none."""
    for _ in range(CYCLES):
        yield [bench.drawn() if bench.draw.random() < 0.8 else None for _ in bench.combiner.words]


def run(bench: Bench) -> None:
    """Require that the combiner writes all words of a cycle 1 + D cycles later."""

    async def testbench(ctx: Any) -> None:
        for words in draw_words(bench):
            for lane, word in enumerate(words):
                bench.offer(ctx, lane, word)
            bench.take(words)
            await bench.require_writes(ctx)
            await ctx.tick()

    simulate(bench.module, testbench)


def run_beside_host(bench: Bench) -> int:
    """Require that later words include a host's write, unless it is lost; count the lost writes.

    A write is lost if a word with its address arrived in one of the D cycles before.
    """
    latency, draw, shared = bench.config.operator_latency, bench.draw, bench.shared
    held, lost = [0] * WORDS, 0

    async def hold(ctx: Any) -> None:
        (stored,) = shared.stored
        if ctx.get(stored.enable):
            held[ctx.get(stored.address)] = ctx.get(stored.word)
        await ctx.tick()

    async def testbench(ctx: Any) -> None:
        nonlocal lost
        left: list[int | None] = []
        for drawn, *_ in draw_words(bench):
            under_way = left[len(left) - latency :]
            waits = drawn is not None and drawn.operator and drawn.source in under_way
            word = None if waits else drawn
            bench.offer(ctx, 0, word)
            address, data = draw.randrange(WORDS), draw.getrandbits(WIDTH)
            writes = ctx.get(shared.write_free) and draw.random() < 0.8
            ctx.set(shared.host_writes, writes)
            ctx.set(shared.host_address, address)
            ctx.set(shared.host_word, data)
            lost += writes and address in under_way
            if writes and address not in under_way:
                bench.memory[address] = data
            bench.take([word])
            left.append(None if word is None else word.address)
            await hold(ctx)
        bench.offer(ctx, 0, None)
        ctx.set(shared.host_writes, 0)
        for _ in range(bench.late):
            await hold(ctx)

    simulate(bench.module, testbench)
    assert held == bench.memory
    return lost
