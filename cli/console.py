"""Output of the commands: tables, JSON, and progress bars on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from .. import __version__
from ..model.base.errors import printable
from ..model.schedule.schedule import Schedule
from .command import BEGUN

if TYPE_CHECKING:
    from ..model.bounds.cycles import CycleBound
    from ..model.compare.checks import Check
    from ..model.run.run import Run

BUILDING = "building the simulator (once per configuration)"
"""Progress text while Verilator builds a simulator."""


def sharing(*schedules: Schedule) -> str:
    """Describe the links that sends of one step share; only shared links need several VCs."""
    pairs = sum(schedule.pairs_sharing_links for schedule in schedules)
    if not pairs:
        return "no link is shared in a step"
    return (
        f"links are shared in a step by {pairs} pair{'s' * (pairs > 1)} of sends on different VCs"
    )


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table: words in the first column, numbers in the others, nothing for None.

    No cell is cut. Without a terminal the table has its full width. If the terminal is too narrow,
    each row becomes a list of lines.
    """
    cells = [["" if cell is None else printable(str(cell)) for cell in row] for row in rows]
    if title:
        click.secho(printable(title), bold=True)
    table = _framed(columns, cells)
    width = _terminal_width()
    # Cells may come from files, so brackets in them are not markup.
    console = Console(markup=False, emoji=False, highlight=False, width=_ANY_WIDTH)
    if width is None or console.measure(table).maximum <= width:
        console.print(table)
    else:
        say(*_below_each_other(columns, cells, width))


_ANY_WIDTH = 1 << 20
"""More columns than any table has."""


def _terminal_width() -> int | None:
    """Return the columns of the terminal; None if standard output is no terminal."""
    return Console().width if sys.stdout.isatty() else None


def _framed(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a Rich table with these columns and rows."""
    table = Table()
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def _below_each_other(
    columns: Sequence[str], rows: Iterable[Sequence[str]], width: int
) -> Iterator[str]:
    """Yield the table as lines of at most ``width``, except for longer names and values."""
    first, *names = (" ".join(column.split()) for column in columns)
    longest = max(map(len, names), default=0)
    for row in rows:
        yield " ".join(filter(None, (first, row[0])))
        for name, value in zip(names, row[1:], strict=False):
            line = f"  {name:{longest}}  {value}"
            if value and len(line) <= width:
                yield line
            elif value:
                yield from (f"  {name}", f"    {value}")


def print_checks(title: str, checks: Iterable[Check], *, measured: str = "hardware") -> None:
    """Print predicted values beside measured ones."""
    rows = [
        (check.name, check.predicted, check.measured, "ok" if check.agrees else "DIFFERS")
        for check in checks
    ]
    print_table(title, ("", "predicted", measured, ""), rows)


def bound_line(bound: CycleBound, cycles: int, *, estimated: bool = False) -> str:
    """Describe cycles as a multiple of their lower bound, with the reason of the bound."""
    if not bound.value:
        return bound.reason
    about = "about " if estimated else ""
    return f"{about}{bound.times(cycles)} times the lower bound: {bound.reason}"


def print_json(
    result: Mapping[str, object], *, network: str | None = None, seed: int | None = None
) -> None:
    """Print the result of the running command as JSON, in the envelope of every command.

    ``result.schema.json`` describes both. ``network`` and ``seed`` are None if the result depends
    on none.
    """
    context = click.get_current_context()
    envelope = {
        "version": __version__,
        "command": context.command.name,
        "network": network,
        "seed": seed,
        "result": result,
        "seconds": round(perf_counter() - context.meta[BEGUN], 6),
    }
    click.echo(json.dumps(envelope, indent=1))


def say_written(*paths: str | Path | None) -> None:
    """Print the paths of written files; None is skipped."""
    say(*(f"wrote {path}" for path in paths if path is not None))


def say(*lines: str) -> None:
    """Print lines; escape sequences quoted from a file are made harmless."""
    for line in lines:
        click.echo(printable(line))


_MOST_TROUBLES = 8
"""Most printed lines on waiting packets; the others mostly wait for these."""


def say_troubles(lines: Sequence[str]) -> None:
    """Print what an unfinished run waits for: the first lines, and the number of the others."""
    say(*lines[:_MOST_TROUBLES])
    if len(lines) > _MOST_TROUBLES:
        say(f"and {len(lines) - _MOST_TROUBLES} lines more")


def unfinished(run: Run, troubles: Sequence[str]) -> str:
    """Return in short why a run does not finish."""
    deadlock = any(line.startswith("deadlock") for line in troubles)
    return "deadlock" if deadlock else f"stopped after {run.cycles} cycles"


@contextmanager
def busy(text: str) -> Iterator[None]:
    """Show a spinner on a terminal."""
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status(text):
            yield
    else:
        yield


@contextmanager
def progress(
    text: str, total: int, *, shown: bool, remaining: bool = False
) -> Iterator[tuple[Callable[[str], None], Callable[[], None]]]:
    """Show a progress bar on a terminal; yield functions that change its text and advance it.

    With ``remaining`` the bar also shows the estimated time left.
    """
    console = Console(stderr=True)
    columns: list[ProgressColumn] = [TextColumn("{task.description}"), TimeElapsedColumn()]
    if shown:
        columns[1:1] = [BarColumn(), MofNCompleteColumn()]
    if remaining:
        columns += [TextColumn("left"), TimeRemainingColumn()]
    with Progress(
        *columns, console=console, disable=not console.is_terminal, transient=True
    ) as bar:
        task = bar.add_task(text, total=total)

        def advance() -> None:
            bar.update(task, description=text, advance=1)

        yield lambda words: bar.update(task, description=words), advance
