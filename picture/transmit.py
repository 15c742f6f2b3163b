"""A plan of the host as a picture: when each node has the message, and where the host sends.

::

    title
      3  2 (1) 2  3  3 (2) 3 (3)        A node has the colour and the number of the step in which
                                        it has the message. The host sends to ringed nodes. On a
    o host sends  step 1 ... step t     diagonal mesh each send covers a square: its ball.

Grids are drawn as grids, rows of a long line from top to bottom, trees from their root down or from
their centre outwards, and all other networks as a circle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ..model.base.errors import InvalidInput
from ..model.network.kinds import Drawing, drawing_of
from ..model.network.named_graphs import star_tree_size
from ..model.network.topology import Topology
from ..model.papers.transmit.plan import NOT_REACHED, Plan
from .places import link_pairs
from .style import INK, QUIET, text_color

LARGEST_DRAWN = 4096
"""Most nodes of a network that are drawn one by one."""

LARGEST_COVERING = 1024
"""Longest side of a diagonal mesh that is drawn; above 64, nodes have no numbers."""

_MOST_NUMBERED = 4096
_LINE_WIDTH = 32
_FAINT = "#d9dbe3"

_Points = npt.NDArray[np.float64]
_Nodes = npt.NDArray[np.int64]


def draw_transmit(plan: Plan) -> Figure:
    """Draw when each node has the message by ``plan``, and to which nodes the host sends when.

    In an SVG of the figure the number of node *n* has the id ``arrival-n``, and the mark of the
    send in step *i* (a ring, or the square of a diagonal mesh) the id ``send-i``. Raises
    :class:`InvalidInput` for more than :data:`LARGEST_DRAWN` nodes, a diagonal mesh with a side
    above :data:`LARGEST_COVERING`, and a plan that does not reach every node.
    """
    require_drawable(plan.topology)
    covering = _is_covering(plan.topology)
    colors, points = _Colors(plan.time), _layout(plan.topology)
    spans = np.ptp(points, axis=0) + 1
    cell = 8 / spans.max() if covering else float(np.clip(7.5 / spans.max(), 0.15, 0.6))
    size = np.maximum(cell * spans + (0.4, 1.4), (6, 2.2))
    figure = Figure(figsize=tuple(size), layout="constrained", facecolor="white")
    title = f"{plan.topology.label}, {plan.scheme}: t = {plan.time}, s = {plan.work}"
    figure.suptitle(title, x=0.01, ha="left", weight="bold", color=INK)
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_aspect("equal")
    low, high = points.min(axis=0) - 0.7, points.max(axis=0) + 0.7
    (_draw_covering if covering else _draw_network)(axes, plan, points, colors, 72 * cell)
    axes.set(xlim=(low[0], high[0]), ylim=(high[1], low[1]))
    bar = figure.colorbar(colors.mappable(), ax=axes, location="bottom", shrink=0.6, aspect=40)
    bar.set_ticks(range(1, plan.time + 1, -(-plan.time // 20)))
    bar.minorticks_off()
    bar.set_label("step in which a node has the message", color=QUIET)
    return figure


def _is_covering(topology: Topology) -> bool:
    """Return whether the squares of a covering are drawn."""
    return topology.kind == "diagonal-mesh" and topology.without_faults is None


def require_drawable(topology: Topology) -> None:
    """Raise :class:`InvalidInput` if a plan for ``topology`` is too large to draw."""
    covering = _is_covering(topology)
    if covering and topology.dims[0] > LARGEST_COVERING:
        allowed = f"at most {LARGEST_COVERING}"
        raise InvalidInput.of("side of a drawn diagonal mesh", allowed, topology.dims[0])
    if not covering and topology.nodes > LARGEST_DRAWN:
        allowed = f"at most {LARGEST_DRAWN}"
        raise InvalidInput.of("nodes of a drawn network", allowed, topology.nodes)


class _Colors:
    """A colour for each step, from dark to light."""

    def __init__(self, steps: int) -> None:
        shades = mpl.colormaps["plasma"](np.linspace(0.02, 0.86, steps))
        self.map = mpl.colors.ListedColormap(shades)
        self.norm = BoundaryNorm(np.arange(0.5, steps + 1), steps)
        self._steps = steps

    def of(self, step: int) -> str:
        """Return the colour of ``step``, in hex."""
        return str(mpl.colors.to_hex(self.map(self.norm(step))))

    def mappable(self) -> Any:
        """Return colours and range for a colour bar."""
        return mpl.cm.ScalarMappable(norm=self.norm, cmap=self.map)


def _draw_covering(axes: Axes, plan: Plan, points: _Points, colors: _Colors, cell: float) -> None:
    """Draw a diagonal mesh: a tile for each node, and the square that each send covers."""
    side = plan.topology.dims[0]
    tiles = plan.arrival.reshape(side, side)
    axes.imshow(tiles, cmap=colors.map, norm=colors.norm, interpolation="nearest", zorder=1)
    for step, node in plan.sends:
        reach = plan.time - step + 0.5
        corner = points[node] - reach
        square = Rectangle(tuple(corner), 2 * reach, 2 * reach, fill=False, zorder=2)
        square.set(ec="white", lw=max(0.6, 0.05 * cell), gid=f"send-{step}", clip_on=True)
        axes.add_patch(square)
    _number(axes, plan, points, colors, 0.42 * cell)


def _draw_network(axes: Axes, plan: Plan, points: _Points, colors: _Colors, cell: float) -> None:
    """Draw any other network: links, a disc for each node, a ring around the host's targets."""
    links = points[link_pairs(plan.topology)]
    axes.add_collection(LineCollection(list(links), colors=_FAINT, lw=0.03 * cell, zorder=1))
    area = (0.6 * cell) ** 2
    healthy = plan.arrival != NOT_REACHED
    x, y = points.T
    axes.scatter(x[~healthy], y[~healthy], s=area / 4, marker="x", c=QUIET, zorder=2)
    style: dict[str, Any] = {"cmap": colors.map, "norm": colors.norm, "lw": 0, "zorder": 3}
    axes.scatter(x[healthy], y[healthy], s=area, c=plan.arrival[healthy], **style)
    ring: dict[str, Any] = {"s": 2 * area, "fc": "none", "ec": INK, "lw": 0.05 * cell, "zorder": 2}
    for step, node in plan.sends:
        axes.scatter(x[node], y[node], **ring).set_gid(f"send-{step}")
    _number(axes, plan, points, colors, 0.3 * cell)


def _number(axes: Axes, plan: Plan, points: _Points, colors: _Colors, font: float) -> None:
    """Write on each node the step in which it has the message; bold if the host sends to it."""
    if plan.topology.nodes > _MOST_NUMBERED:
        return
    sent = {node: step for step, node in plan.sends if plan.arrival[node] == step}
    for node, step in enumerate(plan.arrival.tolist()):
        if step != NOT_REACHED:
            x, y = points[node]
            weight = "bold" if node in sent else "normal"
            style: dict[str, Any] = {"size": font, "weight": weight, "zorder": 4}
            style |= {"ha": "center", "va": "center_baseline", "color": text_color(colors.of(step))}
            axes.text(x, y, str(step), gid=f"arrival-{node}", **style)


def _layout(topology: Topology) -> _Points:
    """Place the nodes, a link about one unit long; x and y, downwards, (nodes, 2)."""
    return _DRAWINGS[drawing_of(topology)](topology, np.arange(topology.nodes))


def _row_points(_topology: Topology, nodes: _Nodes) -> _Points:
    """Place nodes in rows of alternating direction, so that row ends are neighbours."""
    row, place = nodes // _LINE_WIDTH, nodes % _LINE_WIDTH
    return np.stack((np.where(row % 2, _LINE_WIDTH - 1 - place, place), row), axis=1) * 1.0


def _grid_points(topology: Topology, nodes: _Nodes) -> _Points:
    """Place nodes at their coordinates."""
    points = np.zeros((topology.nodes, 2))
    points[:, : len(topology.dims)] = topology.coordinates(nodes)
    return points


def _ray_points(topology: Topology, nodes: _Nodes) -> _Points:
    """Place the arms of a star tree from its centre outwards."""
    arms, length = star_tree_size(topology)
    angle, away = 2 * np.pi * ((nodes - 1) // length) / arms, 1 + (nodes - 1) % length
    # Arms are as close to each other at their inner ends as nodes of an arm.
    return _around(angle, np.where(nodes == 0, 0, away + max(0, arms / (2 * np.pi) - 1)))


def _circle_points(_topology: Topology, nodes: _Nodes) -> _Points:
    """Place nodes on a circle, node 0 on top, clockwise."""
    return _around(2 * np.pi * nodes / len(nodes), np.full(len(nodes), len(nodes) / (2 * np.pi)))


def _around(angle: _Points, away: _Points) -> _Points:
    """Return points at an angle (clockwise from upwards) and a distance from the middle."""
    return np.stack((away * np.sin(angle), -away * np.cos(angle)), axis=1)


def _tree_points(_topology: Topology, nodes: _Nodes) -> _Points:
    """Place levels from top to bottom, a node above the middle of its children."""
    level = np.frexp(nodes + 1)[1] - 1
    lowest = int(level.max())
    width = 2.0 ** (lowest - level)
    place = nodes + 1 - (1 << level)
    return np.stack((width * (place + 0.5), 1.5 * level), axis=1)


_DRAWINGS: dict[Drawing, Callable[[Topology, _Nodes], _Points]] = {
    Drawing.CIRCLE: _circle_points,
    Drawing.GRID: _grid_points,
    Drawing.LEVELS: _tree_points,
    Drawing.RAYS: _ray_points,
    Drawing.ROWS: _row_points,
}
