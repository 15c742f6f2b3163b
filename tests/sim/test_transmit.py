"""An attached host that transmits to all nodes, on the hardware: its table, and the flood."""

import pytest

from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.named_graphs import de_bruijn
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import Topology, line
from eyecast.model.papers.transmit.schedule import transmit_schedule
from eyecast.model.papers.transmit.schemes import transmit
from eyecast.model.program.compiler import Compiled
from eyecast.sim.verify import verify

SECONDS = 1.0
"""Seconds for the search for a better plan than the papers'."""

PETERSEN = graph(
    [
        [-1, (node + 1) % 5, (node - 1) % 5, node + 5]
        if node < 5
        else [-1, 5 + (node - 3) % 5, 5 + (node - 7) % 5, node - 5]
        for node in range(10)
    ]
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "topology",
    [
        line(5),
        de_bruijn(3, 2),
        PETERSEN,
    ],
    ids=lambda topology: topology.label.replace(" ", "-"),
)
def test_steps_are_the_time_units_of_the_plan(topology: Topology) -> None:
    """Each plan has its own network."""
    plans = {plan.sends: plan for plan in transmit(topology, SECONDS).plans}.values()
    assert plans
    for plan in plans:
        schedule = transmit_schedule(plan, 5)
        config = NetworkConfig(topology=schedule.topology, all_port=True)
        cases = [
            Case.of(Compiled.of(schedule, config), timing=timing, seed=1)
            for timing in ("barrier", "self-timed")
        ]
        for result in verify(cases):
            wrong = [check for check in result.checks if not check.agrees]
            assert not wrong, (plan.scheme, result.case.timing, wrong)
            assert result.measured.stalled_flits.sum() == 0
        # The last node gets the message in the plan's last step, and each node gets it once.
        assert schedule.steps == plan.time
        assert schedule.sends == topology.nodes
        host_sends = (schedule.source == topology.nodes).sum()
        assert host_sends <= plan.work


def test_a_host_sends_to_one_node_at_a_time() -> None:
    """A host has one port: in each step at most one of its senders has a row."""
    schedule = transmit_schedule(transmit(line(16), SECONDS).best, 3)
    steps = schedule.step[schedule.source == 16].tolist()
    assert steps == sorted(set(steps))
    assert len(steps) == 4
