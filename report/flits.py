"""A trace for a page: every flit, or, for too many flits, counts by time.

Flits are in the order of outputs, then cycles. A packet's flits then lie side by side, and equal
values compress to almost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.base.arrays import Numbers
from ..model.base.ragged import offsets_of
from ..model.network.config import NetworkConfig
from ..model.program.program import Program
from ..model.program.row import NO_START
from ..model.run.following import Followed, crossed_registers
from ..model.run.hops import NEVER, NO_ROW
from ..model.run.run import Prediction, Run
from ..model.run.trace import TAIL_MARK, Trace
from .packing import Pack

MOST_FLITS = 1 << 22
"""Most flits that a page holds one by one."""

_MOST_COUNTS = 1 << 20
_MOST_BINS, _LEAST_BINS = 256, 16
_PIECE = 1 << 22


@dataclass(frozen=True)
class StepTimes:
    """First cycle of each step, and the cycle after its last; both 0 for a step without flits.

    A step ends when its last delivered tail has been written. Traffic has no steps.
    """

    first: list[int]
    end: list[int]

    @classmethod
    def of_flits(cls, program: Program, trace: Trace, followed: Followed) -> StepTimes:
        """Return the times in which flits of each step's rows leave routers."""
        steps = 0 if (program.start != NO_START).any() else program.steps
        known = np.flatnonzero(followed.row != NO_ROW) if steps else np.zeros(0, dtype=np.int64)
        step, cycle = program.step[followed.row[known]], trace.cycle[known]
        first, end = np.full(steps + 1, NEVER), np.zeros(steps + 1, dtype=np.int64)
        np.minimum.at(first, step, cycle)
        last = (trace.port[known] == 0) & (trace.kind[known] & TAIL_MARK != 0)
        np.maximum.at(end, step[last], cycle[last] + program.config.write_delay + 1)
        first[first == NEVER] = 0
        return cls(first[1:].tolist(), end[1:].tolist())

    @classmethod
    def of_run(cls, run: Run) -> StepTimes:
        """Return the ends from the cycle model; each step begins where the previous one ends."""
        end = run.step_ends.tolist() if isinstance(run, Prediction) else []
        return cls([0, *end[:-1]] if end else [], end)


def pack_flits(
    pack: Pack, config: NetworkConfig, trace: Trace, followed: Followed, end: int
) -> Any:
    """Pack every flit of ``trace``; ``end`` is the cycle after the last one shown."""
    line = _lines(config, trace)
    order = np.lexsort((trace.cycle, line))
    lines, counts = np.unique(line, return_counts=True)
    cycle = trace.cycle[order]
    gaps = np.diff(cycle, prepend=0)
    first = offsets_of(counts)[:-1]
    gaps[first] = cycle[first]
    words, word = np.unique(trace.data, axis=0, return_inverse=True)
    # A flit that never leaves stays until the end, and is stalled if it is in front. Wrong hardware
    # may send a copy before the flit arrives; a flit still leaves after its arrival.
    left = np.where(followed.left >= NEVER, end + 1, followed.left)
    left = np.maximum(left, trace.cycle + 1)
    most = np.maximum(left - trace.cycle - 1 - crossed_registers(config, trace), 0)
    stalled = np.minimum(followed.stalled, most)
    columns: dict[str, npt.NDArray[np.integer]] = {
        "vc": trace.vc,
        "kind": trace.kind,
        "word": word,
        "row": followed.row + 1,
        "stay": left - trace.cycle,
        "stalled": stalled,
    }
    return {
        "rows": len(trace),
        "lines": pack.column(lines),
        "counts": pack.column(counts),
        "gaps": pack.column(gaps),
        "words": pack.words(words),
        **{name: pack.column(column[order]) for name, column in columns.items()},
    }


def pack_loads(pack: Pack, config: NetworkConfig, trace: Trace, steps: StepTimes, end: int) -> Any:
    """Pack the number of flits that leave each output in each bin of time, and in each step.

    Here a step lasts until its end. Steps are left out if they overtake each other.
    """
    topology = config.topology
    outputs = topology.nodes * topology.ports
    lines = np.unique(_lines(config, trace))
    width = bin_width(len(lines), end)
    bins = -(-end // width)
    place = np.zeros(outputs, dtype=np.int64)
    place[lines] = np.arange(len(lines))
    ends = np.array(steps.end)
    by_step = len(ends) > 0 and len(ends) * len(lines) <= _MOST_COUNTS and (np.diff(ends) > 0).all()
    counts = np.zeros((bins, len(lines)), dtype=np.int64)
    of_steps = np.zeros((len(ends) + 1, len(lines)), dtype=np.int64)
    for begin in range(0, len(trace), _PIECE):
        piece = Trace(*(column[begin : begin + _PIECE] for column in trace.columns))
        at = place[_lines(config, piece)]
        counts += _counted(piece.cycle // width, at, counts.shape)
        if by_step:
            step = np.searchsorted(ends, piece.cycle, side="right")
            of_steps += _counted(step, at, of_steps.shape)
    return {
        "rows": len(trace),
        "width": width,
        "bins": bins,
        "lines": pack.column(lines),
        "counts": pack.column(counts.ravel()),
        "steps": pack.column(of_steps[:-1].ravel()) if by_step else None,
    }


def bin_width(lines: int, end: int) -> int:
    """Return the cycles of a bin for counts of so many ``lines`` in ``end`` cycles."""
    return -(-end // min(_MOST_BINS, max(_LEAST_BINS, _MOST_COUNTS // max(1, lines)), end))


def _lines(config: NetworkConfig, trace: Trace) -> Numbers:
    """Return the number of each flit's output, from node and port."""
    return trace.node.astype(np.int64) * config.topology.ports + trace.port


def _counted(row: Numbers, column: Numbers, shape: tuple[int, int]) -> Numbers:
    """Count how often each pair of a row and a column occurs."""
    return np.bincount(row * shape[1] + column, minlength=shape[0] * shape[1]).reshape(shape)
