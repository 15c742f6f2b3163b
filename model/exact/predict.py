"""Prediction of a run: by arithmetic if no flit waits, otherwise by simulation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..cycle.control import Control
from ..network.config import Timing
from ..program.program import Program
from ..run.run import Prediction
from .declined import Declined
from .model import run


def predict(
    program: Program,
    memory: npt.NDArray[np.uint64],
    *,
    timing: Timing,
    control: Control | None = None,
) -> Prediction:
    """Predict the run of ``program`` by arithmetic, or by the cycle model if that declines.

    Arguments and result are those of :func:`~..cycle.model.run`.
    """
    try:
        return run(program, memory, timing=timing, control=control)
    except Declined:
        from ..cycle.model import run as simulated  # noqa: PLC0415 - loads what is compiled

        return simulated(program, memory, timing=timing, control=control)
