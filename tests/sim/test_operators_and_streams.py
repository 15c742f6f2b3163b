"""Drawn programs that combine and stream: the hardware does what the cycle model does.

Flits, cycles, stalls, flags and memories are compared, of programs that wait for each other for
ever too; and memories with those of :mod:`helpers.untimed`, which knows no time.
"""

from __future__ import annotations

from typing import Any

import pytest
from helpers.drawn_combinations import drawn_program
from helpers.own_operator import TWICE
from helpers.untimed import carried_out

from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.topology import Topology, mesh
from eyecast.model.program.payload import random_words
from eyecast.model.run.run import Run
from eyecast.model.run.trace import first_difference
from eyecast.sim.build import build_simulator
from eyecast.sim.loading import prepare
from eyecast.sim.simulator import simulate

WORDS, LIMIT = 32, 1500
STEPS = 4


def require_same(seed: int, predicted: Run, measured: Run) -> None:
    """The two runs are one; one that hangs is given up by each when it likes."""
    assert first_difference(predicted.trace, measured.trace) is None, seed
    assert measured.finished == predicted.finished, seed
    assert measured.cycles == predicted.cycles or not predicted.finished, seed
    for name in ("memory", "arrived", "flags", "stalled_flits"):
        assert (getattr(measured, name) == getattr(predicted, name)).all(), (seed, name)


def compare(config: NetworkConfig, seeds: range) -> int:
    """Run the programs of some seeds on hardware and model. Gives how many came to their end."""
    simulator, finished = build_simulator(config), 0
    for seed in seeds:
        made = drawn_program(config, seed, STEPS)
        memory = random_words(config, (made.nodes, config.message_words), seed)
        predicted = run(made, memory, timing=Timing.BARRIER, cycle_limit=LIMIT)
        loads = [(node, 0, words) for node, words in enumerate(memory)]
        job = prepare(made, loads, timing=Timing.BARRIER, read_words=WORDS, cycle_limit=LIMIT)
        (measured,) = simulate(simulator, [job])
        require_same(seed, predicted, measured)
        if measured.finished:
            assert not measured.flags.any()
            assert (measured.memory == carried_out(made, memory, seed)).all(), seed
        finished += measured.finished
    return finished


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topology", "limits"),
    [
        (mesh((3, 2)), {"operators": "add,min-signed", "vcs": 2}),
        (mesh((5,)), {"operators": [TWICE, "max"], "streams": True, "vcs": 2, "depth": 3}),
        (mesh((5,)), {"operators": "xor", "streams": True, "depth": 1, "link_registers": 1}),
        (mesh((4, 2)), {"streams": True, "vcs": 2, "barrier_registers": 3}),
        (mesh((3, 2)), {"operators": "add,and", "all_port": True}),
        (mesh((5,)), {"operators": "min,or", "streams": True, "all_port": True, "vcs": 2}),
    ],
)
def test_drawn_programs(topology: Topology, limits: dict[str, Any]) -> None:
    config = NetworkConfig(topology=topology, message_words=WORDS, **limits)
    assert compare(config, range(80)) > 20


@pytest.mark.slow
def test_routers_without_arbitration() -> None:
    """A program in which no flit waits runs the same there; any other has a flag."""
    options: dict[str, Any] = {"message_words": WORDS, "streams": True, "vcs": 2}
    buffered = NetworkConfig(topology=mesh((6,)), **options)
    direct = NetworkConfig(topology=mesh((6,)), contention_free=True, **options)
    simulator = build_simulator(direct)
    free = waited = 0
    for seed in range(100):
        made = drawn_program(direct, seed, 1)
        memory = random_words(direct, (made.nodes, WORDS), seed)
        same = drawn_program(buffered, seed, 1)
        predicted = run(same, memory, timing=Timing.BARRIER, cycle_limit=LIMIT)
        loads = [(node, 0, words) for node, words in enumerate(memory)]
        job = prepare(made, loads, timing=Timing.BARRIER, read_words=WORDS, cycle_limit=LIMIT)
        (measured,) = simulate(simulator, [job])
        if predicted.finished and not predicted.stalled_flits.any():
            require_same(seed, predicted, measured)
            free += 1
        else:
            assert measured.flags.any(), seed
            waited += 1
    assert min(free, waited) > 10
