"""Schedules as pictures: the network, and who sends to whom in which step.

::

    title
      0 1 2 3 4 5 6 7 x    step 1   step 2    Left, all steps at once: a node has the colour and
    0 +-------------+      +----+   +----+    the number of the step that reaches it. Right, one
    1 |             |      +----+   +----+    small panel for each step, which are the legend of
    2 |  all steps  |      step 3   step 4    the colours. If panels would be too many or too
    3 |             |      +----+   +----+    small, a plain legend replaces them. As in the
    y +-------------+      +----+   +----+    papers, y grows downwards. A wide network has its
      source  eye                             panels below it.

This module places the panels and writes the texts around them; ``picture/panel.py`` draws a panel.
If all nodes are roots, nodes have no numbers.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from ..model.base.texts import counted
from ..model.collectives.notes import schedule_title
from ..model.network.chiplets import BETWEEN
from ..model.network.node_names import node_name
from ..model.network.topology import UNSAID, Topology
from ..model.schedule.schedule import Schedule
from .layers import draw_layers, layer_legend
from .panel import Drawing, draw_panel
from .places import Points, Ruler
from .style import (
    DISABLED,
    EYE,
    EYE_LINE,
    EYE_WHITE,
    FAULT,
    INK,
    LARGEST_NUMBERED_SIDE,
    LARGEST_NUMBERED_SPAN,
    QUIET,
    SLOW,
    SLOW_DASHES,
    SWITCH_LINE,
    text_color,
)

_MOST_PANELS = 30
_MOST_LEGEND_STEPS = 12
_WIDE = 2
_LETTER, _PILL, _HANDLE = 0.62, 9, 7
"""Width of a letter in font sizes; letters that a step's pill, and a legend's handle, are wide."""
_NAME = 0.34
_SIDES, _ENDS = ("center", "left", "right"), ("center", "top", "bottom")


def draw_schedule(
    schedule: Schedule, *, marked: Sequence[int] = (), layers: Sequence[str] = ()
) -> Figure:
    """Draw ``schedule`` on its network, with an eye around each of the nodes ``marked``.

    ``layers`` are names of :data:`.LAYERS`, drawn under the sends of all steps.
    In an SVG of the figure the arrow of send *i* has the id ``send-i``, the eye around node *n*
    ``eye-n``. Raises :class:`.InvalidInput` for a network too large to draw
    (:func:`~.places.require_drawable`), and for a marked node outside the network.
    """
    drawing = Drawing.of(schedule, marked)
    layered = layer_legend(schedule.topology, layers)
    page = _Page.of(drawing, [str(entry.get_label()) for entry in layered])
    font = page.font
    figure = Figure(figsize=(page.size[0] / 72, page.size[1] / 72), facecolor="white")

    def panel(corner: Points, cell: float, step: int | None) -> Axes:
        sides = cell * (drawing.high - drawing.low)
        place = (corner[0], page.size[1] - corner[1] - sides[1])
        axes = figure.add_axes((*(place / page.size), *(sides / page.size)))
        draw_panel(axes, drawing, cell, step)
        return axes

    where = (page.left / page.size[0], 1 - font / page.size[1])
    figure.text(*where, "\n".join(page.title), va="top", size=1.3 * font, weight="bold", color=INK)
    whole = panel(page.whole, drawing.cell, None)
    draw_layers(whole, schedule.topology, drawing.places.points, layers, drawing.cell)
    _label_axes(whole, drawing, font)
    for step, corner in enumerate(page.panels, start=1):
        _label_step(panel(corner, page.small, step), drawing, step, font)
    legend = [*layered, *_legend(drawing, steps=not page.panels)]
    loc, anchor = ("lower left", (page.left, 0)) if page.panels else ("upper left", page.beside)
    style = {"ncols": 3 if page.panels else 1, "frameon": False, "fontsize": font}
    figure.legend(handles=legend, loc=loc, bbox_to_anchor=anchor / page.size, **style)
    return figure


@dataclass(frozen=True)
class _Page:
    """Layout of the page, in points from its upper left corner, y down.

    ``whole`` and ``panels`` are the upper left corners of the drawings, ``small`` is the cell of
    the panels, ``title`` the lines of the title.
    """

    size: Points
    font: float
    left: float
    whole: Points
    panels: list[Points]
    small: float
    beside: Points
    title: list[str]

    @classmethod
    def of(cls, drawing: Drawing, layers: list[str]) -> _Page:
        """Return the page for ``drawing``; a larger network gets a larger page and text.

        The legend also has these texts of ``layers``.
        """
        cell, (width, height) = drawing.cell, drawing.high - drawing.low
        rows, columns = _panel_grid(drawing)
        font = 6 + max(width, height) * cell / 100
        gap = 2.5 * font
        outer = [ruler.direction for ruler in drawing.places.rulers if ruler.level]
        left, top = (3 + 1.7 * outer.count(1)) * font, (5.5 + 1.5 * outer.count(0)) * font
        name = max((len(ruler.name) for ruler in drawing.places.rulers), default=1)
        beside = left + cell * width + gap
        beside += 0.5 * font * (name - 1)
        entries = [str(entry.get_label()) for entry in _legend(drawing, steps=not rows)]
        legend = [*map(len, layers), *map(len, entries)]
        lines, letters = len(legend), _LETTER * font
        wide = rows > 0 and _is_wide(drawing)
        under = (_PILL + max(map(len, _all_sends(drawing.schedule)), default=0)) * letters
        if wide:
            small = (cell * width - (columns - 1) * gap) / (columns * width)
            right = beside
        else:
            small = (cell * height - (rows - 1) * gap) / (max(rows, 1) * height)
            across = max(small * width, under) + 0.7 * gap
            right = beside + (
                columns * across if rows else (_HANDLE + max(legend, default=0)) * letters
            )
        title = textwrap.wrap(_title(drawing.schedule), int((right - 2 * left) / (1.4 * letters)))
        top += 1.6 * font * (len(title) - 1)
        bottom = top + cell * height
        below = (
            max(2, 1.7 * -(-lines // 3) + 1) * font
            if rows
            else max(3 * font, 1.7 * font * (lines + 1) - cell * height)
        )
        if wide:
            corner = np.array([left, bottom + 1.3 * gap])
            pitch = np.array([small * width + gap, small * height + gap])
            bottom = corner[1] + rows * pitch[1] - gap
        else:
            corner = np.array([beside, top])
            pitch = np.array([across, small * height + gap])
        steps = range(drawing.schedule.steps if rows else 0)
        panels = [corner + pitch * (step % columns, step // columns) for step in steps]
        size = np.array([right, bottom + below])
        place = np.array([beside, size[1] - top])
        return cls(size, font, left, np.array([left, top]), panels, small, place, title)


def _is_wide(drawing: Drawing) -> bool:
    """Return whether panels lie below the drawing; a line needs only the legend."""
    width, height = drawing.high - drawing.low
    return bool(not drawing.places.is_plain and width > _WIDE * height)


def _panel_grid(drawing: Drawing) -> tuple[int, int]:
    """Return rows and columns of the panels for single steps; (0, 0) if they do not fit."""
    steps, (width, height) = drawing.schedule.steps, drawing.high - drawing.low
    plain = drawing.places.is_plain
    longest = LARGEST_NUMBERED_SPAN
    if plain:
        longest = min(LARGEST_NUMBERED_SIDE, 2 * min(width, height))
    if max(width, height) > longest or not 2 <= steps <= _MOST_PANELS:
        return 0, 0
    if not plain and height > _WIDE * width:
        return 2, -(-steps // 2)
    columns = 1 if steps <= 3 and not _is_wide(drawing) else max(2, round(np.sqrt(steps / 1.6)))
    return -(-steps // columns), columns


def _title(schedule: Schedule) -> str:
    steps = counted(schedule.steps, "step")
    return f"{schedule_title(schedule)}: {steps}, TCD {schedule.tcd}"


def _label_axes(axes: Axes, drawing: Drawing, font: float) -> None:
    """Write coordinates above and left of a grid, otherwise the names of nodes."""
    style: dict[str, Any] = {"color": QUIET, "size": 0.9 * font}
    for ruler in drawing.places.rulers:
        _label_ruler(axes, ruler, font, style)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, pad=2, colors=QUIET, labelsize=0.9 * font)
    style |= {"size": 0.15 * drawing.cell, "zorder": 7}
    style["path_effects"] = [withStroke(linewidth=2, foreground="white")]
    if max(drawing.high - drawing.low) <= LARGEST_NUMBERED_SPAN:
        for node, name in drawing.places.names.items():
            way = drawing.lines.free_way(node)
            x, y = drawing.places.points[node] + _NAME * way
            side, end = np.sign(np.where(np.abs(way) > 0.4, way, 0)).astype(int)
            axes.text(x, y, name, ha=_SIDES[side], va=_ENDS[end], **style)


def _label_ruler(axes: Axes, ruler: Ruler, font: float, style: dict[str, Any]) -> None:
    """Write the coordinates of one axis: the innermost as ticks, the others further outside."""
    across = ruler.direction == 0
    if ruler.level == 0:
        (axes.xaxis if across else axes.yaxis).set_ticks(ruler.at, ruler.texts)
        style = style | {"style": "italic", "xycoords": "axes fraction"}
        style |= {"textcoords": "offset points"}
        # A name longer than x or y would run into the coordinates.
        long = len(ruler.name) > 1
        if across:
            ha = "left" if long else "center"
            axes.annotate(ruler.name, (1, 1), xytext=(0, 2), ha=ha, va="bottom", **style)
        else:
            down, va = (-0.6 * font, "top") if long else (0, "center")
            axes.annotate(ruler.name, (0, 0), xytext=(-2, down), ha="right", va=va, **style)
        return
    away = 1.5 * font * ruler.level + (0.3 if across else 0.6) * font
    style = style | {"textcoords": "offset points", "ha": "center" if across else "right"}
    style |= {"va": "bottom" if across else "center", "rotation": 0 if across else 90}
    for at, text in zip(ruler.at, ruler.texts, strict=True):
        place = (at, 1) if across else (0, at)
        coords = ("data", "axes fraction") if across else ("axes fraction", "data")
        offset = (0, away) if across else (-away, 0)
        axes.annotate(text, place, xytext=offset, xycoords=coords, **style)


def _label_step(axes: Axes, drawing: Drawing, step: int, font: float) -> None:
    color = drawing.colors[step - 1]
    sends = _sends(drawing.schedule, step)
    pill = {"boxstyle": "round,pad=0.3,rounding_size=0.6", "fc": color, "ec": "none"}
    bold: dict[str, Any] = {"color": text_color(color), "weight": "bold", "bbox": pill}
    style: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    style["size"] = font
    axes.annotate(f"step {step}", (0, 1), xytext=(0.6 * font, 0.4 * font), **bold, **style)
    beside = (4.6 + 0.65 * len(str(step))) * font
    axes.annotate(sends, (0, 1), xytext=(beside, 0.4 * font), color=QUIET, **style)


def _sends(schedule: Schedule, step: int) -> str:
    """Return the text on the sends of a step: "8 sends", and whether they combine."""
    there = schedule.step == step
    combined = schedule.combine[there]
    which = "" if not combined.any() else ", combined" if combined.all() else ", some combined"
    return f"{counted(int(there.sum()), 'send')}{which}"


def _all_sends(schedule: Schedule) -> list[str]:
    """Return the texts on the sends of all steps."""
    return [_sends(schedule, step) for step in range(1, schedule.steps + 1)]


def _legend(drawing: Drawing, *, steps: bool) -> list[Line2D]:
    """Return the legend entries for nodes and, if asked, steps; only some of many steps."""
    schedule = drawing.schedule
    entries = []

    def entry(label: str, **style: Any) -> None:
        entries.append(Line2D([], [], label=label, **style))

    if schedule.root is not None:
        source = f"source {node_name(schedule.topology, schedule.root)}"
        entry(source, ls="", marker="o", ms=9, color=INK)
    if drawing.marked:
        entry("eye", ls="", marker=EYE, ms=18, mfc=EYE_WHITE, mec=EYE_LINE)
    if schedule.topology.switches:
        entry("switch, without an interface", ls="", marker="s", ms=8, mfc="white", mec=SWITCH_LINE)
    if schedule.topology.faulty_nodes:
        entry("faulty", ls="", marker="x", ms=8, mew=2, color=FAULT)
    if schedule.unserved:
        entry("disabled: works, gets nothing", ls="", marker="o", ms=9, mfc=DISABLED, mec=QUIET)
    if drawing.differing:
        entry(_differing(schedule.topology), color=SLOW, ls=SLOW_DASHES, lw=9)
    if schedule.sends and drawing.is_numbered:
        entry("reached in step n", ls="", marker="$n$", ms=7, color=INK)
    some = min(schedule.steps, _MOST_LEGEND_STEPS) if steps else 0
    for i in np.linspace(0, schedule.steps - 1, some).round().astype(int):
        sends = _sends(schedule, int(i) + 1)
        line = max(drawing.widths[i] * drawing.cell, 1.5)
        entry(f"step {i + 1}: {sends}", color=drawing.colors[i], lw=line)
    return entries


def _differing(topology: Topology) -> str:
    """Return latencies and rates of the links that differ: "latency 8, rate 4"."""
    texts = []
    tables = (topology.link_registers_of, 1), (topology.link_rate_of, 0)
    for name, (table, more) in zip(BETWEEN, tables, strict=True):
        if table is not None:
            said = table[table != UNSAID] + more
            low, high = int(said.min()), int(said.max())
            texts.append(f"{name} {low}" if low == high else f"{name} {low} to {high}")
    return ", ".join(texts)
