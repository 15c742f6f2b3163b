"""Ports of tiles: they write and read words of messages while a network runs.

A tile that writes and reads at random changes no flit of the network. It reads every word as it was
last written, and no word that it writes is lost.
"""

import random
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import ClockDomain
from amaranth.lib.memory import Memory
from helpers.amaranth_simulation import simulate
from helpers.engine_host import START, Engine, Host, expected_rows, rows_before
from helpers.generated import generated
from helpers.programs import UP, program, put, words

from eyecast.model.base.arrays import as_integers
from eyecast.model.cycle.model import run
from eyecast.model.network.buses import TileBus
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import hypercube, mesh
from eyecast.model.program.certified import compile_certified
from eyecast.model.program.program import Program
from eyecast.rtl.engine import Engine as Buses
from eyecast.rtl.parts import shared_memory
from eyecast.rtl.parts.shared_memory import SharedMemory
from eyecast.rtl.parts.tile_port import Doorbell

LINE = mesh((3,))
LIMITS = {"message_words": 40, "table_words": 32}
THERE = UP
OWN = 32
"""First word of the part of each memory that only the tile uses."""


def there(**more: int) -> Program:
    """Return a program: long messages go from node 0 over node 1 to node 2, and one goes back."""
    rows = {
        0: [put(1, (THERE, 1), length=20, target=4), put(2, (THERE, 2), length=9, source=2)],
        1: [put(3, (THERE, 1), length=12, target=20, source=4)],
        2: [put(4, (THERE + 1, 2), length=7)],
    }
    return program(rows, {1: [1], 2: [2, 3], 0: [4]}, LINE, **LIMITS | more)


@dataclass
class Tile:
    """A tile that writes and reads its own words at random, and keeps their expected values."""

    port: Any
    memory: list[int]
    draw: random.Random
    answers: list[int] = field(default_factory=list)
    written: int = 0
    read: int = 0
    waited: int = 0
    rests: bool = False
    bells: list[int] = field(default_factory=list)

    async def use(self, ctx: Any) -> None:
        """Make random requests in every cycle; repeat a request until it is taken."""
        port, draw = self.port, self.draw
        asks_write, asks_read = False, False
        asked = None
        while True:
            if not asks_write and not self.rests and draw.random() < 0.7:
                asks_write = True
                ctx.set(port.write_address, draw.randrange(OWN, len(self.memory)))
                ctx.set(port.write_data, draw.getrandbits(len(port.write_data)))
            if not asks_read and draw.random() < 0.7:
                asks_read = True
                ctx.set(port.read_address, draw.randrange(OWN, len(self.memory)))
            ctx.set(port.write_valid, asks_write)
            ctx.set(port.read_valid, asks_read)
            taken_write = asks_write and ctx.get(port.write_ready)
            taken_read = asks_read and ctx.get(port.read_ready)
            self.waited += asks_write + asks_read - taken_write - taken_read
            if asked is not None:
                assert ctx.get(port.read_answered)
                assert ctx.get(port.read_data) == asked
                self.read += 1
            else:
                assert not ctx.get(port.read_answered)
            asked = self.memory[ctx.get(port.read_address)] if taken_read else None
            if taken_write:
                self.memory[ctx.get(port.write_address)] = ctx.get(port.write_data)
                self.written += 1
            if ctx.get(port.arrived):
                self.bells.append(ctx.get(port.arrived_step))
            asks_write &= not taken_write
            asks_read &= not taken_read
            await ctx.tick()


def engine_of(clock: ClockDomain, program: Program) -> Engine:
    return Engine(clock, replace(program.config, programs=2, tile_ports=True))


@pytest.mark.parametrize(
    ("seed", "flit_width"),
    [(1, 32), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((2, 32), (3, 192)))],
)
def test_the_network_comes_first(clock: ClockDomain, seed: int, flit_width: int) -> None:
    made = there(flit_width=flit_width)
    engine = engine_of(clock, made)
    draw, memory = random.Random(seed), words(made)
    tiles = [
        Tile(getattr(engine.network, f"tile_{node}"), as_integers(memory[node]), draw)
        for node in range(3)
    ]
    predicted = run(made, memory, timing="barrier")
    ready = []

    async def bench(host: Host) -> None:
        await host.load(0, made, 0)
        await host.fill(memory)
        ready.append(True)
        assert await host.command(START, 0) == 0
        await host.until("done")
        cycles = predicted.cycles + 1
        assert host.ctx.get(host.network.cycle) == cycles
        (rows,) = host.traces()
        assert rows_before(rows, cycles) == expected_rows(predicted, 1)
        for tile in tiles:
            tile.rests = True
        await host.result()
        for node, tile in enumerate(tiles):
            for address in range(0, 40, 3):
                of_network = as_integers(predicted.memory[node])
                expected = (of_network if address < OWN else tile.memory)[address]
                for piece in range(made.config.pieces):
                    word = await host.read(0, node, host.address(address, piece))
                    assert word == expected >> 64 * piece & (1 << 64) - 1

    def user(tile: Tile) -> Any:
        async def use(ctx: Any) -> None:
            while not ready:
                await ctx.tick()
            await tile.use(ctx)

        return use

    engine.simulate(bench, *map(user, tiles))
    for tile in tiles:
        assert min(tile.written, tile.read, tile.waited) > 20
    assert [tile.bells for tile in tiles] == [[4], [1], [2, 3]]


@pytest.mark.slow
@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
def test_a_tile_holds_its_node_back(clock: ClockDomain, timing: str) -> None:
    """The first row begins when the tile stops holding; until then the tile may use the memory."""
    made = there()
    engine = engine_of(clock, made)
    memory = words(made)
    held = 30

    async def bench(host: Host) -> None:
        ctx, tile = host.ctx, host.network.tile_0
        await host.load(0, made, 0, barrier=timing == "barrier")
        await host.fill(memory)
        ctx.set(tile.hold, 1)
        assert not ctx.get(tile.running)
        assert await host.command(START, 0) == 0
        while not ctx.get(tile.running):
            assert not ctx.get(tile.finished)
            await ctx.tick()
        for cycle in range(held):
            assert ctx.get(host.network.cycle) == cycle
            assert ctx.get(tile.step) == 1
            assert ctx.get(tile.read_ready)
            assert ctx.get(tile.write_ready)
            await ctx.tick()
        # The register of ``hold`` is 0 from the next cycle on.
        ctx.set(tile.hold, 0)
        await host.until("done")
        assert ctx.get(tile.finished)
        assert ctx.get(tile.program) == 0
        predicted = run(made, memory, timing=timing)
        # Control words are read in cycle 1, so the row could begin in cycle 2.
        later = held + 1 - 2
        cycles = predicted.cycles + 1 + later
        assert ctx.get(host.network.cycle) == cycles
        (rows,) = host.traces()
        assert rows_before(rows, cycles) == expected_rows(predicted, 1 + later)

    engine.simulate(bench)


def test_bells_that_wait_ring_by_lane_and_step() -> None:
    """One bell rings in each cycle: that of the lowest lane and, within it, the lowest step."""
    config = NetworkConfig(
        topology=mesh((2, 2)), all_port=True, programs=1, tile_ports=True, steps=3
    )
    doorbell, draw = Doorbell(config), random.Random(1)
    waiting: set[tuple[int, int]] = set()
    rung = []

    async def bench(ctx: Any) -> None:
        for often in (0.1, 0.9, 0.0):
            for _ in range(60):
                for lane, arrival in enumerate(doorbell.arrivals):
                    comes, step = draw.random() < often, draw.randrange(4)
                    ctx.set(arrival.valid, comes)
                    ctx.set(arrival.step, step)
                    if comes and step:
                        waiting.add((lane, step))
                await ctx.tick()
                assert ctx.get(doorbell.arrived) == bool(waiting)
                if waiting:
                    rung.append(min(waiting))
                    waiting.remove(rung[-1])
                    assert ctx.get(doorbell.step) == rung[-1][1]

    simulate(doorbell, bench)
    assert {lane for lane, _ in rung} == {0, 1, 2, 3}
    assert not waiting


@pytest.mark.parametrize("parity", [False, True])
def test_no_word_behind_the_last_one_is_shown_or_written(
    monkeypatch: pytest.MonkeyPatch, parity: bool
) -> None:
    """A block RAM has more words than the memory; here they are not 0."""
    held = [1 << place for place in range(8)]
    memories: list[Memory] = []

    def block_ram(**options: Any) -> Memory:
        memories.append(Memory(**options | {"depth": len(held), "init": held}))
        return memories[-1]

    monkeypatch.setattr(shared_memory, "Memory", block_ram)
    config = NetworkConfig(
        topology=mesh((2,)), programs=1, tile_ports=True, message_words=5, parity=parity
    )
    memory = SharedMemory(config)

    async def bench(ctx: Any) -> None:
        write, read = memory.tile_write, memory.tile_read
        ctx.set(memory.tile_reads, 1)
        for address in range(8):
            ctx.set(read.address, address)
            await ctx.tick()
            assert ctx.get(memory.tile_answered)
            # A parity bit of 0 is wrong for a word with a single 1.
            assert ctx.get(read.word) == (held[address] if address < 5 else 0)
            if parity:
                assert ctx.get(read.damaged) == (address < 5)
        ctx.set(write.enable, 1)
        for address in range(8):
            ctx.set(write.address, address)
            await ctx.tick()
            stored = ctx.get(memories[0].data[address])
            assert stored == (0 if address < 5 else held[address])

    simulate(memory, bench)


@pytest.mark.slow
@pytest.mark.parametrize("registers", [0, 3])
def test_bells_of_several_lanes(clock: ClockDomain, registers: int) -> None:
    """Each packet rings once; two packets that end in the same cycle ring one after another."""
    made = generated("all-to-all", "sbnt", hypercube(2), words=3, all_port=True)
    limits = {"message_words": 32, "barrier_registers": registers}
    each = compile_certified(made, limits).program
    engine = engine_of(clock, each)
    memory = words(each)
    ports = [getattr(engine.network, f"tile_{node}") for node in range(4)]
    bells: list[list[int]] = [[] for _ in ports]

    async def listen(ctx: Any) -> None:
        while True:
            for port, heard in zip(ports, bells, strict=True):
                if ctx.get(port.arrived):
                    heard.append(ctx.get(port.arrived_step))
            await ctx.tick()

    async def bench(host: Host) -> None:
        await host.load(1, each, 3)
        await host.fill(memory)
        await host.run(1)
        await host.memory()

    engine.simulate(bench, listen)
    predicted = run(each, memory, timing="barrier")
    for heard, arrived in zip(bells, predicted.arrived, strict=True):
        assert sorted(heard) == sorted(np.nonzero(arrived)[1].tolist())


@pytest.mark.slow
def test_places_beyond_the_memory(clock: ClockDomain) -> None:
    made = program({}, {}, mesh((2,)), message_words=5)
    engine = engine_of(clock, made)

    async def bench(host: Host) -> None:
        ctx, tile = host.ctx, host.network.tile_1
        ctx.set(tile.write_valid, 1)
        for address in range(8):
            ctx.set(tile.write_address, address)
            ctx.set(tile.write_data, 100 + address)
            assert ctx.get(tile.write_ready)
            await ctx.tick()
        ctx.set(tile.write_valid, 0)
        ctx.set(tile.read_valid, 1)
        for address in range(8):
            ctx.set(tile.read_address, address)
            assert ctx.get(tile.read_ready)
            await ctx.tick()
            assert ctx.get(tile.read_answered)
            assert ctx.get(tile.read_data) == (100 + address if address < 5 else 0)
        assert (await host.memory())[1].tolist() == [100, 101, 102, 103, 104]

    engine.simulate(bench)


def test_a_tile_behind_streams_hears_of_packets_and_of_the_run(clock: ClockDomain) -> None:
    made = program({0: [put(1, (UP, 1), target=9)]}, {1: [1]}, mesh((2,)), **LIMITS)
    config = replace(made.config, programs=2, tile_ports=True)
    network = Buses(config, None, TileBus.AXI_STREAM)
    engine = Engine(clock, config, network=network)
    names = ("arrived", "arrived_step", "finished", "running", "program")
    heard: list[dict[str, int]] = []

    async def tile(ctx: Any) -> None:
        while True:
            heard.append({name: ctx.get(getattr(network.tile_1, name)) for name in names})
            await ctx.tick()

    async def bench(host: Host) -> None:
        await host.load(1, made, 0)
        await host.run(1)

    engine.simulate(bench, tile)
    assert [each["arrived_step"] for each in heard if each["arrived"]] == [1]
    running = [each for each in heard if each["running"]]
    assert {each["program"] for each in running} == {1}
    assert running[-1]["finished"] and not running[0]["finished"]
