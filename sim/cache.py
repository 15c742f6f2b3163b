"""A cache of folders that take long to make: each is made once, whole or not at all."""

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

import platformdirs

from ..model.base.errors import InvalidInput
from ..model.base.files import FULL_DISK, OTHERS
from ..model.base.notices import LOG, announced
from ..model.network.config import DEFAULTS, NetworkConfig
from .cache_entry import PARTIAL, open_entry, partial_folder, remove_folder, seal

CACHE_VARIABLE = "EYECAST_CACHE"
KEY_DIGITS = 24
KEY_PATTERN = "[0-9a-f]" * KEY_DIGITS
"""Pattern of entry names; nothing else in the folder is ever removed."""
LOGS = "logs"
LOG_DAYS = 7
"""Days for which the logs of failed builds are kept."""
PACKAGE = Path(__file__).resolve().parent.parent
NETWORK_SOURCES = ("rtl/**/*.py", "model/network/*.py")
"""Sources of this package that define the hardware of a network, given its parameters."""


class CacheError(RuntimeError):
    """An entry could not be stored."""


def cache_folder() -> Path:
    """Return ``EYECAST_CACHE`` if set, ``build/cache`` in a source tree, or the user's cache."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).absolute()
    if (PACKAGE / "pyproject.toml").is_file():
        return PACKAGE / "build" / "cache"
    return Path(platformdirs.user_cache_dir("eyecast"))


def digest(*parts: str | bytes) -> str:
    """Make a key from texts: 24 hexadecimal digits of SHA-256."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "little") + data)
    return hashed.hexdigest()[:KEY_DIGITS]


def source_digest(*patterns: str) -> str:
    """Make a key from the sources of this package that match one of ``patterns``.

    Raises :class:`ValueError` for a pattern without a match: its sources have moved, so the key
    would no longer change with them.
    """
    files = []
    for pattern in patterns:
        matching = sorted(PACKAGE.glob(pattern))
        if not matching:
            raise ValueError(f"no source of eyecast matches {pattern}")
        files += matching
    return digest(*(path.read_bytes() for path in files))


def network_words(config: NetworkConfig) -> str:
    """Describe a network: its topology, and its parameters that differ from the defaults."""
    parts = [config.topology.label]
    for name, usual in DEFAULTS.items():
        value = config.display_value(name)
        if getattr(config, name) != usual:
            words = name.replace("_", " ")
            parts.append(words if value is True else f"{words} {value}")
    return ", ".join(parts)


def cached_folder(key: str, what: str, make: Callable[[Path], None]) -> Path:
    """Return the folder cached under ``key``; if missing or damaged, ``make`` fills a new one.

    ``what`` describes it, for the progress line and the list of the cache. Each attempt has its own
    folder, which gets the key's name when it is complete; a lock lets only one process make it.
    Raises :class:`CacheError` if there is no room, and :class:`InvalidInput` as
    :func:`require_own` does.
    """
    home = cache_folder()
    require_own(home)
    finished = home / key
    if open_entry(finished):
        return finished
    with announced(f"building {what} (once, then it is kept)"), _locked(home, key):
        remove_leftovers(home, key)
        # Another process may have made it while this one waited for the lock.
        if not open_entry(finished):
            if finished.exists():
                wrong = "is damaged or open to other users, and made anew"
                LOG.warning("%s in the cache %s: %s", what, wrong, finished)
                remove_folder(finished)
            _fill(finished, what, make)
    return finished


def require_own(home: Path) -> None:
    """Raise :class:`InvalidInput` if another user could write to the cache folder.

    Programs in the cache are executed. A missing folder is accepted, and so is one of root's.
    """
    if not home.exists():
        return
    status = home.stat()
    if status.st_uid not in (os.geteuid(), 0):
        allowed = f"your own (name another in {CACHE_VARIABLE})"
        raise InvalidInput.of(f"cache folder {home}", allowed, f"of user {status.st_uid}")
    if status.st_mode & OTHERS:
        allowed = f"writable by its owner alone (remove it, or name another in {CACHE_VARIABLE})"
        mode = f"of mode {stat.S_IMODE(status.st_mode):o}"
        raise InvalidInput.of(f"cache folder {home}", allowed, mode)


def _fill(finished: Path, what: str, make: Callable[[Path], None]) -> None:
    """Make the folder ``finished``, whole or not at all."""
    partial = partial_folder(finished)
    try:
        partial.mkdir(mode=stat.S_IRWXU)
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
        # Another process has made it too, because its lock file was cleared away.
        if not open_entry(finished):
            raise


def remove_leftovers(home: Path, key: str | None = None) -> None:
    """Remove old logs and leftovers of killed processes; the caller holds the lock of ``key``."""
    import filelock  # noqa: PLC0415 - loads asyncio, and only a new entry needs it

    for path in home.glob(f"{KEY_PATTERN}*{PARTIAL}"):
        of = path.name.partition(".")[0]
        if of == key:
            remove_folder(path)
            continue
        # A process that still makes it holds its lock.
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
    """Copy the log of a failed program to the cache, where it stays for some days."""
    kept = cache_folder() / LOGS / f"{log.stem}-{uuid.uuid4().hex[:8]}.log"
    kept.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(log, kept))


@contextlib.contextmanager
def _locked(home: Path, key: str) -> Iterator[None]:
    """Hold the lock of ``key``; make the cache folder if it is missing."""
    import filelock  # noqa: PLC0415 - loads asyncio, and only a new entry needs it

    lock = filelock.FileLock(home / f"{key}.lock")
    try:
        home.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
        # Another user may have made the folder just before.
        require_own(home)
        # The lock would wait for ever on some file systems where no file can be made.
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
