"""The fast simulator, whose tiles are bits of one word, does in each cycle what the model says.

It prints no trace: a node's signature is folded from all that its router sent, and when.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.collectives.tree.broadcast import tree_broadcast
from eyecast.model.compare.case import Case, watchdog
from eyecast.model.compare.traffic_case import TrafficCase
from eyecast.model.network.config import TIMINGS, NetworkConfig
from eyecast.model.network.topology import Topology, hypercube, mesh, ring, torus
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.payload import empty_memory
from eyecast.model.run.run import HardwareRun, Run
from eyecast.model.run.signature import signatures
from eyecast.model.schedule.schedule import Schedule
from eyecast.model.traffic.program import message_words_for, traffic_program
from eyecast.model.traffic.traffic import draw_traffic
from eyecast.sim.build import build_simulator
from eyecast.sim.loading import job_of, prepare
from eyecast.sim.simulator import simulate

SLOW = pytest.mark.slow


def assert_same(predicted: Run, measured: HardwareRun, config: NetworkConfig) -> None:
    """All that is told without a trace is as predicted."""
    words = measured.memory.shape[1]
    assert predicted.finished
    assert measured.finished
    assert measured.cycles == predicted.cycles
    assert not measured.flags.any()
    assert (measured.memory == predicted.memory[:, :words]).all()
    if config.signature:
        assert (measured.signature == signatures(predicted.trace, config)).all()
        assert np.count_nonzero(measured.signature) == config.topology.nodes


def _whole_memories(case: TrafficCase) -> npt.NDArray[np.uint64]:
    """What they hold at the beginning; else there would be what the run before has left."""
    memories = empty_memory(case.program.config)
    memories[:, : case.words.shape[1]] = case.words
    return memories


@pytest.mark.parametrize(
    ("topology", "limits"),
    [
        (mesh((5,)), {"flit_width": 24}),
        pytest.param(torus((3, 3)), {"vcs": 3, "depth": 3}, marks=SLOW),
        pytest.param(mesh((10, 7)), {"flit_width": 24, "link_registers": 1}, marks=SLOW),
        pytest.param(mesh((9, 8)), {"vcs": 2, "depth": 4}, marks=SLOW),
        pytest.param(hypercube(4), {"vcs": 2, "flit_width": 64, "depth": 16}, marks=SLOW),
    ],
    ids=lambda value: getattr(value, "label", ""),
)
def test_traffic(topology: Topology, limits: dict[str, int]) -> None:
    config = NetworkConfig(
        topology=topology,
        message_words=message_words_for(topology, 6),
        table_words=1 << 11,
        steps=1,
        timed_rows=True,
        signature=True,
        **limits,
    )
    drawn = np.random.default_rng(3)
    cases = []
    for seed, pattern in enumerate(("uniform", "hotspot")):
        traffic = draw_traffic(topology, pattern, rate=0.4, flits=6, cycles=200, seed=seed)
        program = traffic_program(traffic, config, seed)
        refusal = drawn.integers(0, 1 << 12, topology.nodes).astype(np.uint16)
        cases.append(TrafficCase.of(traffic, program, seed=seed, refusal=refusal))
    jobs = [
        prepare(
            case.program,
            [(node, 0, words) for node, words in enumerate(_whole_memories(case))],
            timing="self-timed",
            read_words=config.message_words,
            cycle_limit=watchdog(case.predicted),
            refusal=case.refusal,
        )
        for case in cases
    ]
    found = simulate(build_simulator(config, trace=False), jobs)
    for case, measured in zip(cases, found, strict=True):
        assert_same(case.predicted, measured, config)


@pytest.mark.parametrize(
    ("broadcast", "config"),
    [
        pytest.param(
            tree_broadcast,
            NetworkConfig(
                topology=ring(6),
                flit_width=16,
                message_words=16,
                barrier_registers=3,
                signature=True,
            ),
            marks=SLOW,
        ),
        pytest.param(
            eye_broadcast,
            NetworkConfig(topology=mesh((4, 4)), contention_free=True, signature=True),
            marks=SLOW,
        ),
        pytest.param(
            tree_broadcast, NetworkConfig(topology=hypercube(3), all_port=True), marks=SLOW
        ),
    ],
    ids=["barrier registers", "contention-free", "all-port"],
)
def test_broadcasts(
    broadcast: Callable[[Topology, int, int], Schedule], config: NetworkConfig
) -> None:
    cases = [
        Case.of(
            Compiled.of(broadcast(config.topology, source, 5), config), timing=timing, seed=source
        )
        for source in range(3)
        for timing in TIMINGS
    ]
    found = simulate(build_simulator(config, trace=False), [job_of(case) for case in cases])
    for case, measured in zip(cases, found, strict=True):
        assert_same(case.predicted, measured, config)
