"""Listing and clearing of the cache."""

import contextlib
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import filelock

from .cache import KEY_PATTERN, remove_leftovers
from .cache_entry import read_entry, remove_folder

DAMAGED = "damaged"
"""Description of an entry that has no readable list of its files."""


@dataclass(frozen=True)
class KeptResult:
    """An entry: its description, size in bytes, and last use in seconds since 1970.

    ``key`` is the name of its folder.
    """

    key: str
    what: str
    size: int
    used: float

    def to_json(self) -> dict[str, object]:
        """Return the entry as JSON values."""
        return asdict(self)


def list_cache(home: Path) -> list[KeptResult]:
    """List the entries in a cache folder, the last used first."""
    # Folders whose names are keys are entries.
    found = [_kept(folder) for folder in home.glob(KEY_PATTERN) if folder.is_dir()]
    return sorted(found, key=lambda entry: entry.used, reverse=True)


def clear_cache(home: Path, *, unused_days: int) -> list[KeptResult]:
    """Remove entries unused for this many days, and the leftovers of killed processes.

    Entries that a process is making now stay. Returns the removed entries.
    """
    before = time.time() - unused_days * 86_400
    removed = []
    for entry in list_cache(home):
        lock = filelock.FileLock(home / f"{entry.key}.lock", timeout=0)
        if entry.used <= before:
            with contextlib.suppress(filelock.Timeout), lock:
                remove_folder(home / entry.key)
                # From now on, a process that waits for this lock and a later one may hold locks on
                # different files: both then make a folder, and one of the two is kept.
                (home / f"{entry.key}.lock").unlink(missing_ok=True)
                removed.append(entry)
    remove_leftovers(home)
    return removed


def _kept(folder: Path) -> KeptResult:
    entry = read_entry(folder)
    files = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return KeptResult(
        key=folder.name,
        what=DAMAGED if entry is None else entry.what,
        size=sum(file.st_size for file in files),
        used=folder.stat().st_mtime,
    )
