"""Notices of content in a foreign file that Eyecast skips."""

from pathlib import Path

from ..model.base.errors import printable
from ..model.base.files import InputFile, input_name
from ..model.base.notices import LOG


def say(file: InputFile | Path, text: str) -> None:
    """Log one notice about ``file``; the command line prints it on standard error."""
    LOG.warning("%s", printable(f"{input_name(file)}: {text}"))
