"""An entry of the cache: a folder with a list of its files, which shows damage.

``entry.json`` has the description of the entry, and each file's size, modification time and digest.
Opening an entry checks sizes and times. If only the time of a file differs, its digest is checked,
and the new time is stored.
"""

import contextlib
import hashlib
import os
import shutil
import uuid
from pathlib import Path

import msgspec

LIST = "entry.json"
PARTIAL = ".partial"
"""Suffix of folders that are being made or removed."""


class File(msgspec.Struct, frozen=True):
    """A file as it was made: size in bytes, modification time in ns, SHA-256 of its content."""

    size: int
    changed: int
    digest: str


class CacheEntry(msgspec.Struct, frozen=True):
    """An entry: its description, and its files by their paths inside the folder."""

    what: str
    files: dict[str, File]


def seal(folder: Path, what: str) -> None:
    """Write the list of all files in ``folder``."""
    names = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
    files = {name: _file(folder / name) for name in names if name != LIST}
    beside = folder / f".{LIST}.{uuid.uuid4().hex}"
    beside.write_bytes(msgspec.json.format(msgspec.json.encode(CacheEntry(what, files)), indent=1))
    beside.replace(folder / LIST)


def read_entry(folder: Path) -> CacheEntry | None:
    """Read the list of ``folder``; None if it is missing or damaged."""
    try:
        return msgspec.json.decode((folder / LIST).read_bytes(), type=CacheEntry)
    except (OSError, msgspec.DecodeError):
        return None


def open_entry(folder: Path) -> bool:
    """Tell whether ``folder`` is a complete entry; if so, mark it as used now."""
    entry = read_entry(folder)
    if entry is None:
        return False
    touched = False
    for name, file in entry.files.items():
        try:
            now = (folder / name).stat()
            if now.st_size != file.size:
                return False
            if now.st_mtime_ns != file.changed:
                touched = True
                if _digest(folder / name) != file.digest:
                    return False
        except OSError:
            return False
    # An entry of another user may be read-only, and can still be used.
    with contextlib.suppress(OSError):
        if touched:
            seal(folder, entry.what)
        os.utime(folder)
    return True


def remove_folder(folder: Path) -> None:
    """Remove an entry; rename it first, so that a half-removed one is never taken for complete."""
    if not folder.name.endswith(PARTIAL):
        folder = folder.rename(partial_folder(folder))
    shutil.rmtree(folder, ignore_errors=True)


def partial_folder(entry: Path) -> Path:
    """Return a new name for a folder in which ``entry`` is made."""
    return entry.with_name(f"{entry.name}.{uuid.uuid4().hex[:8]}{PARTIAL}")


def _file(path: Path) -> File:
    found = path.stat()
    return File(found.st_size, found.st_mtime_ns, _digest(path))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
