"""Plots of sweeps: latency over load, cycles over words or LUTs, exposed communication."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .style import CATEGORIES, INK, QUIET

_SIZE = (8, 5)
_MARKERS = "osD^vPX*"
_LINE, _LABEL_LETTERS = 12.0, 34
"""Points of a line of small text, and the most letters of a line of a label."""

Load = tuple[float, float, float | None]
"""A load, its mean latency, and half the confidence interval (None without one)."""


def draw_latency(
    series: Mapping[str, Sequence[Load]], saturation: Mapping[str, tuple[float, float]]
) -> Figure:
    """Draw mean latency over load, with bars for confidence intervals.

    ``saturation`` has a load and half its interval for names of ``series``: a line and a band.
    """
    figure, axes = _axes(
        "Latency over load", "offered load, flits per node and cycle", "mean latency, cycles"
    )
    for number, (name, points) in enumerate(series.items()):
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
    series: Mapping[str, Sequence[tuple[int, float]]],
    title: str = "Cycles over words",
    bound: Sequence[tuple[int, float]] = (),
    across: str = "words of a block",
    upwards: str = "cycles",
) -> Figure:
    """Draw cycles over words of a block, both on a logarithmic scale (from 0 on a linear one).

    Each line has its name at its end. Equal lines are one with all their names. No schedule has
    fewer cycles than ``bound``: an area.
    """
    figure, axes = _axes(title, across, upwards)
    axes.set_xscale("log", base=2)
    positive = all(value > 0 for points in series.values() for _, value in points)
    axes.set_yscale("log" if positive else "linear")
    lines: dict[tuple[tuple[int, float], ...], list[str]] = {}
    for name, points in series.items():
        lines.setdefault(tuple(points), []).append(name)
    ends = []
    for number, (points, names) in enumerate(lines.items()):
        style = _style(number)
        axes.plot(*zip(*points, strict=True), **style)
        ends.append((points[-1], ", ".join(names), style["color"]))
    if bound:
        words, cycles = zip(*bound, strict=True)
        lowest = axes.get_ylim()[0] if lines else cycles[0] / 2
        lowest = min(lowest, cycles[0] / 1.5)
        axes.fill_between(words, cycles, lowest, color=QUIET, alpha=0.18, lw=0)
        axes.set_ylim(bottom=lowest)
        ends.append((bound[-1], "below the lower bound", QUIET))
    _label_ends(figure, axes, ends)
    return figure


def _label_ends(
    figure: Figure, axes: Axes, ends: Sequence[tuple[tuple[int, float], str, str]]
) -> None:
    """Write names at the ends of lines, from the lowest up, none over the one before."""
    last = max((x for (x, _), _, _ in ends), default=0)
    figure.draw_without_rendering()
    points = 72 / figure.dpi
    heights = {end: axes.transData.transform(end[0])[1] * points for end in ends}
    top = -math.inf
    for end in sorted(ends, key=heights.__getitem__):
        (_, y), name, color = end
        lines = textwrap.wrap(name, _LABEL_LETTERS)
        half = _LINE * len(lines) / 2
        height = max(heights[end], top + half)
        top = height + half
        place: dict[str, Any] = {"xytext": (8, height - heights[end]), "va": "center"}
        place |= {"textcoords": "offset points", "annotation_clip": False}
        axes.annotate("\n".join(lines), (last, y), color=color, size="small", **place)


Cost = tuple[str, int, float]
"""The name of a network or algorithm, its LUTs and its cycles."""


def draw_pareto(series: Mapping[str, tuple[Sequence[Cost], Sequence[Cost]]]) -> Figure:
    """Draw cycles over LUTs: all ways to do each work, and its Pareto front.

    A line joins the ways on a front, and they have their names.
    """
    figure, axes = _axes("Cycles over LUTs", "LUTs of the network", "cycles")
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


def _axes(title: str, across: str, upwards: str) -> tuple[Figure, Axes]:
    """Return an empty plot with this title and these axis labels."""
    figure = Figure(figsize=_SIZE, layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", weight="bold", color=INK, wrap=True)
    axes.set_xlabel(across)
    axes.set_ylabel(upwards)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelcolor=INK)
    axes.grid(alpha=0.2)
    return figure, axes


def _style(number: int) -> dict[str, Any]:
    """Return colour and marker of a series; markers differ for readers who cannot see colours."""
    color = CATEGORIES[number % len(CATEGORIES)]
    return {"color": color, "marker": _MARKERS[number % len(_MARKERS)], "ms": 5, "lw": 1.5}


def _legend(axes: Axes) -> None:
    if axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False, fontsize="small")
