"""Numbers in the texts that people write and read: "8x8", "0,7", "2 words"."""

from collections.abc import Iterable

from .errors import InvalidInput


def counted(number: int, one: str) -> str:
    """Return a number with its noun, given in the singular: "1 word", "1,024 words"."""
    return f"{number:,} {one}" if number == 1 else f"{number:,} {one}s"


def counted_range(numbers: Iterable[int], one: str) -> str:
    """Return the range of ``numbers`` with their noun: "1 word", "0 to 16 words"."""
    numbers = [*numbers]
    least, most = min(numbers), max(numbers)
    return counted(most, one) if least == most else f"{least:,} to {counted(most, one)}"


def integers(parameter: str, allowed: str, text: str, separator: str) -> tuple[int, ...]:
    """Return the numbers in "8x8" or "0,7"; refuse any other text, naming ``parameter``."""
    parts = text.split(separator)
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise InvalidInput.of(parameter, allowed, repr(text))
    return tuple(int(part) for part in parts)
