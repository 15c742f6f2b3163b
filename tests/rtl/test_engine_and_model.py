"""Random programs on an engine, against the cycle model: correct, wrong, cut off or held."""

import random

import numpy as np
import pytest
from amaranth.hdl import ClockDomain
from helpers.engine_host import START, Engine, Host, Result, expected_rows, rows_before
from helpers.programs import program, put, words

from eyecast.model.cycle.control import Control
from eyecast.model.cycle.model import run
from eyecast.model.network.topology import mesh
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.run import EndState

STATES = {EndState.DONE: 3, EndState.FAILED: 4, EndState.TIMED_OUT: 5}
NODES = 4


def drawn(draw: random.Random, **limits: int) -> Program:
    """Draw rows and receives; some do not match each other, and some routes lead nowhere."""
    rows: dict[int, list[Row]] = {node: [] for node in range(NODES)}
    receives: dict[int, list[int]] = {node: [] for node in range(NODES)}
    for _ in range(draw.randrange(1, 6)):
        node, step = draw.randrange(NODES), draw.choice((1, 2, 3))
        axes = draw.choice(((1,), (2,), (1, 2)))
        # Up an axis by ports 1 and 3, down by 2 and 4.
        route = [((1 if bit == 1 else 3) + bool(node & bit), 1) for bit in axes]
        target = node ^ sum(axes)
        if draw.random() < 0.05:
            route[0] = (draw.randrange(1, 5), 1)
        if step not in receives[target]:
            receives[target].append(step)
        elif draw.random() < 0.9:
            continue
        place = draw.randrange(6 if draw.random() < 0.9 else 8)
        rows[node].append(
            put(step, *route, length=draw.randrange(3), target=place, source=draw.randrange(6))
        )
    if draw.random() < 0.1:
        receives[draw.randrange(NODES)] = [2]
    ordered = {node: sorted(each, key=lambda row: row.step) for node, each in rows.items()}
    return program(ordered, receives, mesh((2, 2)), **limits)


@pytest.mark.slow
@pytest.mark.parametrize(("registers", "seed"), [(0, 1), (0, 2), (1, 3), (4, 4)])
def test_drawn_programs(clock: ClockDomain, registers: int, seed: int) -> None:
    draw, seen = random.Random(seed), []
    limits = {
        "message_words": 8,
        "table_words": 32,
        "programs": 1,
        "tile_ports": True,
        "barrier_registers": registers,
    }
    config = program({}, {}, mesh((2, 2)), **limits).config
    engine = Engine(clock, config)

    async def bench(host: Host) -> None:
        for _ in range(12):
            made = drawn(draw, **limits)
            seen.append(await require_same(host, made))

    async def require_same(host: Host, made: Program) -> EndState:
        barrier = draw.random() < 0.5
        limit = draw.choice((60, 60, 60, draw.randrange(1, 25)))
        length = draw.choice((14, 14, 14, draw.randrange(1, 5)))
        hold = np.array([draw.choice((0, 0, 0, draw.randrange(20))) for _ in range(NODES)])
        memory = words(made)
        predicted = run(
            made,
            memory,
            timing="barrier" if barrier else "self-timed",
            control=Control(limit=limit, slot_words=length, hold=hold),
        )
        await host.load(0, made, 2, barrier=barrier, limit=limit, length=length)
        await host.fill(memory)
        host.traces()
        for node, until in enumerate(hold):
            host.ctx.set(getattr(host.network, f"tile_{node}").hold, int(until > 0))
        assert await host.command(START, 0) == 0
        # Cycle 0 is the first cycle in which a tile sees the core out of reset. With barrier
        # registers a tile may see the run before at first.
        for running in (0, 1):
            while host.ctx.get(host.network.tile_0.running) != running:
                await host.ctx.tick()
        for cycle in range(int(max(hold)) + 1):
            for node, until in enumerate(hold):
                host.ctx.set(getattr(host.network, f"tile_{node}").hold, int(cycle < until))
            await host.ctx.tick()
        await host.until("done", "error")
        ending = predicted.ending
        for _ in range(2 * registers + 8):
            await host.ctx.tick()
        flags = (await host.result()).flags
        culprit = 0 if ending.culprit is None else ending.culprit
        known, state = int(ending.culprit is not None), STATES[ending.state]
        assert await host.result() == Result(flags, state, known, 0, culprit)
        assert bool(flags) == (ending.state == EndState.FAILED)
        assert host.ctx.get(host.network.cycle) == ending.cycle
        rows = rows_before(host.traces()[0], ending.cycle)
        assert rows == [row for row in expected_rows(predicted, 0) if row[0] < ending.cycle]
        if ending.state == EndState.DONE:
            np.testing.assert_array_equal(await host.memory(), predicted.memory)
        return ending.state

    engine.simulate(bench)
    assert {*seen} == {*EndState}
