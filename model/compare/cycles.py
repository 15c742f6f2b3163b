"""Cycles of a schedule: by arithmetic or simulation; estimated if it is too large for both."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput
from ..collectives.shown_bounds import schedule_bound
from ..exact.arithmetic import run as exact_run
from ..exact.circuits import closed_run
from ..exact.declined import Declined
from ..network.config import MOST_DEPTH, NetworkConfig, Timing
from ..network.port_model import PortModel
from ..program.any_program import AnyProgram
from ..program.circuits.program import CircuitProgram
from ..program.compiler import fit
from ..program.payload import empty_memory
from ..run.run import Prediction
from ..schedule.duration import expected_cycles
from ..schedule.schedule import Schedule

if TYPE_CHECKING:
    from ..bounds.cycles import CycleBound

MOST_FLIT_HOPS = 50_000_000
"""Most flit-hops of a program that is simulated: a few seconds."""
MOST_NODES = 1 << 16
MOST_HOPS = 1 << 18
"""Most links that a schedule's sends cross if it is compiled to count its cycles: a second."""
MOST_CARRIED = 1 << 24
"""Most blocks that all sends carry together, if it is compiled: some 15 seconds and 2 GB."""
MOST_WORDS = 1 << 24
"""Most words of all message memories together."""


class Cycles(NamedTuple):
    """Cycles of a schedule with barrier timing, whether they are an estimate, and their bound."""

    value: int
    estimated: bool
    bound: CycleBound


def schedule_cycles(schedule: Schedule, *, circuits: bool = False) -> Cycles:
    """Return the cycles of ``schedule`` on a network with the default parameters.

    A schedule with trees always has a network with ``circuits``. Where links differ, the buffers
    are deep enough to keep each link busy, or as deep as they can be. The cycles are those of
    :func:`~..exact.arithmetic.predict`, or an estimate if the schedule is too large to compile or
    simulate at once, or if no such network can carry it out. An estimate is at least the bound.
    """
    counted = _counted_cycles(schedule, circuits or schedule.circuits)
    bound = schedule_bound(schedule, counted)
    if counted is None:
        return Cycles(max(expected_cycles(schedule), bound.value), estimated=True, bound=bound)
    return Cycles(counted, estimated=False, bound=bound)


def _counted_cycles(schedule: Schedule, circuits: bool) -> int | None:
    """Return the cycles of ``schedule`` if they are no estimate: see :func:`schedule_cycles`."""
    if schedule.topology.nodes > MOST_NODES or schedule.hops > MOST_HOPS:
        return None
    if schedule.block_ids.size > MOST_CARRIED:
        return None
    all_port = schedule.port_model == PortModel.ALL_PORT
    try:
        config = NetworkConfig(
            topology=schedule.topology,
            all_port=all_port,
            circuits=circuits,
        )
        deep = min(MOST_DEPTH, max(config.depth, config.busy_depth))
        config, (one,) = fit(replace(config, depth=deep), [schedule])
    except InvalidInput:
        return None
    if config.message_words * config.topology.nodes > MOST_WORDS:
        return None
    if isinstance(one.program, CircuitProgram):
        with suppress(Declined):
            return closed_run(one.program).cycles
    run = quick_run(one.program, empty_memory(config), Timing.BARRIER)
    return None if run is None or not run.finished else run.cycles


def quick_run(
    program: AnyProgram, memory: npt.NDArray[np.uint64], timing: Timing
) -> Prediction | None:
    """Return the run of ``program``, without a trace if simulated; None if that takes too long.

    Arguments are those of :func:`~..cycle.model.run`.
    """
    if isinstance(program, CircuitProgram):
        from ..cycle.circuits import run_circuits  # noqa: PLC0415 - loads what is compiled

        return run_circuits(program, memory, record_trace=False)
    try:
        return exact_run(program, memory, timing=timing)
    except Declined:
        if program.flit_hops > MOST_FLIT_HOPS:
            return None
        from ..cycle.model import run  # noqa: PLC0415 - loads compiled code

        return run(program, memory, timing=timing, record_trace=False)
