"""Traces from anywhere, checked against the golden model and the rules that need no model."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..base.errors import InvalidInput
from ..network.config import NetworkConfig
from ..network.port_model import PortModel
from ..program.program import Program
from ..run.rules import TraceError, check_outputs, check_packets, check_trace
from ..run.run import Prediction
from ..run.trace import HEAD_MARK, TAIL_MARK, Difference, Trace, first_difference
from .checks import Check, count_distance, count_steps, equality_check


@dataclass(frozen=True)
class RecordedCheck:
    """Judgement of a recorded trace.

    checks
        Lines of a table; none where there is no program.
    difference
        The first row that is not as predicted.
    broken
        The first rule of docs/router.md that the trace breaks, with its place.
    """

    checks: tuple[Check, ...]
    difference: Difference | None
    broken: str | None

    @property
    def agrees(self) -> bool:
        """True where nothing is wrong."""
        return self.broken is None and all(check.agrees for check in self.checks)


def check_recorded(
    program: Program,
    predicted: Prediction,
    trace: Trace,
    *,
    any_words: bool = False,
    whole: bool = True,
) -> RecordedCheck:
    """Check a trace of a run of ``program`` against ``predicted``.

    ``any_words`` leaves the payload's words out of the comparison, for a run whose message memories
    are not known. The rules are those of :func:`.check_trace`: they still demand that words arrive
    as they were sent. If the trace is not ``whole``, packets may be under way at its end.

    Raises :class:`.InvalidInput` for a trace that is not ``whole`` and ends, without a difference,
    before the predicted flits do.
    """
    first, second = predicted.trace, trace
    if any_words:
        first, second = _without_words(first), _without_words(second)
    difference = first_difference(first, second)
    if not whole and difference is not None and difference.second is None:
        last, end = _last(trace), _last(predicted.trace)
        allowed = f"have flits up to cycle {end}: it ends with cycle {last}, as predicted so far"
        raise InvalidInput(f"the recording must {allowed}")
    config = program.config
    checks = (
        equality_check("packets delivered", _delivered(predicted.trace), _delivered(trace)),
        equality_check("steps", count_steps(predicted.trace, config), count_steps(trace, config)),
        equality_check(
            "links crossed by packets", count_distance(predicted.trace), count_distance(trace)
        ),
        equality_check("cycle of the last flit", _last(predicted.trace), _last(trace)),
        Check("trace rows", len(first), len(second), difference is None),
    )
    return RecordedCheck(checks, difference, _broken(program, trace, whole))


def check_without_program(
    config: NetworkConfig, trace: Trace, *, whole: bool = True
) -> RecordedCheck:
    """Check a trace of a network of which no program is known: its outputs and its packets.

    If the trace is not ``whole``, packets may be under way at its end.
    """
    program = unknown_program(config)
    try:
        check_outputs(program, trace)
        check_packets(program, trace, complete=whole)
    except TraceError as error:
        return RecordedCheck((), None, str(error))
    return RecordedCheck((), None, None)


def unknown_program(config: NetworkConfig) -> Program:
    """Return a program without rows, for a trace of which no program is known."""
    nothing: list[tuple[()]] = [()] * config.topology.nodes
    return Program.from_rows(config, PortModel.FULL_DUPLEX, nothing, nothing)


def _broken(program: Program, trace: Trace, complete: bool) -> str | None:
    """The first rule that a trace breaks; None where all hold, or where rules do not apply."""
    if program.config.all_port:
        return None
    try:
        check_trace(program, trace, complete=complete)
    except TraceError as error:
        return str(error)
    return None


def _delivered(trace: Trace) -> int:
    """Packets that have been delivered whole."""
    return int(((trace.port == 0) & (trace.kind & TAIL_MARK != 0)).sum())


def _last(trace: Trace) -> int:
    """The cycle of the last flit; -1 of an empty trace."""
    return int(trace.cycle.max(initial=-1))


def _without_words(trace: Trace) -> Trace:
    """The trace with 0 in place of every word of payload."""
    head = trace.kind & HEAD_MARK != 0
    return replace(trace, data=np.where(head, trace.data, np.uint64(0)))
