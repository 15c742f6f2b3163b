"""Made-up runs on boards for tests."""

from dataclasses import replace
from typing import Any

import numpy as np

from eyecast.model.compare.case import Case
from eyecast.model.run.run import HardwareRun
from eyecast.model.run.signature import signatures


def as_predicted(case: Case, words: int, **changes: Any) -> HardwareRun:
    """Return a board's run that matches its prediction and reads ``words``, with some changes."""
    predicted = case.predicted
    measured = HardwareRun(
        finished=True,
        cycles=predicted.cycles,
        seconds=0.0,
        flags=predicted.flags,
        step=predicted.step,
        sender_state=np.zeros((case.schedule.topology.nodes, 1), np.int64),
        stalled_flits=predicted.stalled_flits,
        arrived=predicted.arrived,
        signature=signatures(predicted.trace, case.program.config),
        memory=predicted.memory[:, :words],
        trace=predicted.trace,
    )
    return replace(measured, **changes)
