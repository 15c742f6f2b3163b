"""The judge of a measured run against a predicted one."""

from dataclasses import fields

import numpy as np
from helpers.programs import ring_of_packets

from eyecast.model.compare.checks import compare_runs
from eyecast.model.cycle.model import run
from eyecast.model.program.payload import empty_memory
from eyecast.model.run.run import HardwareRun, Run


def test_flits_that_stand_in_a_deadlock_are_stalled() -> None:
    program = ring_of_packets(5, 2)
    predicted = run(program, empty_memory(program.config), timing="self-timed")
    measured = HardwareRun(
        **{field.name: getattr(predicted, field.name) for field in fields(Run)},
        sender_state=np.zeros((5, 1), np.int64),
        signature=np.zeros(5, np.uint32),
        seconds=0,
    )
    checks, difference = compare_runs(program, predicted, measured)
    assert difference is None
    assert all(check.agrees for check in checks)
    stalls = next(check for check in checks if check.name == "stalled flits")
    assert int(str(stalls.predicted)) > int(predicted.stalled_flits.sum())
