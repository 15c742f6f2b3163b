"""Random programs that combine and stream: the hardware equals the cycle model.

Flits, cycles, stalls, flags and memories are compared, even for programs that hang. Memories are
also compared with those of :mod:`helpers.untimed`, which has no time.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from helpers.own_operator import TWICE
from helpers.soak.programs import MESSAGE_WORDS, programs
from helpers.soak.samples import sampled
from helpers.untimed import Memory, carried_out
from helpers.whole_jobs import whole_job

from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.topology import Topology, mesh
from eyecast.model.program.payload import random_words
from eyecast.model.program.program import Program
from eyecast.model.run.run import Run
from eyecast.model.run.trace import first_difference
from eyecast.sim.build import build_simulator
from eyecast.sim.simulator import simulate

LIMIT = 1500
ROOM: dict[str, Any] = {"message_words": MESSAGE_WORDS, "table_words": 1 << 10}


def require_same(seed: int, predicted: Run, measured: Run) -> None:
    """Require equal runs; only the cycles of runs that hang may differ."""
    assert first_difference(predicted.trace, measured.trace) is None, seed
    assert measured.finished == predicted.finished, seed
    assert measured.cycles == predicted.cycles or not predicted.finished, seed
    for name in ("memory", "arrived", "flags", "stalled_flits"):
        assert (getattr(measured, name) == getattr(predicted, name)).all(), (seed, name)


Drawn = tuple[int, Program, Memory]


def drawn(
    config: NetworkConfig, seeds: range, steps: int = 4, packets: tuple[int, int] = (4, 16)
) -> list[Drawn]:
    """Return seed, program and memories of each case."""
    made = sampled(programs(config, steps, packets), seeds.start, len(seeds))
    shape = (config.topology.nodes, config.message_words)
    return [(s, p, random_words(config, shape, s)) for s, p in zip(seeds, made, strict=True)]


def on_hardware(config: NetworkConfig, cases: list[Drawn]) -> Iterator[Run]:
    """Yield the runs of programs, all on one simulator."""
    jobs = [whole_job(made, Timing.BARRIER, LIMIT, memory) for _, made, memory in cases]
    return simulate(build_simulator(config), jobs)


def compare(config: NetworkConfig, seeds: range) -> int:
    """Run the programs of some seeds on hardware and model; return how many finished."""
    finished, cases = 0, drawn(config, seeds)
    for (seed, made, memory), measured in zip(cases, on_hardware(config, cases), strict=True):
        predicted = run(made, memory, timing=Timing.BARRIER, cycle_limit=LIMIT)
        require_same(seed, predicted, measured)
        if measured.finished:
            assert not measured.flags.any(), seed
            assert (measured.memory == carried_out(made, memory, seed)).all(), seed
        finished += measured.finished
    return finished


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topology", "limits"),
    [
        (mesh((3, 2)), {"operators": "add,min-signed", "vcs": 2}),
        (mesh((5,)), {"operators": [TWICE, "max"], "streams": True, "vcs": 2, "depth": 3}),
        (mesh((4, 2)), {"streams": True, "vcs": 2, "barrier_registers": 3}),
        (mesh((5,)), {"operators": "min,or", "streams": True, "all_port": True, "vcs": 2}),
        (
            mesh((3, 2)),
            {"operators": "add", "streams": True, "all_port": True, "link_registers": 1},
        ),
    ],
)
def test_drawn_programs(topology: Topology, limits: dict[str, Any]) -> None:
    config = NetworkConfig(topology=topology, **ROOM, **limits)
    assert compare(config, range(80)) > 20


@pytest.mark.slow
def test_routers_without_arbitration() -> None:
    """A program in which no flit waits runs the same there; any other program sets a flag."""
    options: dict[str, Any] = {**ROOM, "streams": True, "vcs": 2}
    buffered = NetworkConfig(topology=mesh((6,)), **options)
    direct = NetworkConfig(topology=mesh((6,)), contention_free=True, **options)
    free = waited = 0
    cases = drawn(direct, range(100), 1, (1, 6))
    same = drawn(buffered, range(100), 1, (1, 6))
    for (seed, made, memory), measured in zip(same, on_hardware(direct, cases), strict=True):
        predicted = run(made, memory, timing=Timing.BARRIER, cycle_limit=LIMIT)
        if predicted.finished and not predicted.stalled_flits.any():
            require_same(seed, predicted, measured)
            free += 1
        else:
            assert measured.flags.any(), seed
            waited += 1
    assert min(free, waited) > 10
