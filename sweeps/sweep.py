"""A sweep from its grids to its table: runs missing points, and keeps all results."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from ..model.base.errors import InvalidInput
from ..model.base.files import input_name
from ..model.base.version import __version__
from .checks import check_grids
from .file import Grid, folder_of, read_sweep
from .layout import HARDWARE, PARAMETER_NAMES, Row
from .points import Point, points_of, require_count, sources
from .run import Done, run_points
from .table import COLUMNS
from .workers import run_in_processes

Run = Callable[[Sequence[Sequence[Point]]], Generator[Done]]
"""A function that runs groups of points, each group in one process."""


def points_in(file: str | Path) -> list[Point]:
    """Return the points of a sweep file.

    Raises :class:`.InvalidInput` for the first mistake, with the file and the key.
    """
    grids = read_sweep(file)
    try:
        return checked_points(grids, folder_of(file))
    except InvalidInput as error:
        raise InvalidInput(f"{input_name(file)}: {error}") from error


def checked_points(grids: Sequence[Grid], folder: Path) -> list[Point]:
    """Return the points of ``grids``; files that they name are in ``folder``.

    Raises :class:`.InvalidInput` for the first mistake.
    """
    require_count(grids)
    return points_of(grids, check_grids(grids, folder))


def groups_of(points: Sequence[Point]) -> list[list[Point]]:
    """Group hardware points that probably share a simulator, in order.

    A model point is its own group.
    """
    groups: dict[object, list[Point]] = {}
    for point in points:
        together: object = point.key
        if point.values.get("on") == HARDWARE:
            names = ("network", "faulty_nodes", "faulty_links", "random_faults", *PARAMETER_NAMES)
            asked = [point.values.get(name) for name in names]
            drawn = point.values["seed"] if point.values["random_faults"] else None
            needed = [point.values.get(name) for name in ("ports", "operator")]
            together = (point.kind, *asked, drawn, *needed)
        groups.setdefault(together, []).append(point)
    return list(groups.values())


def run_with(jobs: int, scheduler: str | None = None) -> Run:
    """Return the function that runs points: on a cluster, in ``jobs`` processes, or here for 1."""
    if scheduler is not None:
        from .cluster import run_on_cluster  # noqa: PLC0415 - of an extra

        return partial(run_on_cluster, scheduler=scheduler)
    return run_here if jobs == 1 else partial(run_in_processes, count=jobs)


def run_here(groups: Sequence[Sequence[Point]]) -> Generator[Done]:
    """Run groups of points in this process."""
    for group in groups:
        yield from run_points(group, lambda _key: None)


def run_missing(
    points: Sequence[Point], kept: KeptRows, run: Run, note: Callable[[list[Row]], None]
) -> None:
    """Run the points that are not in ``kept``, and keep each; ``note`` gets its rows."""
    missing = [point for point in points if point.key not in kept.rows]
    with closing(run(groups_of(missing))) as done:
        for key, rows in done:
            if kept.add(key, rows):
                note(rows)


class KeptRows(Protocol):
    """Results by the keys of points, such as a :class:`.Journal`."""

    rows: dict[str, list[Row]]

    def add(self, key: str, rows: list[Row]) -> bool:
        """Keep the rows of a point; return False if it already has rows."""
        ...


class Memory:
    """Results kept in memory, without a file."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {}

    def add(self, key: str, rows: list[Row]) -> bool:
        """Keep the rows of a point; return False if it already has rows."""
        return self.rows.setdefault(key, rows) is rows


def table_rows(points: Sequence[Point], rows: dict[str, list[Row]]) -> list[dict[str, Any]]:
    """Return the rows of the table in the order of ``points``, with a value for each column."""
    common = {"version": __version__, "sources": sources()}
    found = ({**common, **row} for point in points for row in rows[point.key])
    return [{name: row.get(name) for name in COLUMNS} for row in found]
