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

An arrow follows its send's path. Sends that share a link, in whatever steps, run side by side in
*lanes*, as the lines of a metro map do. Lengths are in cells (a cell is the distance of two
neighbouring nodes) or, where it says so, in points.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, PathPatch
from matplotlib.path import Path as Curve

from .model.errors import InvalidInput, require_range
from .model.files import write_bytes_atomically
from .model.schedule import Schedule
from .model.topology import NO_LINK, Topology

LARGEST_SIDE = 64
"""Longest side that is drawn; beyond it nodes and arrows are too small to see."""

_LARGEST_NUMBERED_SIDE = 16
_MOST_PANELS = 8
_MOST_LEGEND_STEPS = 12

_INK, _QUIET, _HOLDER, _FAINT = "#1b1b2f", "#6f7183", "#9a9cae", "#d9dbe3"
_EYE_LINE, _EYE_WHITE = "#0b7a75", "#e2f3f1"
_NODE_RADIUS, _BEND_RADIUS, _OUTERMOST_LANE = 0.2, 0.42, 0.155
_LINK_WIDTH, _LAST_WIDTH = 0.02, 0.026
_EYE = Curve(
    [(-0.46, 0), (0, -0.57), (0.46, 0), (0, 0.57), (-0.46, 0), (-0.46, 0)],
    [Curve.MOVETO, *4 * [Curve.CURVE3], Curve.CLOSEPOLY],
)


@dataclass(frozen=True)
class _Drawing:
    """What all panels share; colours and widths are those of the steps, step 1 first.

    ``points`` is x and y of each node, shape (nodes, 2). ``reached`` is the first step in which it
    receives, 0 for never.
    """

    schedule: Schedule
    marked: Sequence[int]
    colors: list[str]
    widths: npt.NDArray[np.float64]
    points: npt.NDArray[np.float64]
    reached: npt.NDArray[np.int32]

    @classmethod
    def of(cls, schedule: Schedule, marked: Sequence[int], cell: float) -> _Drawing:
        for node in marked:
            require_range("marked node", node, 0, schedule.topology.nodes - 1)
        # From dark and bold to light and thin: the long first sends stand out of the many last
        # ones. The lightest colours of the map would vanish on white.
        shades = mpl.colormaps["plasma"](np.linspace(0.02, 0.82, schedule.steps))
        bold = min(max(3.2 / cell, 0.045), 0.09)
        reached = np.zeros(schedule.topology.nodes, dtype=np.int32)
        last_first = np.argsort(-schedule.step, kind="stable")
        reached[schedule.target[last_first]] = schedule.step[last_first]
        return cls(
            schedule=schedule,
            marked=marked,
            colors=[mpl.colors.to_hex(shade) for shade in shades],
            widths=np.linspace(bold, _LAST_WIDTH, schedule.steps),
            points=_points(schedule.topology),
            reached=reached,
        )


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
    drawing = _Drawing.of(schedule, marked, cell)
    legend = _legend(drawing, cell, steps=not rows)
    below = 3 * font if rows else max(3 * font, 1.7 * font * (len(legend) + 1) - cell * height)
    right = max(columns * pitch, 14 * font)
    page_width = max(beside + right, 0.85 * font * len(title) + 2 * left)
    page = np.array([page_width, top + cell * height + below])
    figure = Figure(figsize=(page[0] / 72, page[1] / 72), facecolor="white")

    def panel(x: float, y: float, cell: float, step: int | None) -> Axes:
        sides = np.array([cell * width, cell * height])
        axes = figure.add_axes((*((x, page[1] - y - sides[1]) / page), *(sides / page)))
        _draw_panel(axes, drawing, cell, step)
        return axes

    where = (left / page[0], 1 - font / page[1])
    figure.text(*where, title, va="top", size=1.3 * font, weight="bold", color=_INK)
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
    path = Path(path)
    if path.suffix.lower() not in (".svg", ".png"):
        raise InvalidInput.of(f"suffix of picture {path}", ".svg or .png", path.suffix or "missing")
    picture = io.BytesIO()
    if path.suffix.lower() == ".svg":
        # Ids without a salt, and the date, would differ from run to run.
        with mpl.rc_context({"svg.hashsalt": "eyecast"}):
            figure.savefig(picture, format="svg", metadata={"Date": None})
    else:
        figure.savefig(picture, format="png", dpi=150)
    write_bytes_atomically(path, picture.getvalue())


def _drawable_sides(topology: Topology) -> tuple[int, int]:
    """Return width and height of a line or a 2-D mesh, and refuse any other topology."""
    if len(topology.dims) <= 2 and max(topology.dims) > LARGEST_SIDE:
        sides = "x".join(str(side) for side in topology.dims)
        raise InvalidInput.of("sides of a drawn mesh", f"at most {LARGEST_SIDE}", sides)
    # A link that does not join neighbours on the grid, as that round a torus, is no straight line.
    if len(topology.dims) > 2 or (np.abs(np.diff(_links(topology), axis=1)).sum(axis=2) != 1).any():
        raise InvalidInput.of("drawn topology", "a line or a 2-D mesh", f"a {topology.label}")
    width, height = (*topology.dims, 1)[:2]
    return width, height


def _points(topology: Topology) -> npt.NDArray[np.float64]:
    """Return x and y of all nodes, shape (nodes, 2); on a line, y is 0."""
    points = np.zeros((topology.nodes, 2))
    points[:, : len(topology.dims)] = topology.coordinates(np.arange(topology.nodes))
    return points


def _links(topology: Topology) -> npt.NDArray[np.float64]:
    """Return both ends of every link, once for both directions, shape (links, 2, 2)."""
    nodes, ports = np.nonzero(topology.neighbor != NO_LINK)
    ends = np.sort(np.stack((nodes, topology.neighbor[nodes, ports]), axis=1), axis=1)
    low, high = np.unique(ends, axis=0).T
    points = _points(topology)
    return np.stack((points[low], points[high]), axis=1)


def _panel_grid(schedule: Schedule) -> tuple[int, int]:
    """Return rows and columns of the panels for single steps, (0, 0) where they would not do."""
    width, height = (*schedule.topology.dims, 1)[:2]
    longest = min(_LARGEST_NUMBERED_SIDE, 2 * min(width, height))
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


def _draw_panel(axes: Axes, drawing: _Drawing, cell: float, step: int | None) -> None:
    """Draw the mesh and the sends of ``step``, None for all; a cell is ``cell`` points."""
    schedule = drawing.schedule
    width, height = drawing.points.max(axis=0) + 0.5
    axes.set(xlim=(-0.5, width), ylim=(height, -0.5), xticks=[], yticks=[])
    axes.patch.set_visible(False)
    axes.spines[:].set_visible(False)
    links = _links(schedule.topology)
    axes.add_collection(LineCollection(list(links), colors=_FAINT, lw=_LINK_WIDTH * cell, zorder=1))
    for node in drawing.marked:
        eye = PathPatch(Curve(_EYE.vertices + drawing.points[node], _EYE.codes), zorder=2)
        eye.set(fc=_EYE_WHITE, ec=_EYE_LINE, lw=0.03 * cell)
        eye.set_gid(f"eye-{node}" if step is None else None)
        axes.add_patch(eye)
    sends = np.arange(schedule.sends) if step is None else np.flatnonzero(schedule.step == step)
    for send, lane in _lanes(schedule, sends).items():
        now = schedule.step[send] - 1
        line = max(drawing.widths[now] * cell, 0.8)
        arrow = FancyArrowPatch(
            path=_curve(drawing, send, lane),
            arrowstyle="-|>,head_length=0.4,head_width=0.18",
            mutation_scale=0.26 * cell + 2 * line,
            zorder=3 + 1 / (2 + now),
        )
        arrow.set(color=drawing.colors[now], lw=line, capstyle="butt", joinstyle="miter")
        arrow.set_gid(f"send-{send}" if step is None else None)
        axes.add_patch(arrow)
    _draw_nodes(axes, drawing, cell, step)


def _lanes(schedule: Schedule, sends: npt.NDArray[np.int64]) -> dict[int, float]:
    """Return how far beside the middle of its links each send runs, right or down.

    The last steps come first and take the middle, the many short arrows that make up the pattern.
    """
    taken: dict[frozenset[int], set[int]] = defaultdict(set)
    lanes = {}
    for send in sends[np.argsort(-schedule.step[sends], kind="stable")].tolist():
        first, last = schedule.path_offsets[send : send + 2]
        links = [frozenset(ends) for ends in pairwise(schedule.path_nodes[first:last].tolist())]
        occupied = {lane for link in links for lane in taken[link]}
        lane = next(lane for lane in count() if lane not in occupied)
        for link in links:
            taken[link].add(lane)
        # 0, 1, 2, 3, 4 are the middle and then -1, 1, -2, 2.
        lanes[send] = (lane + 1) // 2 * (-1) ** lane
    outermost = max(2, *map(abs, lanes.values()), 0)
    return {send: lane / outermost * _OUTERMOST_LANE for send, lane in lanes.items()}


def _curve(drawing: _Drawing, send: int, lane: float) -> Curve:
    """Return the path of ``send`` from rim to rim of its end nodes, with rounded corners."""
    first, last = drawing.schedule.path_offsets[send : send + 2]
    points = drawing.points[drawing.schedule.path_nodes[first:last]]
    ways = np.sign(np.diff(points, axis=0))
    # The lane moves the path aside, but its ends only across the way.
    points = points + lane
    rim = np.sqrt(_NODE_RADIUS**2 - lane**2)
    points[0] += ways[0] * rim - np.abs(ways[0]) * lane
    points[-1] -= ways[-1] * (rim + _LINK_WIDTH) + np.abs(ways[-1]) * lane
    vertices, codes = [points[0]], [Curve.MOVETO]
    for bend in 1 + np.flatnonzero((ways[1:] != ways[:-1]).any(axis=1)):
        before, after = points[bend] + _BEND_RADIUS * np.stack((-ways[bend - 1], ways[bend]))
        vertices += [before, points[bend], after]
        codes += [Curve.LINETO, Curve.CURVE3, Curve.CURVE3]
    return Curve([*vertices, points[-1]], [*codes, Curve.LINETO])


def _draw_nodes(axes: Axes, drawing: _Drawing, cell: float, step: int | None) -> None:
    """Draw the nodes: in a panel for one step, those not yet reached are mere dots."""
    points, reached, root = drawing.points, drawing.reached, drawing.schedule.root
    colors = np.array([_HOLDER, *drawing.colors])[reached]
    waiting = np.zeros(reached.size, dtype=bool)
    if step is not None:
        colors[reached < step] = _HOLDER
        waiting = (reached > step) | (reached == 0)
    if root is not None:
        colors[root], waiting[root] = _INK, False

    def discs(nodes: Any, radius: float, zorder: float, **style: Any) -> None:
        x, y = points[nodes].T
        axes.scatter(x, y, s=(2 * radius * cell) ** 2, zorder=zorder, **style)

    discs([] if root is None else [root], 0.27, 2.5, c="white", ec=_INK, lw=0.03 * cell)
    discs(waiting, 0.08, 2, c=_FAINT, lw=0)
    discs(~waiting, _NODE_RADIUS, 5, c=colors[~waiting], ec="white", lw=_LINK_WIDTH * cell)
    if step is None and _numbered(drawing.schedule.topology):
        font: dict[str, Any] = {"size": 0.17 * cell, "weight": "bold", "zorder": 6}
        for node, (x, y) in enumerate(points):
            label = "S" if node == root else str(reached[node] or "")
            ink = _text_color(colors[node])
            axes.text(x, y, label, color=ink, ha="center", va="center_baseline", **font)


def _numbered(topology: Topology) -> bool:
    return max(topology.dims) <= _LARGEST_NUMBERED_SIDE


def _text_color(background: str) -> str:
    """Return the dark or the light colour, whichever can be read on ``background``."""
    luminance = np.dot(mpl.colors.to_rgb(background), (0.3, 0.59, 0.11))
    return _INK if luminance > 0.55 else "white"


def _label_axes(axes: Axes, font: float) -> None:
    for axis, sides in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        nodes = round(max(sides) + 0.5)
        axis.set_ticks(range(0, nodes, 1 if nodes <= _LARGEST_NUMBERED_SIDE else 4))
    axes.xaxis.tick_top()
    axes.tick_params(length=0, pad=2, colors=_QUIET, labelsize=0.9 * font)
    style: dict[str, Any] = {"color": _QUIET, "size": 0.9 * font, "style": "italic"}
    style |= {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate("x", (1, 1), xytext=(0, 2), ha="center", va="bottom", **style)
    axes.annotate("y", (0, 0), xytext=(-2, 0), ha="right", va="center", **style)


def _label_step(axes: Axes, drawing: _Drawing, step: int, font: float) -> None:
    color = drawing.colors[step - 1]
    sends = _counted(int(drawing.schedule.sends_per_step[step - 1]), "send")
    pill = {"boxstyle": "round,pad=0.3,rounding_size=0.6", "fc": color, "ec": "none"}
    bold: dict[str, Any] = {"color": _text_color(color), "weight": "bold", "bbox": pill}
    style: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    style["size"] = font
    axes.annotate(f"step {step}", (0, 1), xytext=(0.6 * font, 0.4 * font), **bold, **style)
    axes.annotate(sends, (0, 1), xytext=(5.2 * font, 0.4 * font), color=_QUIET, **style)


def _legend(drawing: _Drawing, cell: float, *, steps: bool) -> list[Line2D]:
    """Return the entries for nodes and, if asked for, steps: some of them if they are many."""
    schedule = drawing.schedule
    entries = []

    def entry(label: str, **style: Any) -> None:
        entries.append(Line2D([], [], label=label, **style))

    if schedule.root is not None:
        source = f"source {_name(schedule.topology, schedule.root)}"
        entry(source, ls="", marker="o", ms=9, color=_INK)
    if drawing.marked:
        entry("eye", ls="", marker=_EYE, ms=18, mfc=_EYE_WHITE, mec=_EYE_LINE)
    if schedule.sends and _numbered(schedule.topology):
        entry("reached in step n", ls="", marker="$n$", ms=7, color=_INK)
    some = min(schedule.steps, _MOST_LEGEND_STEPS) if steps else 0
    for i in np.linspace(0, schedule.steps - 1, some).round().astype(int):
        sends = _counted(int(schedule.sends_per_step[i]), "send")
        line = max(drawing.widths[i] * cell, 1.5)
        entry(f"step {i + 1}: {sends}", color=drawing.colors[i], lw=line)
    return entries
