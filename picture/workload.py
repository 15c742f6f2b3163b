"""Timelines of workloads: a line for each rank, what it computes in grey, its calls in colours."""

from __future__ import annotations

from collections import defaultdict

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..model.workload.run import MachineRun, WorkloadRun
from ..model.workload.workload import KINDS, NO_CALL
from .style import CATEGORIES, HOLDER, INK, QUIET

_ROW_HEIGHT, _AROUND, _MOST_HEIGHT = 0.16, 1.6, 24
"""Inches: height of a rank's line, of title and legend, and of the largest picture."""

_BAR = 0.84
"""Share of a rank's line that its bars take."""


def draw_workload(found: WorkloadRun) -> Figure:
    """Draw both machines' timelines on one axis of cycles, with the lower bound."""
    height = min(_MOST_HEIGHT, 2 * _ROW_HEIGHT * found.workload.ranks + _AROUND)
    figure = Figure(figsize=(10, height), layout="constrained", facecolor="white")
    topology = found.workload.topology.label
    figure.suptitle(
        f"{found.workload.name} on the {topology}", x=0.01, ha="left", weight="bold", color=INK
    )
    longest = max(run.cycles for _, run in found.machines)
    for number, (name, run) in enumerate(found.machines):
        axes = figure.add_subplot(2, 1, number + 1)
        _draw_machine(axes, run)
        axes.axvline(found.bound, color=INK, lw=1, ls="--")
        axes.set_xlim(0, max(1, longest) * 1.01)
        axes.set_ylabel(f"{name}: rank")
        axes.set_title(f"{name}: {run.cycles:,} cycles", loc="left", fontsize="medium")
    axes.set_xlabel(f"cycles; dashed: lower bound, {found.bound:,}")
    kinds = sorted({call.kind for call in found.workload.calls}, key=KINDS.index)
    handles = [Patch(color=HOLDER, label="compute")]
    handles += [Patch(color=_color(kind), label=kind) for kind in kinds]
    figure.legend(handles=handles, frameon=False, loc="outside lower center", ncols=len(handles))
    return figure


def _color(kind: str) -> str:
    return CATEGORIES[KINDS.index(kind) % len(CATEGORIES)]


def _draw_machine(axes: Axes, run: MachineRun) -> None:
    """Draw a bar for each row that takes time; calls lie in the lower half of a line."""
    workload = run.workload
    bars: defaultdict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for row, rank, begin, end in run.bars:
        number = int(workload.call[row])
        kind = "" if number == NO_CALL else workload.calls[number].kind
        bars[kind, rank].append((begin, end - begin))
    for (kind, rank), spans in bars.items():
        top = rank - _BAR / 2 if not kind else rank
        color = _color(kind) if kind else HOLDER
        axes.broken_barh(spans, (top, _BAR / 2), facecolors=color, linewidth=0)
    axes.set_ylim(workload.ranks - 0.5, -0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=QUIET)
