"""Errors for values from users, in one line: the parameter, the allowed values, the value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches


class InvalidInput(ValueError):
    """A value from outside (an option, a file, a parameter) that cannot be used.

    The message is one line. The command line prints it and exits with status 2.

    Attributes
    ----------
    parameter
        Name of the refused parameter; None if the message names none.
    allowed
        The allowed values in words: "1 to 16", "left out".
    value
        The refused value; None if the message names none.
    """

    parameter: str | None = None
    allowed: str = ""
    value: object = None
    _before = _after = ""
    _setting: str | None = None

    @classmethod
    def of(cls, parameter: str, allowed: str, value: object, *, about: str = "") -> InvalidInput:
        """Refuse ``value`` for ``parameter``: "depth must be 1 to 16, not 0"."""
        error = cls.around("", parameter, f"{about} must be {allowed}, not {value}")
        error.allowed, error.value = allowed, value
        return error

    @classmethod
    def unknown(cls, parameter: str, names: Iterable[str], value: object) -> InvalidInput:
        """Refuse a name that is none of ``names``: "… or tree, not tre (did you mean tree?)"."""
        known = tuple(map(str, names))
        return cls.of(parameter, one_of(known), like(str(value), known))

    @classmethod
    def must_be(
        cls, parameter: str, allowed: str, beside: str, setting: str | None = None
    ) -> InvalidInput:
        """Refuse a parameter, or one ``setting`` of it: "packet must be left out with a tree"."""
        error = cls.around("", parameter, f" must be {allowed} {beside}", setting)
        error.allowed, error.value = allowed, setting
        return error

    @classmethod
    def around(
        cls, before: str, parameter: str, after: str, setting: str | None = None
    ) -> InvalidInput:
        """Refuse a value with words around a ``parameter``, such as one whose change would help."""
        error = cls(f"{before}{as_keyword(parameter, setting)}{after}")
        error.parameter, error._setting = parameter, setting
        error._before, error._after = before, after
        return error

    def between(self, before: str, after: str = "") -> InvalidInput:
        """Return the same refusal with words before and after it, such as the group's number."""
        if self.parameter is None:
            return InvalidInput(f"{before}{self}{after}")
        before, after = before + self._before, self._after + after
        error = InvalidInput.around(before, self.parameter, after, self._setting)
        error.allowed, error.value = self.allowed, self.value
        return error

    def spelled(self, spell: Callable[[str, str | None], str]) -> str:
        """Return the message with its parameter, or one setting of it, as ``spell`` writes it."""
        if self.parameter is None:
            return str(self)
        return f"{self._before}{spell(self.parameter, self._setting)}{self._after}"


def as_keyword(parameter: str, setting: str | None) -> str:
    """Return a parameter, or one setting of it, as Python writes it: ``ports="all"``."""
    if setting is None:
        return parameter
    values = setting.replace(" or ", '" or "')
    return f'{parameter}="{values}"'


def require_range(parameter: str, value: int, low: int, high: int | None = None) -> None:
    """Raise :class:`InvalidInput` unless ``low <= value <= high`` (no upper limit for None)."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput.of(parameter, "an integer", repr(value))
    if value < low or (high is not None and value > high):
        allowed = f"at least {low}" if high is None else f"{low} to {high}"
        raise InvalidInput.of(parameter, allowed, value)


def printable(text: str) -> str:
    """Return ``text`` with line ends, escape sequences and other unprintable characters escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def one_of(names: Iterable[str]) -> str:
    """Return ``names`` as a choice: "eye", "eye or tree", "eye, tree or ring"."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def like(given: str, names: Iterable[str]) -> str:
    """Return ``given`` with the most similar name: "alreduce (did you mean all-reduce?)".

    If no name of ``names`` is similar, return ``given`` alone.
    """
    close = get_close_matches(str(given).lower().replace("_", "-"), list(names), n=1)
    return f"{given} (did you mean {close[0]}?)" if close else given


def with_article(name: str) -> str:
    """Return ``name`` after "a" or "an", as spoken: "an 8x8 mesh", "an 11-cube", "a 4x4 torus"."""
    digits = len(name) - len(name.lstrip("0123456789"))
    # Eight, eleven, eighteen, eighty, eleven thousand; but a hundred and ten.
    an = name.startswith(("a", "e", "i", "o", "8"))
    an |= digits % 3 == 2 and name.startswith(("11", "18"))
    return f"{'an' if an else 'a'} {name}"
