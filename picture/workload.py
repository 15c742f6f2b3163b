"""Charts as pictures: a line for each rank, what it computes in grey, its calls in colours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..model.workload.chart import COMPUTE, WAIT, Chart
from ..model.workload.run import WorkloadRun
from ..model.workload.workload import KINDS
from .palette import COLOR_OF_KIND
from .style import FAINT, HOLDER, INK, QUIET

_ROW_HEIGHT, _AROUND, _MOST_HEIGHT = 0.16, 1.6, 24
"""Inches: height of a rank's line, of title and legend, and of the largest picture."""

_BAR = 0.84
"""Share of a rank's line that its bars take."""


def draw_workload(found: WorkloadRun) -> Figure:
    """Draw both machines' charts on one axis of cycles, with the lower bound."""
    charts = [run.chart for _, run in found.machines]
    title = f"{found.workload.name} on the {found.workload.topology.label}"
    return draw_charts(title, charts, found.bound)


def draw_charts(title: str, charts: Sequence[Chart], bound: int | None = None) -> Figure:
    """Draw charts below each other on one axis of cycles, with a lower bound."""
    ranks = sum(chart.ranks for chart in charts)
    height = min(_MOST_HEIGHT, _ROW_HEIGHT * ranks + _AROUND)
    figure = Figure(figsize=(10, height), layout="constrained", facecolor="white")
    figure.suptitle(title, x=0.01, ha="left", weight="bold", color=INK)
    longest = max(chart.cycles for chart in charts)
    for number, chart in enumerate(charts):
        axes = figure.add_subplot(len(charts), 1, number + 1)
        _draw_chart(axes, chart)
        if bound is not None:
            axes.axvline(bound, color=INK, lw=1, ls="--")
        axes.set_xlim(0, max(1, longest) * 1.01)
        axes.set_ylabel(f"{chart.machine}: rank")
        heading = f"{chart.machine}: {chart.cycles:,} cycles"
        axes.set_title(heading, loc="left", fontsize="medium")
    axes.set_xlabel("cycles" if bound is None else f"cycles; dashed: lower bound, {bound:,}")
    shown = {kind for chart in charts for kind in chart.kinds}
    kinds = [COMPUTE, *(kind for kind in (*KINDS, WAIT) if kind in shown)]
    handles = [Patch(color=_color(kind), label=kind) for kind in kinds]
    figure.legend(handles=handles, frameon=False, loc="outside lower center", ncols=len(handles))
    return figure


def _color(kind: str) -> str:
    return COLOR_OF_KIND.get(kind, HOLDER if kind == COMPUTE else FAINT)


def _draw_chart(axes: Axes, chart: Chart) -> None:
    """Draw the bars; those of calls lie in the lower half of a line."""
    spans: defaultdict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for bar in chart.bars:
        spans[bar.kind, bar.rank].append((bar.begin, bar.end - bar.begin))
    for (kind, rank), listed in spans.items():
        top = rank - _BAR / 2 if kind == COMPUTE else rank
        axes.broken_barh(listed, (top, _BAR / 2), facecolors=_color(kind), linewidth=0)
    axes.set_ylim(chart.ranks - 0.5, -0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=QUIET)
