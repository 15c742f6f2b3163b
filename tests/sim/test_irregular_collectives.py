"""All ports, faults and switches on the hardware: every word and cycle as the model predicts."""

from __future__ import annotations

import pytest
from helpers.switch_networks import fat_tree, switch_mesh

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, mesh
from eyecast.model.program.compiler import fit
from eyecast.model.schedule.collective import Collective
from eyecast.sim.verify import verify

pytestmark = pytest.mark.slow

FAULTY = with_faults(mesh((3, 3)), [2], [(0, 1)])
SWITCHES = switch_mesh(2, 2)
NAMES = ("packed-trees", "packed-chains", "greedy", "direct")


def cases(topology: Topology, all_port: bool) -> list[Case]:
    """Return each collective by each algorithm that serves it."""
    root, *others = topology.working_nodes.tolist()
    made = []
    for collective in Collective:
        request = Request(
            topology=topology,
            words=1 if collective == Collective.BARRIER else 40,
            source=root if collective.rooted else None,
            targets=tuple(others[::2]) if collective == Collective.MULTICAST else None,
            all_port=all_port,
        )
        for algorithm in algorithms_for(collective):
            if algorithm.name in NAMES:
                try:
                    made.append(algorithm.generate(request))
                except InvalidInput:
                    continue
    for schedule in made:
        schedule.check()
    config = NetworkConfig(
        topology=topology,
        all_port=all_port,
        timed_rows=not all_port,
        streams=all_port,
        operators=("add", "and") if all_port else (),
    )
    _, compiled = fit(config, made)
    return [
        Case.of(each, timing=Timing.BARRIER, seed=number) for number, each in enumerate(compiled)
    ]


@pytest.mark.parametrize(
    ("topology", "all_port", "number"),
    [(FAULTY, True, 11), (SWITCHES, True, 11), (FAULTY, False, 3), (fat_tree(4), False, 3)],
    ids=["faults", "switches", "faults, one port", "fat tree, one port"],
)
def test_nothing_differs(topology: Topology, all_port: bool, number: int) -> None:
    ready = cases(topology, all_port)
    assert len(ready) == number
    for result in verify(ready):
        wrong = [check for check in result.checks if not check.agrees]
        schedule = result.case.schedule
        assert not wrong, (schedule.collective, schedule.algorithm, wrong)
