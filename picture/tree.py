"""A broadcast as trees: the source on top, and below each node the nodes that it sends to.

Johnsson & Ho draw the spanning graphs of a cube this way. A message of several blocks that go
different ways has a tree for each way.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from ..model.base.arrays import Numbers
from ..model.base.errors import InvalidInput
from ..model.collectives.notes import schedule_title
from ..model.network.node_names import node_name
from ..model.schedule.schedule import Schedule
from .places import tree_points
from .style import INK, QUIET, STEPS

_MOST_TREES = 12
_CELL, _LETTER = 0.42, 0.085
"""Inches: distance of neighbours, and width of a letter."""


def draw_trees(schedule: Schedule) -> Figure:
    """Draw the trees of a schedule from its root; a line has the number of its step.

    Raises :class:`.InvalidInput` for a schedule without a root or whose sends are no trees, for
    more than twelve trees, and for a tree too wide to draw.
    """
    found = _trees(schedule)
    labels = [node_name(schedule.topology, node) for node in range(schedule.topology.nodes)]
    wide = max(_CELL, _LETTER * (2 + max(map(len, labels))))
    points = [tree_points(*_outwards(schedule, sends)) for sends in found]
    across = max(float(each[:, 0].max()) for each in points) + 2
    down = max(float(each[:, 1].max()) for each in points) + 1.6
    columns = 1 if across > 12 else min(2, len(found))
    rows = -(-len(found) // columns)
    size = (max(6.0, columns * wide * across), rows * 2 * _CELL * down + 0.6)
    figure = Figure(figsize=size, layout="constrained", facecolor="white")
    figure.suptitle(
        schedule_title(schedule), x=0.01, ha="left", weight="bold", color=INK, wrap=True
    )
    for number, (sends, places) in enumerate(zip(found, points, strict=True)):
        axes = figure.add_subplot(rows, columns, number + 1)
        if len(found) > 1:
            axes.set_title(f"tree {number + 1}", loc="left", color=QUIET, size="medium")
        _draw(axes, schedule, sends, places, labels)
    return figure


def _trees(schedule: Schedule) -> list[Numbers]:
    """Return the sends of each different tree, in the order of blocks."""
    if schedule.root is None:
        allowed = "one with a root, such as a broadcast, to be drawn as trees"
        raise InvalidInput.of("collective", allowed, schedule.collective)
    every = schedule.block_sends, schedule.block_ids
    found = {
        tuple(every[0][every[1] == block].tolist()): None for block in range(len(schedule.blocks))
    }
    trees = [np.array(sends, dtype=np.int64) for sends in found if sends]
    if len(trees) > _MOST_TREES:
        raise InvalidInput.of("trees of a drawn schedule", f"at most {_MOST_TREES}", len(trees))
    return trees


def _outwards(schedule: Schedule, sends: Numbers) -> tuple[list[int], list[int]]:
    """Return the nodes from the root outwards, and the parent of each node."""
    parents = [-1] * schedule.topology.nodes
    order = [schedule.root or 0]
    for send in sends[np.argsort(schedule.step[sends], kind="stable")].tolist():
        source, target = int(schedule.source[send]), int(schedule.target[send])
        if target in order or source not in order:
            allowed = "a tree from its root to each node"
            raise InvalidInput.of("sends of a block drawn as a tree", allowed, f"to node {target}")
        parents[target] = source
        order.append(target)
    if len(order) < len(parents):
        raise InvalidInput.of("nodes of a drawn tree", "all of the network", len(order))
    return order, parents


def _draw(
    axes: Axes, schedule: Schedule, sends: Numbers, points: Any, labels: Sequence[str]
) -> None:
    """Draw one tree: lines in the colours of steps, then names, then the numbers of the steps."""
    ends = np.stack((points[schedule.source[sends]], points[schedule.target[sends]]), axis=1)
    colors = STEPS((schedule.step[sends] - 1) / max(1, schedule.steps - 1))
    axes.add_collection(LineCollection([*ends], colors=colors, lw=1.5, zorder=1))
    middle: dict[str, Any] = {"ha": "center", "va": "center"}
    box = {"boxstyle": "round,pad=0.25", "fc": "white", "ec": INK, "lw": 0.8}
    for node, (x, y) in enumerate(points):
        bold = "bold" if node == schedule.root else "normal"
        axes.text(x, y, labels[node], color=INK, size="small", weight=bold, bbox=box, **middle)
    blank = {"boxstyle": "circle,pad=0.1", "fc": "white", "ec": "none"}
    for end, color, step in zip(ends, colors, schedule.step[sends].tolist(), strict=True):
        x, y = 0.35 * end[0] + 0.65 * end[1]
        axes.text(x, y, str(step), color=color, size="x-small", bbox=blank, **middle)
    axes.set(xlim=(-0.9, points[:, 0].max() + 0.9), ylim=(points[:, 1].max() + 0.7, -0.7))
    axes.set_axis_off()
