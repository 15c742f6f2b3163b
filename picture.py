"""Schedules as pictures: the mesh, and who sends to whom in which step.

::

    title
      x                        step 1   step 2      Left, all steps at once: a node has the colour
    y +-----------------+      +----+   +----+      and the number of the step that reaches it.
      |                 |      +----+   +----+
      |   all  steps    |      step 3   step 4      Right, one small panel for each step, up to
      |                 |      +----+   +----+      PANEL_STEPS; they are the legend of the colours.
      +-----------------+      +----+   +----+      Where they would be too small or too many, or
      source  eye                                   the mesh too long, a plain legend is there.

As in the papers, y grows downwards. An arrow follows its send's path. Sends that share a link, in
whatever steps, run side by side in *lanes*, as the lines of a metro map do. All lengths are in
cells, the distance of two neighbouring nodes, unless a name says points.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

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
"""Longest side that is drawn: beyond it a node is smaller than the line of its arrow."""

PANEL_STEPS = 8
PANEL_SIDE = NUMBERED_SIDE = 16

INK, QUIET, HELD, LINK = "#1b1b2f", "#6f7183", "#9a9cae", "#d9dbe3"
EYE_LINE, EYE_WHITE = "#0b7a75", "#e2f3f1"

NODE_RADIUS = 0.2
OUTERMOST_LANE = 0.155
BEND_RADIUS = 0.42
FIRST_WIDTH, LAST_WIDTH = 0.055, 0.026

_EYE = Curve(
    [(-0.46, 0), (0, -0.57), (0.46, 0), (0, 0.57), (-0.46, 0)],
    [Curve.MOVETO, Curve.CURVE3, Curve.CURVE3, Curve.CURVE3, Curve.CURVE3],
)

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Drawing:
    """What all panels share: colour and line width of each step, and the step that reaches a node.

    ``reached`` has shape (nodes,), 0 for nodes that receive nothing.
    """

    schedule: Schedule
    marked: tuple[int, ...]
    colors: list[str]
    widths: _Floats
    reached: npt.NDArray[np.int32]

    @classmethod
    def of(cls, schedule: Schedule, marked: Sequence[int]) -> _Drawing:
        # From dark to light: the long sends of the first steps stand out. The lightest colours of
        # the map would vanish on white.
        shades = mpl.colormaps["plasma"](np.linspace(0.02, 0.82, schedule.steps))
        reached = np.zeros(schedule.topology.nodes, dtype=np.int32)
        late_first = np.argsort(-schedule.step, kind="stable")
        reached[schedule.target[late_first]] = schedule.step[late_first]
        return cls(
            schedule=schedule,
            marked=tuple(marked),
            colors=[mpl.colors.to_hex(shade) for shade in shades],
            widths=np.linspace(FIRST_WIDTH, LAST_WIDTH, schedule.steps),
            reached=reached,
        )


def draw_schedule(schedule: Schedule, *, marked: Sequence[int] = ()) -> Figure:
    """Draw ``schedule`` on its mesh, with an eye around each of the nodes ``marked``.

    In the figure, and so in an SVG of it, the arrow of send *i* has the id ``send-i`` and the eye
    around node *n* ``eye-n``. Raises :class:`InvalidInput` for a topology that is no line or 2-D
    mesh, a side longer than ``LARGEST_SIDE``, and a marked node outside.
    """
    width, height = _drawable_sides(schedule.topology)
    for node in marked:
        require_range("marked node", node, 0, schedule.topology.nodes - 1)
    drawing = _Drawing.of(schedule, marked)
    cell = min(96.0, 180 / np.sqrt(max(width, height)))
    font = 6 + max(width, height) * cell / 100

    left, top, bottom, gap = 3 * font, 5.5 * font, 3 * font, 2.5 * font
    panels = _panel_grid(schedule)
    rows, columns = panels or (1, 1)
    small = (cell * height - (rows - 1) * gap) / (rows * height)
    pitch = max(small * width, 11 * font) + 0.7 * gap
    title = _title(schedule)
    page = (
        max(left + cell * width + columns * pitch + gap, 0.85 * font * len(title) + 2 * left),
        top + cell * height + bottom,
    )
    figure = Figure(figsize=(page[0] / 72, page[1] / 72), facecolor="white")

    def panel(x: float, y: float, cell: float, step: int | None) -> Axes:
        sides = (x, page[1] - y - cell * height, cell * width, cell * height)
        axes = figure.add_axes([side / page[axis % 2] for axis, side in enumerate(sides)])
        _draw_panel(axes, drawing, cell, step)
        return axes

    figure.text(
        left / page[0], 1 - font / page[1], title, va="top", size=1.3 * font, weight="bold",
        color=INK,
    )
    _label_axes(panel(left, top, cell, None), font)
    beside = left + cell * width + gap
    if panels:
        for step in range(1, schedule.steps + 1):
            row, column = divmod(step - 1, columns)
            x, y = beside + column * pitch, top + row * (small * height + gap)
            _label_step(panel(x, y, small, step), drawing, step, font)
        figure.legend(handles=_node_legend(drawing), loc="lower left", ncols=3, frameon=False, fontsize=font, labelcolor=INK,
          bbox_to_anchor=(left/page[0],0))
    else:
        figure.legend(handles=_node_legend(drawing)+_step_legend(drawing, cell), loc="upper left", frameon=False, fontsize=font, labelcolor=INK,
          bbox_to_anchor=(beside/page[0],1-top/page[1]))
    return figure


def save_picture(figure: Figure, path: str | Path) -> None:
    """Write ``figure`` to ``path``, as its suffix says: ``.svg`` or ``.png``, whole or not at all.

    The same schedule gives the same bytes. Raises :class:`InvalidInput` for another suffix and
    where the file cannot be written.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".svg", ".png"):
        raise InvalidInput.of(f"suffix of picture {path}", ".svg or .png", path.suffix or "missing")
    picture = io.BytesIO()
    if suffix == ".svg":
        # Without a salt the ids, and without None the date, differ from run to run.
        with mpl.rc_context({"svg.hashsalt": "eyecast"}):
            figure.savefig(picture, format="svg", metadata={"Date": None})
    else:
        figure.savefig(picture, format="png", dpi=150)
    write_bytes_atomically(path, picture.getvalue())


def _drawable_sides(topology: Topology) -> tuple[int, int]:
    """Return width and height in nodes of a mesh that can be drawn."""
    if len(topology.dims) not in (1, 2):
        raise InvalidInput.of("drawn topology", "a line or a 2-D mesh", f"a {topology.label}")
    if max(topology.dims) > LARGEST_SIDE:
        sides = "x".join(str(side) for side in topology.dims)
        raise InvalidInput.of("sides of a drawn mesh", f"at most {LARGEST_SIDE}", sides)
    ends = _links(topology)
    if (np.abs(ends[:, 0] - ends[:, 1]).sum(axis=1) != 1).any():
        raise InvalidInput.of("drawn topology", "a line or a 2-D mesh", f"a {topology.label}")
    width, height = (*topology.dims, 1)[:2]
    return width, height


def _points(topology: Topology, nodes: npt.ArrayLike) -> _Floats:
    """Return x and y of ``nodes``, shape (..., 2); y is 0 on a line."""
    points = topology.coordinates(nodes).astype(np.float64)
    return points if points.shape[-1] == 2 else np.stack((points[..., 0], 0 * points[..., 0]), -1)


def _links(topology: Topology) -> _Floats:
    """Return both ends of every link, shape (links, 2, 2)."""
    nodes, ports = np.nonzero(topology.neighbor != NO_LINK)
    return _points(topology, np.stack((nodes, topology.neighbor[nodes, ports]), axis=1))


def _panel_grid(schedule: Schedule) -> tuple[int, int] | None:
    """Return rows and columns of the panels of single steps, None where they would not do."""
    width, height = (*schedule.topology.dims, 1)[:2]
    long = max(width, height) > min(PANEL_SIDE, 2 * min(width, height))
    if long or not 2 <= schedule.steps <= PANEL_STEPS:
        return None
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
    """Draw the mesh with the sends of ``step``, None for all; a cell is ``cell`` points wide."""
    schedule = drawing.schedule
    width, height = (*schedule.topology.dims, 1)[:2]
    axes.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5), xticks=[], yticks=[])
    axes.patch.set_visible(False)
    axes.spines[:].set_visible(False)
    axes.add_collection(
        LineCollection(_links(schedule.topology), colors=LINK, linewidths=0.02 * cell, zorder=1)
    )
    for node in drawing.marked:
        eye = Curve(_EYE.vertices + _points(schedule.topology, node), _EYE.codes)
        gid = f"eye-{node}" if step is None else None
        axes.add_patch(
            PathPatch(eye, fc=EYE_WHITE, ec=EYE_LINE, linewidth=0.03 * cell, zorder=2, gid=gid)
        )
    chosen = np.flatnonzero(True if step is None else schedule.step == step) if step else np.arange(schedule.sends)
    lanes = _lanes(schedule, chosen)
    for send, lane in zip(chosen.tolist(), lanes, strict=True):
        now = int(schedule.step[send]) - 1
        w = drawing.widths[now]
        axes.add_patch(FancyArrowPatch(
            path=_curve(schedule, send, lane),
            arrowstyle="-|>,head_length=0.4,head_width=0.19",
            mutation_scale=(0.26 + 2 * w) * cell,
            linewidth=w * cell,
            color=drawing.colors[now],
            capstyle="butt", joinstyle="miter",
            zorder=3 + 1 / (2 + now),
            gid=f"send-{send}" if step is None else None,
        ))
    _draw_nodes(axes, drawing, cell, step)


def _lanes(schedule: Schedule, sends) -> _Floats:
    offsets = schedule.path_offsets
    taken = defaultdict(set)
    lanes = np.zeros(schedule.sends)
    for i in sorted(sends.tolist(), key=lambda i: -schedule.step[i]):
        p = schedule.path_nodes[offsets[i]:offsets[i+1]].tolist()
        links = [frozenset(l) for l in zip(p, p[1:])]
        used = set().union(*(taken[l] for l in links))
        lane = next(n for n in count() if n not in used)
        for l in links:
            taken[l].add(lane)
        lanes[i] = (lane + 1) // 2 * (-1) ** lane
    lanes = lanes[sends]
    return lanes * OUTERMOST_LANE / np.abs(lanes).max(initial=2)


def _curve(schedule: Schedule, send: int, lane: float) -> Curve:
    first, last = schedule.path_offsets[send : send + 2]
    points = _points(schedule.topology, schedule.path_nodes[first:last])
    ways = np.sign(np.diff(points, axis=0))
    points += lane
    back = np.sqrt(NODE_RADIUS**2 - lane**2)
    points[0] += ways[0] * back - np.abs(ways[0]) * lane
    points[-1] -= ways[-1] * (back + 0.02) + np.abs(ways[-1]) * lane
    vertices, codes = [points[0]], [Curve.MOVETO]
    for bend in 1 + np.flatnonzero((ways[1:] != ways[:-1]).any(axis=1)):
        corner = points[bend]
        vertices += [corner - BEND_RADIUS * ways[bend - 1], corner, corner + BEND_RADIUS * ways[bend]]
        codes += [Curve.LINETO, Curve.CURVE3, Curve.CURVE3]
    return Curve([*vertices, points[-1]], [*codes, Curve.LINETO])


def _draw_nodes(axes, drawing, cell, step):
    t = drawing.schedule.topology
    points = _points(t, np.arange(t.nodes))
    reached, root = drawing.reached, drawing.schedule.root
    colors = np.array([HELD, *drawing.colors])[reached]
    late = np.zeros(t.nodes, bool)
    if step is not None:
        colors[reached < step] = HELD
        late = (reached > step) | (reached == 0)
        colors[late] = LINK
    if root is not None:
        colors[root] = INK
        late[root] = False
        axes.scatter(*points[root], s=(2.7*NODE_RADIUS*cell)**2, facecolor="white", edgecolor=INK, lw=.03*cell, zorder=2.5)
    axes.scatter(*points[late].T, s=(.8*NODE_RADIUS*cell)**2, c=colors[late], lw=0, zorder=2)
    axes.scatter(*points[~late].T, s=(2*NODE_RADIUS*cell)**2, c=colors[~late], edgecolor="white", lw=.02*cell, zorder=5)
    if step is not None or max(t.dims) > NUMBERED_SIDE: return
    for node, (x, y) in enumerate(points):
        axes.text(x, y, "S" if node == root else str(reached[node] or ""), color=_text_color(colors[node]), ha="center", va="center_baseline", size=.17*cell, weight="bold", zorder=6)


def _text_color(background: str) -> str:
    """Return black or white, whichever can be read on ``background``."""
    red, green, blue = mpl.colors.to_rgb(background)
    return INK if 0.3 * red + 0.59 * green + 0.11 * blue > 0.55 else "white"


def _label_axes(axes, font):
    for axis, (a, b) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim()[::-1])):
        n = round(b - a)
        axis.set_ticks(range(0, n, 1 if n <= 16 else 4))
    axes.xaxis.tick_top()
    axes.tick_params(length=0, pad=2, colors=QUIET, labelsize=.9 * font)
    axes.annotate("x", (1, 1), xytext=(.4*font, 1*font), xycoords="axes fraction", textcoords="offset points", color=QUIET, size=font, style="italic", ha="center", va="center")
    axes.annotate("y", (0, 0), xytext=(-1*font, -.4*font), xycoords="axes fraction", textcoords="offset points", color=QUIET, size=font, style="italic", ha="center", va="center")


def _label_step(axes, drawing, step, font):
    color = drawing.colors[step - 1]
    sends = drawing.schedule.sends_per_step[step - 1]
    axes.annotate(f"step {step}", (0, 1), xytext=(.6*font, .3*font), xycoords="axes fraction", textcoords="offset points", color=_text_color(color), size=font, weight="bold", va="bottom", bbox={"boxstyle": "round,pad=0.3,rounding_size=0.6", "fc": color, "ec": "none"})
    axes.annotate(_counted(sends, "send"), (0, 1), xytext=(5.2*font, .3*font), xycoords="axes fraction", textcoords="offset points", color=QUIET, size=font, va="bottom")


def _node_legend(drawing):
    schedule = drawing.schedule
    hs = []
    if schedule.root is not None:
        hs.append(Line2D([], [], ls="", marker="o", ms=9, color=INK, label=f"source {_name(schedule.topology, schedule.root)}"))
    if drawing.marked:
        hs.append(Line2D([], [], ls="", marker=_EYE, ms=16, mfc=EYE_WHITE, mec=EYE_LINE, label="eye"))
    if max(schedule.topology.dims) <= NUMBERED_SIDE and schedule.sends:
        hs.append(Line2D([], [], ls="", marker="$n$", ms=7, color=INK, label="reached in step n"))
    return hs


def _step_legend(drawing, cell):
    shown = np.unique(np.linspace(1, len(drawing.colors), 12).astype(int)) if drawing.colors else []
    return [Line2D([], [], color=drawing.colors[s-1], lw=max(1.5, drawing.widths[s-1]*cell), label=f"step {s}: {_counted(drawing.schedule.sends_per_step[s-1], 'send')}") for s in shown]
