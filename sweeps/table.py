"""The table of a sweep: its columns, and its file, Parquet or CSV."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..model.base.errors import InvalidInput
from ..model.base.files import write_bytes_atomically
from ..model.base.version import __version__
from . import collective, saturation, traffic, workload
from .facts import NETWORK, RUN
from .layout import COLUMN_OF, Row

FORMAT, VERSION = "eyecast-sweep-table", "1"
"""Format and version in the metadata of a Parquet file."""

COLUMNS: dict[str, type] = {
    **{"version": str, "sources": str, "key": str, "kind": str, "status": str, "error": str},
    **{"on": str, "network": str, "faulty_nodes": str, "faulty_links": str},
    **{"random_faults": float, "seed": int},
    **{"collective": str, "algorithm": str, "source": str, "targets": str, "words": int},
    **{"operator": str, "ports": str, "timing": str},
    **{"pattern": str, "rate": float, "packet_flits": int, "burst": int, "reply_flits": int},
    "back_pressure": float,
    **{"workload": str, "mapping": str, "policy": str, "clock": float, "word_bytes": int},
    **{COLUMN_OF["cycles"]: int, "precision": float},
    **NETWORK,
    **RUN,
    **{"agrees": bool},
    **collective.RESULTS,
    **traffic.RESULTS,
    **saturation.RESULTS,
    **workload.RESULTS,
    **{"seconds": float},
}
"""Columns by name, in order.

A row has None in columns of other kinds. ``cycles`` are those of the run, ``drawn_cycles`` those in
which traffic was drawn. Only ``seconds`` depends on the machine.
"""

SUFFIXES = (".parquet", ".csv")


def require_table_suffix(path: str | Path) -> Path:
    """Return ``path`` if a table can be written there.

    Raises :class:`.InvalidInput` for another suffix, and if the library for Parquet is missing.
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        allowed = " or ".join(SUFFIXES)
        raise InvalidInput.of(f"suffix of table {path}", allowed, path.suffix or "missing")
    if path.suffix == ".parquet":
        _pyarrow()
    return path


def write_table(rows: Sequence[Row], path: Path) -> None:
    """Write ``rows``, which have all columns, in the format of the suffix, whole or not at all."""
    text = _csv(rows) if path.suffix == ".csv" else _parquet(rows)
    write_bytes_atomically(path, text)


def read_table(path: Path) -> list[Row]:
    """Read the rows of a Parquet table written by :func:`write_table`."""
    from pyarrow import parquet  # noqa: PLC0415 - of an extra

    rows: list[Row] = parquet.read_table(path).to_pylist()
    return rows


def _csv(rows: Iterable[Row]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([row[name] for name in COLUMNS] for row in rows)
    return text.getvalue().encode()


def _parquet(rows: Sequence[Row]) -> bytes:
    pyarrow = _pyarrow()
    from pyarrow import parquet  # noqa: PLC0415 - of an extra

    types = {
        str: pyarrow.string(),
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        bool: pyarrow.bool_(),
    }
    about = {"format": FORMAT, "version": VERSION, "eyecast": __version__}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()], metadata=about)
    columns = {name: [row[name] for row in rows] for name in COLUMNS}
    sink = io.BytesIO()
    parquet.write_table(pyarrow.table(columns, schema=schema), sink)
    return sink.getvalue()


def _pyarrow() -> Any:
    try:
        import pyarrow  # noqa: PLC0415 - of an extra
    except ImportError as error:
        allowed = "installed for .parquet (pip install 'eyecast[sweep]'; .csv needs nothing)"
        raise InvalidInput.of("pyarrow", allowed, "missing") from error
    return pyarrow
