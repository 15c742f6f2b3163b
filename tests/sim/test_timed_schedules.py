"""Timed schedules on the hardware: every flit moves in the timetable's cycle."""

from dataclasses import replace
from typing import Any

import pytest
from helpers.generated import generated
from helpers.verified import verified

from eyecast.model.collectives.direct.all_to_all import direct_all_to_all
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import Topology, mesh, torus
from eyecast.model.program.compiler import fit
from eyecast.model.program.deadlock import certify
from eyecast.model.schedule.schedule import Schedule

pytestmark = pytest.mark.slow


def relayed(topology: Topology) -> Schedule:
    """Return an all-to-all on a timetable, in which nodes pass blocks on."""
    return replace(generated("all-to-all", "ring", topology, words=3), timed=True)


@pytest.mark.parametrize(
    ("topology", "words", "parameters"),
    [
        (mesh((4, 4)), (1, 4, 9), {}),
        (mesh((3, 2)), (5,), {"link_registers": 1, "depth": 4}),
        (torus((4, 4)), (5,), {"flit_width": 24}),
        (mesh((8, 8)), (4,), {}),
    ],
    ids=["4x4", "link registers", "torus", "8x8"],
)
def test_the_hardware_keeps_the_timetable(
    topology: Topology, words: tuple[int, ...], parameters: dict[str, Any]
) -> None:
    made = [direct_all_to_all(topology, each) for each in words]
    if len(made) > 1:
        made.append(relayed(topology))
    config = NetworkConfig(topology=topology, **parameters)
    _, compiled = fit(config, made)
    for each in compiled:
        certify(each.program)
    cases = [
        Case.of(each, timing=timing, seed=2)
        for each in compiled
        for timing in ("barrier", "self-timed")
    ]
    for result in verified(cases):
        program = result.case.program
        assert not result.measured.stalled_flits.any()
        last = program.start + program.header_flits + program.length
        last += 1 + program.row_hops * (1 + program.config.link_registers)
        assert result.measured.cycles == last.max()
