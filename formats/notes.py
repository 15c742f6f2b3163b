"""Lines on what a foreign file says and Eyecast passes over, so that nothing goes silently."""

from __future__ import annotations

from pathlib import Path

from ..model.base.errors import printable
from ..model.base.files import InputFile, input_name
from ..model.base.notices import LOG


def say(file: InputFile | Path, text: str) -> None:
    """Put one line about ``file`` where notices go: on standard error, on the command line."""
    LOG.warning("%s", printable(f"{input_name(file)}: {text}"))
