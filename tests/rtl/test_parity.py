"""Parity: a flipped bit of a memory is reported when its word is read, and never taken for data.

The tests flip bits in the memories themselves, while the network runs.
"""

import random
from dataclasses import replace

import numpy as np
import pytest
from amaranth.hdl import ClockDomain
from helpers.engine_host import (
    ACKNOWLEDGE,
    CONTROLLER,
    DAMAGED,
    DONE,
    ENABLE,
    FAILED,
    IDLE,
    LONGEST_ANSWER,
    MESSAGE,
    STATUS,
    Engine,
    Host,
    expected_rows,
    program_words,
    rows_before,
)
from helpers.generated import generated
from helpers.memories import Memories
from helpers.programs import UP, program, put, words

from eyecast.model.cycle.model import run
from eyecast.model.network.topology import hypercube, mesh
from eyecast.model.program.certified import compile_certified
from eyecast.model.program.program import Program

LINE, PAIR = mesh((3,)), mesh((2,))
LIMITS = {"message_words": 8, "table_words": 16}
PARITY_FLAG = 1 << 1
TOLD, SEEN_DAMAGED = 1, 2
"""Bits of the controller's word ``enable``."""

SHARE = 32
"""Bits of a wide word with a parity bit."""

WIDTH = 33
"""Bits of a word in a memory."""


def there(**more: int) -> Program:
    """Return a program: words go from node 0 to 1 and on to 2, with two header flits each."""
    rows = {0: [put(1, (UP, 1), length=3, target=4)], 1: [put(2, (UP, 1), length=2, source=4)]}
    return program(rows, {1: [1], 2: [2]}, LINE, **LIMITS | more)


@pytest.fixture
def memories(monkeypatch: pytest.MonkeyPatch) -> Memories:
    return Memories(monkeypatch)


def engine_of(clock: ClockDomain, made: Program) -> Engine:
    return Engine(clock, replace(made.config, programs=1, tile_ports=True, parity=True))


@pytest.mark.slow
@pytest.mark.parametrize("flit_width", [32, 128])
def test_flipped_bits_are_never_taken_for_data(
    clock: ClockDomain, memories: Memories, flit_width: int
) -> None:
    """Flip any bit of a word of each kind; a damaged word that nobody reads is harmless.

    A wide word tells of two flipped bits, if they have two parity bits.
    """
    made = there(flit_width=flit_width)
    engine = engine_of(clock, made)
    wide = flit_width > SHARE
    draw = random.Random(5)
    predicted = run(made, words(made), timing="barrier")
    sizes = [len(each) for each in program_words(made)]
    # Nodes 0 and 1 read these words of messages; node 1's words arrive from node 0.
    read = {0: {0, 1, 2}, 1: set(), 2: set()}
    flips = [("table", node, address) for node in range(3) for address in range(sizes[node] + 1)]
    flips += [("message", node, address) for node in range(3) for address in (0, 2, 6)]

    async def bench(host: Host) -> None:
        ctx = host.ctx
        for kind, node, address in flips:
            await host.load(0, made, 2, limit=100)
            await host.fill(words(made))
            if kind == "table":
                bit = draw.randrange(min(flit_width, 64) + 1)
                memories.flip(ctx, memories.tables[node], 2 + address, bit)
                harmful = address < sizes[node]
            else:
                bit = draw.randrange(flit_width + max(1, wide * flit_width // SHARE))
                memories.flip(ctx, memories.messages[node], address, bit)
                if wide and bit < flit_width:
                    other = (bit + SHARE) % flit_width
                    memories.flip(ctx, memories.messages[node], address, other)
                harmful = address in read[node]
            await host.run(0)
            result = await host.result()
            if harmful:
                assert (result.state, result.culprit) == (FAILED, node), (kind, node, address, bit)
                assert result.flags & PARITY_FLAG
            else:
                assert result.state == DONE, (kind, node, address, bit)
                (rows,) = host.traces()
                cycles = predicted.cycles + 1
                assert rows_before(rows, cycles) == expected_rows(predicted, 1)

    engine.simulate(bench)


@pytest.mark.slow
def test_a_host_and_a_tile_are_told_of_a_damaged_word(
    clock: ClockDomain, memories: Memories
) -> None:
    made = there()
    engine = engine_of(clock, made)

    async def bench(host: Host) -> None:
        ctx, tile = host.ctx, host.network.tile_2
        await host.load(0, made, 2)
        await host.fill(words(made))
        await host.run(0)
        assert (await host.result()).state == DONE
        memories.flip(ctx, memories.messages[1], 3, 32)
        memories.flip(ctx, memories.messages[2], 5, 7)
        assert await host.read(MESSAGE, 1, 2) == words(made)[1, 2]
        assert await host.read(STATUS, 1, 0) == 0
        assert await host.request(MESSAGE, 1, 3) == (0, DAMAGED)
        assert await host.read(STATUS, 1, 0) == PARITY_FLAG
        ctx.set(tile.read_valid, 1)
        ctx.set(tile.read_address, 5)
        await ctx.tick()
        ctx.set(tile.read_valid, 0)
        assert ctx.get(tile.read_answered)
        assert ctx.get(tile.read_damaged)
        assert ctx.get(tile.finished)
        await ctx.tick()
        assert not ctx.get(tile.finished)
        assert await host.read(STATUS, 2, 0) == PARITY_FLAG
        # A word that is written again is correct again.
        await host.fill(words(made))
        np.testing.assert_array_equal(await host.memory(), words(made))

    engine.simulate(bench)


async def read_by_tile(host: Host, address: int) -> bool:
    """Let the tile of node 1 read a word; return whether it is shown as damaged."""
    ctx, tile = host.ctx, host.network.tile_1
    ctx.set(tile.read_valid, 1)
    ctx.set(tile.read_address, address)
    await ctx.tick()
    ctx.set(tile.read_valid, 0)
    assert ctx.get(tile.read_answered)
    return bool(ctx.get(tile.read_damaged))


@pytest.mark.parametrize("registers", [0, pytest.param(3, marks=pytest.mark.slow)])
def test_a_damaged_word_that_no_run_reads_is_told_until_it_is_acknowledged(
    clock: ClockDomain, memories: Memories, registers: int
) -> None:
    made = program({}, {}, PAIR, message_words=4, table_words=8, barrier_registers=registers)
    engine = engine_of(clock, made)

    async def require_told(host: Host, cycles: int) -> None:
        for _ in range(cycles):
            assert not host.ctx.get(host.network.interrupt)
            await host.ctx.tick()
        for _ in range(3):
            assert host.ctx.get(host.network.interrupt)
            await host.ctx.tick()
        assert await host.read(CONTROLLER, 0, ENABLE) == TOLD | SEEN_DAMAGED
        assert await host.command(ACKNOWLEDGE) == 0
        assert not host.ctx.get(host.network.interrupt)
        assert await host.read(CONTROLLER, 0, ENABLE) == TOLD

    async def bench(host: Host) -> None:
        for address in range(4):
            await host.write(MESSAGE, 1, address, 0xA5 + address)
        # The sender's port shows word 0 all the time, but nobody reads it.
        for address in (0, 2):
            memories.flip(host.ctx, memories.messages[1], address, 32)
        await host.write(CONTROLLER, 0, ENABLE, TOLD)
        # First in state idle, in which the core is in reset, then in state done.
        for state in (IDLE, DONE):
            if state == DONE:
                await host.load(0, made, 2)
                await host.run(0)
                assert await host.command(ACKNOWLEDGE) == 0
            assert (await host.result()).state == state
            assert not await read_by_tile(host, 1)
            for _ in range(registers + 2):
                await host.ctx.tick()
                assert not host.ctx.get(host.network.tile_1.read_damaged)
            assert await read_by_tile(host, 2)
            await require_told(host, 1 + -(-registers // 2))
            assert await host.request(MESSAGE, 1, 2) == (0, DAMAGED)
            await require_told(host, 0)
            assert (await host.result()).state == state

    engine.simulate(bench)


def test_a_flipped_bit_of_a_table_ends_the_run(clock: ClockDomain, memories: Memories) -> None:
    made = program({1: [put(1, (UP + 1, 1), length=1)]}, {0: [1]}, PAIR, **LIMITS)
    engine = engine_of(clock, made)

    async def bench(host: Host) -> None:
        await host.load(0, made, 2, limit=100)
        await host.write(MESSAGE, 1, 0, 5)
        # The header flit, after a word of ``expected`` and a control word.
        memories.flip(host.ctx, memories.tables[1], 4, WIDTH - 1)
        await host.run(0)
        await host.ctx.tick().repeat(LONGEST_ANSWER)
        assert await host.result() == (PARITY_FLAG, FAILED, 1, 0, 1)

    engine.simulate(bench)


@pytest.mark.slow
def test_a_flipped_bit_of_any_lane_is_told(clock: ClockDomain, memories: Memories) -> None:
    """With a port for every link, each sender has a table, and each table is checked."""
    made = generated("scatter", "sbnt", hypercube(2), words=2, source=0, all_port=True)
    each = compile_certified(made, {"message_words": 8, "table_words": 16}).program
    draw = random.Random(3)
    engine = engine_of(clock, each)
    sizes = [len(words) for words in program_words(each)]

    async def bench(host: Host) -> None:
        for sender, size in enumerate(sizes):
            await host.load(0, each, 1, limit=100)
            place = 1 + draw.randrange(size)
            memories.flip(host.ctx, memories.tables[sender], place, draw.randrange(WIDTH))
            await host.run(0)
            result = await host.result()
            node = sender // engine.config.lanes
            assert (result.state, result.culprit) == (FAILED, node), (sender, place)
            assert result.flags & PARITY_FLAG
        await host.load(0, each, 1, limit=100)
        await host.fill(words(each))
        await host.run(0)
        assert (await host.result()).state == DONE
        predicted = run(each, words(each), timing="barrier")
        np.testing.assert_array_equal(await host.memory(), predicted.memory)

    engine.simulate(bench)
    assert len(memories.tables) == len(sizes) == 4 * 2
