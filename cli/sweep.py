"""``eyecast sweep``: every point of a grid of parameters, in one table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..model.base.errors import InvalidInput, require_range
from .command import command
from .console import busy, print_table, progress, say, say_written
from .options.output import output_option, require_output_files
from .options.values import integer_option, refuse_beside
from .sweep_plots import draw_plots, require_plots

if TYPE_CHECKING:
    from ..sweeps.points import Point
    from ..sweeps.sweep import KeptRows

MOST_JOBS = 1024
_MOST_REASONS = 8
"""Most printed reasons; the table has all of them."""


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
    help="Draw latency (over load), cycles (over words) or pareto (cycles over LUTs).",
)
def sweep_command(
    file: str,
    output: str | None,
    jobs: int | None,
    scheduler: str | None,
    plots: tuple[tuple[str, str], ...],
) -> None:
    """Run every point of a grid of parameters, and write all results to one table.

    Results are kept beside the table at once. After an interruption, or with more values in the
    file, the same command runs only the missing points.

    Exit status 0 only if every run has finished and all hardware did as predicted.
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
    require_plots(plots)
    require_output_files(table, *(path for _, path in plots))
    with busy("checking all points"):
        points = points_in(file)
    with Journal(table) as journal:
        _run(points, journal, _chosen_jobs(jobs), scheduler)
        rows = table_rows(points, journal.rows)
    write_table(rows, table)
    _summarize(rows, len(points))
    say_written(table, *draw_plots(plots, points, rows))
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

        def note(rows: list[dict[str, Any]]) -> None:
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


def _summarize(rows: Sequence[dict[str, Any]], points: int) -> None:
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


def _print_saturation(rows: Sequence[dict[str, Any]]) -> None:
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
