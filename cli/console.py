"""Output of the commands: tables, JSON, and on a terminal progress bars."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
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

from ..model.base.errors import printable
from ..model.schedule.schedule import Schedule

if TYPE_CHECKING:
    from ..model.bounds.cycles import CycleBound
    from ..model.compare.checks import Check
    from ..model.run.run import Run

BUILDING = "building the simulator (once per configuration)"
"""Words for those who wait while Verilator is at work."""


def sharing(*schedules: Schedule) -> str:
    """One line on the links that sends of one step share, which is all that VCs are needed for."""
    pairs = sum(schedule.pairs_sharing_links for schedule in schedules)
    if not pairs:
        return "no link is shared in a step"
    return (
        f"links are shared in a step by {pairs} pair{'s' * (pairs > 1)} of sends on different VCs"
    )


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table: words in the first column, numbers in the others, nothing for None.

    Nothing is ever cut: where standard output is no terminal a table is as wide as it has to be,
    and on a terminal that is too narrow for it, its rows stand one below the other.
    """
    cells = [["" if cell is None else printable(str(cell)) for cell in row] for row in rows]
    if title:
        click.secho(printable(title), bold=True)
    table = _framed(columns, cells)
    width = _terminal_width()
    # Names come from files too, and what is in brackets there is no markup.
    console = Console(markup=False, emoji=False, highlight=False, width=_ANY_WIDTH)
    if width is None or console.measure(table).maximum <= width:
        console.print(table)
    else:
        say(*_below_each_other(columns, cells, width))


_ANY_WIDTH = 1 << 20
"""Columns that no table takes."""


def _terminal_width() -> int | None:
    """Columns of the terminal that is printed on; None where it is none."""
    return Console().width if sys.stdout.isatty() else None


def _framed(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """The table with a column for each column."""
    table = Table()
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def _below_each_other(
    columns: Sequence[str], rows: Iterable[Sequence[str]], width: int
) -> Iterator[str]:
    """The same in lines of ``width`` at most, if names and values are no longer than that."""
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
    """Print what was predicted beside what was measured."""
    rows = [
        (check.name, check.predicted, check.measured, "ok" if check.agrees else "DIFFERS")
        for check in checks
    ]
    print_table(title, ("", "predicted", measured, ""), rows)


def bound_line(bound: CycleBound, cycles: int, *, estimated: bool = False) -> str:
    """One line on cycles beside the least that any schedule could take, and why it could not."""
    if not bound.value:
        return bound.reason
    about = "about " if estimated else ""
    return f"{about}{times_least(bound, cycles)} times the lower bound: {bound.reason}"


def times_least(bound: CycleBound, cycles: int) -> str:
    """Cycles over the bound, as text: "1.23"."""
    return f"{cycles / max(1, bound.value):.2f}"


def print_json(value: object) -> None:
    """Print ``value`` as JSON."""
    click.echo(json.dumps(value, indent=1))


def say_written(*paths: str | Path | None) -> None:
    """Say which files have been written; None is one that was not asked for."""
    say(*(f"wrote {path}" for path in paths if path is not None))


def say(*lines: str) -> None:
    """Print lines, which may quote a file: no escape sequence in it reaches the terminal."""
    for line in lines:
        click.echo(printable(line))


_MOST_TROUBLES = 8
"""Lines on what a run waits for that are printed: the others mostly wait for these."""


def say_troubles(lines: Sequence[str]) -> None:
    """Print what a run that does not finish waits for: the first lines, and how many follow."""
    say(*lines[:_MOST_TROUBLES])
    if len(lines) > _MOST_TROUBLES:
        say(f"and {len(lines) - _MOST_TROUBLES} lines more")


def unfinished(run: Run, troubles: Sequence[str]) -> str:
    """Say why a run does not finish, in short."""
    deadlock = any(line.startswith("deadlock") for line in troubles)
    return "deadlock" if deadlock else f"stopped after {run.cycles} cycles"


@contextmanager
def busy(text: str) -> Iterator[None]:
    """A spinner while something takes long; nothing where standard error is no terminal."""
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
    """A progress bar on a terminal, as two functions: say something else; one more is done.

    With ``remaining`` it also says how long the rest will take.
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
