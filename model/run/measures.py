"""Measures of the steps of a run, and of the links of a trace, the model's or the hardware's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from ..network.topology import Topology
from ..program.program import Program
from .run import Prediction, Run
from .trace import Trace

_PIECE_ROWS = 1 << 22


@dataclass(frozen=True)
class StepMeasure:
    """One step of a run.

    ``sends`` and ``distance``: its messages, continued rows being one with the row that they lead
    to, and the links that they cross together. ``longest``: the links that the message with the
    longest way crosses, ``flits`` the longest message. ``ends``: cycles from the start until its
    last tail has been delivered. ``cycles``: from the end of the step before (negative where steps
    overtake each other). ``interface``: what is left of ``cycles`` without ``longest`` and
    ``flits``.
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
        """Cycles that are neither hops of the longest packet nor flits of the longest message."""
        return None if self.cycles is None else self.cycles - self.longest - self.flits


def measure_steps(program: Program, predicted: Prediction) -> list[StepMeasure]:
    """Every step of ``program`` in a run of it."""
    messages = list(_messages(program))
    open_steps = {step for _, _, step in _missing(program, predicted)}
    measures = []
    before = 0
    for step, end in enumerate(predicted.step_ends.tolist(), 1):
        hops = [links for sent, links, _ in messages if sent == step]
        flits = max((length for sent, _, length in messages if sent == step), default=0)
        totals = (step, len(hops), sum(hops), max(hops, default=0), flits)
        if end == 0 or step in open_steps:
            measures.append(StepMeasure(*totals, None, None))
        else:
            measures.append(StepMeasure(*totals, end, end - before))
            before = end
    return measures


def troubles(program: Program, predicted: Run) -> list[str]:
    """One line for each node that has set a flag, or waits for what never comes.

    What explains most is first: flags, then what should have come first.
    """
    missing: dict[int, list[str]] = {}
    first_step: dict[int, int] = {}
    for node, lane, step in _missing(program, predicted):
        by_port = f" by port {lane + 1}" if program.config.all_port else ""
        missing.setdefault(node, []).append(f"{step}{by_port}")
        first_step[node] = min(step, first_step.get(node, step))
    lines = []
    for node in range(len(program.rows)):
        names = predicted.flag_names(node)
        parts = [f"has set {', '.join(names)}"] if names else []
        if node in missing:
            parts.append(f"waits for a receive in step {', '.join(missing[node])}")
        if parts:
            line = f"node {node} is in step {predicted.step[node]}, {', '.join(parts)}"
            lines.append((not names, first_step.get(node, 0), node, line))
    return [line for *_, line in sorted(lines)]


def _missing(program: Program, predicted: Run) -> Iterator[tuple[int, int, int]]:
    """Node, lane and step of every receive that has not come."""
    if predicted.finished:
        return
    for node in range(len(program.receives)):
        for lane, steps in enumerate(program.lane_receives(node)):
            arrived = predicted.arrived[node, lane]
            yield from ((node, lane, step) for step in steps if not arrived[step])


def _messages(program: Program) -> Iterator[tuple[int, int, int]]:
    """Step, links on the way and flits of payload of every message."""
    for rows in chain.from_iterable(map(program.lane_rows, range(len(program.rows)))):
        flits = 0
        for row in rows:
            flits += row.length
            if not row.continued:
                yield row.step, sum(segment.hops for segment in row.route), flits
                flits = 0


def link_flits(topology: Topology, trace: Trace) -> npt.NDArray[np.int64]:
    """Flits that crossed each link: shape (nodes, ports); column 0 is deliveries."""
    counts = np.zeros(topology.nodes * topology.ports, dtype=np.int64)
    # In pieces, as the trace of a million packets takes half a gigabyte.
    for begin in range(0, len(trace), _PIECE_ROWS):
        rows = slice(begin, begin + _PIECE_ROWS)
        lines = trace.node[rows].astype(np.int64) * topology.ports + trace.port[rows]
        counts += np.bincount(lines, minlength=counts.size)
    return counts.reshape(topology.nodes, topology.ports)
