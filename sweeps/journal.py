"""Results that are kept at once: lines of JSON in a folder beside the table.

::

    table.parquet.parts/000001.jsonl    {"key": "5f…", "rows": [{…}]}
                                        {"key": "c0…", "rows": [{…}]}
                        000002.jsonl    lines of a second run

Each finished point's line goes to the operating system at once, so it survives if the process is
killed; it is synchronised to disk once a second. An incomplete line is ignored, and its point runs
again.
"""

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
    """Kept results of a table, and new ones; only one writer at a time.

    rows
        The rows of each finished point, by its key.

    Raises :class:`.InvalidInput` if another sweep writes the same table.
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
        # Open a new file, so that nothing follows an incomplete line.
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
            # Remove the folder if it has no results.
            Path(self._lock.lock_file).unlink()
            with suppress(OSError):
                self.folder.rmdir()
        self._lock.release()

    def add(self, key: str, rows: list[Row]) -> bool:
        """Keep the rows of a point; return False if the point already has rows."""
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
            with suppress(UnicodeDecodeError, msgspec.DecodeError):
                found = decode(line)
                self.rows.setdefault(found.key, found.rows)

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()
