"""Operators in a network, in Amaranth's own simulator: memories and cycles reckoned by hand."""

from __future__ import annotations

import random

from typing import Any

import numpy as np
import pytest
from amaranth.hdl import ClockDomain
from helpers.amaranth_simulation import simulate
from helpers.combining import drawn_program, memories_after, random_memory
from helpers.network_in_python import NetworkBench
from helpers.programs import DOWN, LINE, UP, program, put

from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.topology import mesh
from eyecast.model.program.program import Program
from eyecast.rtl.host_port import HostSpace, StatusWord
from eyecast.sim.loading import prepare


def run(
    clock: ClockDomain,
    made: Program,
    memory: Any,
    *,
    cycles: int | None = None,
    timing: str = "barrier",
    look_ahead: bool = False,
) -> None:
    bench = NetworkBench(clock, made.config, look_ahead=look_ahead)
    loads = [(node, 0, words) for node, words in enumerate(memory)]
    job = prepare(made, loads, timing=Timing(timing), read_words=0, cycle_limit=0)
    expected = memories_after(made, memory)

    async def testbench(ctx: Any) -> None:
        await bench.load(ctx, job)
        taken = await bench.cycles_to_done(ctx, 1000)
        assert taken < 1000
        assert cycles is None or taken == cycles
        assert not ctx.get(bench.network.error)
        ctx.set(bench.reset, 1)
        for node, address in np.ndindex(memory.shape):
            word = await bench.read(ctx, node, HostSpace.MESSAGE, address)
            assert word == expected[node, address], (node, address)

    simulate(bench.module, testbench)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "limits",
    [
        {"operators": "add,min-signed", "vcs": 2},
        {"operators": "add", "streams": True},
        {"operators": "xor", "streams": True, "vcs": 2, "depth": 1},
        {"streams": True},
        {"streams": True, "contention_free": True, "link_registers": 1, "depth": 4},
        {"operators": "add,max", "all_port": True},
    ],
)
def test_drawn(clock: ClockDomain, seed: int, limits) -> None:
    config = NetworkConfig(topology=mesh((3, 2)), message_words=32, **limits)
    made = drawn_program(config, seed, 4)
    run(clock, made, random_memory(config, random.Random(seed)))
