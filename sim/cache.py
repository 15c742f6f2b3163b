"""Things that take long to make, kept under a key: made once, whole or not at all."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock
import platformdirs

from ..model.errors import InvalidInput

CACHE_VARIABLE = "EYECAST_CACHE"
PACKAGE = Path(__file__).resolve().parent.parent
NETWORK_SOURCES = (
    *("rtl/*.py", "model/config.py", "model/topology.py", "model/graphs.py"),
    *("model/named_graphs.py", "model/host.py", "model/faults.py"),
)
"""Sources of this package that decide what the hardware of a network is, given its parameters."""


def cache_folder() -> Path:
    """``EYECAST_CACHE`` if set, ``build/cache`` in a source tree, else the user's cache folder."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    if (PACKAGE / "pyproject.toml").is_file():
        return PACKAGE / "build" / "cache"
    return Path(platformdirs.user_cache_dir("eyecast"))


def digest(*parts: str | bytes) -> str:
    """A key from texts: 24 hexadecimal digits of SHA-256."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "little") + data)
    return hashed.hexdigest()[:24]


def source_digest(*patterns: str) -> str:
    """A key from the sources of this package that match one of ``patterns``."""
    files = sorted(path for pattern in patterns for path in PACKAGE.glob(pattern))
    return digest(*(path.read_bytes() for path in files))


def cached_folder(key: str, make: Callable[[Path], None]) -> Path:
    """The folder kept under ``key``; ``make`` fills a new one if there is none.

    Only a folder that was made to the end gets the key's name, and only one process makes it at a
    time; an interrupted one leaves nothing that a later run would take for whole.
    """
    home = cache_folder()
    finished = home / key
    if finished.is_dir():
        return finished
    partial = home / f"{key}.partial"
    with _locked(home, key):
        if not finished.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            make(partial)
            partial.rename(finished)
    return finished


@contextmanager
def _locked(home: Path, key: str) -> Iterator[None]:
    """Hold the lock of ``key``, in a cache folder that is made if it is not there."""
    lock = filelock.FileLock(home / f"{key}.lock")
    try:
        home.mkdir(parents=True, exist_ok=True)
        # Where no file can be made, some file systems say so in words that the lock waits over.
        with tempfile.TemporaryFile(dir=home):
            pass
        lock.acquire()
    except OSError as error:
        allowed = f"writable (or name another in {CACHE_VARIABLE})"
        refusal = f"refused ({error.strerror})"
        raise InvalidInput.of(f"cache folder {home}", allowed, refusal) from error
    try:
        yield
    finally:
        lock.release()
