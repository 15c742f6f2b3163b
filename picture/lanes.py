"""Links over cycles as a picture: a lane for each link, and in it the packets of a predicted run.

::

    (0,0) → (2,0) |███                       A packet goes from lane to lane, so it is a slanted
    (2,0) → (2,2) |  ███                     stripe; its colour is that of its step. Where flits
    (0,0) → (0,2) |       ███                wait behind a link, a thin line goes on, and it is
    (0,2) → (0,3) |         ███─────         red while they could be next and are held up. Lanes
                  +-----------------         are in the order of their first flits.
                    cycles
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from ..model.base.arrays import Numbers
from ..model.base.errors import InvalidInput
from ..model.base.texts import counted
from ..model.collectives.notes import schedule_title
from ..model.network.node_names import node_name
from ..model.program.any_program import AnyProgram
from ..model.program.program import Program
from ..model.run.following import Followed, crossed_registers, follow, follow_words
from ..model.run.hops import expected_hops
from ..model.run.run import Prediction
from ..model.schedule.schedule import Schedule
from .style import FAINT, FAULT, INK, QUIET, STEPS

MOST_LANES = 1 << 10
"""Most links of a drawn run."""

_TALLEST, _TALL_LANE, _NAMED_LANE = 1000.0, 11.0, 5.5
"""Points: height of all lanes, of a lane among few, and the least of a lane with a name."""

_CYCLE, _NARROWEST, _WIDEST = 0.06, 8.0, 18.0
"""Inches: width of a cycle, and the least and the largest width of a picture."""

_BAR, _WAIT, _HELD = 0.72, 0.16, 0.32
"""Thickness of packets, waiting flits, and flits that are held up, as shares of a lane's height."""


def require_lanes(schedule: Schedule) -> None:
    """Raise :class:`.InvalidInput` for a schedule that uses more links than a picture has lanes."""
    if schedule.links_used > MOST_LANES:
        error = InvalidInput.of("links in a picture", f"at most {MOST_LANES}", schedule.links_used)
        raise error.between("", " (predict --report shows more)")


def draw_lanes(schedule: Schedule, program: AnyProgram, run: Prediction) -> Figure:
    """Draw the flits of a predicted run, each in the lane of its link and in its cycles."""
    trace, config = run.trace, program.config
    kept = trace.port != 0
    if isinstance(program, Program):
        followed = follow(program, trace, expected_hops(program))
    else:
        followed = follow_words(config, trace)
    line = (trace.node.astype(np.int64) * config.topology.ports + trace.port)[kept]
    lines, first = np.unique(line, return_index=True)
    in_time = np.argsort(trace.cycle[kept][first], kind="stable")
    lane = np.argsort(in_time)[np.searchsorted(lines, line)]
    count = len(lines)
    tall = min(_TALL_LANE, _TALLEST / max(count, 1))
    width = float(np.clip(run.cycles * _CYCLE, _NARROWEST, _WIDEST))
    figure = Figure(figsize=(width, count * tall / 72 + 1.2), layout="constrained", facecolor="w")
    axes = figure.add_subplot()
    _draw_flits(axes, program, run, followed, kept, lane, tall)
    _label(axes, program, run, lines[in_time], tall)
    waits = followed.stalled[kept].any()
    axes.set_xlabel(f"cycles{'; thin: waits behind its link, red: held up there' if waits else ''}")
    title = f"{schedule_title(schedule)}: {counted(run.cycles, 'cycle')}"
    axes.set_title(title, loc="left", weight="bold", color=INK, pad=16, wrap=True)
    return figure


def _draw_flits(
    axes: Axes,
    program: AnyProgram,
    run: Prediction,
    followed: Followed,
    kept: npt.NDArray[np.bool_],
    lane: Numbers,
    tall: float,
) -> None:
    """Draw packets as bars, and behind them the cycles in which their flits wait."""
    cycle, row = run.trace.cycle[kept], followed.row[kept]
    there = cycle + 1 + crossed_registers(program.config, run.trace)[kept]
    left = np.minimum(followed.left[kept], run.cycles)
    held = np.maximum(left - followed.stalled[kept], there)
    order = np.lexsort((cycle, row, lane))
    same = (np.diff(lane[order]) == 0) & (np.diff(row[order]) == 0) & (np.diff(cycle[order]) == 1)
    begins = order[np.flatnonzero(np.append(True, ~same))] if len(order) else order
    ends = order[np.flatnonzero(np.append(~same, True))] if len(order) else order
    colors = STEPS(np.full(len(begins), 0.25))
    if isinstance(program, Program):
        colors = STEPS((program.step[row[begins]] - 1) / max(1, program.steps - 1))
    for lanes, start, end, color, share in (
        (lane[begins], cycle[begins], there[ends], colors, _BAR),
        (lane, there, left, QUIET, _WAIT),
        (lane, held, left, FAULT, _HELD),
    ):
        drawn = end > start
        y, ends_of = lanes[drawn], (start[drawn], end[drawn])
        segments = np.stack([np.stack((x, y), axis=1) for x in ends_of], axis=1)
        shown = color[drawn] if isinstance(color, np.ndarray) else color
        axes.add_collection(
            LineCollection([*segments], colors=shown, linewidths=share * tall, capstyle="butt")
        )


def _label(axes: Axes, program: AnyProgram, run: Prediction, lines: Numbers, tall: float) -> None:
    """Name the lanes, if they are high enough, and mark the end of each step."""
    topology = program.config.topology
    axes.set_xlim(0, max(1, run.cycles))
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_yticks([])
    if tall >= _NAMED_LANE:
        ends = lines // topology.ports, topology.neighbor.ravel()[lines]
        nodes = zip(*(end.tolist() for end in ends), strict=True)
        names = [" → ".join(node_name(topology, node) for node in pair) for pair in nodes]
        axes.set_yticks(range(len(lines)), names)
    else:
        axes.set_ylabel(f"{len(lines):,} links, the first used on top")
    axes.tick_params(axis="y", length=0)
    axes.tick_params(colors=QUIET, labelsize=min(9.0, 0.85 * tall) if tall >= _NAMED_LANE else 9)
    axes.spines[["top", "right", "left"]].set_visible(False)
    begin = 0
    for step, end in enumerate(run.step_ends.tolist(), start=1):
        axes.axvline(end, color=FAINT, lw=1, zorder=0)
        color = STEPS((step - 1) / max(1, len(run.step_ends) - 1))
        if (end - begin) / run.cycles > 0.05:
            place = ((begin + end) / 2, 1)
            axes.annotate(
                f"step {step}",
                place,
                (0, 3),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="center",
                color=color,
            )
        begin = end
