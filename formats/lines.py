"""Numbered lines of text files, and refusals with the line number."""

from collections.abc import Iterator

from ..model.base.errors import InvalidInput, printable
from ..model.base.files import InputFile, input_name

_SHOWN = 60


def numbered_lines(file: InputFile) -> Iterator[tuple[int, str]]:
    """Yield the non-empty lines of ``file``, numbered from 1 and stripped.

    Raises :class:`InvalidInput` if the file is not UTF-8.
    """
    for number, line in enumerate(text_of(file).split("\n"), 1):
        if stripped := line.strip():
            yield number, stripped


def text_of(file: InputFile) -> str:
    """Return the text of ``file``; raise :class:`InvalidInput` with the line if it is not UTF-8."""
    try:
        return file.content.decode()
    except UnicodeDecodeError as error:
        number = file.content.count(b"\n", 0, error.start) + 1
        raise wrong_line(file, number, "must be UTF-8") from error


def wrong_line(file: InputFile, number: int, complaint: str) -> InvalidInput:
    """Return the error for a line: "graph.mtx, line 3: row must be 1 to 4, not 5"."""
    return InvalidInput(f"{input_name(file)}, line {number}: {complaint}")


def quoted(text: str) -> str:
    """Return a piece of a file in quotes, cut to fit a line."""
    return repr(printable(text[:_SHOWN]))
