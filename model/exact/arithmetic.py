"""Prediction of a run in which no flit waits, without simulation.

Without waits, a flit leaves its k-th router a fixed number of cycles after its injection, and a row
begins when its sender is free and its step has come. So arithmetic gives all times, for all packets
at once::

    Program ─► timetable ─► occupancy: does any output have two flits at once? ─► if so, declined
                   │
                   └─► races: does it matter when a word is read or written?   ─► if so, declined

The result equals the run of the cycle model (:func:`~..cycle.model.run`) bit for bit. Memories and
trace are made on first access.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.arrays import Words
from ..base.errors import InvalidInput
from ..cycle.control import Control
from ..network.config import Timing
from ..network.topology import Topology
from ..program.any_program import AnyProgram
from ..program.checks import check_program
from ..program.program import Program
from ..run.run import Ending, EndState, Prediction
from ..run.trace import Trace
from .data_movement import Moved, move_words
from .declined import Declined
from .occupancy import link_flits, require_no_meeting
from .passages import Passages, passages
from .races import require_no_races
from .timetable import Timetable, timetable
from .trace import trace_of

Memory = Words | Callable[[], Words]
"""Message memories before a run, or a function that makes them, called only if they are needed."""

MOST_FLITS = 1 << 26
"""Most flits of a trace by arithmetic: some 10 GB meanwhile. The cycle model takes a quarter."""
MOST_SIMULATED = 1 << 29
"""Most flits of a trace by the cycle model: some 20 GB and a few minutes."""


class ExactPrediction(Prediction):
    """A run predicted by arithmetic; memory and trace are made on first access.

    Until then the memories before the run must not be changed.
    """

    _parts: tuple[Program, Memory, Timing, Timetable, Passages]

    def __init__(
        self,
        program: Program,
        memory: Memory,
        timing: Timing,
        times: Timetable,
        there: Passages,
    ) -> None:
        nodes, lanes = program.nodes, program.config.lanes
        values: dict[str, Any] = {
            "_parts": (program, memory, timing, times, there),
            "finished": True,
            "cycles": times.cycles,
            "flags": np.zeros(nodes, dtype=np.uint8),
            "stalled_flits": np.zeros(nodes, dtype=np.int64),
            "step": times.steps,
            "arrived": program.expected.reshape(nodes, lanes, -1),
            "received": np.zeros(nodes, dtype=np.int64),
            "step_ends": times.step_ends,
            "ending": Ending(EndState.DONE, times.cycles, None),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @cached_property
    def _moved(self) -> Moved:
        program, memory, _, times, _ = self._parts
        return move_words(program, times, memory() if callable(memory) else memory)

    @cached_property
    def memory(self) -> npt.NDArray[np.uint64]:  # type: ignore[override]
        """The message memories after the run."""
        return self._moved.memory

    @cached_property
    def trace(self) -> Trace:  # type: ignore[override]
        """Every flit that left a router; raises :class:`.InvalidInput` for too many flits."""
        program, memory, timing, times, there = self._parts
        if program.flit_hops > MOST_FLITS:
            return _simulated(program, memory, timing=timing).trace
        return trace_of(program, times, there, self._moved.payload)

    def link_flits(self, topology: Topology) -> npt.NDArray[np.int64]:
        """Count the flits that crossed each link, without a trace."""
        program, *_, there = self._parts
        return link_flits(program, there)


def run(
    program: Program,
    memory: Memory,
    *,
    timing: Timing,
    cycle_limit: int | None = None,
    control: Control | None = None,
) -> ExactPrediction:
    """Predict the run of ``program``, as :func:`~..cycle.model.run` does.

    Raises :class:`.Declined`, with the reason, if a flit waits or a flag is set, and for features
    that arithmetic does not cover: timed rows, tiles that hold a node, buffers too short to keep a
    link busy.
    """
    _require_simple(program, control)
    barrier = Timing.named(timing) is Timing.BARRIER
    there, ends = passages(program)
    times = timetable(program, ends, barrier=barrier)
    require_no_meeting(program, times, there)
    require_no_races(program, times, barrier=barrier)
    if cycle_limit is not None and times.cycles > cycle_limit:
        raise Declined("the run is longer than its limit")
    # A controller's limit of 0 means no limit.
    if control is not None and 0 < control.limit <= times.cycles:
        raise Declined("the run is longer than its limit")
    return ExactPrediction(program, memory, Timing.named(timing), times, there)


def predict(
    program: AnyProgram,
    memory: Memory,
    *,
    timing: Timing,
    control: Control | None = None,
) -> Prediction:
    """Predict the run of ``program`` by arithmetic, or by the cycle model if that declines.

    Arguments and result are those of :func:`~..cycle.model.run`, except that ``memory`` may be a
    function. Circuits are simulated. Raises :class:`.InvalidInput` if too many flits would be.
    """
    if isinstance(program, Program):
        with suppress(Declined):
            return run(program, memory, timing=timing, control=control)
    return _simulated(program, memory, timing=timing, control=control)


def _simulated(
    program: AnyProgram, memory: Memory, *, timing: Timing, control: Control | None = None
) -> Prediction:
    """Return the run by the cycle model; raise :class:`.InvalidInput` if it has too many flits."""
    if isinstance(program, Program) and program.flit_hops > MOST_SIMULATED:
        allowed = f"at most {MOST_SIMULATED} (a smaller network or fewer words help)"
        raise InvalidInput.of("flits of a simulated run at all routers", allowed, program.flit_hops)
    from ..cycle.any_run import run_any  # noqa: PLC0415 - loads compiled code

    held = memory() if callable(memory) else memory
    return run_any(program, held, timing=timing, control=control)


def _require_simple(program: Program, control: Control | None) -> None:
    """Decline features that arithmetic does not cover."""
    config = program.config
    if config.timed_rows:
        raise Declined("rows are timed")
    if config.differing_links:
        raise Declined("links differ")
    if config.depth < config.busy_depth:
        raise Declined("flits wait for credits")
    if control is not None and (control.hold is not None or control.slot_words is not None):
        raise Declined("tiles hold their nodes, or a slot is given")
    try:
        check_program(program)
    except InvalidInput as error:
        raise Declined(str(error)) from error
