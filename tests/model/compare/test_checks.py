"""The judge of a measured run against a predicted one."""

from dataclasses import fields, replace

import numpy as np
import pytest
from helpers.generated import generated
from helpers.programs import changed, ring_of_packets

from eyecast.model.compare.case import Case
from eyecast.model.compare.checks import compare, compare_runs, flags_check
from eyecast.model.cycle.model import run
from eyecast.model.network.config import Timing
from eyecast.model.network.topology import Topology, hypercube, mesh
from eyecast.model.program.certified import Room
from eyecast.model.program.memory.layout import held_words
from eyecast.model.program.payload import empty_memory
from eyecast.model.run.run import HardwareRun, Run


def as_measured(run: Run, nodes: int) -> HardwareRun:
    """Return a run of the hardware that is as predicted."""
    return HardwareRun(
        **{field.name: getattr(run, field.name) for field in fields(Run)},
        sender_state=np.zeros((nodes, 1), np.int64),
        signature=np.zeros(nodes, np.uint32),
        seconds=0,
    )


@pytest.mark.parametrize(
    ("topology", "collective", "algorithm"),
    [
        (mesh((4, 4)), "broadcast", "eye"),
        # Blocks of a send are not adjacent, so it takes further rows.
        (hypercube(3), "all-gather", "nesbt"),
        (hypercube(3), "all-to-all", "ring"),
    ],
)
def test_a_trace_has_the_steps_and_the_tcd_of_its_schedule(
    topology: Topology, collective: str, algorithm: str
) -> None:
    source = 0 if collective == "broadcast" else None
    schedule = generated(collective, algorithm, topology, words=3, source=source)
    case = Case.of(Room().compile_one(schedule), timing=Timing.BARRIER, seed=0)
    # The words of blocks are read.
    words = held_words(schedule, case.payload.layout).shape[1]
    memory = case.predicted.memory[:, :words]
    measured = replace(as_measured(case.predicted, topology.nodes), memory=memory)
    found = compare(case, measured)
    assert found.agrees
    values = {check.name: check.measured for check in found.checks}
    assert values["steps"] == schedule.steps
    again = int(case.program.row_hops[case.program.continued].sum())
    assert (again > 0) == (collective != "broadcast")
    assert values["TCD"] == schedule.tcd + again
    # Without its last packets the trace has fewer steps, and crosses fewer links.
    early = measured.trace.first_rows(len(measured.trace) // 2)
    fewer = compare(case, replace(measured, trace=early))
    assert {check.name for check in fewer.checks if not check.agrees} >= {"TCD", "trace rows"}


def test_a_run_that_does_not_finish_is_a_case_without_a_controller_too() -> None:
    schedule = generated("broadcast", "eye", mesh((4, 4)), words=3, source=0)
    one = Room().compile_one(schedule)
    lacking = one._replace(program=changed(one.program, rows=((), *one.program.rows[1:])))
    case = Case.of(lacking, timing=Timing.BARRIER, seed=0)
    assert not case.predicted.finished
    assert case.limit < case.predicted.cycles


def test_flits_that_stand_in_a_deadlock_are_stalled() -> None:
    program = ring_of_packets(5, 2)
    predicted = run(program, empty_memory(program.config), timing="self-timed")
    checks, difference = compare_runs(program, predicted, as_measured(predicted, 5))
    assert difference is None
    assert all(check.agrees for check in checks)
    stalls = next(check for check in checks if check.name == "stalled flits")
    assert int(str(stalls.predicted)) > int(predicted.stalled_flits.sum())


@pytest.mark.parametrize("flag", [1, 2])
def test_a_flag_on_either_side_is_wrong(flag: int) -> None:
    program = ring_of_packets(5, 2)
    good = run(program, empty_memory(program.config), timing="self-timed")
    flags = good.flags.copy()
    flags[3] = flag
    bad = replace(good, flags=flags)
    agree = [
        flags_check(predicted, as_measured(measured, 5)).agrees
        for predicted, measured in ((good, good), (good, bad), (bad, good), (bad, bad))
    ]
    assert agree == [True, False, False, False]
