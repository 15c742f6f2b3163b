"""The plots of ``eyecast sweep --plot``, and their data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..model.base.errors import InvalidInput, one_of
from .console import progress, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..sweeps.points import Point

BOARD = "ulx3s-85f"
"""Board whose FPGA, an ECP5, is used to count the LUTs of a tile."""

Row = dict[str, Any]


def require_plots(plots: Sequence[tuple[str, str]]) -> None:
    """Refuse, before the first run, plots that are unknown, unwritable or need a missing tool."""
    from ..picture.file import require_picture_suffix

    for kind, path in plots:
        if kind not in _PLOTS:
            raise InvalidInput.of("--plot", one_of(_PLOTS), repr(kind))
        require_picture_suffix(path)
        if kind == "pareto":
            from ..boards.tools import find_tool

            find_tool("yosys")


def draw_plots(
    plots: Sequence[tuple[str, str]], points: Sequence[Point], rows: Sequence[Row]
) -> list[str]:
    """Draw the requested plots; report and leave out those without rows.

    Returns the written files.
    """
    from ..picture.file import save_picture

    written = []
    for kind, path in plots:
        figure = _PLOTS[kind](points, rows)
        if figure is None:
            say(f"no row for --plot {kind}: {path} is not written")
        else:
            save_picture(figure, path)
            written.append(path)
    return written


def _latency(_points: Sequence[Point], rows: Sequence[Row]) -> Figure | None:
    from ..picture.sweep import draw_latency
    from ..sweeps.series import latency_series

    series, saturation = latency_series(rows)
    return draw_latency(series, saturation) if series else None


def _cycles(_points: Sequence[Point], rows: Sequence[Row]) -> Figure | None:
    from ..picture.sweep import draw_cycles
    from ..sweeps.series import cycles_series

    series = cycles_series(rows)
    return draw_cycles(series) if series else None


def _pareto(points: Sequence[Point], rows: Sequence[Row]) -> Figure | None:
    from ..picture.sweep import draw_pareto
    from ..sweeps.series import costs, pareto_front

    found = costs(rows, _luts(points, rows))
    fronts = {work: (ways, pareto_front(ways)) for work, ways in found.items()}
    return draw_pareto(fronts) if fronts else None


def _luts(points: Sequence[Point], rows: Sequence[Row]) -> dict[str, int]:
    """Return the LUTs of each configuration: those that yosys counts for a tile, times the nodes.

    The tile has a link at every port, so the result is slightly too high for a mesh with edges.
    """
    from ..boards.registry import find_board
    from ..boards.synthesis.bitstream import count_tile
    from ..sweeps.layout import COLLECTIVE
    from ..sweeps.networks import config_of
    from ..sweeps.run import DONE

    board, values = find_board(BOARD), {point.key: point for point in points}
    ran = {
        row["configuration"]: row
        for row in rows
        if row["kind"] == COLLECTIVE and row["status"] == DONE
    }
    luts = {}
    with progress("counting LUTs (yosys)", len(ran), shown=True) as (_, advance):
        for configuration, row in ran.items():
            config = config_of(values[row["key"]].values, row)
            try:
                tile = {each.name: each.used for each in count_tile(board, config)}
                luts[configuration] = tile["LUTs"] * config.topology.nodes
            except (InvalidInput, RuntimeError) as error:
                say(f"left out of the Pareto front: {row['network']}: {error}")
            advance()
    return luts


_PLOTS: dict[str, Callable[[Sequence[Point], Sequence[Row]], Figure | None]] = {
    "latency": _latency,
    "cycles": _cycles,
    "pareto": _pareto,
}
"""Plots by name."""
