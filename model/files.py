"""Files are written whole or not at all, and a file that cannot be written is one line."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from .errors import InvalidInput


def write_atomically(path: str | Path, text: str) -> None:
    """Write ``text`` to ``path`` as UTF-8, as :func:`write_bytes_atomically` does."""
    write_bytes_atomically(path, text.encode())


def write_bytes_atomically(path: str | Path, content: bytes) -> None:
    """Write ``content`` to ``path``, as :func:`write_pieces_atomically` does."""
    write_pieces_atomically(path, (content,))


def write_pieces_atomically(path: str | Path, pieces: Iterable[bytes]) -> None:
    """Write ``pieces``, one after the other, to ``path``: beside it first, then renamed over it.

    Whoever reads ``path`` meanwhile, or after an interruption, finds the old file or the new one.
    Raises :class:`InvalidInput` naming the folder or the file where that cannot be done.
    """
    path = Path(path)
    with _refusing(path):
        # A device or a pipe is written to; a file put in its place would take it from everybody.
        if is_special(path):
            with path.open("wb") as file:
                file.writelines(pieces)
            return
        beside = _beside(path)
        try:
            with beside.open("wb") as file:
                file.writelines(pieces)
            beside.replace(path)
        finally:
            # An interruption leaves by here too; after the rename there is nothing to remove.
            with contextlib.suppress(OSError):
                beside.unlink()


def require_writable(path: str | Path) -> None:
    """Raise the :class:`InvalidInput` that writing ``path`` would, without writing it."""
    path = Path(path)
    with _refusing(path):
        if not is_special(path):
            beside = _beside(path)
            beside.touch()
            beside.unlink()


def _beside(path: Path) -> Path:
    """What is written before it is renamed."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def is_special(path: Path) -> bool:
    """Whether ``path`` is a device or a pipe, such as /dev/stdout."""
    return path.exists() and not path.is_file()


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Refuse an output file ``path`` that cannot be one, and turn what writing it raises."""
    try:
        if path.is_dir():
            raise InvalidInput.of(f"output file {path}", "a file", "a folder")
        if not path.parent.is_dir():
            state = "a file" if path.parent.exists() else "missing"
            raise InvalidInput.of(f"output folder {path.parent}", "an existing folder", state)
        yield
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            folder = f"output folder {path.parent}"
            raise InvalidInput.of(folder, "writable", "read-only") from error
        refusal = f"refused ({error.strerror})"
        raise InvalidInput.of(f"output file {path}", "writable", refusal) from error
