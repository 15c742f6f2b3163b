"""Checks of hardware runs against their predictions, line by line."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.arrays import as_integers, words_differ
from ..base.notebook import ShowsItself
from ..network.config import NetworkConfig
from ..program.any_program import AnyProgram
from ..program.circuits.program import CircuitProgram
from ..program.memory.layout import held_words
from ..run.run import HardwareRun, Prediction, Run
from ..run.standstill import Standstill, standstill
from ..run.trace import HEAD_MARK, TAIL_MARK, Difference, Trace, first_difference
from .case import Case
from .waiting import waiting


@dataclass(frozen=True)
class Check:
    """One line of the table: predicted value, measured value, and whether they agree."""

    name: str
    predicted: object
    measured: object
    agrees: bool

    def to_json(self) -> dict[str, object]:
        """Return the line as JSON values."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Comparison(ShowsItself):
    """A run of the hardware, checked against its prediction line by line.

    Attributes
    ----------
    measured
        The run of the hardware.
    checks
        Each compared value, predicted and measured.
    difference
        The first difference between the two traces; None if there is none.
    """

    measured: HardwareRun
    checks: tuple[Check, ...]
    difference: Difference | None

    def __repr__(self) -> str:
        told = "agrees" if self.agrees else "differs"
        return f"<{type(self).__name__}: {told}, {self.measured!r}>"

    @property
    def alike(self) -> bool:
        """True if the hardware behaved as predicted, even if neither run finished."""
        return all(check.agrees for check in self.checks)

    @property
    def agrees(self) -> bool:
        """True if every line agrees and the run finished."""
        return self.alike and self.measured.finished


@dataclass(frozen=True, repr=False)
class Verification(Comparison):
    """The comparison of a measured run with a case.

    Attributes
    ----------
    case
        The schedule, its program and its prediction.
    """

    case: Case

    @property
    def wrong_word(self) -> str | None:
        """The first word of a message memory that is not as predicted; None if all are."""
        for node, word in np.argwhere(_wrong_words(self.case, self.measured))[:1].tolist():
            model, hardware = self.case.predicted.memory, self.measured.memory
            here = (as_integers(memory[[node], word])[0] for memory in (model, hardware))
            values = "{:x} in the model, {:x} in the hardware".format(*here)
            return f"node {node}, address {word}: {values}"
        return None

    @property
    def waiting(self) -> list[str]:
        """One line for each node that has not finished."""
        return waiting(self.case.program, self.measured)

    def to_json(self) -> dict[str, Any]:
        """Return the table as JSON values."""
        return {
            "agrees": self.agrees,
            "timing": self.case.timing,
            "least": {"cycles": self.case.bound.value},
            "checks": [check.to_json() for check in self.checks],
            "first_difference": None if self.difference is None else self.difference.describe(),
            "waiting": self.waiting,
        }


def compare(case: Case, measured: HardwareRun) -> Verification:
    """Check a hardware run against the prediction of its case.

    If the model predicts that the run does not finish, the hardware must come equally far.
    """
    schedule, config, predicted = case.schedule, case.program.config, case.predicted
    run_checks, difference = compare_runs(case.program, predicted, measured)
    if isinstance(case.program, CircuitProgram):
        crossed = schedule.hop_sends[schedule.crossings]
        # A send of no words is a token of one cycle.
        words = int(np.maximum(schedule.send_words[crossed], 1).sum())
        if not predicted.finished:
            words = _on_links(predicted.trace)
        word_check = equality_check("words times links", words, _on_links(measured.trace))
        ends = ending_checks(case, measured)
        checks = (delivery_check(case, measured), word_check, *run_checks, *ends)
        return Verification(measured, checks, difference, case)
    # If a send's blocks are not adjacent, continued rows cross its links again.
    repeated = int(case.program.row_hops[case.program.continued].sum())
    steps, distance = schedule.steps, schedule.tcd + repeated
    if not predicted.finished:
        steps, distance = count_steps(predicted.trace, config), count_distance(predicted.trace)
    step_check = equality_check("steps", steps, count_steps(measured.trace, config))
    checks = (
        delivery_check(case, measured),
        # The packets of timed rows carry no step.
        *(() if schedule.timed else (step_check,)),
        equality_check("TCD", distance, count_distance(measured.trace)),
        *run_checks,
        *ending_checks(case, measured),
    )
    return Verification(measured, checks, difference, case)


def equality_check(name: str, predicted: object, measured: object) -> Check:
    """Return the line of a value that must be as predicted."""
    return Check(name, predicted, measured, predicted == measured)


def delivery_check(case: Case, measured: HardwareRun) -> Check:
    """Check how many nodes hold every block owed to them, with the right words."""
    topology = case.schedule.topology
    nodes = len(case.schedule.blocks.served(topology))
    if not case.predicted.finished:
        nodes = int(case.payload.delivered(case.predicted.memory, topology).sum())
    delivered = int(case.payload.delivered(measured.memory, topology).sum())
    right = delivered == nodes and not _wrong_words(case, measured).any()
    return Check("nodes delivered", nodes, delivered, right)


def cycles_check(predicted: Run, measured: HardwareRun) -> Check:
    """Check the cycles of the run; "not finished" if it did not finish."""
    model, hardware = (
        run.cycles if run.finished else "not finished" for run in (predicted, measured)
    )
    return Check("cycles", model, hardware, model == hardware)


def flags_check(predicted: Run, measured: HardwareRun) -> Check:
    """Check that no node has set an error flag."""
    nodes = range(len(measured.flags))
    names = sorted({name for node in nodes for name in measured.flag_names(node)})
    none = bool((measured.flags == 0).all() and (predicted.flags == 0).all())
    return Check("error flags", "none", ", ".join(names) or "none", none)


def ending_checks(case: Case, measured: HardwareRun) -> tuple[Check, ...]:
    """Check the end of the run as the network's controller reports it, if there is one."""
    if not case.program.config.programs:
        return ()
    return (ending_check(case.predicted, measured),)


def ending_check(predicted: Prediction, measured: HardwareRun) -> Check:
    """Check the end of a run as a controller tells it."""
    ending, told = predicted.ending, measured.ending
    return Check("end", str(ending), "none" if told is None else str(told), ending == told)


def _wrong_words(case: Case, measured: HardwareRun) -> npt.NDArray[np.bool_]:
    """Return the words of blocks that each node held, and that are not as predicted.

    Shape (nodes, words). Other words of a hardware memory may be left from an earlier run.
    """
    held = held_words(case.schedule, case.payload.layout)
    return held & words_differ(measured.memory, case.predicted.memory[:, : held.shape[1]], axes=2)


def compare_runs(
    program: AnyProgram, predicted: Run, measured: HardwareRun
) -> tuple[tuple[Check, ...], Difference | None]:
    """Check cycles, stalled flits, flags and the trace; also return its first difference.

    An unfinished run with a deadlock has a line for it.
    """
    difference = first_difference(predicted.trace, measured.trace)
    expected, found = standstill(program, predicted), standstill(program, measured)
    stalls = predicted.stalled_flits + expected.stalled
    stalled = measured.stalled_flits + found.stalled
    same = bool((stalls == stalled).all())
    stall_check = Check("stalled flits", int(stalls.sum()), int(stalled.sum()), same)
    circuits = isinstance(program, CircuitProgram)
    checks = (
        cycles_check(predicted, measured),
        *_deadlock_check(expected, found),
        *(() if circuits else (stall_check,)),
        Check("trace rows", len(predicted.trace), len(measured.trace), difference is None),
        flags_check(predicted, measured),
    )
    return checks, difference


def _deadlock_check(predicted: Standstill, measured: Standstill) -> tuple[Check, ...]:
    """Check the circles of waiting packets, if there are any."""
    if not predicted.circle and not measured.circle:
        return ()
    same = predicted.circle == measured.circle
    return (Check("deadlock", _told(predicted), _told(measured), same),)


def _told(end: Standstill) -> str:
    return f"{len(end.circle)} packets in a circle" if end.circle else "none"


def count_distance(trace: Trace) -> int:
    """Count TCD in a trace: a packet has one tail, which crosses every link of its path.

    A send of several packets counts once for each packet.
    """
    return int(((trace.port != 0) & (trace.kind & TAIL_MARK != 0)).sum())


def _on_links(trace: Trace) -> int:
    """Count the words that leave by links, each once for each link."""
    return int((trace.port != 0).sum())


def count_steps(trace: Trace, config: NetworkConfig) -> int:
    """Return the highest step in the delivered headers."""
    headers = trace.header_data[(trace.port == 0) & (trace.kind & HEAD_MARK != 0)]
    return int(config.header.step(headers).max(initial=0))
