"""Cases: a schedule to carry out, and its prediction by the cycle model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..base.arrays import Words
from ..base.errors import InvalidInput
from ..collectives.shown_bounds import schedule_bound
from ..cycle.any_run import run_any
from ..cycle.control import Control
from ..exact.arithmetic import predict
from ..network.config import Timing
from ..program.any_program import AnyProgram, manner
from ..program.checks import require_timing
from ..program.circuits.program import CircuitProgram
from ..program.compiler import Compiled
from ..program.payload import Payload
from ..program.program import Program
from ..run.run import Prediction, Run
from ..schedule.schedule import Schedule
from .combined import with_results

if TYPE_CHECKING:
    from ..bounds.cycles import CycleBound

WATCHDOG_FACTOR = 2
"""The watchdog is this many times the predicted cycles,"""

WATCHDOG_SLACK = 100
"""plus this many cycles; after that the hardware is taken to hang."""


@dataclass(frozen=True, repr=False)
class Case:
    """One schedule to carry out, with its program, payload and prediction.

    ``hold`` has the cycles for which each node's tile holds it, as in :class:`.Control`; None if no
    tile holds its node.
    """

    schedule: Schedule
    program: AnyProgram
    payload: Payload
    timing: Timing
    predicted: Prediction
    hold: npt.NDArray[np.int64] | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.schedule!r}, {self.timing}, {self.predicted!r}>"

    @property
    def manner(self) -> str:
        """The run's timing, for titles; "circuits" on circuits, which have no steps."""
        return manner(self.program, self.timing)

    @property
    def limit(self) -> int:
        """Cycles after which the hardware is taken to hang, those of the tiles' holds included."""
        held = 0
        if self.hold is not None and isinstance(self.program, CircuitProgram):
            # Tiles hold circuits before cycle 0.
            held = int(self.hold.max())
        return watchdog(self.predicted) + held

    @cached_property
    def bound(self) -> CycleBound:
        """Lower bound on the cycles of any schedule for the same promise on these links."""
        cycles = self.predicted.cycles if self.predicted.finished else None
        registers = self.program.config.link_registers
        return schedule_bound(self.schedule, cycles, link_registers=registers)

    @classmethod
    def of(
        cls,
        compiled: Compiled,
        *,
        timing: Timing,
        seed: int,
        hold: npt.NDArray[np.int64] | None = None,
        simulated: bool = True,
        messages: Words | None = None,
    ) -> Case:
        """Predict a run of ``compiled``, with a payload drawn from ``seed``, or with ``messages``.

        ``simulated`` False uses arithmetic if no flit waits: the same result, but not by the cycle
        model, against which hardware is checked.

        Raises :class:`.InvalidInput` if flits would wait in a contention-free network, or if the
        program does not allow ``timing``.
        """
        schedule, _, program = compiled
        config = program.config
        payload = Payload.random(compiled, seed, messages)
        memory, control = partial(payload.memory, config), Control(hold=hold)

        if isinstance(program, Program):
            require_timing(program, timing)
        if simulated:
            predicted = run_any(program, memory(), timing=timing, control=control)
        else:
            predicted = predict(program, memory, timing=timing, control=control)
        if config.programs and not predicted.finished:
            # The run does not end by itself, so the controller's limit must end it.
            control = replace(control, limit=watchdog(predicted))
            predicted = run_any(program, memory(), timing=timing, control=control)
        if config.contention_free and predicted.stalled_flits.any():
            allowed = f"none in a contention-free network, with {timing} timing"
            raise InvalidInput.of("flits that wait", allowed, int(predicted.stalled_flits.sum()))
        payload = with_results(payload, compiled, predicted)
        return cls(schedule, program, payload, timing, predicted, hold)


def watchdog(predicted: Run) -> int:
    """Return the cycles after which the hardware is taken to hang."""
    last = predicted.cycles
    if not predicted.finished:
        # Nothing moves after the last flit; the limit of the model is far beyond it.
        last = int(predicted.trace.cycle.max(initial=0)) + 1
    return WATCHDOG_FACTOR * last + WATCHDOG_SLACK
