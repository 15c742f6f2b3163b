"""The timeline of a chip that runs C: a line for each tile, its collectives in colours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..picture.style import CATEGORIES, FAINT, HOLDER, INK, QUIET
from .timeline import COMPUTES, WAITS, Bar

_ROW_HEIGHT, _AROUND, _MOST_HEIGHT = 0.22, 1.5, 24
"""Inches: height of a tile's line, of title and legend, and of the largest picture."""


def draw_chip(title: str, drawn: Iterable[Bar]) -> Figure:
    """Draw the bars of a chip's tiles on one axis of cycles."""
    spans: defaultdict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for bar in drawn:
        spans[bar.what, bar.tile].append((bar.begin, bar.end - bar.begin))
    names = list(dict.fromkeys(what for what, _ in spans if what not in (COMPUTES, WAITS)))
    colors = {name: CATEGORIES[number % len(CATEGORIES)] for number, name in enumerate(names)}
    colors = {COMPUTES: HOLDER, WAITS: FAINT, **colors}
    tiles = 1 + max(tile for _, tile in spans)
    height = min(_MOST_HEIGHT, _ROW_HEIGHT * tiles + _AROUND)
    figure = Figure(figsize=(10, height), layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    for (what, tile), listed in spans.items():
        axes.broken_barh(listed, (tile - 0.42, 0.84), facecolors=colors[what], linewidth=0)
    axes.set_title(title, loc="left", weight="bold", color=INK)
    axes.set_xlabel("cycle")
    axes.set_ylabel("tile")
    axes.set_ylim(tiles - 0.5, -0.5)
    axes.set_xlim(0, None)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=QUIET)
    handles = [Patch(color=color, label=what) for what, color in colors.items()]
    figure.legend(handles=handles, frameon=False, loc="outside lower center", ncols=len(handles))
    return figure
