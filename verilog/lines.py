"""Statements and comments of Verilog, wrapped into lines."""

import textwrap

LINE = 100


def wrapped(text: str, indent: int) -> list[str]:
    """Wrap a statement into lines."""
    return textwrap.wrap(
        text,
        LINE,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_long_words=False,
        break_on_hyphens=False,
    )


def comment(words: str) -> list[str]:
    """Wrap a comment into lines."""
    return textwrap.wrap(words, LINE, initial_indent="// ", subsequent_indent="// ")
