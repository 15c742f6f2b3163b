"""Measures of the steps of a run, the model's or the hardware's."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.ragged import offsets_of
from ..program.any_program import AnyProgram
from ..program.circuits.program import CircuitProgram
from ..program.program import Program
from .run import Prediction, Run
from .standstill import standstill


@dataclass(frozen=True)
class StepMeasure:
    """Measures of one step of a run.

    ``sends`` and ``distance``: its messages, and the links that they cross together; a row and its
    continued rows are one message. ``longest``: the links of the message with the longest path;
    ``flits``: the longest message. ``ends``: cycles from the start until its last tail has been
    delivered. ``cycles``: from the end of the step before (negative if steps overtake each other).
    """

    step: int
    sends: int
    distance: int
    longest: int
    flits: int
    ends: int | None
    cycles: int | None

    @property
    def interface(self) -> int | None:
        """``cycles`` without the hops of the longest path and the flits of the longest message."""
        return None if self.cycles is None else self.cycles - self.longest - self.flits


def measure_steps(program: AnyProgram, predicted: Prediction) -> list[StepMeasure]:
    """Measure every step of ``program`` in a run; circuits have no steps."""
    if isinstance(program, CircuitProgram):
        return []
    sent, links, length = _messages(program)
    open_steps = set(program.receive_step[late_receives(program, predicted)].tolist())
    ends = predicted.step_ends.tolist()
    sends = np.bincount(sent, minlength=len(ends) + 1)
    distance = np.bincount(sent, links, len(ends) + 1).astype(np.int64)
    longest, flits = np.zeros_like(sends), np.zeros_like(sends)
    np.maximum.at(longest, sent, links)
    np.maximum.at(flits, sent, length)
    measures = []
    before = 0
    for step, end in enumerate(ends, 1):
        came = end != 0 and step not in open_steps
        measures.append(
            StepMeasure(
                step=step,
                sends=int(sends[step]),
                distance=int(distance[step]),
                longest=int(longest[step]),
                flits=int(flits[step]),
                ends=end if came else None,
                cycles=end - before if came else None,
            )
        )
        before = end if came else before
    return measures


def troubles(program: AnyProgram, predicted: Run) -> list[str]:
    """Return one line for each node that has set a flag or lacks a receive.

    The most probable cause is first: a deadlock, then flags, then the earliest missing receives.
    """
    if isinstance(program, CircuitProgram):
        return flagged_nodes(predicted)
    late = late_receives(program, predicted)
    missing: dict[int, list[str]] = {}
    first_step: dict[int, int] = {}
    columns = program.receiver, program.receive_step, program.receive_port
    for receiver, step, port in zip(*(column[late].tolist() for column in columns), strict=True):
        node = receiver // program.config.lanes
        by_port = f" by port {port}" if program.config.all_port else ""
        missing.setdefault(node, []).append(f"{step}{by_port}")
        first_step[node] = min(step, first_step.get(node, step))
    lines = []
    for node in sorted({*np.flatnonzero(predicted.flags).tolist(), *missing}):
        names = predicted.flag_names(node)
        parts = [f"has set {', '.join(names)}"] if names else []
        if node in missing:
            parts.append(f"waits for a receive in step {', '.join(missing[node])}")
        line = f"node {node} is in step {predicted.step[node]}, {', '.join(parts)}"
        lines.append((not names, first_step.get(node, 0), node, line))
    return standstill(program, predicted).lines() + [line for *_, line in sorted(lines)]


def flagged_nodes(run: Run) -> list[str]:
    """Return one line for each node with circuits that has set a flag."""
    return [
        f"node {node} is in entry {run.step[node]}, has set {', '.join(run.flag_names(node))}"
        for node in np.flatnonzero(run.flags).tolist()
    ]


def late_receives(program: Program, run: Run) -> npt.NDArray[np.int64]:
    """Return the indices of the missing receives of an unfinished run; none if finished.

    They are in order of ejection ports, then steps.
    """
    arrived = run.arrived.reshape(-1, run.arrived.shape[-1])
    receiver = program.receiver
    late = np.flatnonzero(~arrived[receiver, program.receive_step] & (not run.finished))
    return late[np.argsort(receiver[late], kind="stable")]


_Numbers = npt.NDArray[np.int64]


def _messages(program: Program) -> tuple[_Numbers, _Numbers, _Numbers]:
    """Return step, hops and payload flits of every message."""
    order = program.sender_order
    # A message ends with a row that is not continued.
    last = np.flatnonzero(~program.continued[order])
    sums = offsets_of(program.length[order])[last + 1]
    return program.step[order][last], program.row_hops[order][last], np.diff(sums, prepend=0)
