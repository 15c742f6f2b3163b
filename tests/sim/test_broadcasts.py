"""Every broadcast, from random sources and with random faults, on the hardware.

Faulty networks run on the hardware of the whole network, because their routes avoid the faults. So
each network needs one simulator.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from helpers.fault_meshes import faulty_mesh
from helpers.verified import verified

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.fault_blocks.broadcast import jiang_wu_broadcast
from eyecast.model.collectives.fault_blocks.unicasts import VCS
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, mesh, torus
from eyecast.model.program.compiler import Compiled
from eyecast.model.schedule.schedule import Schedule

TIMINGS = ("barrier", "self-timed")

NETWORKS = [
    pytest.param(mesh((3, 3)), 4, id="mesh-3x3"),
    pytest.param(mesh((2, 2, 2, 2)), 4, id="mesh-2x2x2x2"),
    pytest.param(torus((5, 7)), 4, id="torus-5x7"),
    pytest.param(mesh((10, 13)), 6, id="mesh-10x13"),
    pytest.param(torus((4, 4)), 4, id="torus-4x4"),
]


def drawn(whole: Topology, times: int, draw: np.random.Generator) -> Iterator[Topology]:
    """Yield the network without faults, with faulty nodes, and with faulty one-way links."""
    links = [
        (node, int(end))
        for node, ends in enumerate(whole.neighbor)
        for end in sorted({*ends[ends >= 0]})
    ]
    yield whole
    for number in range(times):
        nodes = draw.choice(whole.nodes, 1 + whole.nodes // 20, replace=False).tolist()
        left = [link for link in links if not {*link} & {*nodes}]
        broken = draw.choice(left, number, replace=False).tolist()
        yield with_faults(whole, nodes, [(begin, end) for begin, end in broken])


def schedules_on(topology: Topology, draw: np.random.Generator) -> Iterator[Schedule]:
    """Yield the broadcast of every algorithm that serves a network, from a random source."""
    sound = np.setdiff1d(np.arange(topology.nodes), topology.faulty_nodes)
    for algorithm in algorithms_for("broadcast", circuits=False):
        source, words = int(draw.choice(sound)), int(draw.integers(1, 20))
        request = Request(topology=topology, source=source, words=words)
        try:
            yield algorithm.generate(request)
        except InvalidInput:
            continue


@pytest.mark.slow
@pytest.mark.parametrize(("whole", "times"), NETWORKS)
def test_drawn_sources_and_faults(whole: Topology, times: int) -> None:
    draw = np.random.default_rng(whole.nodes)
    schedules = [
        schedule
        for topology in drawn(whole, times, draw)
        for schedule in schedules_on(topology, draw)
    ]
    steps = max(15, *(schedule.steps for schedule in schedules))
    vcs = max(1, *(int(schedule.vcs.max(initial=0)) + 1 for schedule in schedules))
    config = NetworkConfig(topology=whole, vcs=vcs, depth=2, steps=steps, streams=True)
    cases = [
        Case.of(Compiled.of(schedule, config), timing=timing, seed=number)
        for number, schedule in enumerate(schedules)
        for timing in (TIMINGS if not schedule.stream.any() else ("barrier",))
    ]
    assert {"tree", "chain"} < {case.schedule.algorithm for case in cases}
    assert sum(bool(case.schedule.topology.faulty_nodes) for case in cases) >= times
    for result in verified(cases):
        if result.case.timing == "barrier" and result.case.schedule.largest_link_load <= 1:
            assert result.measured.stalled_flits.sum() == 0


NARROW = faulty_mesh(5, 3, [(1, 1), (3, 1)])


@pytest.mark.slow
def test_every_source_of_the_smallest_mesh_in_which_two_messages_share_a_link() -> None:
    """The two messages share the link on different VCs, and hardware and model agree."""
    config = NetworkConfig(topology=NARROW, vcs=VCS)
    sources = [node for node in range(NARROW.nodes) if node not in NARROW.faulty_nodes]
    schedules = [jiang_wu_broadcast(NARROW, source, 5) for source in sources]
    sharing = [schedule.largest_link_load == 2 for schedule in schedules]
    assert 0 < sum(sharing) < len(sharing)
    cases = [
        Case.of(Compiled.of(schedule, config), timing=timing, seed=schedule.steps)
        for schedule in schedules
        for timing in ("barrier", "self-timed")
    ]
    for case in (result.case for result in verified(cases)):
        vcs = case.predicted.trace.vc
        assert vcs.max() == case.schedule.vcs.max()
        if case.timing == "barrier":
            assert case.predicted.stalled_flits.any() == (case.schedule.largest_link_load == 2)
