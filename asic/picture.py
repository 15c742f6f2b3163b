"""Pictures of measured networks: area over VCs and depth, and cycles against area."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from .measured import MeasuredNetwork

AREA_PICTURE, PARETO_PICTURE = "silicon-area.svg", "silicon-pareto.svg"


def draw_measured(measured: Sequence[MeasuredNetwork], folder: Path) -> None:
    """Draw both pictures, a panel for each library."""
    libraries = list(dict.fromkeys(each.library for each in measured))
    for name, draw in ((AREA_PICTURE, _draw_areas), (PARETO_PICTURE, _draw_pareto)):
        figure = Figure(figsize=(5.2 * len(libraries), 4), layout="constrained")
        for place, library in enumerate(libraries):
            axes = figure.add_subplot(1, len(libraries), place + 1, title=library)
            draw(axes, [each for each in measured if each.library == library])
        figure.savefig(folder / name)


def _draw_areas(axes: Any, measured: Sequence[MeasuredNetwork]) -> None:
    """Draw the area of a router over the depth of its buffers, a line for each number of VCs."""
    lines: dict[int, list[tuple[int, float]]] = {}
    for each in measured:
        found = re.fullmatch(r"(\d) VCs?, depth (\d)", each.variant)
        if found:
            gates = each.parts["router"].gates / 1e3
            lines.setdefault(int(found[1]), []).append((int(found[2]), gates))
    for vcs, points in sorted(lines.items()):
        axes.plot(*zip(*sorted(points), strict=True), marker="o", label=f"{vcs} VC")
    axes.set(xlabel="depth (flits)", ylabel="router (kGE)", xticks=(2, 4, 8), ylim=0)
    axes.legend(frameon=False)


def _draw_pareto(axes: Any, measured: Sequence[MeasuredNetwork]) -> None:
    """Draw the time of a broadcast against the area of a node; a line joins the best ones."""
    points = [
        (each.node_area * 1e-6, each.cycles * each.period * 1e6, each.variant) for each in measured
    ]
    best = [one for one in points if not any(_beats(other, one) for other in points)]
    axes.scatter([x for x, _, _ in points], [y for _, y, _ in points], s=18)
    across, up, _ = zip(*sorted(best), strict=True)
    axes.step(across, up, where="post", lw=1)
    for x, y, name in points:
        axes.annotate(name, (x, y), fontsize=6, xytext=(3, 3), textcoords="offset points")
    axes.set(xlabel="node (mm²)", ylabel="broadcast of 64 words on 8x8 (µs)", xscale="log")


def _beats(one: tuple[float, float, str], other: tuple[float, float, str]) -> bool:
    """Tell whether one network is smaller and faster than another."""
    return one != other and one[0] <= other[0] and one[1] <= other[1]
