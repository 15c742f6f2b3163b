"""Sweeps from Python: run every point of a grid of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.base.errors import require_range
from ..model.base.frames import data_frame
from ..model.base.notebook import ShowsItself
from .arguments import checked

if TYPE_CHECKING:
    from pandas import DataFrame


class SweepRows(ShowsItself, list[dict[str, Any]]):
    """The rows of a sweep's table, one mapping for each point."""

    def to_pandas(self) -> DataFrame:
        """Return the rows as a data frame; raise :class:`.InvalidInput` without pandas."""
        names = self[0] if self else ()
        return data_frame({name: [row[name] for row in self] for name in names})


@checked
def sweep(
    grid: str | Path | Mapping[str, Any],
    table: str | Path | None = None,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
) -> SweepRows:
    """Run every point of a grid of parameters, and return the rows of the table.

    Parameters
    ----------
    grid
        A sweep file, or its content: a mapping with "format", "version" and "grid".
    table
        File for the table, .parquet or .csv. Finished points are kept beside it, so that a later
        call runs only the missing ones. None for no file.
    jobs
        Number of processes; 1 runs everything in this process. A script that asks for more must
        call this function below ``if __name__ == "__main__":``.
    scheduler
        The address of a Dask scheduler, whose cluster runs the points.

    Returns
    -------
    SweepRows
        A list with a row for each point: a mapping with a value or None for every column of
        :data:`.COLUMNS`. The row of a point that failed has the reason.

    Raises
    ------
    InvalidInput
        For a mistake in the grid, before the first run.
    """
    # Loads the compiled cycle model.
    from ..sweeps.file import grids_of  # noqa: PLC0415
    from ..sweeps.journal import Journal  # noqa: PLC0415
    from ..sweeps.sweep import (  # noqa: PLC0415
        Memory,
        checked_points,
        points_in,
        run_missing,
        run_with,
        table_rows,
    )
    from ..sweeps.table import require_table_suffix, write_table  # noqa: PLC0415

    require_range("jobs", jobs, 1)
    path = None if table is None else require_table_suffix(table)
    if isinstance(grid, Mapping):
        points = checked_points(grids_of(grid), Path())
    else:
        points = points_in(grid)
    with nullcontext(Memory()) if path is None else Journal(path) as kept:
        run_missing(points, kept, run_with(jobs, scheduler), lambda _rows: None)
        rows = table_rows(points, kept.rows)
    if path is not None:
        write_table(rows, path)
    return SweepRows(rows)
