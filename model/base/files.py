"""Files: read up to a limit, written whole or not at all, refused in one line."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .errors import InvalidInput

LARGEST_INPUT = 1 << 30
"""Largest size of an input file in bytes: enough for a schedule of some million nodes."""

STANDARD_INPUT = "-"
"""The file name that stands for standard input."""

FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
"""Numbers of the :class:`OSError` raised when the disk or the quota is full."""

OTHERS = stat.S_IWGRP | stat.S_IWOTH
"""Bits of a mode that let other users write."""

_CHUNK = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class InputFile:
    """An input file's path and content, kept because standard input can be read only once."""

    path: str | Path
    content: bytes

    @classmethod
    def read(cls, path: str | Path) -> InputFile:
        """Read the file at ``path``, as :func:`read_input` does."""
        return cls(path, read_input(path))


def input_name(path: str | Path | InputFile) -> str:
    """Return the name of an input file as errors use it."""
    if isinstance(path, InputFile):
        path = path.path
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


def read_input(path: str | Path | InputFile) -> bytes:
    """Return the content of an input file in UTF-8, without a byte order mark.

    Raises :class:`InvalidInput` if the file cannot be read or has more than :data:`LARGEST_INPUT`
    bytes. A device or a pipe may have no end.
    """
    if isinstance(path, InputFile):
        return path.content
    name = input_name(path)
    try:
        with _opened(path) as file:
            status = os.fstat(file.fileno())
            regular = stat.S_ISREG(status.st_mode)
            size = status.st_size if regular else 0
            content = bytearray()
            while size <= LARGEST_INPUT and (chunk := file.read(_CHUNK)):
                content += chunk
                size = max(size, len(content))
    except OSError as error:
        raise InvalidInput(f"{name}: cannot be read: {error.strerror}") from error
    if size > LARGEST_INPUT:
        given = size if regular else "more"
        raise InvalidInput.of(f"bytes of {name}", f"at most {LARGEST_INPUT}", given)
    return bytes(content).removeprefix(_BYTE_ORDER_MARK)


def _opened(path: str | Path) -> contextlib.AbstractContextManager[BinaryIO]:
    """Open an input file for reading."""
    if str(path) != STANDARD_INPUT:
        return Path(path).open("rb")
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed")
    return contextlib.nullcontext(sys.stdin.buffer)


def write_atomically(path: str | Path, text: str) -> None:
    """Write ``text`` to ``path`` as UTF-8, as :func:`write_bytes_atomically` does."""
    write_bytes_atomically(path, text.encode())


def write_bytes_atomically(path: str | Path, content: bytes) -> None:
    """Write ``content`` to ``path``, as :func:`write_pieces_atomically` does."""
    write_pieces_atomically(path, (content,))


def write_pieces_atomically(path: str | Path, pieces: Iterable[bytes]) -> None:
    """Write ``pieces`` in order to a temporary file beside ``path``, then rename it to ``path``.

    A reader finds the old file or the new one, also after an interruption; the mode is kept. If
    ``path`` is a symbolic link, its target is written. Raises :class:`InvalidInput` naming the
    folder or the file if the file cannot be written.
    """
    path = _place(path)
    with _refusing(path):
        if is_special(path):
            with _special(path) as file:
                file.writelines(pieces)
            return
        mode = _mode(path)
        beside = _beside(path)
        try:
            with beside.open("wb") as file:
                file.writelines(pieces)
            if mode is not None:
                beside.chmod(mode)
            beside.replace(path)
        finally:
            # An interruption passes here too; after the rename there is nothing to remove.
            with contextlib.suppress(OSError):
                beside.unlink()


def require_writable(path: str | Path) -> None:
    """Raise the :class:`InvalidInput` that writing ``path`` would, without writing it."""
    path = _place(path)
    with _refusing(path):
        if not is_special(path):
            _mode(path)
            beside = _beside(path)
            beside.touch()
            beside.unlink()


def _place(path: str | Path) -> Path:
    """Return the path that is written: the target of a symbolic link, otherwise ``path``."""
    path = Path(path)
    return Path(os.path.realpath(path)) if path.is_symlink() and not is_special(path) else path


def _mode(path: Path) -> int | None:
    """Return the mode of the file that is replaced; None if no file exists."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None
    # A read-only file is refused to root as well, whom the system would let write it.
    if not mode & _WRITABLE or not os.access(path, os.W_OK):
        raise InvalidInput.of(f"output file {path}", "writable", "read-only")
    return mode


_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def _beside(path: Path) -> Path:
    """Return the path of the temporary file, which is renamed at the end."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def is_standard_output(path: str | Path) -> bool:
    """Tell whether ``path`` is a name of standard output, which may be a file or a pipe."""
    return str(path) in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def is_special(path: Path) -> bool:
    """Tell whether ``path`` is a device or a pipe, such as /dev/null, or standard output.

    These are written in place; renaming a file over them would remove them for every process.
    """
    return is_standard_output(path) or (path.exists() and not path.is_file())


def _special(path: Path) -> BinaryIO:
    """Open a device, a pipe or standard output for writing.

    Standard output is not opened by name: that would empty the file it is redirected to.
    """
    return os.fdopen(os.dup(1), "wb") if is_standard_output(path) else path.open("wb")


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Raise :class:`InvalidInput` if ``path`` cannot be an output file or writing it fails."""
    try:
        if path.is_dir():
            raise InvalidInput.of(f"output file {path}", "a file", "a folder")
        if not path.parent.is_dir():
            state = "a file" if path.parent.exists() else "missing"
            raise InvalidInput.of(f"output folder {path.parent}", "an existing folder", state)
        yield
    except BrokenPipeError:
        # The reader has closed the pipe.
        raise
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            folder = f"output folder {path.parent}"
            raise InvalidInput.of(folder, "writable", "read-only") from error
        refusal = f"refused ({error.strerror})"
        raise InvalidInput.of(f"output file {path}", "writable", refusal) from error
