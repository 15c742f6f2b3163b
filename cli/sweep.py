"""``eyecast sweep``: every point of a grid of parameters, in one table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from ..model.base.errors import InvalidInput, one_of, require_range
from .command import command
from .console import busy, print_table, progress, say, say_written
from .options.output import output_option, require_output_files
from .options.values import integer_option, refuse_beside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..sweeps.points import Point
    from ..sweeps.sweep import KeptRows

MOST_JOBS = 1024
_MOST_REASONS = 8
"""Most printed reasons; the table has all of them."""

BOARD = "ulx3s-85f"
"""Board whose FPGA, an ECP5, is used to count the LUTs of a tile."""

Row = dict[str, Any]
"""A row of the table: values by column name."""


@command(
    "sweep",
    "eyecast sweep cycles.toml -o cycles.csv",
    "eyecast sweep cycles.toml -o cycles.csv --plot cycles cycles.svg",
)
@click.argument("file", metavar="FILE.toml")
@output_option("the table, .parquet or .csv,", metavar="TABLE")
@integer_option("--jobs", None, "Number of processes; the default is the number of cores.")
@click.option(
    "--scheduler",
    metavar="tcp://HOST:PORT",
    help="Address of a Dask scheduler, instead of local processes.",
)
@click.option(
    "--plot",
    "plots",
    type=(str, str),
    multiple=True,
    metavar="KIND FILE",
    help=(
        "Draw a plot: latency (over load), cycles (over words), exposed (communication "
        "over words) or pareto (cycles over LUTs)."
    ),
)
@integer_option("--size", 0, "Width of plots: 1 or 2 columns of a paper; 0 for a screen.")
def sweep_command(
    file: str,
    output: str | None,
    jobs: int | None,
    scheduler: str | None,
    plots: tuple[tuple[str, str], ...],
    size: int,
) -> None:
    """Run every point of a grid of parameters, and write all results to one table.

    The sweep saves each result at once, beside the table. After an interruption, or with more
    values in the file, the same command runs only the missing points.

    The exit status is 0 only if every run has finished and all hardware agrees with the model.
    """
    from ..sweeps.journal import Journal
    from ..sweeps.run import DIFFERS, FAILED
    from ..sweeps.sweep import points_in, table_rows
    from ..sweeps.table import require_table_suffix, write_table

    if output is None:
        raise InvalidInput("-o must be given, such as -o table.parquet")
    if scheduler is not None:
        refuse_beside("--scheduler", ("--jobs",), "a cluster has workers of its own")
    table = require_table_suffix(output)
    _require_plots(plots)
    require_range("--size", size, 0, 2)
    require_output_files(table, *(path for _, path in plots))
    with busy("checking all points"):
        points = points_in(file)
    with Journal(table) as journal:
        _run(points, journal, _chosen_jobs(jobs), scheduler)
        rows = table_rows(points, journal.rows)
    write_table(rows, table)
    _summarize(rows, len(points))
    say_written(table, *_draw_plots(plots, points, rows, size))
    wrong = sum(row["status"] in (DIFFERS, FAILED) for row in rows)
    if wrong:
        raise RuntimeError(f"{wrong} of {len(points)} points differ or have failed")


def _chosen_jobs(jobs: int | None) -> int:
    """Return the number of processes."""
    if jobs is None:
        return os.cpu_count() or 1
    require_range("--jobs", jobs, 1, MOST_JOBS)
    return jobs


def _run(points: Sequence[Point], kept: KeptRows, jobs: int, scheduler: str | None) -> None:
    """Run the missing points with a progress bar; after an interruption print how many are kept."""
    from ..sweeps.run import DONE
    from ..sweeps.sweep import run_missing, run_with

    total = sum(point.key not in kept.rows for point in points)
    failed = 0
    with progress("sweeping", total, shown=True, remaining=True) as (describe, advance):

        def note(rows: list[Row]) -> None:
            nonlocal failed
            failed += any(row["status"] != DONE for row in rows)
            advance()
            if failed:
                describe(f"sweeping, {failed} not done")

        try:
            run_missing(points, kept, run_with(jobs, scheduler), note)
        except KeyboardInterrupt:
            there = sum(point.key in kept.rows for point in points)
            click.echo(
                f"eyecast: {there} of {len(points)} points are kept; the same command goes on",
                err=True,
            )
            raise


def _summarize(rows: Sequence[Row], points: int) -> None:
    """Print the number of points by status, and the reasons for missing results."""
    status = {row["key"]: row["status"] for row in rows}
    counts = Counter(status.values())
    print_table(f"{points} points", ("", "points"), sorted(counts.items()))
    reasons = Counter((row["status"], row["error"]) for row in rows if row["error"] is not None)
    for (state, error), count in reasons.most_common(_MOST_REASONS):
        say(f"{count} {state}: {error}")
    if len(reasons) > _MOST_REASONS:
        say(f"and {len(reasons) - _MOST_REASONS} reasons more: they are in the table")
    _print_saturation(rows)


def _print_saturation(rows: Sequence[Row]) -> None:
    """Print the saturation rates with their confidence intervals."""
    found = [row for row in rows if row["part"] == "saturation"]
    if not found:
        return
    columns = ("network", "pattern", "VCs", "depth", "saturation", "±")
    print_table(
        "saturation, flits per node and cycle",
        columns,
        [
            (
                *(row["network"], row["pattern"], row["vcs"], row["depth"]),
                *(f"{row['saturation_rate']:.3f}", f"{row['saturation_half_width']:.3f}"),
            )
            for row in found
        ],
    )


def _require_plots(plots: Sequence[tuple[str, str]]) -> None:
    """Refuse, before the first run, plots that are unknown, unwritable or need a missing tool."""
    from ..picture.file import require_picture_suffix

    for kind, path in plots:
        if kind not in _PLOTS:
            raise InvalidInput.of("--plot", one_of(_PLOTS), repr(kind))
        require_picture_suffix(path)
        if kind == "pareto":
            from ..boards.tools import find_tool

            find_tool("yosys")


def _draw_plots(
    plots: Sequence[tuple[str, str]], points: Sequence[Point], rows: Sequence[Row], size: int
) -> list[str]:
    """Draw the requested plots; report and leave out those without rows.

    Returns the written files.
    """
    from ..picture.file import save_picture

    written = []
    for kind, path in plots:
        figure = _PLOTS[kind](points, rows, size)
        if figure is None:
            say(f"no row for --plot {kind}: {path} is not written")
        else:
            save_picture(figure, path)
            written.append(path)
    return written


def _latency(_points: Sequence[Point], rows: Sequence[Row], size: int) -> Figure | None:
    from ..picture.sweep import draw_latency
    from ..sweeps.series import common_title, latency_series

    series, saturation = latency_series(rows)
    title = common_title(rows, ("network", "pattern")) if series else ""
    return draw_latency(series, saturation, title, size) if series else None


def _cycles(_points: Sequence[Point], rows: Sequence[Row], size: int) -> Figure | None:
    from ..picture.sweep import draw_cycles
    from ..sweeps.series import cycles_panels

    panels = cycles_panels(rows)
    return draw_cycles(panels, columns=size) if panels else None


def _exposed(_points: Sequence[Point], rows: Sequence[Row], size: int) -> Figure | None:
    from ..picture.sweep import draw_cycles
    from ..sweeps.series import exposed_panels

    panels = exposed_panels(rows)
    axes = "words of all messages and blocks", "cycles of a rank that only communicates, mean"
    return draw_cycles(panels, *axes, columns=size) if panels else None


def _pareto(points: Sequence[Point], rows: Sequence[Row], size: int) -> Figure | None:
    from ..picture.sweep import draw_pareto
    from ..sweeps.series import common_title, costs, pareto_front

    found = costs(rows, _luts(points, rows))
    fronts = {work: (ways, pareto_front(ways)) for work, ways in found.items()}
    title = common_title(rows, ("network", "collective")) if fronts else ""
    return draw_pareto(fronts, title, size) if fronts else None


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


_PLOTS: dict[str, Callable[[Sequence[Point], Sequence[Row], int], Figure | None]] = {
    "latency": _latency,
    "cycles": _cycles,
    "exposed": _exposed,
    "pareto": _pareto,
}
"""Plots by name."""
