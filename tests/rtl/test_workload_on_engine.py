"""The programs of a workload, queued on one engine: its cycles, flits and memories on RTL."""

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import ClockDomain
from helpers.engine_host import START, Engine, Host, expected_rows, rows_before

from eyecast.model.cycle.model import run
from eyecast.model.network.config import Timing
from eyecast.model.network.topology import mesh
from eyecast.model.program.program import Program
from eyecast.model.schedule.collective import ROOTLESS, Collective
from eyecast.model.workload.costs import LAUNCH
from eyecast.model.workload.run import run_workload
from eyecast.model.workload.window import cases
from eyecast.model.workload.workload import KINDS, MESSAGE, Call, Rows
from eyecast.sim.verify import verify


@pytest.mark.slow
def test_a_queue_of_programs_takes_the_cycles_of_the_engine(clock: ClockDomain) -> None:
    rows = Rows()
    calls = [
        ("all-reduce", [(0, 1), (2, 3)]),
        (MESSAGE, [(0, 3), (3, 2)]),
        ("all-gather", [(0, 2)]),
    ]
    for number, (kind, groups) in enumerate(calls):
        for group in groups:
            call = Call(kind, group, 6, kind)
            for rank in call.callers:
                row = rows.take_part(rank, (number, group), call)
                rows.after[row] += [] if row < 4 else [rank]
    found = run_workload(rows.workload("w", mesh((2, 2)), range(4)))
    window = cases(found, None, 5)
    starts = sorted({*found.engine.timeline.start.tolist(), found.engine.cycles})
    assert len(window) == len(starts) - 1 == 3
    programs = [case.program for case in window]
    memory = window[0].payload.memory(programs[0].config)
    runs = []
    for program in programs:
        assert isinstance(program, Program)
        runs.append(run(program, runs[-1].memory if runs else memory, timing=Timing.BARRIER))
    config = replace(programs[0].config, programs=3, table_words=256)
    engine, ends = Engine(clock, config), list[int]()

    async def watch(ctx: Any) -> None:
        cycle, before = 0, 0
        while True:
            await ctx.tick()
            cycle, done = cycle + 1, ctx.get(engine.network.done)
            if done and not before:
                ends.append(cycle)
            before = done

    async def bench(host: Host) -> None:
        for number, program in enumerate(programs):
            await host.load(number, program, number * 80)
        await host.fill(memory)
        host.traces()
        for number in range(3):
            assert await host.command(START, number) == 0
            if number:
                await host.until("done")
                await host.until("busy")
        await host.until("done")
        for rows, ran in zip(host.traces(), runs, strict=True):
            assert rows_before(rows, 1000) == expected_rows(ran, 0)
        np.testing.assert_array_equal(await host.memory(), runs[-1].memory)

    engine.simulate(bench, watch)
    assert np.diff(ends).tolist() == np.diff(starts).tolist()[1:]
    assert np.diff(starts).tolist() == [ran.cycles + LAUNCH for ran in runs]


@pytest.mark.slow
@pytest.mark.parametrize("circuits", [False, True])
def test_tiles_that_compute_hold_their_nodes(circuits: bool) -> None:
    rows, members, compute = Rows(), (0, 1, 2, 3), (70, 40, 100, 47)
    for rank in members:
        first = rows.compute(rank, compute[rank], "c")
        row = rows.take_part(rank, 0, Call("all-reduce", members, 6, "sum"))
        rows.after[row].append(first)
        again = rows.compute(rank, 5 * rank, "c")
        rows.after[again].append(row)
        row = rows.take_part(rank, 1, Call("all-gather", members, 6, "all"))
        rows.after[row].append(again)
    found = run_workload(rows.workload("w", mesh((2, 2)), range(4)), circuits=circuits)
    first, second = cases(found, None, 2)
    before = 1 if circuits else LAUNCH - 1
    assert first.hold is not None
    assert second.hold is not None
    assert first.hold.tolist() == [max(0, each - 40 - before) for each in compute]
    assert second.hold.tolist() == [max(0, 5 * rank - before) for rank in members]
    assert all(result.agrees for result in verify([first, second]))


@pytest.mark.slow
@pytest.mark.parametrize("circuits", [False, True])
def test_windows_of_ten_drawn_calls_run_as_predicted(circuits: bool) -> None:
    draw, rows, ranks, calls = Random(1), Rows(), 6, 20
    last: list[list[int]] = [[] for _ in range(ranks)]
    for number in range(calls):
        kind = draw.choice(KINDS)
        members = draw.sample(range(ranks), 2 if kind == MESSAGE else draw.randint(2, ranks))
        if kind != MESSAGE and Collective(kind).prefix:
            members.sort()
        words = 1 if kind == "barrier" else draw.randint(1, 40)
        root = None if kind in (*ROOTLESS, MESSAGE) else members[0]
        call = Call(kind, tuple(members), words, f"{kind}{number}", root)
        for rank in call.callers:
            computed = rows.compute(rank, draw.randint(1, 90), "c")
            row = rows.take_part(rank, number, call)
            rows.after[computed] += last[rank]
            rows.after[row].append(computed)
            last[rank] = [row]
    workload = rows.workload("w", mesh((3, 2)), range(ranks))
    # Memories of 128 words: some of the calls travel in pieces.
    found = run_workload(workload, circuits=circuits, memory_words=128)
    starts, rows_of = found.engine.timeline.start, workload.rows_of_calls
    order = sorted(range(calls), key=lambda call: int(starts[rows_of[call][0]]))
    for first in order[::10]:
        window = cases(found, workload.calls[first].name, 10)
        assert all(result.agrees for result in verify(window))
