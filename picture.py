"""Schedules as pictures: the mesh, and who sends to whom in which step.

::

    title
      0 1 2 3 4 5 6 7 x    step 1   step 2    Left, all steps at once: a node has the colour and
    0 +-------------+      +----+   +----+    the number of the step that reaches it. Right, one
    1 |             |      +----+   +----+    small panel for each step, which are the legend of
    2 |  all steps  |      step 3   step 4    the colours. Where they would be too many or too
    3 |             |      +----+   +----+    small, a plain legend is in their place. As in the
    y +-------------+      +----+   +----+    papers, y grows downwards.
      source  eye

Here is the page: where the panels lie, and the words around them. What is in a panel is drawn in
``picture_panel.py``.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .model.errors import InvalidInput
from .model.files import write_bytes_atomically
from .model.schedule import Schedule
from .model.topology import Topology
from .picture_panel import (
    EYE,
    EYE_LINE,
    EYE_WHITE,
    INK,
    LARGEST_NUMBERED_SIDE,
    QUIET,
    Drawing,
    draw_panel,
    is_numbered,
    link_ends,
    text_color,
)

LARGEST_SIDE = 64
"""Longest side that is drawn; beyond it nodes and arrows are too small to see."""

_MOST_PANELS = 8
_MOST_LEGEND_STEPS = 12


def draw_schedule(schedule: Schedule, *, marked: Sequence[int] = ()) -> Figure:
    """Draw ``schedule`` on its mesh, with an eye around each of the nodes ``marked``.

    In an SVG of the figure the arrow of send *i* has the id ``send-i``, the eye around node *n*
    ``eye-n``. Raises :class:`InvalidInput` for a topology other than a line or a 2-D mesh, a side
    longer than ``LARGEST_SIDE``, and a marked node outside.
    """
    width, height = _drawable_sides(schedule.topology)
    rows, columns = _panel_grid(schedule)

    # From here to the panels, points: the larger the mesh, the larger the page and its text.
    cell = min(96.0, 180 / np.sqrt(max(width, height)))
    font = 6 + max(width, height) * cell / 100
    left, top, gap = 3 * font, 5.5 * font, 2.5 * font
    small = (cell * height - (rows - 1) * gap) / (max(rows, 1) * height)
    beside = left + cell * width + gap
    pitch = max(small * width, 11 * font) + 0.7 * gap
    title = _title(schedule)
    drawing = Drawing.of(schedule, marked, cell)
    legend = _legend(drawing, cell, steps=not rows)
    below = 3 * font if rows else max(3 * font, 1.7 * font * (len(legend) + 1) - cell * height)
    right = max(columns * pitch, 14 * font)
    page_width = max(beside + right, 0.85 * font * len(title) + 2 * left)
    page = np.array([page_width, top + cell * height + below])
    figure = Figure(figsize=(page[0] / 72, page[1] / 72), facecolor="white")

    def panel(x: float, y: float, cell: float, step: int | None) -> Axes:
        sides = np.array([cell * width, cell * height])
        axes = figure.add_axes((*((x, page[1] - y - sides[1]) / page), *(sides / page)))
        draw_panel(axes, drawing, cell, step)
        return axes

    where = (left / page[0], 1 - font / page[1])
    figure.text(*where, title, va="top", size=1.3 * font, weight="bold", color=INK)
    _label_axes(panel(left, top, cell, None), font)
    for step in range(1, schedule.steps + 1 if rows else 1):
        row, column = divmod(step - 1, columns)
        x, y = beside + column * pitch, top + row * (small * height + gap)
        _label_step(panel(x, y, small, step), drawing, step, font)
    loc, anchor = ("lower left", (left, 0)) if rows else ("upper left", (beside, page[1] - top))
    style = {"ncols": 3 if rows else 1, "frameon": False, "fontsize": font}
    figure.legend(handles=legend, loc=loc, bbox_to_anchor=anchor / page, **style)
    return figure


def save_picture(figure: Figure, path: str | Path) -> None:
    """Write ``figure`` to ``path`` as the suffix says, ``.svg`` or ``.png``, whole or not at all.

    The same schedule gives the same bytes. Raises :class:`InvalidInput` for another suffix, and
    where the file cannot be written.
    """
    path = require_picture_suffix(path)
    picture = io.BytesIO()
    if path.suffix.lower() == ".svg":
        # Ids without a salt, and the date, would differ from run to run.
        with mpl.rc_context({"svg.hashsalt": "eyecast"}):
            figure.savefig(picture, format="svg", metadata={"Date": None})
    else:
        figure.savefig(picture, format="png", dpi=150)
    write_bytes_atomically(path, picture.getvalue())


def require_picture_suffix(path: str | Path) -> Path:
    """Return ``path`` if its suffix is one that :func:`save_picture` can write; refuse others."""
    path = Path(path)
    if path.suffix.lower() not in (".svg", ".png"):
        raise InvalidInput.of(f"suffix of picture {path}", ".svg or .png", path.suffix or "missing")
    return path


def _drawable_sides(topology: Topology) -> tuple[int, int]:
    """Return width and height of a line or a 2-D mesh, and refuse any other topology."""
    if len(topology.dims) <= 2 and max(topology.dims) > LARGEST_SIDE:
        sides = "x".join(str(side) for side in topology.dims)
        raise InvalidInput.of("sides of a drawn mesh", f"at most {LARGEST_SIDE}", sides)
    # A link that does not join neighbours on the grid, as that round a torus, is no straight line.
    if (
        len(topology.dims) > 2
        or (np.abs(np.diff(link_ends(topology), axis=1)).sum(axis=2) != 1).any()
    ):
        raise InvalidInput.of("drawn topology", "a line or a 2-D mesh", f"a {topology.label}")
    width, height = (*topology.dims, 1)[:2]
    return width, height


def _panel_grid(schedule: Schedule) -> tuple[int, int]:
    """Return rows and columns of the panels for single steps, (0, 0) where they would not do."""
    width, height = (*schedule.topology.dims, 1)[:2]
    longest = min(LARGEST_NUMBERED_SIDE, 2 * min(width, height))
    if max(width, height) > longest or not 2 <= schedule.steps <= _MOST_PANELS:
        return 0, 0
    columns = 1 if schedule.steps <= 3 else 2
    return -(-schedule.steps // columns), columns


def _title(schedule: Schedule) -> str:
    origin = "" if schedule.root is None else f" from {_name(schedule.topology, schedule.root)}"
    what = f"{schedule.topology.label}, {schedule.algorithm} {schedule.collective}{origin}"
    return f"{what}: {_counted(schedule.steps, 'step')}, TCD {schedule.tcd}"


def _name(topology: Topology, node: int) -> str:
    return "(" + ",".join(str(c) for c in topology.coordinates(node)) + ")"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _label_axes(axes: Axes, font: float) -> None:
    for axis, sides in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        nodes = round(max(sides) + 0.5)
        axis.set_ticks(range(0, nodes, 1 if nodes <= LARGEST_NUMBERED_SIDE else 4))
    axes.xaxis.tick_top()
    axes.tick_params(length=0, pad=2, colors=QUIET, labelsize=0.9 * font)
    style: dict[str, Any] = {"color": QUIET, "size": 0.9 * font, "style": "italic"}
    style |= {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate("x", (1, 1), xytext=(0, 2), ha="center", va="bottom", **style)
    axes.annotate("y", (0, 0), xytext=(-2, 0), ha="right", va="center", **style)


def _label_step(axes: Axes, drawing: Drawing, step: int, font: float) -> None:
    color = drawing.colors[step - 1]
    sends = _counted(int(drawing.schedule.sends_per_step[step - 1]), "send")
    pill = {"boxstyle": "round,pad=0.3,rounding_size=0.6", "fc": color, "ec": "none"}
    bold: dict[str, Any] = {"color": text_color(color), "weight": "bold", "bbox": pill}
    style: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    style["size"] = font
    axes.annotate(f"step {step}", (0, 1), xytext=(0.6 * font, 0.4 * font), **bold, **style)
    axes.annotate(sends, (0, 1), xytext=(5.2 * font, 0.4 * font), color=QUIET, **style)


def _legend(drawing: Drawing, cell: float, *, steps: bool) -> list[Line2D]:
    """Return the entries for nodes and, if asked for, steps: some of them if they are many."""
    schedule = drawing.schedule
    entries = []

    def entry(label: str, **style: Any) -> None:
        entries.append(Line2D([], [], label=label, **style))

    if schedule.root is not None:
        source = f"source {_name(schedule.topology, schedule.root)}"
        entry(source, ls="", marker="o", ms=9, color=INK)
    if drawing.marked:
        entry("eye", ls="", marker=EYE, ms=18, mfc=EYE_WHITE, mec=EYE_LINE)
    if schedule.sends and is_numbered(schedule.topology):
        entry("reached in step n", ls="", marker="$n$", ms=7, color=INK)
    some = min(schedule.steps, _MOST_LEGEND_STEPS) if steps else 0
    for i in np.linspace(0, schedule.steps - 1, some).round().astype(int):
        sends = _counted(int(schedule.sends_per_step[i]), "send")
        line = max(drawing.widths[i] * cell, 1.5)
        entry(f"step {i + 1}: {sends}", color=drawing.colors[i], lw=line)
    return entries
