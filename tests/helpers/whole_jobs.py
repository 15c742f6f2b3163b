"""Jobs on the simulated hardware that load every word of every node, and read all of them back."""

import numpy as np
import numpy.typing as npt
from helpers.programs import words

from eyecast.model.program.program import Program
from eyecast.sim.job import Job
from eyecast.sim.loading import prepare


def whole_job(
    program: Program,
    timing: str,
    cycle_limit: int,
    memory: npt.NDArray[np.uint64] | None = None,
    *,
    hold: npt.NDArray[np.int64] | None = None,
) -> Job:
    """Return the job that runs ``program`` from ``memory``, or from words that all differ."""
    return prepare(
        program,
        [(node, 0, each) for node, each in enumerate(words(program) if memory is None else memory)],
        timing=timing,
        read_words=program.config.message_words,
        cycle_limit=cycle_limit,
        hold=hold,
    )
