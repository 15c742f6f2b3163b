"""The cycle models of both kinds of programs, behind one function."""

import numpy as np
import numpy.typing as npt

from ..network.config import Timing
from ..program.any_program import AnyProgram
from ..program.circuits.program import CircuitProgram
from ..run.run import Prediction
from .circuits import run_circuits
from .control import Control
from .model import run


def run_any(
    program: AnyProgram,
    memory: npt.NDArray[np.uint64],
    *,
    timing: Timing,
    control: Control | None = None,
) -> Prediction:
    """Return the run of ``program`` that its cycle model predicts; circuits have no ``timing``.

    Arguments and result are those of :func:`.run`.
    """
    if isinstance(program, CircuitProgram):
        return run_circuits(program, memory, control=control)
    return run(program, memory, timing=timing, control=control)
