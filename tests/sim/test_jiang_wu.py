"""The virtual channel paths of Jiang & Wu's broadcast are real VCs of the hardware's links."""

import pytest
from helpers.fault_meshes import faulty_mesh
from helpers.verified import verified

from eyecast.model.collectives.fault_blocks.broadcast import jiang_wu_broadcast
from eyecast.model.collectives.fault_blocks.unicasts import VCS
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.program.compiler import Compiled

MESH = faulty_mesh(5, 3, [(1, 1), (3, 1)])


@pytest.mark.slow
def test_every_source_of_the_smallest_mesh_in_which_two_messages_share_a_link() -> None:
    """The two messages share the link on different VCs, and hardware and model agree."""
    config = NetworkConfig(topology=MESH, vcs=VCS)
    sources = [node for node in range(MESH.nodes) if node not in MESH.faulty_nodes]
    schedules = [jiang_wu_broadcast(MESH, source, 5) for source in sources]
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
