"""A schedule to carry out, and what the cycle model says will happen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput
from ..collectives.least import schedule_bound
from ..cycle.control import Control
from ..cycle.model import run
from ..exact.predict import predict
from ..network.config import Timing
from ..program.checks import require_timing
from ..program.compiler import Compiled
from ..program.payload import Payload
from ..program.program import Program
from ..run.run import Prediction, Run
from ..schedule.schedule import Schedule
from .combined import with_results

if TYPE_CHECKING:
    from ..bounds.cycles import CycleBound

WATCHDOG_FACTOR = 2
"""How many times as long as predicted the hardware may take,"""

WATCHDOG_SLACK = 100
"""and how many cycles more, before it is taken to hang."""


@dataclass(frozen=True, repr=False)
class Case:
    """One schedule to carry out, and what the cycle model says will happen.

    ``hold`` has the cycles for which each node's tile holds it back, as :class:`.Control` does;
    None where none does.
    """

    schedule: Schedule
    program: Program
    payload: Payload
    timing: Timing
    predicted: Prediction
    hold: npt.NDArray[np.int64] | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.schedule!r}, {self.timing}, {self.predicted!r}>"

    @property
    def bound(self) -> CycleBound:
        """The least cycles of any schedule that does the same on these links."""
        return schedule_bound(self.schedule, link_registers=self.program.config.link_registers)

    @classmethod
    def of(
        cls,
        compiled: Compiled,
        *,
        timing: Timing,
        seed: int,
        hold: npt.NDArray[np.int64] | None = None,
        simulated: bool = True,
    ) -> Case:
        """Predict what is ``compiled``, with a payload drawn from ``seed``.

        Not ``simulated``, it is by arithmetic where no flit waits: the same, but not by the cycle
        model, which is what hardware is compared with.

        Raises :class:`.InvalidInput` where flits would wait in a network that is contention-free,
        and for another timing than the program can have.
        """
        schedule, _, program = compiled
        config = program.config
        require_timing(program, timing)
        payload = Payload.random(compiled, seed)
        memory, control = payload.memory(config), Control(hold=hold)
        predicted = (run if simulated else predict)(program, memory, timing=timing, control=control)
        if config.programs and not predicted.finished:
            # The controller ends it.
            control = replace(control, limit=watchdog(predicted))
            predicted = run(program, memory, timing=timing, control=control)
        if config.contention_free and predicted.stalled_flits.any():
            allowed = f"none in a contention-free network, with {timing} timing"
            raise InvalidInput.of("flits that wait", allowed, int(predicted.stalled_flits.sum()))
        payload = with_results(payload, compiled, predicted.trace)
        return cls(schedule, program, payload, timing, predicted, hold)


def watchdog(predicted: Run) -> int:
    """Cycles after which the hardware is taken to hang."""
    last = predicted.cycles
    if not predicted.finished:
        # Nothing moves any more after the last flit; the model's own limit is far beyond.
        last = int(predicted.trace.cycle.max(initial=0)) + 1
    return WATCHDOG_FACTOR * last + WATCHDOG_SLACK
