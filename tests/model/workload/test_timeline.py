"""Timelines beside a second simulator, and their own laws."""

from random import Random

import pytest
from helpers.workload_simulator import Simulator, drawn_workload

from eyecast.model.workload.run import MachineRun, least_cycles
from eyecast.model.workload.timeline import Machine, Policy, timeline


@pytest.mark.parametrize("policy", list(Policy))
@pytest.mark.parametrize("machine", list(Machine))
def test_200_drawn_workloads_run_as_a_second_simulator_says(
    machine: Machine, policy: Policy
) -> None:
    for seed in range(200):
        workload, costs = drawn_workload(Random(seed))
        found = timeline(workload, costs, machine, policy)
        other = Simulator(workload, costs, machine is Machine.ENGINE, policy is Policy.URGENT).run()
        columns = tuple(each.tolist() for each in (found.able, found.start, found.end))
        assert columns == other, seed
        _require_laws(MachineRun(workload, found), [cost.bound for cost in costs])


def _require_laws(run: MachineRun, bounds: list[int]) -> None:
    """Require that the critical path has no gap, and that nothing ends before its bound."""
    reached = 0
    for _, begin, end in run.path:
        assert begin == reached
        reached = end
    assert reached == run.cycles >= least_cycles(run.workload, bounds)
    for rank in run.ranks:
        assert rank.exposed <= rank.communication
        assert rank.compute + rank.exposed <= run.cycles
