"""Run control: programs that are loaded, started, stopped and watched while a network runs.

What a run must give is that of the same program in the network without a controller, which the
cycle model predicts, later by the words of ``expected`` that nodes read first.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from amaranth.hdl import ClockDomain
from helpers.engine_host import (
    CONTROLLER,
    CYCLE,
    DONE,
    IDLE,
    STATUS,
    Engine,
    Host,
    expected_rows,
    rows_before,
)
from helpers.programs import UP, program, put, words

from eyecast.model.cycle.model import run
from eyecast.model.network.topology import mesh
from eyecast.model.program.program import Program
from eyecast.model.run.run import Run

LIMITS = {"message_words": 8, "table_words": 32}
LINE = mesh((3,))
THERE, BACK = UP, UP + 1


def there() -> Program:
    """Node 0's words go to node 1, and then to node 2."""
    rows = {0: [put(1, (THERE, 1), length=3, target=4)], 1: [put(2, (THERE, 1), length=2)]}
    return program(rows, {1: [1], 2: [2]}, LINE, **LIMITS)


def back() -> Program:
    """Words of node 2 go to node 0, in packets of two steps."""
    rows = {2: [put(2, (BACK, 2), length=4, source=1), put(3, (BACK, 2), target=7)]}
    return program(rows, {0: [2, 3]}, LINE, **LIMITS)


def engine_of(clock: ClockDomain, program: Program, **more: int) -> Engine:
    return Engine(clock, replace(program.config, **{"programs": 3, **more}))


def predicted(program: Program, memory: np.ndarray, *, barrier: bool = True) -> Run:
    return run(program, memory, timing="barrier" if barrier else "self-timed")


async def require_run(host: Host, number: int, program: Program, *, barrier: bool = True) -> None:
    """Fill the memories, run the program, and compare all that can be seen."""
    await host.fill(words(program))
    await host.run(number)
    await require_end(host, predicted(program, words(program), barrier=barrier))


async def require_end(host: Host, expected: Run) -> None:
    config = host.config
    cycles = expected.cycles + config.mask_words
    assert host.ctx.get(host.network.done)
    assert host.ctx.get(host.network.cycle) == cycles
    assert await host.read(CONTROLLER, 0, CYCLE) == cycles
    for node, arrived in enumerate(expected.arrived):
        seen = await host.read(STATUS, node, 4)
        assert seen == sum(int(bit) << step for step, bit in enumerate(arrived[0]))
        assert await host.read(STATUS, node, 0) == 0
        assert await host.read(STATUS, node, 1) == expected.step[node]
    np.testing.assert_array_equal(await host.memory(), expected.memory)
    (rows,) = host.traces()
    assert rows_before(rows, cycles) == expected_rows(expected, config.mask_words)


@pytest.mark.parametrize("registers", [0, 1, 4])
def test_programs_run_one_after_the_other_without_reset(clock: ClockDomain, registers: int) -> None:
    first, second = there(), back()
    limits = {"barrier_registers": registers}
    first, second = (replace_config(each, **limits) for each in (first, second))
    engine = engine_of(clock, first)

    async def bench(host: Host) -> None:
        assert (await host.result()).state == IDLE
        await host.load(0, first, 0)
        await host.load(2, second, 9, barrier=False)
        for _ in range(2):
            await require_run(host, 0, first)
            await require_run(host, 2, second, barrier=False)
        assert await host.result() == (0, DONE, 0, 2, 0)

    engine.simulate(bench)
    assert engine.longest_answer <= 2 * registers + 8


def replace_config(program: Program, **changes: int) -> Program:
    return Program.from_rows(
        replace(program.config, **changes), program.port_model, program.rows, program.receives
    )
