"""One panel of a picture: the mesh, its nodes, and the sends as arrows along their paths.

Sends that share a link, in whatever steps, run side by side in *lanes*, as the lines of a metro map
do. Lengths are in cells (a cell is the distance of two neighbouring nodes) or, where it says so, in
points.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import FancyArrowPatch, PathPatch
from matplotlib.path import Path as Curve

from .model.errors import require_range
from .model.schedule import Schedule
from .model.topology import NO_LINK, Topology

LARGEST_NUMBERED_SIDE = 16
"""Longest side of a mesh whose nodes bear a number."""

INK, QUIET, _HOLDER, _FAINT = "#1b1b2f", "#6f7183", "#9a9cae", "#d9dbe3"
EYE_LINE, EYE_WHITE = "#0b7a75", "#e2f3f1"
_NODE_RADIUS, _BEND_RADIUS, _OUTERMOST_LANE = 0.2, 0.42, 0.155
_LINK_WIDTH, _LAST_WIDTH = 0.02, 0.026
EYE = Curve(
    [(-0.46, 0), (0, -0.57), (0.46, 0), (0, 0.57), (-0.46, 0), (-0.46, 0)],
    [Curve.MOVETO, *4 * [Curve.CURVE3], Curve.CLOSEPOLY],
)


@dataclass(frozen=True)
class Drawing:
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
    def of(cls, schedule: Schedule, marked: Sequence[int], cell: float) -> Drawing:
        """What is the same in all panels of ``schedule``; ``cell``, in points, is the largest's.

        Raises :class:`InvalidInput` for a marked node outside.
        """
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


def draw_panel(axes: Axes, drawing: Drawing, cell: float, step: int | None) -> None:
    """Draw the mesh and the sends of ``step``, None for all; a cell is ``cell`` points."""
    schedule = drawing.schedule
    width, height = drawing.points.max(axis=0) + 0.5
    axes.set(xlim=(-0.5, width), ylim=(height, -0.5), xticks=[], yticks=[])
    axes.patch.set_visible(False)
    axes.spines[:].set_visible(False)
    links = link_ends(schedule.topology)
    axes.add_collection(LineCollection(list(links), colors=_FAINT, lw=_LINK_WIDTH * cell, zorder=1))
    for node in drawing.marked:
        eye = PathPatch(Curve(EYE.vertices + drawing.points[node], EYE.codes), zorder=2)
        eye.set(fc=EYE_WHITE, ec=EYE_LINE, lw=0.03 * cell)
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


def _curve(drawing: Drawing, send: int, lane: float) -> Curve:
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


def _draw_nodes(axes: Axes, drawing: Drawing, cell: float, step: int | None) -> None:
    """Draw the nodes: in a panel for one step, those not yet reached are mere dots."""
    points, reached, root = drawing.points, drawing.reached, drawing.schedule.root
    colors = np.array([_HOLDER, *drawing.colors])[reached]
    waiting = np.zeros(reached.size, dtype=bool)
    if step is not None:
        colors[reached < step] = _HOLDER
        waiting = (reached > step) | (reached == 0)
    if root is not None:
        colors[root], waiting[root] = INK, False

    def discs(nodes: Any, radius: float, zorder: float, **style: Any) -> None:
        x, y = points[nodes].T
        axes.scatter(x, y, s=(2 * radius * cell) ** 2, zorder=zorder, **style)

    discs([] if root is None else [root], 0.27, 2.5, c="white", ec=INK, lw=0.03 * cell)
    discs(waiting, 0.08, 2, c=_FAINT, lw=0)
    discs(~waiting, _NODE_RADIUS, 5, c=colors[~waiting], ec="white", lw=_LINK_WIDTH * cell)
    if step is None and is_numbered(drawing.schedule.topology):
        font: dict[str, Any] = {"size": 0.17 * cell, "weight": "bold", "zorder": 6}
        for node, (x, y) in enumerate(points):
            label = "S" if node == root else str(reached[node] or "")
            ink = text_color(colors[node])
            axes.text(x, y, label, color=ink, ha="center", va="center_baseline", **font)


def _points(topology: Topology) -> npt.NDArray[np.float64]:
    """Return x and y of all nodes, shape (nodes, 2); on a line, y is 0."""
    points = np.zeros((topology.nodes, 2))
    points[:, : len(topology.dims)] = topology.coordinates(np.arange(topology.nodes))
    return points


def link_ends(topology: Topology) -> npt.NDArray[np.float64]:
    """Return x and y of both ends of every link, once for both directions, shape (links, 2, 2)."""
    nodes, ports = np.nonzero(topology.neighbor != NO_LINK)
    ends = np.sort(np.stack((nodes, topology.neighbor[nodes, ports]), axis=1), axis=1)
    low, high = np.unique(ends, axis=0).T
    points = _points(topology)
    return np.stack((points[low], points[high]), axis=1)


def is_numbered(topology: Topology) -> bool:
    """Return whether the nodes of a mesh of this size bear a number."""
    return max(topology.dims) <= LARGEST_NUMBERED_SIDE


def text_color(background: str) -> str:
    """Return the dark or the light colour, whichever can be read on ``background``."""
    luminance = np.dot(mpl.colors.to_rgb(background), (0.3, 0.59, 0.11))
    return INK if luminance > 0.55 else "white"
