"""Files are written whole or not at all, and a file that cannot be written is one line."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable
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
    if path.is_dir():
        raise InvalidInput.of(f"output file {path}", "a file", "a folder")
    if not path.parent.is_dir():
        state = "a file" if path.parent.exists() else "missing"
        raise InvalidInput.of(f"output folder {path.parent}", "an existing folder", state)
    # A device or a pipe is written to; a file put in its place would take it from everybody.
    special = path.exists() and not path.is_file()
    beside = path if special else path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with beside.open("wb") as file:
            file.writelines(pieces)
        if not special:
            beside.replace(path)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            folder = f"output folder {path.parent}"
            raise InvalidInput.of(folder, "writable", "read-only") from error
        refusal = f"refused ({error.strerror})"
        raise InvalidInput.of(f"output file {path}", "writable", refusal) from error
    finally:
        # An interruption leaves by here too; after the rename there is nothing to remove.
        if not special:
            with contextlib.suppress(OSError):
                beside.unlink()
