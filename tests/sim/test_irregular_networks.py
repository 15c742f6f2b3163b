"""Walks and direct messages around faults and through switches, on the hardware as predicted."""

from __future__ import annotations

import pytest
from helpers.drawn_reductions import together
from helpers.switch_networks import switch_tree

from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, mesh
from eyecast.sim.verify import verify

IN_STEPS = (
    ("broadcast", "chain", 20),
    ("multicast", "chain", 20),
    ("reduce", "chain", 20),
    ("all-gather", "ring", 5),
    ("all-gather", "stream-ring", 5),
    ("reduce-scatter", "stream-ring", 5),
    ("all-reduce", "stream-ring", 23),
)
TIMED = (("scatter", "direct", 7), ("gather", "direct", 7))


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [IN_STEPS, TIMED], ids=["in steps", "timed"])
@pytest.mark.parametrize(
    "topology",
    [with_faults(mesh((3, 3)), [4], [(0, 1), (1, 0)]), switch_tree()],
    ids=lambda topology: topology.label,
)
def test_on_the_hardware(topology: Topology, wanted: tuple[tuple[str, str, int], ...]) -> None:
    root, *others = topology.working_nodes.tolist()
    schedules = [
        find_algorithm(collective, algorithm).generate(
            Request(
                topology=topology,
                words=words,
                source=None if algorithm.endswith("ring") else root,
                targets=tuple(others[1:]) if collective == "multicast" else None,
            )
        )
        for collective, algorithm, words in wanted
    ]
    config = NetworkConfig(topology=topology)
    cases = [Case.of(each, timing="barrier", seed=1) for each in together(schedules, config)]
    for result in verify(cases):
        wrong = [check for check in result.checks if not check.agrees]
        assert not wrong, (result.case, wrong)
        case, blocks = result.case, result.case.schedule.blocks
        got = case.payload.delivered(result.measured.memory, topology)
        assert got.sum() == len(blocks.served(topology))
