"""What a run of the cycle model says about steps and links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .cycle_model import Run
from .program import Program
from .topology import Topology
from .trace import Trace


@dataclass(frozen=True)
class StepMeasure:
    """One step of a run.

    ``sends`` and ``distance``: its packets and the links that they cross together. ``longest``: the
    links that its longest packet crosses, ``flits`` the longest message. ``ends``: cycles from the
    start until its last tail has been delivered. ``cycles``: from the end of the step before
    (negative where steps overtake each other). ``interface``: what is left of ``cycles`` without
    ``longest`` and ``flits``.
    """

    step: int
    sends: int
    distance: int
    longest: int
    flits: int
    ends: int
    cycles: int

    @property
    def interface(self) -> int:
        """Cycles that are neither hops of the longest packet nor flits of the longest message."""
        return self.cycles - self.longest - self.flits


def measure_steps(program: Program, predicted: Run) -> list[StepMeasure]:
    """Every step of ``program`` in a run of it."""
    rows = [row for node_rows in program.rows for row in node_rows]
    measures = []
    before = 0
    for step, end in enumerate(predicted.step_ends.tolist(), 1):
        sent = [row for row in rows if row.step == step]
        hops = [sum(segment.hops for segment in row.route) for row in sent]
        flits = max((row.length for row in sent), default=0)
        measures.append(
            StepMeasure(step, len(sent), sum(hops), max(hops, default=0), flits, end, end - before)
        )
        before = end
    return measures


def link_flits(topology: Topology, trace: Trace) -> npt.NDArray[np.int64]:
    """Flits that crossed each link: shape (nodes, ports); column 0 is deliveries."""
    keys = trace.node.astype(np.int64) * topology.ports + trace.port
    counts = np.bincount(keys, minlength=topology.nodes * topology.ports)
    return counts.reshape(topology.nodes, topology.ports)
