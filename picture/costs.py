"""Pictures of the cost formulas of hypercubes, with the times of the iPSC.

S. L. Johnsson and C.-T. Ho, 1986, measured broadcasts, scatters and all-gathers on the Intel iPSC:
Figs. 15 to 19. The scan of the paper has the captions, not the curves. The curves here show the
one-port formulas with the times of section 8.1: 8 ms for a start-up, and 0.8 µs for a byte on a
channel of 10 Mbit/s. A word is a byte; packets have up to 1024 words, because the iPSC cuts larger
ones. The paper's message lengths are lost too: :data:`MESSAGE` and :data:`EACH` are chosen here.
(The formulas omit the iPSC's overlap of about 20 % between ports.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..model.papers.costs.tables import find_cost
from .style import INK, QUIET

START_UP, BYTE = 8e-3, 0.8e-6
"""τ and t_c of the iPSC (section 8.1), in seconds."""

PACKET = 1024
"""Bytes of the largest packet that the iPSC does not cut (section 8.1)."""

MESSAGE, EACH = 1 << 14, 1 << 10
"""Bytes of a broadcast, the most that one call sends; bytes for each node, or of each node."""

MESSAGES = tuple(PACKET << shift for shift in (0, 2, 4, 6, 8))
"""Bytes of the broadcasts in the speed-up: 1 to 256 packets."""

DIMENSIONS = tuple(range(2, 7))
"""Dimensions of the cubes in Fig. 16."""

GRAPHS = {
    "broadcast": ("Broadcast (Fig. 16)", ("sbt", "nesbt"), MESSAGE),
    "scatter": ("Scatter (Fig. 18)", ("sbt", "sbnt"), EACH),
    "all-gather": ("All-gather (Fig. 19)", ("brg", "sbt", "sbnt"), EACH),
    "all-to-all": ("All-to-all", ("sbt", "sbnt"), EACH),
}
"""Title, graphs and bytes of each collective's times by n; the paper lacks the last one."""

Lines = Mapping[str, Sequence[float]]


def one_port_time(
    collective: str, graph: str, n: int, words: int, packet: int, tau: float, tc: float
) -> float:
    """Return T of a row of the tables, with packets of at most ``packet`` words."""
    cost = find_cost(collective, graph, "one-port")
    return float(cost.time(n, words, min(packet, words) if cost.pipelined else packet, tau, tc))


def speed_up(n: int, words: int, packet: int, tau: float, tc: float) -> float:
    """Return the time of SBT divided by the time of nESBT for a one-port broadcast."""
    sbt, nesbt = (
        one_port_time("broadcast", graph, n, words, packet, tau, tc) for graph in ("sbt", "nesbt")
    )
    return sbt / nesbt


def draw_speed_up(
    dimensions: Sequence[int] = DIMENSIONS,
    messages: Sequence[int] = MESSAGES,
    packet: int = PACKET,
    tau: float = START_UP,
    tc: float = BYTE,
) -> Figure:
    """Draw the speed-up of nESBT over SBT by n, a line for each M in ``messages`` (Fig. 17).

    ``dimensions`` are 2 or more, ``messages`` and ``packet`` in words, ``tau`` and ``tc`` in the
    same unit. In an SVG of the figure the line of message *i* has the id ``line-0-i``.
    """
    figure = Figure(figsize=(6.4, 4.6), layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    lines = {
        f"M = {words}": [speed_up(n, words, packet, tau, tc) for n in dimensions]
        for words in messages
    }
    axes.plot(dimensions, dimensions, color=QUIET, ls="--", lw=1, label="n")
    _draw_lines(axes, 0, "Speed-up of nESBT over SBT (Fig. 17)", dimensions, lines)
    axes.set_xlabel("dimension n")
    axes.set_ylabel("speed-up")
    return figure


def draw_times(
    collective: str,
    dimensions: Sequence[int] = DIMENSIONS,
    tau: float = START_UP,
    tc: float = BYTE,
) -> Figure:
    """Draw the times of one of :data:`GRAPHS` by n, for a broadcast also by packet (Fig. 15).

    ``tau`` and ``tc`` are in seconds. In an SVG of the figure line *i* of panel *p* has the id
    ``line-p-i``; the panel by packet is the last one.
    """
    panels = 2 if collective == "broadcast" else 1
    figure = Figure(figsize=(4.8 * panels, 3.7), layout="constrained", facecolor="white")
    title, graphs, words = GRAPHS[collective]
    lines = {
        graph: [one_port_time(collective, graph, n, words, PACKET, tau, tc) for n in dimensions]
        for graph in graphs
    }
    axes = figure.add_subplot(1, panels, 1)
    _draw_lines(axes, 0, f"{title}, M = {words}", dimensions, lines)
    axes.set_xlabel("dimension n")
    axes.set_ylabel("seconds")
    if collective == "broadcast":
        _draw_by_packet(figure.add_subplot(1, panels, 2), dimensions, tau, tc)
    return figure


def _draw_by_packet(axes: Axes, dimensions: Sequence[int], tau: float, tc: float) -> None:
    """Draw the time of an SBT broadcast over the packet length, a line for each n (Fig. 15)."""
    packets = [1 << shift for shift in range(5, PACKET.bit_length())]
    by_packet = {
        f"n = {n}": [one_port_time("broadcast", "sbt", n, MESSAGE, b, tau, tc) for b in packets]
        for n in dimensions
    }
    _draw_lines(axes, 1, f"Broadcast, SBT (Fig. 15), M = {MESSAGE}", packets, by_packet)
    axes.set_xlabel("packet, bytes")
    axes.set_ylabel("seconds")
    axes.set_xscale("log", base=2)


def _draw_lines(axes: Axes, panel: int, title: str, along: Sequence[int], lines: Lines) -> None:
    """Draw ``lines`` by name over ``along``, with a legend; a line's id is its number."""
    axes.set_title(title, loc="left", size="medium", weight="bold", color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=QUIET, alpha=0.2)
    shades = mpl.colormaps["plasma"](np.linspace(0.02, 0.82, len(lines)))
    # Draw earlier lines wider, so that coinciding lines are all visible.
    for number, (name, values) in enumerate(lines.items()):
        width = 1.5 + max(0, 2 - number)
        drawn = axes.plot(along, values, marker="o", ms=3 + width, lw=width, color=shades[number])
        drawn[0].set(gid=f"line-{panel}-{number}", label=name)
    axes.set_xticks(list(along), [str(each) for each in along])
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
