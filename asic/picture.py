"""Pictures of measured networks: area over VCs and depth, and cycles against area."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from matplotlib.transforms import Bbox

from .measured import MeasuredNetwork
from .tables import library_title

AREA_PICTURE, PARETO_PICTURE = "silicon-area.svg", "silicon-pareto.svg"
_SIDES = {1: "left", 0: "center", -1: "right"}
_PLACES = tuple((across, up) for up in (0, 1, -1, 2, -2) for across in (1, -1, 0) if across or up)
"""Places of a label beside its point, to be tried in this order: across and up."""


def draw_measured(measured: Sequence[MeasuredNetwork], folder: Path) -> None:
    """Draw both pictures, a panel for each library."""
    by_library: dict[str, list[MeasuredNetwork]] = {}
    for each in measured:
        by_library.setdefault(each.library, []).append(each)
    for name, draw in ((AREA_PICTURE, _draw_areas), (PARETO_PICTURE, _draw_pareto)):
        figure = Figure(figsize=(5.6 * len(by_library), 4.6), layout="constrained")
        panels = figure.subplots(1, len(by_library), squeeze=False)[0]
        for axes, (library, networks) in zip(panels, by_library.items(), strict=True):
            axes.set_title(library_title(library))
            draw(axes, networks)
        if draw is _draw_pareto:
            # Labels have their places once all panels have theirs.
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
            for axes, networks in zip(panels, by_library.values(), strict=True):
                _label(axes, networks)
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
        axes.plot(
            *zip(*sorted(points), strict=True), marker="o", label=f"{vcs} VC" + "s"[vcs < 2 :]
        )
    axes.set(xlabel="depth of a buffer (flits)", ylabel="router (kGE)", xticks=(2, 4, 8), ylim=0)
    axes.legend(frameon=False)


def _draw_pareto(axes: Any, measured: Sequence[MeasuredNetwork]) -> None:
    """Draw the time of a broadcast against the area of a node; the best points have a ring."""
    points = list(map(_point, measured))
    best = [one for one in points if not any(_beats(other, one) for other in points)]
    axes.scatter(*zip(*points, strict=True), s=18)
    axes.scatter(
        *zip(*best, strict=True),
        s=90,
        facecolor="none",
        edgecolor="C3",
        label="no other network is both smaller and faster",
    )
    axes.set(xscale="log", yscale="log", xlabel="node (mm²)")
    axes.set(ylabel="broadcast of 64 words on 8x8 (µs)")
    axes.margins(0.12)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False, fontsize=8)


def _label(axes: Any, measured: Sequence[MeasuredNetwork]) -> None:
    """Write the name of each point where it covers as few names, points and edges as possible."""
    points = list(map(_point, measured))
    taken = [Bbox.from_bounds(x - 11, y - 6, 22, 12) for x, y in axes.transData.transform(points)]

    def write(name: str, point: tuple[float, float], across: int, up: int) -> Any:
        return axes.annotate(
            name,
            point,
            (7 * across, 13 * up),
            textcoords="offset points",
            fontsize=7,
            ha=_SIDES[across],
            va="center",
            arrowprops={"arrowstyle": "-", "lw": 0.6, "color": "grey", "shrinkA": 0},
        )

    for each, point in zip(measured, points, strict=True):
        covered = {}
        for place in _PLACES:
            text = write(each.variant, point, *place)
            box = text.get_window_extent()
            text.remove()
            outside = not (axes.bbox.containsx(box.x0) and axes.bbox.containsx(box.x1))
            covered[place] = box.count_overlaps(taken) + outside
        best = min(_PLACES, key=covered.__getitem__)
        taken.append(write(each.variant, point, *best).get_window_extent())


def _point(each: MeasuredNetwork) -> tuple[float, float]:
    """Return the area of a node in mm² and the time of the broadcast in µs."""
    return each.node_area * 1e-6, each.cycles * each.period * 1e6


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Tell whether one network is smaller and faster than another."""
    return one != other and one[0] <= other[0] and one[1] <= other[1]
