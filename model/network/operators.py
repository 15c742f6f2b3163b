"""Operators that combine a word that comes with the word that is there: docs/router.md, section 19.

A network is built with those that it needs. Eight are built in; a user's own is an
:class:`Operator` with a name and a latency, and with what it means here and in hardware::

    Operator("saturating-add", latency=1, meaning=saturating_add, component=SaturatingAdd)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, one_of, require_range

Words = npt.NDArray[np.uint64]

_LARGEST_WORD = (1 << 64) - 1
MOST_LATENCY = 63
"""Cycles that an operator may take at most."""


@dataclass(frozen=True)
class Operator:
    """Two words in, one word out.

    name
        Lower-case letters, digits and dashes. A built-in name is that of the built-in operator.
    latency
        Cycles from its words to its result.
    meaning
        Of an operator of a user's own: what it makes of the word that is there, the word that comes
        and the bits of a word, three ``uint64``; the result is one, of which so many bits are
        kept. Numba must be able to compile it. None where nothing here runs the network.
    component
        Of the same: what makes its hardware, as ``rtl/`` asks for it. None where none is built.

    Two operators are equal if name and latency are: that is what a network's file says of them.
    Raises :class:`.InvalidInput` for a name or latency that cannot be, for a meaning or component
    that cannot be called, and for a meaning that does not take three arguments.
    """

    name: str
    latency: int = 0
    meaning: Callable[[Any, Any, Any], Any] | None = field(default=None, compare=False, repr=False)
    component: Callable[..., Any] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and re.fullmatch("[a-z][a-z0-9-]*", self.name)):
            allowed = "lower-case letters, digits and dashes"
            raise InvalidInput.of("name of an operator", allowed, repr(self.name))
        require_range(f"latency of operator {self.name}", self.latency, 0, MOST_LATENCY)
        if self.name in _MEANINGS and (self.latency or self.meaning or self.component):
            allowed = "other than those built in"
            raise InvalidInput.of("name of an operator of your own", allowed, self.name)
        for part in ("meaning", "component"):
            if not (getattr(self, part) is None or callable(getattr(self, part))):
                given = repr(getattr(self, part))
                raise InvalidInput.of(f"{part} of operator {self.name}", "a function", given)
        self._require_three_words()

    def _require_three_words(self) -> None:
        """Refuse a meaning that cannot be called with three arguments, where that can be told."""
        if self.meaning is None:
            return
        try:
            taken = signature(self.meaning)
        except (TypeError, ValueError):
            # Functions of compiled modules may have none.
            return
        try:
            taken.bind(*range(3))
        except TypeError:
            allowed = "a function of three: the word there, the word that comes, bits of a word"
            name = f"meaning of operator {self.name}"
            raise InvalidInput.of(name, allowed, f"one of {taken}") from None

    @property
    def built_in(self) -> bool:
        """Tell whether every network may have it by its name alone."""
        return self.name in _MEANINGS

    def combine(self, there: Words, coming: Words, bits: int) -> Words:
        """Combine words of ``bits`` bits by NumPy; the result has shape and dtype of ``there``.

        Raises :class:`.InvalidInput` for an operator without a meaning, or with one that makes
        something else than integers; and whatever the meaning raises, with a note.
        """
        if self.built_in:
            return _MEANINGS[self.name](there, coming, bits)
        if self.meaning is None:
            allowed = "given with its meaning, which no file has"
            raise InvalidInput.of("operator", allowed, self.name)
        pairs = zip(there.ravel(), coming.ravel(), strict=True)
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                results = [self.meaning(x, y, np.uint64(bits)) for x, y in pairs]
            except Exception as error:
                error.add_note(f"raised by the meaning of operator {self.name}")
                raise
        for result in results:
            if not isinstance(result, int | np.integer):
                raise self.makes_no_word(type(result).__name__)
        # Of Python's integers, which may be below 0 or beyond 64 bits, as the cycle model has them.
        words = [int(result) & _LARGEST_WORD for result in results]
        return np.array(words, dtype=np.uint64).reshape(there.shape) & _ones(bits)

    def makes_no_word(self, made: str) -> InvalidInput:
        """Refuse the type of what the meaning makes, such as a float."""
        allowed = "one that makes an integer, the bits of a word"
        return InvalidInput.of(f"meaning of operator {self.name}", allowed, made)

    def reduce(self, contributions: Words, bits: int) -> Words:
        """Combine ``contributions``, shape (contributors, words), one after the other."""
        result: Words = contributions[0]
        for contribution in contributions[1:]:
            result = self.combine(result, contribution, bits)
        return result


def _ones(bits: int) -> np.uint64:
    """A word of ones."""
    return np.uint64((1 << bits) - 1)


def _signed(words: Words, bits: int) -> npt.NDArray[np.int64]:
    """Words of ``bits`` bits as two's complement."""
    shift = np.uint64(64 - bits)
    return (words << shift).astype(np.int64) >> np.int64(64 - bits)


def _add(there: Words, coming: Words, bits: int) -> Words:
    """Add modulo 2 to the power of ``bits``."""
    return there + coming & _ones(bits)


_MEANINGS: dict[str, Callable[[Words, Words, int], Words]] = {
    "add": _add,
    "min": lambda there, coming, _bits: np.minimum(there, coming),
    "max": lambda there, coming, _bits: np.maximum(there, coming),
    "min-signed": lambda there, coming, bits: np.where(
        _signed(coming, bits) < _signed(there, bits), coming, there
    ),
    "max-signed": lambda there, coming, bits: np.where(
        _signed(coming, bits) > _signed(there, bits), coming, there
    ),
    "and": lambda there, coming, _bits: there & coming,
    "or": lambda there, coming, _bits: there | coming,
    "xor": lambda there, coming, _bits: there ^ coming,
}

BUILT_IN: dict[str, Operator] = {name: Operator(name) for name in _MEANINGS}
"""The operators that every network may be built with, by name."""


def as_operators(given: str | Iterable[Operator | str]) -> tuple[Operator, ...]:
    """The operators in ``given``: their names with commas between, or operators and names.

    Raises :class:`.InvalidInput` for a name that no operator has, and for one that comes twice.
    """
    listed = [name for name in given.split(",") if given] if isinstance(given, str) else given
    operators: list[Operator] = []
    for each in listed:
        if not isinstance(each, Operator) and each not in BUILT_IN:
            raise InvalidInput.of("operators", one_of(BUILT_IN), repr(each))
        operator = each if isinstance(each, Operator) else BUILT_IN[each]
        if any(operator.name == other.name for other in operators):
            raise InvalidInput.of(
                "operators", "different from each other", f"twice {operator.name}"
            )
        operators.append(operator)
    return tuple(operators)


def operator_names(operators: Iterable[Operator]) -> str:
    """Names with commas between, as an option has them."""
    return ",".join(operator.name for operator in operators)
