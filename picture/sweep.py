"""Plots of sweeps: latency over load, cycles over words, and cycles over LUTs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .style import INK

_SIZE = (8, 5)
_MARKERS = "osD^vPX*"

Load = tuple[float, float, float | None]
"""A load, its mean latency, and half the confidence interval (None without one)."""


def draw_latency(
    series: Mapping[str, Sequence[Load]], saturation: Mapping[str, tuple[float, float]]
) -> Figure:
    """Draw mean latency over load, with bars for confidence intervals.

    ``saturation`` has a load and half its interval for names of ``series``: a line and a band.
    """
    figure, axes = _axes("offered load, flits per node and cycle", "mean latency, cycles")
    for number, (name, points) in enumerate(series.items()):
        loads, latencies, halves = zip(*points, strict=True)
        style = _style(number, len(series))
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


def draw_cycles(series: Mapping[str, Sequence[tuple[int, float]]]) -> Figure:
    """Draw cycles over words of a block, both on a logarithmic scale."""
    figure, axes = _axes("words of a block", "cycles")
    for number, (name, points) in enumerate(series.items()):
        words, cycles = zip(*points, strict=True)
        axes.plot(words, cycles, label=name or None, **_style(number, len(series)))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    _legend(axes)
    return figure


Cost = tuple[str, int, float]
"""The name of a network or algorithm, its LUTs and its cycles."""


def draw_pareto(series: Mapping[str, tuple[Sequence[Cost], Sequence[Cost]]]) -> Figure:
    """Draw cycles over LUTs: all ways to do each work, and its Pareto front.

    A line joins the ways on a front, and they have their names.
    """
    figure, axes = _axes("LUTs of the network", "cycles")
    for number, (work, (ways, front)) in enumerate(series.items()):
        style = _style(number, len(series))
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


def _axes(across: str, upwards: str) -> tuple[Figure, Axes]:
    """Return an empty plot with these axis labels."""
    figure = Figure(figsize=_SIZE, layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    axes.set_xlabel(across)
    axes.set_ylabel(upwards)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelcolor=INK)
    axes.grid(alpha=0.2)
    return figure, axes


def _style(number: int, count: int) -> dict[str, Any]:
    """Return colour and marker of a series; markers differ for readers who cannot see colours."""
    shade = mpl.colormaps["plasma"](np.linspace(0.02, 0.85, max(2, count))[number])
    return {"color": shade, "marker": _MARKERS[number % len(_MARKERS)], "ms": 5, "lw": 1.5}


def _legend(axes: Axes) -> None:
    if axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False, fontsize="small")
