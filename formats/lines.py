"""Lines of text files, with their numbers, and refusals that name them."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.base.errors import InvalidInput, printable
from ..model.base.files import InputFile, input_name

_SHOWN = 60


def numbered_lines(file: InputFile) -> Iterator[tuple[int, str]]:
    """The lines of ``file`` that are not empty, numbered from 1, without white space around them.

    Raises :class:`InvalidInput` where the file is not UTF-8.
    """
    try:
        text = file.content.decode()
    except UnicodeDecodeError as error:
        number = file.content.count(b"\n", 0, error.start) + 1
        raise wrong_line(file, number, "must be UTF-8") from error
    for number, line in enumerate(text.split("\n"), 1):
        if stripped := line.strip():
            yield number, stripped


def wrong_line(file: InputFile, number: int, complaint: str) -> InvalidInput:
    """Complain about a line: "graph.mtx, line 3: row must be 1 to 4, not 5"."""
    return InvalidInput(f"{input_name(file)}, line {number}: {complaint}")


def quoted(text: str) -> str:
    """A piece of a file in quotes, cut to a length that fits a line."""
    return repr(printable(text[:_SHOWN]))
