"""Checks of recorded traces against the cycle model and the rules that need no model."""

from dataclasses import dataclass, replace

from ..base.errors import InvalidInput
from ..network.config import NetworkConfig
from ..network.port_model import PortModel
from ..program.any_program import AnyProgram
from ..program.circuits.file import CircuitNode, circuit_program
from ..program.program import Program
from ..run.packets import TraceError
from ..run.rules import check_outputs, check_packets, check_trace
from ..run.run import Prediction
from ..run.trace import HEAD_MARK, TAIL_MARK, Difference, Trace, first_difference
from .checks import Check, count_distance, count_steps, equality_check


@dataclass(frozen=True)
class RecordedCheck:
    """The judgement of a recorded trace.

    checks
        Lines of the table; empty without a program.
    difference
        The first row that differs from the prediction.
    broken
        The first rule of docs/router.md that the trace breaks, with node, port, VC and cycle.
    """

    checks: tuple[Check, ...]
    difference: Difference | None
    broken: str | None

    @property
    def agrees(self) -> bool:
        """True if no check fails and no rule is broken."""
        return self.broken is None and all(check.agrees for check in self.checks)


def check_recorded(
    program: AnyProgram,
    predicted: Prediction,
    trace: Trace,
    *,
    any_words: bool = False,
    whole: bool = True,
) -> RecordedCheck:
    """Check a trace of a run of ``program`` against ``predicted``.

    ``any_words`` leaves payload words out of the check, for a run with unknown message memories.
    The rules of :func:`.check_trace` still require that words arrive as they were sent. ``whole``
    False allows packets to be under way at the end of the trace.

    Raises :class:`.InvalidInput` for a trace that is not ``whole`` and ends before the predicted
    one without a difference.
    """
    first, second = predicted.trace, trace
    if any_words:
        first, second = _without_words(first), _without_words(second)
    difference = first_difference(first, second)
    if not whole and difference is not None and difference.second is None:
        last, end = _last(trace), _last(predicted.trace)
        found = f"it ends or pauses after cycle {last}, as predicted so far"
        raise InvalidInput(f"the recording must have flits up to cycle {end}: {found}")
    counts = _counts_of_words if program.config.circuits else _counts_of_packets
    seen = counts(program.config, trace)
    checks = (
        *(
            equality_check(name, count, seen[name])
            for name, count in counts(program.config, predicted.trace).items()
        ),
        Check("trace rows", len(first), len(second), difference is None),
    )
    return RecordedCheck(checks, difference, _broken(program, trace, whole))


def _counts_of_packets(config: NetworkConfig, trace: Trace) -> dict[str, int]:
    """Return what a trace of packets has, by name."""
    return {
        "packets delivered": int(((trace.port == 0) & (trace.kind & TAIL_MARK != 0)).sum()),
        "steps": count_steps(trace, config),
        "links crossed by packets": count_distance(trace),
        "cycle of the last flit": _last(trace),
    }


def _counts_of_words(_config: NetworkConfig, trace: Trace) -> dict[str, int]:
    """Return what a trace of circuits has, by name."""
    delivered = int((trace.port == 0).sum())
    return {
        "words delivered": delivered,
        "words times links": len(trace) - delivered,
        "cycle of the last word": _last(trace),
    }


def check_without_program(
    config: NetworkConfig, trace: Trace, *, whole: bool = True
) -> RecordedCheck:
    """Check the outputs of a trace without a program, and its packets.

    Packets of circuits and of all-port networks are not checked, as in :func:`check_recorded`.
    ``whole`` False allows packets to be under way at the end of the trace.
    """
    program = unknown_program(config)
    try:
        check_outputs(program, trace)
        if isinstance(program, Program) and not config.all_port:
            check_packets(program, trace, complete=whole)
    except TraceError as error:
        return RecordedCheck((), None, str(error))
    return RecordedCheck((), None, None)


def unknown_program(config: NetworkConfig) -> AnyProgram:
    """Return a program without rows, for a trace whose program is unknown."""
    if config.circuits:
        nodes = [CircuitNode([]) for _ in range(config.topology.nodes)]
        return circuit_program(config, PortModel.FULL_DUPLEX, nodes)
    nothing: list[tuple[()]] = [()] * config.topology.nodes
    return Program.from_rows(config, PortModel.FULL_DUPLEX, nothing, nothing)


def _broken(program: AnyProgram, trace: Trace, complete: bool) -> str | None:
    """Return the first rule that a trace breaks; None if all hold."""
    try:
        if isinstance(program, Program) and not program.config.all_port:
            check_trace(program, trace, complete=complete)
        else:
            check_outputs(program, trace)
    except TraceError as error:
        return str(error)
    return None


def _last(trace: Trace) -> int:
    """Return the cycle of the last flit; -1 for an empty trace."""
    return int(trace.cycle.max(initial=-1))


def _without_words(trace: Trace) -> Trace:
    """Return the trace with all payload words replaced by 0."""
    data = trace.data.copy()
    data[trace.kind & HEAD_MARK == 0] = 0
    return replace(trace, data=data)
