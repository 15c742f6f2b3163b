"""Pictures as files."""

import io
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from ..model.base.errors import InvalidInput, one_of
from ..model.base.files import write_bytes_atomically
from . import PICTURES


def save_picture(figure: Figure, path: str | Path) -> None:
    """Write ``figure`` to ``path``, whole or not at all; its suffix is one of ``PICTURES``.

    The same schedule gives the same bytes. Raises :class:`InvalidInput` for another suffix, and if
    the file cannot be written.
    """
    path = require_picture_suffix(path)
    picture = io.BytesIO()
    if path.suffix.lower() == ".svg":
        # Fixed ids and no date: otherwise files differ from run to run.
        with mpl.rc_context({"svg.hashsalt": "eyecast"}):
            figure.savefig(picture, format="svg", metadata={"Date": None})
    elif path.suffix.lower() == ".pdf":
        figure.savefig(picture, format="pdf", metadata={"CreationDate": None})
    else:
        figure.savefig(picture, format="png", dpi=150)
    write_bytes_atomically(path, picture.getvalue())


def require_picture_suffix(path: str | Path) -> Path:
    """Return ``path`` if its suffix is one that :func:`save_picture` can write; refuse others."""
    path = Path(path)
    if path.suffix.lower() not in PICTURES:
        raise InvalidInput.of(
            f"suffix of picture {path}", one_of(PICTURES), path.suffix or "missing"
        )
    return path
