"""Pictures of the items of a paper: schedules, maps, lines and trees."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..model.collectives.cube.spanning_graphs import SpanningTree
from ..model.papers.items.item import Lines, Maps, Picture, Sends, Trees
from .maps import draw_maps
from .schedule import draw_schedule
from .style import FAINT, INK, QUIET, STEPS


def draw_picture(picture: Picture) -> Figure:
    """Draw any picture of an item; raises :class:`.InvalidInput` if it is too large."""
    if isinstance(picture, Sends):
        return draw_schedule(picture.schedule, marked=picture.marked)
    if isinstance(picture, Maps):
        return draw_maps(picture)
    return draw_lines(picture) if isinstance(picture, Lines) else draw_trees(picture)


def draw_lines(picture: Lines) -> Figure:
    """Draw lines with a legend; in an SVG of the figure line *i* has the id ``line-i``."""
    figure = Figure(figsize=(6.4, 4.6), layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    axes.set_title(picture.title, loc="left", size="medium", weight="bold", color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=QUIET, alpha=0.2)
    shades = STEPS(np.linspace(0, 1, len(picture.lines)))
    # Draw earlier lines wider, so that coinciding lines are all visible.
    for number, (name, values) in enumerate(picture.lines.items()):
        width = 1.5 + max(0, 2 - number)
        style: dict[str, Any] = {"marker": "o", "ms": 3 + width, "lw": width, "label": name}
        axes.plot(picture.along, values, color=shades[number], gid=f"line-{number}", **style)
    axes.set_xlabel(picture.across)
    axes.set_ylabel(picture.upwards)
    if picture.log:
        axes.set_xscale("log", base=picture.log)
    if len(picture.along) < 10:
        axes.set_xticks(list(picture.along), [f"{each:g}" for each in picture.along])
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    return figure


_CELL, _LEVEL = 0.34, 0.75
"""Inches between two leaves, and between two levels."""


def draw_trees(picture: Trees) -> Figure:
    """Draw each tree from its root to the right, nodes by their addresses, links by a label.

    The label of a link is its dimension unless ``picture.labels`` has another. In an SVG of the
    figure node *v* of tree *j* has the id ``node-j-v``.
    """
    trees, n = picture.graph.trees, picture.graph.dimension
    rows = [_rows(tree) for tree in trees]
    columns = min(len(trees), 3 if n < 5 else 2)
    down = -(-len(trees) // columns)
    height = max(max(each.values()) for each in rows) + 1
    across = max(tree.height for tree in trees)
    size = columns * (_LEVEL * across + 0.09 * n + 0.8), down * (_CELL * height + 0.5) + 0.5
    figure = Figure(figsize=size, layout="constrained", facecolor="white")
    figure.suptitle(picture.title, x=0.01, ha="left", weight="bold", color=INK)
    grid = figure.subplots(down, columns, squeeze=False).ravel()
    for axes in grid:
        axes.set_axis_off()
    for number, (tree, places) in enumerate(zip(trees, rows, strict=True)):
        axes = grid[number]
        axes.set_xlim(-0.5, across + 0.5)
        axes.set_ylim(height - 0.5, -0.5)
        labels = picture.labels[number] if picture.labels else {}
        _draw_tree(axes, tree, places, n, labels, number)
    return figure


def _rows(tree: SpanningTree) -> dict[int, float]:
    """Return the row of each node: leaves one below the other, a parent in the middle."""
    rows: dict[int, float] = {}
    leaves = 0

    def place(node: int) -> float:
        nonlocal leaves
        below = [
            node ^ 1 << d for d in range(tree.nodes.bit_length()) if tree.children[node] >> d & 1
        ]
        if below:
            found = [place(child) for child in below]
            rows[node] = (found[0] + found[-1]) / 2
        else:
            rows[node] = float(leaves)
            leaves += 1
        return rows[node]

    place(tree.root)
    return rows


def _draw_tree(
    axes: Axes,
    tree: SpanningTree,
    rows: Mapping[int, float],
    n: int,
    labels: Mapping[int, str],
    number: int,
) -> None:
    shades = STEPS(np.linspace(0, 1, n))
    box = {"boxstyle": "round,pad=0.2", "fc": "white", "ec": FAINT}
    small: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 3}
    for node, row in rows.items():
        level = int(tree.level[node])
        if node != tree.root:
            dimension, above = int(tree.dimension[node]), rows[int(tree.parent[node])]
            color = shades[dimension]
            axes.plot((level - 1, level), (above, row), color=color, lw=1.4, zorder=1)
            text = labels.get(node, str(dimension))
            middle = level - 0.42, above + 0.58 * (row - above)
            white = {"boxstyle": "round,pad=0.05", "fc": "white", "ec": "none"}
            axes.text(*middle, text, color=color, size=7, bbox=white, **small)
        axes.text(
            level, row, f"{node:0{n}b}", size=7, bbox=box, gid=f"node-{number}-{node}", **small
        )
