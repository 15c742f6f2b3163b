"""The TCD by source as a heat map: a mesh whose nodes are coloured by cost.

::

    title
    eye            minimum        saved           In three dimensions each of these is a row, and
    +---------+    +---------+    +---------+     its columns are the slices z = 0, 1, ...
    | x ->    |    |         |    |         |
    | y       |    |         |    |         |     Eyes have the mark of an eye, other best sources
    +---------+    +---------+    +---------+     a circle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..model.base.errors import InvalidInput, with_article
from ..model.network.topology import Topology
from .style import EYE, EYE_LINE, EYE_WHITE, INK, LARGEST_NUMBERED_SIDE, QUIET, text_color

MOST_SLICES = 8
"""Most slices of a 3-D mesh that fit beside each other."""

_PANEL_INCHES, _LEAST_SLICE_INCHES, _LEAST_ROW_INCHES = 3.5, 2.6, 9.0
"""Inches: width of a panel of a flat mesh; least width of a slice and of a row of slices."""

_SMALLEST_EYE = 8.0

Costs = npt.NDArray[np.int64]


def draw_sources(
    title: str,
    topology: Topology,
    costs: Mapping[str, Costs],
    saved: Costs,
    marked: Mapping[str, Sequence[int]],
) -> Figure:
    """Draw ``costs`` by algorithm name in one colour scale, and ``saved``.

    Arrays have shape (nodes,); ``saved`` is what the last algorithm saves. ``marked`` are the best
    sources by algorithm name: an eye marks those of "eye", a circle the others. In an SVG of the
    figure, an algorithm's marks in a slice have the id ``best-name-slice``. Raises
    :class:`InvalidInput` for more than three dimensions, and for too many slices.
    """
    width, height, slices = _drawable_sides(topology)
    shape = (slices, height, width)
    # A range of colours on which white and dark text are legible.
    tcd_colors = mpl.colors.ListedColormap(mpl.colormaps["plasma"](np.linspace(0.02, 0.9, 256)))
    saved_colors = LinearSegmentedColormap.from_list("saved", ("white", EYE_LINE))
    everything = np.concatenate(list(costs.values()))
    tcd_range = Normalize(everything.min(), max(everything.max(), everything.min() + 1))
    saved_range = Normalize(0, max(1, saved.max()))
    maps: list[tuple[str, Costs, Any, Any]] = [
        (name, cost, tcd_colors, tcd_range) for name, cost in costs.items()
    ]
    maps.append(("saved", saved, saved_colors, saved_range))
    inches = max(_LEAST_SLICE_INCHES, _LEAST_ROW_INCHES / slices) if slices > 1 else _PANEL_INCHES
    cell = 72 * inches / width
    figure, grid = _page(title, shape, len(maps), cell)
    for row, (name, values, colors, norm) in zip(grid, maps, strict=True):
        marks = np.zeros(topology.nodes, dtype=bool)
        marks[list(marked.get(name, ()))] = True
        for z, axes in enumerate(row):
            panel, best = values.reshape(shape)[z], marks.reshape(shape)[z]
            image = axes.imshow(panel, cmap=colors, norm=norm)
            _label(axes, name if slices == 1 else f"{name}, z = {z}", cell)
            if max(width, height) <= LARGEST_NUMBERED_SIDE:
                _number(axes, panel, image, cell)
            _draw_best(axes, best, cell, EYE if name == "eye" else "o", f"best-{name}-{z}")
        bar = figure.colorbar(image, ax=list(row), shrink=0.8, ticks=MaxNLocator(integer=True))
        bar.ax.tick_params(labelsize="small")
    return figure


def _drawable_sides(topology: Topology) -> tuple[int, int, int]:
    """Return width, height and number of slices of a mesh; refuse those that do not fit."""
    width, height, slices = (*topology.dims, 1, 1)[:3]
    if len(topology.dims) > 3 or slices > MOST_SLICES:
        allowed = f"of at most 3 dimensions, and of at most {MOST_SLICES} slices"
        raise InvalidInput.of("drawn mesh", allowed, with_article(topology.label))
    return width, height, slices


def _page(
    title: str, shape: tuple[int, int, int], maps: int, cell: float
) -> tuple[Figure, npt.NDArray[np.object_]]:
    """Return an empty page and its axes, shape (maps, slices)."""
    slices, height, width = shape
    rows, columns = (1, maps) if slices == 1 else (maps, slices)
    size = columns * width * cell / 72 + 2, rows * (height * cell / 72 + 0.4) + 0.6
    figure = Figure(figsize=size, layout="constrained", facecolor="white")
    figure.suptitle(title, x=0.01, ha="left", weight="bold", color=INK)
    grid = figure.subplots(rows, columns, squeeze=False)
    return figure, grid.T if slices == 1 else grid


def _label(axes: Axes, name: str, cell: float) -> None:
    axes.set_title(name, size="medium", color=INK)
    axes.spines[:].set_color(QUIET)
    last = np.array(axes.get_xlim()).max(), np.array(axes.get_ylim()).max()
    # In a slice this small, coordinates would be larger than nodes.
    step = 1 if cell > 18 else max(1, round(max(last)) // 4)
    axes.set_xticks(range(0, round(last[0] + 0.5), step))
    axes.set_yticks(range(0, round(last[1] + 0.5), step))
    axes.xaxis.tick_top()
    axes.tick_params(length=0, colors=QUIET, labelsize="small")


def _number(axes: Axes, values: Costs, image: Any, cell: float) -> None:
    """Write every node's value on it."""
    digits = len(str(values.max()))
    style: dict[str, Any] = {"ha": "center", "va": "center_baseline"}
    style["size"] = min(0.32, 0.9 / digits) * cell
    for (y, x), value in np.ndenumerate(values):
        background = mpl.colors.to_hex(image.cmap(image.norm(value)))
        axes.text(x, y, str(value), color=text_color(background), **style)


def _draw_best(
    axes: Axes, best: npt.NDArray[np.bool_], cell: float, marker: Any, name: str
) -> None:
    """Draw a marker around the nodes in ``best``, large enough to be seen on a large mesh."""
    y, x = np.nonzero(best)
    size = max(0.96 * cell, _SMALLEST_EYE)
    style: dict[str, Any] = {
        "marker": marker,
        "facecolor": "none",
        "edgecolor": EYE_WHITE,
        "gid": name,
    }
    axes.scatter(x, y, s=size**2, lw=max(0.03 * cell, 0.8), **style)
