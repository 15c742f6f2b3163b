"""Results kept from the moment they are there: lines of JSON in a folder beside the table.

::

    table.parquet.parts/000001.jsonl    {"key": "5f…", "rows": [{…}]}
                                        {"key": "c0…", "rows": [{…}]}
                        000002.jsonl    what a second run has added

A line is handed to the system when its point is done, so that it is there whatever kills the
process; the disk is waited for once a second. A line that was cut off in the middle is no result,
and its point is run again.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import filelock
import msgspec

from ..model.base.errors import InvalidInput
from .layout import Row

SUFFIX = ".parts"
SYNC_SECONDS = 1.0


class _Line(msgspec.Struct):
    key: str
    rows: list[Row]


class Journal:
    """The results that were kept for a table, and those that are added; one writer at a time.

    rows
        The rows of each point that is done, by its key.

    Raises :class:`.InvalidInput` where another sweep writes the same table.
    """

    def __init__(self, table: Path) -> None:
        self.folder = table.with_name(table.name + SUFFIX)
        self.rows: dict[str, list[Row]] = {}
        self._lock = filelock.FileLock(self.folder / "lock")
        self._synced = 0.0

    def __enter__(self) -> Self:
        self.folder.mkdir(exist_ok=True)
        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout as error:
            raise InvalidInput(f"{self.folder} must be written by one sweep, not two") from error
        parts = sorted(self.folder.glob("[0-9]*.jsonl"))
        for part in parts:
            self._load(part)
        number = int(parts[-1].stem) + 1 if parts else 1
        # A file of its own: nothing is written behind a line that was cut off.
        self._file = (self.folder / f"{number:06d}.jsonl").open("ab")
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._sync()
        empty = self._file.tell() == 0
        self._file.close()
        if empty:
            Path(self._file.name).unlink()
        if not any(self.folder.glob("*.jsonl")):
            # Nothing has come of it: it leaves nothing.
            Path(self._lock.lock_file).unlink()
            with suppress(OSError):
                self.folder.rmdir()
        self._lock.release()

    def add(self, key: str, rows: list[Row]) -> bool:
        """Keep the rows of a point; False, and nothing is kept, if there are some already."""
        if key in self.rows:
            return False
        self.rows[key] = rows
        self._file.write(json.dumps({"key": key, "rows": rows}).encode() + b"\n")
        self._file.flush()
        if time.monotonic() > self._synced + SYNC_SECONDS:
            self._sync()
        return True

    def _load(self, part: Path) -> None:
        decode = msgspec.json.Decoder(_Line).decode
        for line in part.read_bytes().splitlines():
            with suppress(msgspec.DecodeError):
                found = decode(line)
                self.rows.setdefault(found.key, found.rows)

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()
