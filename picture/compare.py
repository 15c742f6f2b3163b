"""Algorithms side by side as bars: a panel for each measure, a row for each algorithm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .style import EYE_LINE, INK, QUIET, STEPS

_PANEL_WIDTH, _ROW_HEIGHT, _AROUND = 2.6, 0.5, 1.5
"""Inches: width of a panel, height of an algorithm's row, and height of title and legend."""

_BARS = 0.76
"""Share of a row that its bars take."""


@dataclass(frozen=True)
class Panel:
    """One measure: the values of each series by its name, in the order of rows.

    A value is None if there is none; ``bound`` is a lower bound, None if none is known.
    """

    title: str
    series: Mapping[str, Sequence[int | None]]
    bound: int | None = None


def draw_comparison(
    title: str, names: Sequence[str], panels: Sequence[Panel], winners: Sequence[str] = ()
) -> Figure:
    """Draw ``panels`` side by side, with the algorithms ``names`` from top to bottom.

    The names of ``winners``, which have the fewest cycles, are bold.
    In an SVG of the figure the bar of row *r* and series *s* in panel *p* has the id ``bar-p-r-s``.
    """
    size = (_PANEL_WIDTH * len(panels) + 1, _ROW_HEIGHT * len(names) + _AROUND)
    figure = Figure(figsize=size, layout="constrained", facecolor="white")
    figure.suptitle(title, x=0.01, ha="left", weight="bold", color=INK)
    handles: dict[str, Any] = {}
    for number, panel in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), number + 1)
        handles |= _draw_panel(axes, panel, number)
        marked = [f"{name}\nfewest cycles" if name in winners else name for name in names]
        axes.set_yticks(range(len(names)), marked if number == 0 else [])
        for name, label in zip(names, axes.get_yticklabels(), strict=False):
            label.set_fontweight("bold" if name in winners else "normal")
        axes.set_ylim(len(names) - 0.5, -0.5)
    named = {name: handle for name, handle in handles.items() if name}
    if named:
        place: dict[str, Any] = {"loc": "outside lower center", "ncols": len(named)}
        figure.legend(named.values(), named, frameon=False, **place)
    return figure


def _draw_panel(axes: Axes, panel: Panel, number: int) -> dict[str, Any]:
    """Draw one panel; return the legend entries of its series and its bound, by name."""
    axes.set_title(panel.title, size="medium", color=INK)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelbottom=False, labelcolor=INK)
    shades = STEPS(np.linspace(0, 1, 3))
    height = _BARS / len(panel.series)
    handles: dict[str, Any] = {}
    for place, (name, values) in enumerate(panel.series.items()):
        rows = np.arange(len(values)) + (place + 0.5) * height - _BARS / 2
        lengths = [value or 0 for value in values]
        # A panel with one unnamed series uses the first colour, so named series get other colours.
        shade = shades[place + 1 if name else 0]
        bars = axes.barh(rows, lengths, 0.92 * height, color=shade)
        labels = ["-" if value is None else str(value) for value in values]
        axes.bar_label(bars, labels, padding=3, color=INK, size="small")
        for row, bar in enumerate(bars):
            bar.set_gid(f"bar-{number}-{row}-{place}")
        handles[name] = bars
    if panel.bound is not None:
        style: dict[str, Any] = {"color": EYE_LINE, "ls": "--", "lw": 1.5}
        handles["lower bound"] = axes.axvline(panel.bound, **style)
    axes.axvline(0, color=QUIET, lw=0.8)
    # Leave room for the numbers after the longest bars.
    axes.set_xlim(0, 1.2 * max(1, axes.dataLim.x1))
    return handles
