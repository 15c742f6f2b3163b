"""Runs of circuits on the compiled simulator."""

import numpy as np
import numpy.typing as npt

from ..model.program.circuits import CircuitProgram
from ..model.run.run import HardwareRun
from .build import build_simulator
from .loading import prepare_circuits
from .simulator import simulate


def simulate_circuits(
    program: CircuitProgram, memory: npt.NDArray[np.uint64], *, limit: int
) -> HardwareRun:
    """Load and run a program on the simulated hardware; return the run with all memories.

    ``memory`` has the words of the message memories before the run: shape (nodes, message words).
    The watchdog ends the run after ``limit`` cycles. Raises as :func:`.build_simulator`,
    :func:`.simulate` and :func:`.prepare_circuits` do.
    """
    loads = [(node, 0, words) for node, words in enumerate(memory)]
    job = prepare_circuits(
        program, loads, read_words=program.config.message_words, cycle_limit=limit
    )
    (measured,) = simulate(build_simulator(program.config), [job])
    return measured
