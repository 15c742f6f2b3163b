"""Output of the commands: tables, JSON, and progress bars on a terminal."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from time import perf_counter
from typing import TYPE_CHECKING

import click
from rich.console import Console, JustifyMethod
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
from rich.text import Text

from ..model.base.errors import printable
from ..model.base.version import __version__
from ..model.schedule.schedule import Schedule
from .command import BEGUN

if TYPE_CHECKING:
    from ..model.bounds.cycles import CycleBound
    from ..model.compare.checks import Check
    from ..model.program.any_program import AnyProgram
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


_ANY_WIDTH = 1 << 20
"""More columns than any table has."""


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    width: int = _ANY_WIDTH,
) -> None:
    """Print a table: numbers to the right with aligned points, words to the left, None as "".

    No cell is cut. Without a terminal the table has up to ``width`` columns. Cells and headings are
    wrapped at words. If even their longest words do not fit, each row becomes a list of lines.
    """
    texts = ([_text_of(cell) for cell in row] for row in rows)
    cells = _aligned([row + [""] * (len(columns) - len(row)) for row in texts])
    if title:
        click.secho(printable(title), bold=True)
    width = _terminal_width() or width
    widths = _widths([columns, *cells], width)
    if widths is None:
        say(*_below_each_other(columns, cells, width))
        return
    table = Table()
    for number, column in enumerate(columns):
        words = all(not row[number][:1].isdecimal() for row in cells)
        side: JustifyMethod = "left" if not number or words else "right"
        table.add_column(column, justify=side, width=widths[number])
    for row in cells:
        table.add_row(*map(_in_place, row, widths))
    # Cells may come from files, so brackets in them are not markup.
    Console(markup=False, emoji=False, highlight=False, width=_ANY_WIDTH).print(table)


def _in_place(cell: str, width: int) -> str | Text:
    """Return a cell, which keeps the blanks behind a number: Rich strips them."""
    return Text(cell.rjust(width), justify="left") if cell.endswith(" ") else cell


def _terminal_width() -> int | None:
    """Return the columns of the terminal; None if standard output is no terminal."""
    return Console().width if sys.stdout.isatty() else None


def _text_of(cell: object) -> str:
    """Return the text of a cell; integers and decimal numbers have separators of thousands."""
    if isinstance(cell, int) and not isinstance(cell, bool):
        return f"{cell:,}"
    text = "" if cell is None else printable(str(cell))
    found = _DECIMAL.fullmatch(text)
    return f"{int(found[1]):,}{found[2]}" if found else text


_DECIMAL = re.compile(r"(\d+)(\.\d+)")


def _aligned(rows: list[list[str]]) -> list[list[str]]:
    """Return the rows with blanks behind numbers, so that the points of a column are aligned."""
    behind = [0] * max(map(len, rows), default=0)
    numbers = [[_NUMBER.fullmatch(cell) for cell in row] for row in rows]
    for row in numbers:
        for column, found in enumerate(row):
            behind[column] = max(behind[column], len(found[1]) if found else 0)
    return [
        [
            cell + " " * (behind[column] - len(found[1])) if found else cell
            for column, (cell, found) in enumerate(zip(row, matches, strict=True))
        ]
        for row, matches in zip(rows, numbers, strict=True)
    ]


_NUMBER = re.compile(r"[\d,]+((?:\.\d+)?)")


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """Return the columns' widths in a table of ``width``; None if not even the words fit."""
    columns = list(zip(*rows, strict=True))
    widths = [max(len(line) for cell in cells for line in cell.split("\n")) for cells in columns]
    least = [max(len(word) for cell in cells for word in _words(cell)) for cells in columns]
    # A frame and two blanks for each column.
    room = width - 3 * len(columns) - 1
    if sum(least) > room:
        return None
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda at: (widths[at] > least[at], widths[at]))
        widths[widest] -= 1
    return widths


def _words(cell: str) -> list[str]:
    """Return what cannot be broken: the words of a cell, or a number with the blanks behind it."""
    return [cell] if cell.endswith(" ") else cell.split() or [""]


def _below_each_other(
    columns: Sequence[str], rows: Iterable[Sequence[str]], width: int
) -> Iterator[str]:
    """Yield the table as lines of at most ``width``, except for longer names and values."""
    first, *names = (" ".join(column.split()) for column in columns)
    longest = max(map(len, names), default=0)
    for row in rows:
        yield " ".join(filter(None, (first, row[0])))
        for name, value in zip(names, map(str.strip, row[1:]), strict=True):
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


def say_bound(bound: CycleBound, cycles: int, *, estimated: bool = False) -> None:
    """Print cycles beside their lower bound and the ratio, then the reason of the bound."""
    if bound.value:
        taken, ratio = f"{cycles:,} cycles", bound.times(cycles)
        if estimated:
            taken, ratio = f"About {taken}", f"about {ratio}"
        say(f"{taken}. No schedule takes fewer than {bound.value:,} (ratio {ratio}):")
    say(bound.reason)


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
    """Print lines, on a terminal wrapped at words; escape sequences of files are made harmless."""
    width = _terminal_width()
    for line in map(printable, lines):
        click.echo(line if width is None else _wrapped(line, width))


def _wrapped(line: str, width: int) -> str:
    """Return the text in lines of at most ``width``, except for longer words."""
    return fill(line, width, break_long_words=False, break_on_hyphens=False)


_MOST_TROUBLES = 8
"""Most printed lines on waiting packets; the others mostly wait for these."""


def say_troubles(lines: Sequence[str]) -> None:
    """Print what an unfinished run waits for: the first lines, and the number of the others."""
    say(*lines[:_MOST_TROUBLES])
    if len(lines) > _MOST_TROUBLES:
        say(f"and {len(lines) - _MOST_TROUBLES} lines more")


def say_waits(program: AnyProgram, run: Run) -> None:
    """Print where packets wait in a finished run, and for what; nothing if none waits."""
    from ..model.run.waits import waiting_lines

    say(*waiting_lines(program, run))


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
