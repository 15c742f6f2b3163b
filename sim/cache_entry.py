"""An entry of the cache: a folder with a list of its files, which shows damage.

``entry.json`` has the description of the entry and each file's digest. Opening an entry checks all
of them, because programs in it are executed. It also checks that no other user can change a file.
"""

import contextlib
import hashlib
import os
import shutil
import stat
import uuid
from pathlib import Path

import msgspec

from ..model.base.files import OTHERS

LIST = "entry.json"
PARTIAL = ".partial"
"""Suffix of folders that are being made or removed."""


class File(msgspec.Struct, frozen=True):
    """A file as it was made: SHA-256 of its content."""

    digest: str


class CacheEntry(msgspec.Struct, frozen=True):
    """An entry: its description, and its files by their paths inside the folder."""

    what: str
    files: dict[str, File]


def seal(folder: Path, what: str) -> None:
    """Write the list of all files in ``folder``, and give them to their owner alone."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = {path.relative_to(folder).as_posix(): File(_digest(path)) for path in paths}
    listed = msgspec.json.encode(CacheEntry(what, files))
    (folder / LIST).write_bytes(msgspec.json.format(listed, indent=1))
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode & stat.S_IRWXU)


def read_entry(folder: Path) -> CacheEntry | None:
    """Read the list of ``folder``; None if it is missing or damaged."""
    try:
        return msgspec.json.decode((folder / LIST).read_bytes(), type=CacheEntry)
    except (OSError, UnicodeDecodeError, msgspec.DecodeError):
        return None


def open_entry(folder: Path) -> bool:
    """Tell whether ``folder`` is a complete entry; if so, mark it as used now."""
    entry = read_entry(folder)
    if entry is None:
        return False
    files = {folder / name: file.digest for name, file in entry.files.items()}
    inner = {parent for path in files for parent in path.parents if folder in parent.parents}
    try:
        if not all(is_own(path) for path in (folder, folder / LIST, *inner, *files)):
            return False
        if any(_digest(path) != digest for path, digest in files.items()):
            return False
    except OSError:
        return False
    # An entry of root may be read-only, and can still be used.
    with contextlib.suppress(OSError):
        os.utime(folder)
    return True


def is_own(path: Path) -> bool:
    """Tell whether only this user, or root, can change a file or folder."""
    status = path.lstat()
    owned = status.st_uid in (os.geteuid(), 0)
    return owned and not stat.S_ISLNK(status.st_mode) and not status.st_mode & OTHERS


def remove_folder(folder: Path) -> None:
    """Remove an entry; rename it first, so that a half-removed one is never taken for complete."""
    if not folder.name.endswith(PARTIAL):
        folder = folder.rename(partial_folder(folder))
    shutil.rmtree(folder, ignore_errors=True)


def partial_folder(entry: Path) -> Path:
    """Return a new name for a folder in which ``entry`` is made."""
    return entry.with_name(f"{entry.name}.{uuid.uuid4().hex[:8]}{PARTIAL}")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
