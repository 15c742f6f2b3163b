"""Timed schedules on the hardware: every flit moves in the timetable's cycle."""

from dataclasses import replace
from typing import Any

import pytest
from helpers.generated import generated
from helpers.verified import verified

from eyecast.model.collectives.direct.all_to_all import direct_all_to_all
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh, torus
from eyecast.model.program.compiler import fit
from eyecast.model.program.deadlock import certify
from eyecast.model.schedule.schedule import Schedule

pytestmark = pytest.mark.slow


def relayed(dims: tuple[int, int]) -> Schedule:
    """Return an all-to-all on a timetable, in which nodes pass blocks on."""
    return replace(generated("all-to-all", "ring", mesh(dims), words=3), timed=True)


@pytest.mark.parametrize(
    ("made", "parameters"),
    [
        ([direct_all_to_all(mesh((4, 4)), words) for words in (1, 4, 9)] + [relayed((4, 4))], {}),
        ([direct_all_to_all(mesh((3, 2)), 5)], {"link_registers": 1, "depth": 4}),
        ([direct_all_to_all(torus((4, 4)), 5)], {"flit_width": 24}),
        ([direct_all_to_all(mesh((8, 8)), 4)], {}),
        ([direct_all_to_all(mesh((8, 8)), 64)], {}),
    ],
    ids=["4x4", "link registers", "torus", "8x8, 4 words", "8x8, 64 words"],
)
def test_the_hardware_keeps_the_timetable(made: list[Schedule], parameters: dict[str, Any]) -> None:
    config = NetworkConfig(topology=made[0].topology, **parameters)
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
