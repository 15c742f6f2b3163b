"""Meshes side by side as maps: each node coloured by its number.

::

    title
    name           name           name            In three dimensions a row of maps has the planes
    +---------+    +---------+    +---------+     z = 0, 1, ... Maps without a 0 share one scale of
    | x ->    |    |         |    |         |     colours. Eyes have the mark of an eye, other nodes
    | y       |    |         |    |         |     that stand out a circle. Squares are outlines.
    +---------+    +---------+    +---------+
"""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from ..model.base.errors import InvalidInput
from ..model.papers.items.item import Grid, Maps
from .style import EYE, EYE_WHITE, INK, QUIET, STEPS, text_color

LARGEST_MAP = 1024
"""Longest side of a map."""

MOST_MAPS = 40
"""Most maps of a picture."""

_MAP_INCHES, _WHOLE_INCHES = 3.2, 8.0
"""Width of a map beside others, and of a single one."""

_SMALLEST_NUMBERED, _SMALLEST_MARK = 7.0, 8.0
"""Points of the smallest node with a number, and of the smallest mark."""


def draw_maps(picture: Maps) -> Figure:
    """Draw the maps in rows of ``picture.columns``.

    In an SVG of the figure the marks of map *i* have the id ``marks-i``, the outline of a square
    its name. Raises :class:`InvalidInput` for too many maps and for one too large.
    """
    maps = picture.maps
    height, width = np.max([grid.shape for grid in maps.values()], axis=0).tolist()
    if len(maps) > MOST_MAPS or max(width, height) > LARGEST_MAP:
        allowed = f"at most {MOST_MAPS} maps of at most {LARGEST_MAP} nodes a side"
        raise InvalidInput.of("picture", allowed, f"{len(maps)} maps of {width} x {height}")
    columns = min(picture.columns, len(maps))
    rows = -(-len(maps) // columns)
    inches = _WHOLE_INCHES if len(maps) == 1 else _MAP_INCHES
    size = columns * (inches + 0.7), rows * (inches * height / width + 0.7) + 0.5
    figure = Figure(figsize=size, layout="constrained", facecolor="white")
    figure.suptitle(picture.title, x=0.01, ha="left", weight="bold", color=INK)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    shared = [values for values in maps.values() if values.min() > 0]
    for number, ((name, values), axes) in enumerate(zip(maps.items(), grid, strict=False)):
        of = np.concatenate([each.ravel() for each in shared]) if values.min() > 0 else values
        norm = Normalize(of.min(), max(of.max(), of.min() + 1))
        image = axes.imshow(values, cmap=STEPS, norm=norm, interpolation="nearest")
        cell = 72 * inches / width
        _label(axes, name, cell)
        if cell >= _SMALLEST_NUMBERED:
            _number(axes, values, image, cell)
        for nodes, marker in ((picture.eyes.get(name), EYE), (picture.best.get(name), "o")):
            if nodes:
                _mark(axes, np.array(nodes), cell, marker, f"marks-{number}")
        for square, x, y, side in picture.squares:
            outline = Rectangle((x - 0.5, y - 0.5), side, side, fill=False, gid=square)
            outline.set(ec="white", lw=max(0.6, 0.05 * cell), clip_on=True)
            axes.add_patch(outline)
        bar = figure.colorbar(image, ax=axes, shrink=0.8, ticks=MaxNLocator(integer=True))
        bar.ax.tick_params(labelsize="small")
    for axes in grid[len(maps) :]:
        axes.set_axis_off()
    return figure


def _label(axes: Axes, name: str, cell: float) -> None:
    axes.set_title(name, size="medium", color=INK)
    axes.spines[:].set_color(QUIET)
    last = np.array(axes.get_xlim()).max(), np.array(axes.get_ylim()).max()
    # On a map this small, coordinates would be larger than nodes.
    step = 1 if cell > 18 else max(1, round(max(last)) // 4)
    axes.set_xticks(range(0, round(last[0] + 0.5), step))
    axes.set_yticks(range(0, round(last[1] + 0.5), step))
    axes.xaxis.tick_top()
    axes.tick_params(length=0, colors=QUIET, labelsize="small")


def _number(axes: Axes, values: Grid, image: Any, cell: float) -> None:
    """Write every node's value on it."""
    digits = len(str(values.max()))
    style: dict[str, Any] = {"ha": "center", "va": "center_baseline"}
    style["size"] = min(0.42, 0.9 / digits) * cell
    for (y, x), value in np.ndenumerate(values):
        background = mpl.colors.to_hex(image.cmap(image.norm(value)))
        axes.text(x, y, str(value), color=text_color(background), **style)


def _mark(axes: Axes, nodes: Grid, cell: float, marker: Any, name: str) -> None:
    """Draw a marker around nodes, large enough to be seen on a large mesh."""
    x, y = nodes.T
    size = max(0.96 * cell, _SMALLEST_MARK)
    style: dict[str, Any] = {"marker": marker, "facecolor": "none", "edgecolor": EYE_WHITE}
    axes.scatter(x, y, s=size**2, lw=max(0.03 * cell, 0.8), gid=name, **style)
