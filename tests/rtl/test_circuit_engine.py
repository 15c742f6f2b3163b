"""Circuits behind a controller: residents, late tiles, tile ports and parity (section 23)."""

from collections.abc import Sequence
from typing import Any

import pytest
from amaranth.hdl import ClockDomain
from helpers.engine_host import (
    CONTROLLER,
    DAMAGED,
    DONE,
    FAILED,
    IMAGE,
    MESSAGE,
    NO_SUCH_WORD,
    NOT_NOW,
    START,
    STATUS,
    TABLE,
    TIMED_OUT,
    Engine,
    Host,
)
from helpers.memories import Memories
from helpers.run_entries import Entry, table_writes

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.config_file import identity
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import line

UP, DOWN = 1, 2
PARITY, BAD_ROW = 1 << 1, 1 << 6
WORDS = [0xA1, 0xA2, 0xA3, 0xA4]
SLOW = pytest.mark.slow

LATE = 100
"""Idle cycles before a program that must still run when further requests come."""

ENDS = 6
"""First cycle in which the last end entry of :func:`there` is current."""


def config_of(**parameters: Any) -> NetworkConfig:
    """Return a line of two nodes, entries of 25 bits, two programs."""
    limits = {"message_words": 16, "table_words": 12, "programs": 2}
    return NetworkConfig(**{"topology": line(2), "circuits": True} | limits | parameters)


def there(words: int = 3, *, target: int = 8) -> list[list[Entry]]:
    """Return tables: node 0 sends words from address 0 on to addresses of node 1.

    They are read from cycle 2 on, leave port 0 of node 1 from cycle 5 on, and are written at the
    end of cycle 6, 7, … The end entry of node 1 is current from cycle 3 + ``words`` on.
    """
    taken = {"codes": {0: 1 + DOWN}, "receive": 1, "receive_address": target}
    return [[{"duration": words, "codes": {UP: 1}}], [{}, {"duration": words} | taken]]


async def load(
    host: Host,
    number: int,
    tables: Sequence[Sequence[Entry]],
    base: int,
    *,
    length: int = 3,
    limit: int = 0,
    source: int = 0,
) -> None:
    """Load tables into entries from ``base`` on, and fill the memory of the source."""
    for node, table in enumerate(tables):
        for write in table_writes(host.config, node, table, base):
            await host.write(*_request(write))
    for place, word in enumerate((base, length, 0, limit), 8 + 4 * number):
        await host.write(CONTROLLER, 0, place, word)
    for address, word in enumerate(WORDS):
        await host.write(MESSAGE, source, address, word)
    await host.write(CONTROLLER, 0, IMAGE, identity(host.config))


def _request(write: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """Return a write as (space, node, address, word)."""
    node, space, address, word = write
    return space, node, address, word


async def received(host: Host, first: int, count: int) -> list[int]:
    return [await host.read(MESSAGE, 1, first + index) for index in range(count)]


@pytest.mark.parametrize("registers", [0, pytest.param(3, marks=SLOW)])
def test_two_programs_are_resident_and_one_is_queued(clock: ClockDomain, registers: int) -> None:
    """Each begins with the entry at its base; the host may write all other entries meanwhile."""
    config = config_of(barrier_registers=registers)
    engine = Engine(clock, config)

    async def bench(host: Host) -> None:
        await load(host, 0, there(3), 0)
        long = [[{"duration": LATE}, *table] for table in there(2, target=12)]
        await load(host, 1, long, 7, length=4)
        assert await host.command(START, 1) == 0
        assert await host.command(START, 0) == 0
        writes = [await host.request(TABLE, 1, entry, 1) for entry in (0, 2, 3, 6, 10, 11, 12)]
        not_now = [NOT_NOW, NOT_NOW, 0, 0, NOT_NOW, 0]
        assert [refusal for _, refusal in writes] == [*not_now, NO_SUCH_WORD]
        await host.until("done", limit=200)
        # One hop, two words, and 5 cycles.
        assert host.ctx.get(host.network.cycle) == LATE + 8
        await host.until("busy", limit=3)
        await host.until("done", limit=60)
        assert host.ctx.get(host.network.cycle) == 9
        assert await received(host, 8, 6) == [*WORDS[:3], 0, *WORDS[:2]]
        assert [await host.read(STATUS, node, 1) for node in (0, 1)] == [1, 2]
        first, second = host.traces()
        moved = [(4, 0, UP), (5, 1, 0), (5, 0, UP), (6, 1, 0), (6, 0, UP), (7, 1, 0)]
        assert [row[:3] for row in second] == sorted(moved)
        assert [(row[0] - LATE, *row[1:3]) for row in first] == sorted(moved[:4])

    engine.simulate(bench)


@SLOW
def test_a_program_that_does_not_end_runs_into_the_end_of_its_entries(clock: ClockDomain) -> None:
    """Entry 7 of node 1, behind the program, is its end entry: the program is one too short."""
    engine = Engine(clock, config_of())

    async def bench(host: Host) -> None:
        await load(host, 0, there(), 5, length=2)
        await host.run(0)
        result = await host.result()
        assert (result.state, result.culprit, result.flags) == (FAILED, 1, BAD_ROW)
        assert await host.read(STATUS, 1, 1) == 7

    engine.simulate(bench)


@SLOW
def test_an_entry_of_several_words_is_written_with_its_last_word(clock: ClockDomain) -> None:
    """Words of smaller number stay with the node, for whichever entry comes next."""
    config = config_of(message_words=1 << 12)
    engine = Engine(clock, config)

    async def bench(host: Host) -> None:
        await load(host, 0, there(), 4)
        (*_, (_, _, address, high)) = table_writes(config, 0, there()[0][:1], 4)[:2]
        assert address == 4 << 1 | 1
        assert await host.request(TABLE, 0, 4 << 1, 0) == (0, 0)
        await host.run(0)
        assert (await host.result()).state == DONE
        # The kept word 0 is the lower half of the entry, so its duration becomes 0.
        await host.write(TABLE, 0, 4 << 1 | 1, high)
        await host.run(0)
        assert (await host.result()).state == FAILED
        assert await host.request(TABLE, 0, 12 << 1, 0) == (0, NO_SUCH_WORD)

    engine.simulate(bench)


def tiles(host: Host) -> list[Any]:
    return [getattr(host.network, f"tile_{node}") for node in (0, 1)]


@pytest.mark.parametrize("registers", [0, pytest.param(3, marks=SLOW)])
def test_all_nodes_wait_for_the_last_tile(clock: ClockDomain, registers: int) -> None:
    """A ``hold`` that is last shown in cycle t of *starting* is last seen in t + 1 + ⌈K/2⌉."""
    engine = Engine(clock, config_of(tile_ports=True, barrier_registers=registers))
    up, down = -(-registers // 2), registers // 2

    async def bench(host: Host) -> None:
        ctx = host.ctx
        await load(host, 0, there(), 0, limit=60)
        for last in (0, registers + 1, registers + 5):
            ctx.set(tiles(host)[1].hold, 1)
            await host.request(CONTROLLER, 0, 0)
            assert await _start(host) == 0
            for _ in range(last):
                await ctx.tick()
            ctx.set(tiles(host)[1].hold, 0)
            starting = last
            while not ctx.get(tiles(host)[0].running):
                assert ctx.get(host.network.cycle) == 0
                await ctx.tick()
                starting += 1
            # ``last`` is the first cycle without a hold: the last one seen is one before.
            seen = max(registers + 1, last + 1 + up)
            assert starting == seen + 1 + down
            # In *running* a hold has no effect.
            ctx.set(tiles(host)[0].hold, 1)
            await host.until("done", limit=40)
            assert ctx.get(host.network.cycle) == 9
            ctx.set(tiles(host)[0].hold, 0)

    engine.simulate(bench)


async def _start(host: Host) -> int:
    """Start program 0; return the cycles of *starting* that have passed, less than two."""
    ctx, port = host.ctx, host.network.host
    for name, value in (("valid", 1), ("write", 1), ("space", CONTROLLER), ("address", 2)):
        ctx.set(getattr(port, name), value)
    ctx.set(port.node, 0)
    ctx.set(port.write_data, START)
    await ctx.tick()
    ctx.set(port.valid, 0)
    while not ctx.get(host.network.busy):
        await ctx.tick()
    return 0


@SLOW
@pytest.mark.parametrize("registers", [0, 2])
def test_a_tile_that_never_comes_ends_the_start_at_the_limit(
    clock: ClockDomain, registers: int
) -> None:
    engine = Engine(clock, config_of(tile_ports=True, barrier_registers=registers))
    limit = 20

    async def bench(host: Host) -> None:
        ctx = host.ctx
        await load(host, 0, there(), 0, limit=limit)
        ctx.set(tiles(host)[1].hold, 1)
        await host.request(CONTROLLER, 0, 0)
        starting = await _start(host)
        while ctx.get(host.network.busy):
            await ctx.tick()
            starting += 1
        # The last cycle of *starting* is K + 1 + ``limit``, counted from 0.
        assert starting == registers + 1 + limit + 1
        result = await host.result()
        assert (result.state, result.culprit, result.flags) == (TIMED_OUT, 1, 0)
        assert result.known
        assert not ctx.get(tiles(host)[1].running)
        assert ctx.get(host.network.cycle) == 0
        ctx.set(tiles(host)[1].hold, 0)
        await host.run(0)
        assert (await host.result()).state == DONE
        # An entry without a limit waits for ever, until a stop.
        await host.write(CONTROLLER, 0, 11, 0)
        ctx.set(tiles(host)[0].hold, 1)
        await host.request(CONTROLLER, 0, 0)
        assert await host.command(START, 0) == 0
        for _ in range(100):
            assert ctx.get(host.network.busy)
            await ctx.tick()
        assert await host.command(2) == 0
        assert not ctx.get(host.network.busy)

    engine.simulate(bench)


@pytest.mark.parametrize("operators", ["", pytest.param("add", marks=SLOW)])
def test_a_tile_uses_the_memory_when_the_network_does_not(
    clock: ClockDomain, operators: str
) -> None:
    """Reads of node 0 are in cycles 2 to 4; writes of node 1 at the end of cycles 6 to 8."""
    engine = Engine(clock, config_of(tile_ports=True, operators=operators))
    late = 1 if operators else 0

    async def bench(host: Host) -> None:
        ctx = host.ctx
        await load(host, 0, there(), 0)
        sender, receiver = tiles(host)
        ctx.set(sender.read_valid, 1)
        ctx.set(sender.read_address, 1)
        ctx.set(receiver.write_valid, 1)
        ctx.set(receiver.write_address, 15)
        await _start(host)
        while not ctx.get(sender.running):
            await ctx.tick()
        for cycle in range(14):
            assert ctx.get(sender.read_ready) == (cycle not in (2, 3, 4)), cycle
            assert ctx.get(receiver.write_ready) == (cycle - late not in (6, 7, 8)), cycle
            assert ctx.get(sender.write_ready)
            assert ctx.get(receiver.read_ready)
            answered = cycle - 1 not in (2, 3, 4)
            assert ctx.get(sender.read_answered) == answered
            if answered:
                assert ctx.get(sender.read_data) == WORDS[1]
            rings = cycle - late == 9
            assert ctx.get(receiver.arrived) == rings
            assert ctx.get(receiver.arrived_address) == 10 * rings
            assert ctx.get(receiver.finished) == (cycle >= ENDS + 3 + 2 * late)
            await ctx.tick()
        assert await received(host, 8, 3) == WORDS[:3]

    engine.simulate(bench)


@pytest.fixture
def memories(monkeypatch: pytest.MonkeyPatch) -> Memories:
    return Memories(monkeypatch)


@SLOW
def test_a_damaged_entry_or_word_sets_a_flag(clock: ClockDomain, memories: Memories) -> None:
    """Node 1 adds the words of node 0 to its own. Damage of any of these is seen, no other."""
    config = config_of(parity=True, tile_ports=True, operators="add")
    engine = Engine(clock, config)
    tables = there(2)
    tables[1][1] |= {"receive": 2}

    async def bench(host: Host) -> None:
        harmful = {
            **{("table", 0, 4): 0, ("table", 0, 5): 0, ("table", 1, 6): 1, ("table", 0, 6): None},
            **{("message", 0, 1): 0, ("message", 1, 9): 1, ("message", 0, 2): None},
        }
        for (kind, node, address), culprit in harmful.items():
            await load(host, 0, tables, 4)
            for word in range(2):
                await host.write(MESSAGE, 1, 8 + word, 1)
            memory = getattr(memories, f"{kind}s")[node]
            # The parity bit itself, so that the run goes on as ever.
            memories.flip(host.ctx, memory, address, 32 if kind == "message" else ENTRY_BITS)
            await host.run(0)
            result = await host.result()
            if culprit is None:
                assert result.state == DONE, (kind, node, address)
                assert await received(host, 8, 2) == [word + 1 for word in WORDS[:2]]
            else:
                assert (result.state, result.culprit, result.flags) == (FAILED, culprit, PARITY)
        memories.flip(host.ctx, memories.messages[0], 3, 5)
        assert await host.request(MESSAGE, 0, 3) == (0, DAMAGED)
        assert await host.read(STATUS, 0, 0) == PARITY

    engine.simulate(bench)


ENTRY_BITS = 10 + 3 * 2 + 2 * 2 + 1 + 4 + 4 + 2
"""Duration, codes, the join, addresses and ``receive``; the parity bit is the next one."""


@SLOW
def test_a_switch_has_a_program_too(clock: ClockDomain) -> None:
    """The words of node 1 pass the switch to node 2; the switch has no tile port."""
    star = graph([[-1, 1, 2], [-1, 0, -1], [-1, 0, -1]], [0])
    engine = Engine(clock, config_of(topology=star, tile_ports=True, parity=True))
    taken = {"codes": {0: 2}, "receive": 1, "receive_address": 8}
    tables = [
        [{}, {"duration": 2, "codes": {2: 2}}],
        [{"duration": 2, "codes": {1: 1}}],
        [{"duration": 2}, {"duration": 2} | taken],
    ]

    async def bench(host: Host) -> None:
        await load(host, 0, tables, 3, length=4, source=1)
        await host.run(0)
        assert (await host.result()).state == DONE
        assert [await host.read(MESSAGE, 2, 8 + index) for index in range(2)] == WORDS[:2]
        assert await host.read(STATUS, 0, 1) == 5
        assert await host.request(MESSAGE, 0, 0) == (0, NO_SUCH_WORD)
        assert not hasattr(host.network, "tile_0")

    engine.simulate(bench)
