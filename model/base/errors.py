"""Refusals of values from users, in one line: the parameter, what is allowed, the value."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class InvalidInput(ValueError):
    """A value from outside (an option, a file, a parameter) that cannot be used.

    The message is one line. The command line prints it and exits with status 2.
    """

    @classmethod
    def of(cls, parameter: str, allowed: str, value: object) -> InvalidInput:
        """Refuse ``value`` for ``parameter``: "depth must be 1 to 16, not 0"."""
        return cls(f"{parameter} must be {allowed}, not {value}")


def require_range(parameter: str, value: int, low: int, high: int | None = None) -> None:
    """Raise :class:`InvalidInput` unless ``low <= value <= high`` (no upper limit for None)."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput.of(parameter, "an integer", repr(value))
    if value < low or (high is not None and value > high):
        allowed = f"at least {low}" if high is None else f"{low} to {high}"
        raise InvalidInput.of(parameter, allowed, value)


def printable(text: str) -> str:
    """``text`` with what no terminal should be sent (escape sequences, line ends) spelled out."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def one_of(names: Iterable[str]) -> str:
    """``names`` as a choice: "eye", "eye or tree", "eye, tree or ring"."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def like(given: str, names: Iterable[str]) -> str:
    """``given``, and the one of ``names`` that it resembles: "alreduce (did you mean all-reduce?)".

    Only ``given`` where it resembles none.
    """
    close = get_close_matches(str(given).lower().replace("_", "-"), list(names), n=1)
    return f"{given} (did you mean {close[0]}?)" if close else given


def with_article(name: str) -> str:
    """``name`` after "a" or "an", as it is spoken: "an 8x8 mesh", "an 11-cube", "a 4x4 torus"."""
    digits = len(name) - len(name.lstrip("0123456789"))
    # Eight, eleven, eighteen, eighty, eleven thousand; but a hundred and ten.
    an = name.startswith(("a", "e", "i", "o", "8"))
    an |= digits % 3 == 2 and name.startswith(("11", "18"))
    return f"{'an' if an else 'a'} {name}"
