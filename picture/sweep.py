"""Plots of sweeps: latency over load, cycles over words or LUTs, exposed communication."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .palette import CATEGORIES
from .style import INK, categories_of

_SIZES = {0: (8.0, 5.0), 1: (3.5, 2.7), 2: (7.16, 3.4)}
"""Inches of a plot by the columns of a paper that it fills; 0 for a screen."""
_LETTERS = {0: 10.0, 1: 7.0, 2: 8.0}
"""Points of the letters of such a plot."""
_MARKERS = "osD^vPX*"
_LINE, _LABEL_LETTERS = 1.25, 34
"""Height of a line of small text, in letters, and the most letters of a line of a label."""

Points = Sequence[tuple[int, float]]
Panel = tuple[Mapping[str, Points], Points]
"""Lines by name, and the lower bound, which may be empty."""

Load = tuple[float, float, float | None]
"""A load, its mean latency, and half the confidence interval (None without one)."""


def draw_latency(
    series: Mapping[str, Sequence[Load]],
    saturation: Mapping[str, tuple[float, float]],
    title: str = "Latency over load",
    columns: int = 0,
) -> Figure:
    """Draw mean latency over load, with bars for confidence intervals.

    ``saturation`` has a load and half its interval for names of ``series``: a line and a band.
    """
    across, upwards = "offered load, flits per node and cycle", "mean latency, cycles"
    figure, (axes,) = _axes([title], across, upwards, columns)
    numbers = categories_of(series)
    for number, (name, points) in zip(numbers, series.items(), strict=True):
        loads, latencies, halves = zip(*points, strict=True)
        style = _style(number)
        errors = [half or 0.0 for half in halves] if any(halves) else None
        axes.errorbar(loads, latencies, yerr=errors, capsize=2, label=name or None, **style)
        if name in saturation:
            rate, half = saturation[name]
            label = f"saturation {rate:.3f} ± {half:.3f}"
            axes.axvline(rate, color=style["color"], ls="--", lw=1, label=label)
            axes.axvspan(rate - half, rate + half, color=style["color"], alpha=0.12, lw=0)
    axes.set_yscale("log")
    axes.set_xlim(left=0)
    _legend(axes)
    return figure


def draw_cycles(
    panels: Mapping[str, Panel],
    across: str = "words of a block",
    upwards: str = "cycles",
    columns: int = 0,
) -> Figure:
    """Draw cycles over words of a block, both on a logarithmic scale (from 0 on a linear one).

    Each panel has its title above it, and each line its name at its end. Equal lines are one with
    all their names. No schedule has fewer cycles than the bound: a dashed line. ``columns`` are
    those of a paper that the figure fills; 0 for a screen.
    """
    figure, all_axes = _axes([*panels], across, upwards, columns)
    names = dict.fromkeys(name for series, _ in panels.values() for name in series)
    numbers = dict(zip(names, categories_of(names), strict=True))
    ends = []
    for axes, (series, bound) in zip(all_axes, panels.values(), strict=True):
        axes.set_xscale("log", base=2)
        drawn = [*series.values(), bound]
        positive = all(value > 0 for points in drawn for _, value in points)
        axes.set_yscale("log" if positive else "linear")
        ends.append(_draw_lines(axes, series, numbers))
        if bound:
            axes.plot(*zip(*bound, strict=True), color=INK, ls="--", lw=1)
            ends[-1].append((bound[-1], "lower bound", INK))
    for axes, labels in zip(all_axes, ends, strict=True):
        _label_ends(figure, axes, labels, _LETTERS[columns])
    return figure


End = tuple[tuple[int, float], str, str]
"""The last point of a line, its name and its colour."""


def _draw_lines(axes: Axes, series: Mapping[str, Points], numbers: Mapping[str, int]) -> list[End]:
    """Draw lines in the colours of their numbers; equal ones are one."""
    lines: dict[tuple[tuple[int, float], ...], list[str]] = {}
    for name, points in series.items():
        lines.setdefault(tuple(points), []).append(name)
    ends = []
    for points, names in lines.items():
        style = _style(numbers[names[0]])
        axes.plot(*zip(*points, strict=True), **style)
        ends.append((points[-1], ", ".join(names), style["color"]))
    return ends


def _label_ends(figure: Figure, axes: Axes, ends: Sequence[End], letters: float) -> None:
    """Write names beside the ends of lines, from the lowest up, none over the one before."""
    figure.draw_without_rendering()
    points = 72 / figure.dpi
    heights = {end: axes.transData.transform(end[0])[1] * points for end in ends}
    top = -math.inf
    for end in sorted(ends, key=heights.__getitem__):
        place, name, color = end
        lines = textwrap.wrap(name, _LABEL_LETTERS)
        half = _LINE * letters * len(lines) / 2
        height = max(heights[end], top + half)
        top = height + half
        where: dict[str, Any] = {"xytext": (6, height - heights[end]), "va": "center"}
        where |= {"textcoords": "offset points", "annotation_clip": False}
        axes.annotate("\n".join(lines), place, color=color, size=0.9 * letters, **where)


Cost = tuple[str, int, float]
"""The name of a network or algorithm, its LUTs and its cycles."""


def draw_pareto(
    series: Mapping[str, tuple[Sequence[Cost], Sequence[Cost]]],
    title: str = "Cycles over LUTs",
    columns: int = 0,
) -> Figure:
    """Draw cycles over LUTs: all ways to do each work, and its Pareto front.

    A line joins the ways on a front, and they have their names.
    """
    figure, (axes,) = _axes([title], "LUTs of the network", "cycles", columns)
    for number, (work, (ways, front)) in enumerate(series.items()):
        style = _style(number)
        _, luts, cycles = zip(*ways, strict=True)
        axes.scatter(luts, cycles, color=style["color"], marker=style["marker"], s=14, alpha=0.5)
        names, luts, cycles = zip(*front, strict=True)
        label = ", ".join(filter(None, (work, "Pareto front")))
        axes.plot(luts, cycles, drawstyle="steps-post", label=label, **style)
        for name, x, y in zip(names, luts, cycles, strict=True):
            place: dict[str, Any] = {"xytext": (5, 5), "textcoords": "offset points"}
            axes.annotate(name, (x, y), size="x-small", color=INK, **place)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    _legend(axes)
    return figure


def _axes(
    titles: Sequence[str], across: str, upwards: str, columns: int
) -> tuple[Figure, list[Axes]]:
    """Return a figure with an empty plot for each title, with these axis labels."""
    beside = 1 if columns == 1 else min(2, len(titles))
    rows = math.ceil(len(titles) / beside)
    width, height = _SIZES[columns]
    wide = width if columns else width * (1 + 0.6 * (beside - 1))
    size = (wide, height * rows)
    with mpl.rc_context({"font.size": _LETTERS[columns]}):
        figure = Figure(figsize=size, layout="constrained", facecolor="white")
        plots = [figure.add_subplot(rows, beside, place + 1) for place in range(len(titles))]
        for axes, title in zip(plots, titles, strict=True):
            axes.set_title(title, loc="left", weight="bold", color=INK, wrap=True)
            axes.set_xlabel(across)
            axes.set_ylabel(upwards)
            axes.spines[["top", "right"]].set_visible(False)
            axes.tick_params(labelcolor=INK)
            axes.grid(alpha=0.2)
    return figure, plots


def _style(number: int) -> dict[str, Any]:
    """Return colour and marker of a series; markers differ for readers who cannot see colours."""
    color = CATEGORIES[number % len(CATEGORIES)]
    return {"color": color, "marker": _MARKERS[number % len(_MARKERS)], "ms": 5, "lw": 1.5}


def _legend(axes: Axes) -> None:
    if axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False, fontsize="small")
