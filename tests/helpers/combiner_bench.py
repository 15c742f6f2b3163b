"""A combiner and its shared memory, with drawn words, beside a host that writes.

The expected words are computed one by one, from docs/router.md, section 19, with Python's numbers.
"""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from amaranth.hdl import Module
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


class Word(NamedTuple):
    """An arriving word: its address, its operator (0: none), and the address that it reads."""

    address: int
    word: int
    operator: int
    source: int


class Bench:
    """A combiner, its shared memory, and the memory's expected content."""

    def __init__(self, *operators: Operator | str) -> None:
        limits: dict[str, Any] = {"flit_width": WIDTH, "message_words": WORDS, "steps": 3}
        self.config = config = NetworkConfig(
            topology=mesh((2, 2)), operators=operators, vcs=2, programs=1, **limits
        )
        self.draw, self.memory = random.Random(1), [0] * WORDS
        self.module = m = Module()
        m.submodules.combiner = self.combiner = combiner = Combiner(config)
        m.submodules.memory = self.shared = shared = SharedMemory(config)
        connect(m, combiner.writes[0], shared.writes[0])
        connect(m, combiner.reads[0], shared.reads_to_combine[0])
        connect(m, shared.stored[0], combiner.stored[0])
        m.d.comb += [
            shared.stores.eq(combiner.stores[0]),
            shared.combines.eq(combiner.combines[0]),
        ]

    def drawn(self) -> Word | None:
        """Draw a word for any address, by any operator, or None."""
        if self.draw.random() > 0.8:
            return None
        operator = self.draw.randrange(len(self.config.operators) + 1)
        address = self.draw.randrange(WORDS)
        source = self.draw.choice([address, address ^ WORDS // 2]) if operator else address
        return Word(address, self.draw.getrandbits(WIDTH), operator, source)

    def offer(self, ctx: Any, word: Word | None) -> None:
        """Let a word arrive, and carry it out as the page says."""
        port = self.combiner.words[0]
        ctx.set(port.leaves, word is not None)
        ctx.set(port.enable, word is not None)
        if word is None:
            return
        for name, value in word._asdict().items():
            ctx.set(getattr(port, name), value)
        result = word.word
        if word.operator:
            operator = self.config.operators[word.operator - 1]
            result = MEANINGS[operator.name](self.memory[word.source], word.word)
        self.memory[word.address] = result


def lost_writes(bench: Bench) -> int:
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
        for _ in range(CYCLES):
            under_way = left[len(left) - latency :]
            word = bench.drawn()
            if word is not None and word.operator and word.source in under_way:
                word = None
            address, data = draw.randrange(WORDS), draw.getrandbits(WIDTH)
            writes = ctx.get(shared.write_free) and draw.random() < 0.8
            ctx.set(shared.host_writes, writes)
            ctx.set(shared.host_address, address)
            ctx.set(shared.host_word, data)
            lost += writes and address in under_way
            if writes and address not in under_way:
                bench.memory[address] = data
            bench.offer(ctx, word)
            left.append(None if word is None else word.address)
            await hold(ctx)
        bench.offer(ctx, None)
        ctx.set(shared.host_writes, 0)
        for _ in range(1 + latency):
            await hold(ctx)

    simulate(bench.module, testbench)
    assert held == bench.memory
    return lost
