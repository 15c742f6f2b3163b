"""Files: read up to a limit, written whole or not at all; what goes wrong is one line."""

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
"""Bytes of a file that is read: a schedule of some million nodes."""

STANDARD_INPUT = "-"
"""The name of an input file that stands for standard input."""

FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
"""Numbers of the :class:`OSError` that says that no more can be written."""

_CHUNK = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class InputFile:
    """An input file that was read, as standard input can be once only: its path and content."""

    path: str | Path
    content: bytes

    @classmethod
    def read(cls, path: str | Path) -> InputFile:
        """Read the file at ``path``, as :func:`read_input` does."""
        return cls(path, read_input(path))


def input_name(path: str | Path | InputFile) -> str:
    """Name an input file in an error."""
    if isinstance(path, InputFile):
        path = path.path
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


def read_input(path: str | Path | InputFile) -> bytes:
    """The text of an input file in UTF-8, without the mark that some programs put before it.

    Raises :class:`InvalidInput` for a file that cannot be read or has more than
    :data:`LARGEST_INPUT` bytes, which a device or a pipe may have without end.
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
    """An input file, to be read."""
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
    """Write ``pieces``, one after the other, to ``path``: beside it first, then renamed over it.

    Whoever reads ``path`` meanwhile, or after an interruption, finds the old file or the new one,
    with the same mode. A symbolic link stays one: what it leads to is written. Raises
    :class:`InvalidInput` naming the folder or the file where that cannot be done.
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
            # An interruption leaves by here too; after the rename there is nothing to remove.
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
    """Path to which a file is written: the target of a symbolic link, or else the path itself."""
    path = Path(path)
    return Path(os.path.realpath(path)) if path.is_symlink() and not is_special(path) else path


def _mode(path: Path) -> int | None:
    """The mode of a file that is to be replaced; None where there is none."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None
    # Who may write everything is kept from what nobody is to write, as others are.
    if not mode & _WRITABLE or not os.access(path, os.W_OK):
        raise InvalidInput.of(f"output file {path}", "writable", "read-only")
    return mode


_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def _beside(path: Path) -> Path:
    """Path of the file that is written before it is renamed."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def is_standard_output(path: str | Path) -> bool:
    """Tell whether ``path`` is a name of standard output, wherever that leads."""
    return str(path) in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def is_special(path: Path) -> bool:
    """Tell whether ``path`` is a device or a pipe, such as /dev/null, or standard output.

    These are written to; a file put in their place would take it from everybody.
    """
    return is_standard_output(path) or (path.exists() and not path.is_file())


def _special(path: Path) -> BinaryIO:
    """A device, a pipe or standard output, to be written to.

    Opened by its name, standard output would lose what is in its file.
    """
    return os.fdopen(os.dup(1), "wb") if is_standard_output(path) else path.open("wb")


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
    except BrokenPipeError:
        # Who reads has seen enough.
        raise
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            folder = f"output folder {path.parent}"
            raise InvalidInput.of(folder, "writable", "read-only") from error
        refusal = f"refused ({error.strerror})"
        raise InvalidInput.of(f"output file {path}", "writable", refusal) from error
