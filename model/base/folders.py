"""Folders of results, written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import InvalidInput
from .files import FULL_DISK


def require_new_folder(folder: Path) -> None:
    """Raise :class:`InvalidInput` unless ``folder`` is empty or can be made."""
    name, outer = f"output folder {folder}", folder.absolute().parent
    if folder.exists() and not folder.is_dir():
        raise InvalidInput.of(name, "a folder", "a file")
    if folder.is_dir() and any(folder.iterdir()):
        raise InvalidInput.of(name, "empty or not there", "files in it")
    if not outer.is_dir():
        raise InvalidInput.of(name, "in a folder that is there", "none")
    if not os.access(outer, os.W_OK):
        raise InvalidInput.of(name, "in a folder that is writable", "one that is not")


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill; rename it to ``folder`` at the end.

    Raises :class:`InvalidInput` as :func:`require_new_folder` does, and if the disk is full.
    """
    require_new_folder(folder)
    place = folder.absolute()
    try:
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}-") as name:
            work = Path(name) / "new"
            work.mkdir()
            yield work
            if place.exists():
                place.rmdir()
            work.rename(place)
    except OSError as error:
        if error.errno not in FULL_DISK:
            raise
        refusal = f"refused ({error.strerror})"
        raise InvalidInput.of(f"output folder {folder}", "writable", refusal) from error
