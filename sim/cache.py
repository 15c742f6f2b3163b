"""Things that take long to make, kept under a key: made once, whole or not at all."""

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import filelock
import platformdirs

from ..model.base.errors import InvalidInput
from ..model.base.files import FULL_DISK
from ..model.base.notices import LOG, announced
from ..model.network.config import DEFAULTS, NetworkConfig
from .cache_entry import PARTIAL, open_entry, partial_folder, remove_folder, seal

CACHE_VARIABLE = "EYECAST_CACHE"
KEY_DIGITS = 24
KEY_PATTERN = "[0-9a-f]" * KEY_DIGITS
"""Names of entries; only what is named so is ever removed, whatever else is in the folder."""
LOGS = "logs"
LOG_DAYS = 7
"""For so long the logs of what failed are kept."""
PACKAGE = Path(__file__).resolve().parent.parent
NETWORK_SOURCES = ("rtl/*.py", "model/network/*.py")
"""Sources of this package that decide what the hardware of a network is, given its parameters."""


class CacheError(RuntimeError):
    """Something could not be kept."""


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
    return hashed.hexdigest()[:KEY_DIGITS]


def source_digest(*patterns: str) -> str:
    """A key from the sources of this package that match one of ``patterns``.

    Raises :class:`ValueError` for a pattern that matches nothing: what it stood for has moved, and
    would change without a change of the key.
    """
    files = []
    for pattern in patterns:
        matching = sorted(PACKAGE.glob(pattern))
        if not matching:
            raise ValueError(f"no source of eyecast matches {pattern}")
        files += matching
    return digest(*(path.read_bytes() for path in files))


def network_words(config: NetworkConfig) -> str:
    """Words on a network: what it is, and what of it is not as it is by default."""
    parts = [config.topology.label]
    for name, usual in DEFAULTS.items():
        value = config.said(name)
        if getattr(config, name) != usual:
            words = name.replace("_", " ")
            parts.append(words if value is True else f"{words} {value}")
    return ", ".join(parts)


def cached_folder(key: str, what: str, make: Callable[[Path], None]) -> Path:
    """The folder kept under ``key``; ``make`` fills a new one if there is none, or a damaged one.

    ``what`` it is, in words, is said while it is made, and where the cache is listed. Each try has
    a folder of its own, and only one that was made to the end gets the key's name; only one process
    makes it at a time. Raises :class:`CacheError` if there is no room for it, and
    :class:`InvalidInput` as :func:`require_own` does.
    """
    home = cache_folder()
    require_own(home)
    finished = home / key
    if open_entry(finished):
        return finished
    with _locked(home, key):
        remove_leftovers(home, key)
        # Another process may have made it meanwhile.
        if not open_entry(finished):
            if finished.exists():
                LOG.warning("%s in the cache is damaged, and made anew: %s", what, finished)
                remove_folder(finished)
            with announced(f"building {what} (once, then it is kept)"):
                _fill(finished, what, make)
    return finished


def require_own(home: Path) -> None:
    """Raise :class:`InvalidInput` if another user may have put something into the cache folder.

    Programs in the cache are executed. A folder that is missing, or that root owns, passes.
    """
    if not home.exists():
        return
    status = home.stat()
    if status.st_uid not in (os.geteuid(), 0):
        allowed = f"your own (name another in {CACHE_VARIABLE})"
        raise InvalidInput.of(f"cache folder {home}", allowed, f"of user {status.st_uid}")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        allowed = f"writable by its owner alone (remove it, or name another in {CACHE_VARIABLE})"
        mode = f"of mode {stat.S_IMODE(status.st_mode):o}"
        raise InvalidInput.of(f"cache folder {home}", allowed, mode)


def _fill(finished: Path, what: str, make: Callable[[Path], None]) -> None:
    """Make the folder ``finished``, whole or not at all."""
    partial = partial_folder(finished)
    try:
        partial.mkdir()
        make(partial)
        seal(partial, what)
        _put_in_place(partial, finished)
    except OSError as error:
        if error.errno not in FULL_DISK:
            raise
        where = Path(error.filename or partial)
        if where.is_relative_to(partial):
            where = finished.parent
        raise CacheError(
            f"{what} could not be built: {where}: {error.strerror} (eyecast cache --clear makes "
            f"room, {CACHE_VARIABLE} names another folder)"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _put_in_place(partial: Path, finished: Path) -> None:
    try:
        partial.rename(finished)
    except OSError:
        # Another process has made it too, when the lock that it held was cleared away.
        if not open_entry(finished):
            raise


def remove_leftovers(home: Path, key: str | None = None) -> None:
    """Remove what killed processes have left, and old logs; the lock of ``key`` is held."""
    for path in home.glob(f"{KEY_PATTERN}*{PARTIAL}"):
        of = path.name.partition(".")[0]
        if of == key:
            remove_folder(path)
            continue
        # Whoever still makes it holds its lock.
        with (
            contextlib.suppress(filelock.Timeout),
            filelock.FileLock(home / f"{of}.lock", timeout=0),
        ):
            remove_folder(path)
    oldest = time.time() - LOG_DAYS * 86_400
    for path in (home / LOGS).glob("*.log"):
        if path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)


def keep_log(log: Path) -> Path:
    """Keep, for some days, what a failed program has said in a folder that is given up."""
    kept = cache_folder() / LOGS / f"{log.stem}-{uuid.uuid4().hex[:8]}.log"
    kept.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(log, kept))


@contextlib.contextmanager
def _locked(home: Path, key: str) -> Iterator[None]:
    """Hold the lock of ``key``, in a cache folder that is made if it is not there."""
    lock = filelock.FileLock(home / f"{key}.lock")
    try:
        home.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
        # Another user may have made it just before.
        require_own(home)
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
