"""Pictures as files."""

import io
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from ..model.base.errors import InvalidInput
from ..model.base.files import write_bytes_atomically


def save_picture(figure: Figure, path: str | Path) -> None:
    """Write ``figure`` to ``path`` as ``.svg`` or ``.png``, by its suffix, whole or not at all.

    The same schedule gives the same bytes. Raises :class:`InvalidInput` for another suffix, and if
    the file cannot be written.
    """
    path = require_picture_suffix(path)
    picture = io.BytesIO()
    if path.suffix.lower() == ".svg":
        # Fixed ids and no date: otherwise files differ from run to run.
        with mpl.rc_context({"svg.hashsalt": "eyecast"}):
            figure.savefig(picture, format="svg", metadata={"Date": None})
    else:
        figure.savefig(picture, format="png", dpi=150)
    write_bytes_atomically(path, picture.getvalue())


def require_picture_suffix(path: str | Path) -> Path:
    """Return ``path`` if its suffix is one that :func:`save_picture` can write; refuse others."""
    path = Path(path)
    if path.suffix.lower() not in (".svg", ".png"):
        raise InvalidInput.of(f"suffix of picture {path}", ".svg or .png", path.suffix or "missing")
    return path
