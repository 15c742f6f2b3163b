"""The judge of a measured run against a predicted one."""

from dataclasses import fields, replace

import numpy as np
import pytest
from helpers.programs import ring_of_packets

from eyecast.model.compare.checks import compare_runs, flags_check
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


@pytest.mark.parametrize("flag", [1, 2])
def test_a_flag_on_either_side_is_wrong(flag: int) -> None:
    program = ring_of_packets(5, 2)
    good = run(program, empty_memory(program.config), timing="self-timed")

    def measured_from(run: Run) -> HardwareRun:
        return HardwareRun(
            **{field.name: getattr(run, field.name) for field in fields(Run)},
            sender_state=np.zeros((5, 1), np.int64),
            signature=np.zeros(5, np.uint32),
            seconds=0,
        )

    flags = good.flags.copy()
    flags[3] = flag
    bad = replace(good, flags=flags)
    agree = [
        flags_check(predicted, measured_from(measured)).agrees
        for predicted, measured in ((good, good), (good, bad), (bad, good), (bad, bad))
    ]
    assert agree == [True, False, False, False]
