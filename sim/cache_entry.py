"""An entry of the cache: a folder with a list of its files, by which damage is seen.

The list is ``entry.json``: what the entry is, in words, and each file's size, time of change and
digest. When an entry is opened, sizes and times are looked at. A file whose time has changed is
read, and if it is as it was, the new time is noted.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import uuid
from pathlib import Path

import msgspec

LIST = "entry.json"
PARTIAL = ".partial"
"""How the names of folders end that are being made, or removed."""


class File(msgspec.Struct, frozen=True):
    """A file as it was made: size in bytes, time of change in ns, SHA-256 of its content."""

    size: int
    changed: int
    digest: str


class Entry(msgspec.Struct, frozen=True):
    """An entry of the cache: its description, and its files by their paths within its folder."""

    what: str
    files: dict[str, File]


def seal(folder: Path, what: str) -> None:
    """Write the list of the files that are in ``folder``."""
    names = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
    files = {name: _file(folder / name) for name in names if name != LIST}
    beside = folder / f".{LIST}.{uuid.uuid4().hex}"
    beside.write_bytes(msgspec.json.format(msgspec.json.encode(Entry(what, files)), indent=1))
    beside.replace(folder / LIST)


def read_entry(folder: Path) -> Entry | None:
    """Read the list of ``folder``; None if there is none, or it is damaged."""
    try:
        return msgspec.json.decode((folder / LIST).read_bytes(), type=Entry)
    except (OSError, msgspec.DecodeError):
        return None


def open_entry(folder: Path) -> bool:
    """Tell whether ``folder`` is a whole entry; if so it counts as used now."""
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
    # Others' entries may be used that cannot be written to.
    with contextlib.suppress(OSError):
        if touched:
            seal(folder, entry.what)
        os.utime(folder)
    return True


def remove_folder(folder: Path) -> None:
    """Remove an entry, first its name: half of one is never taken for whole."""
    if not folder.name.endswith(PARTIAL):
        folder = folder.rename(partial_folder(folder))
    shutil.rmtree(folder, ignore_errors=True)


def partial_folder(entry: Path) -> Path:
    """A name for a folder in which ``entry`` is made; another one at each try."""
    return entry.with_name(f"{entry.name}.{uuid.uuid4().hex[:8]}{PARTIAL}")


def _file(path: Path) -> File:
    found = path.stat()
    return File(found.st_size, found.st_mtime_ns, _digest(path))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
