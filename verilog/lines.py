"""Statements and comments of Verilog, wrapped into lines."""

import re
import textwrap

LINE = 100
_STRING = re.compile('"[^"]*"')
_KEPT_SPACE = "\0"
"""A character for the spaces of strings, at which no line ends."""


def wrapped(text: str, indent: int) -> list[str]:
    """Wrap a statement into lines; a string stays in one line."""
    kept = _STRING.sub(lambda found: found[0].replace(" ", _KEPT_SPACE), text)
    lines = textwrap.wrap(
        kept,
        LINE,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_KEPT_SPACE, " ") for line in lines]


def comment(words: str) -> list[str]:
    """Wrap a comment into lines."""
    return textwrap.wrap(words, LINE, initial_indent="// ", subsequent_indent="// ")
