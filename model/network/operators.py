"""Operators that combine an arriving word with the target's word: docs/router.md, section 19.

A network is built with the operators that it needs. Eight are built in. A custom operator is an
:class:`Operator` with a name, a latency, its meaning in Python and its hardware component::

    Operator("saturating-add", latency=1, meaning=saturating_add, component=SaturatingAdd)
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.arrays import Words
from ..base.errors import InvalidInput, one_of, require_range

_LARGEST_WORD = (1 << 64) - 1
LANE_WIDTHS = (8, 16, 32, 64)
"""Bits that a lane of a word may have."""

USUAL_LANE = 32
"""Bits of a lane of wide words where a name has none."""

NAME_PATTERN = f"[a-z][a-z0-9-]*(:({'|'.join(map(str, LANE_WIDTHS))}))?"
"""What the name of an operator must match: a function, and the bits of its lanes if it has any."""

_NAME = re.compile(NAME_PATTERN)
MOST_LATENCY = 63
"""Most cycles that an operator may take."""


def function_of(name: str) -> str:
    """Return the name of an operator without its lane width."""
    return name.partition(":")[0]


def in_lanes(name: str, flit_width: int) -> str:
    """Return the name of an operator that words of ``flit_width`` bits can have.

    Words above 64 bits need lanes (docs/router.md, section 25): they get :data:`USUAL_LANE`.
    """
    whole = function_of(name) == name and flit_width > LANE_WIDTHS[-1]
    return f"{name}:{USUAL_LANE}" if whole else name


@dataclass(frozen=True)
class Operator:
    """A function of two words that gives one word.

    Two operators are equal if name and latency are equal: a network's file states only these.

    Parameters
    ----------
    name
        Lower-case letters, digits and dashes. A built-in name means the built-in operator. A colon
        and a lane width may follow, as in ``add:16``: such an operator acts on each lane.
    latency
        Cycles from its words to its result.
    meaning
        Only for a custom operator: a function of the target's word, the arriving word and the bits
        of a word, or of a lane if the name has one, three ``uint64``. Its result is one ``uint64``,
        cut to that number of bits. Numba must be able to compile it. None if the model does not run
        the network.
    component
        Only for a custom operator: the function that makes its hardware, as ``rtl/`` calls it.
        None if no hardware is built.

    Raises
    ------
    InvalidInput
        For an invalid name or latency, for a meaning or component that cannot be called, and for a
        meaning that does not take three arguments.
    """

    name: str
    latency: int = 0
    meaning: Callable[[Any, Any, Any], Any] | None = field(default=None, compare=False, repr=False)
    component: Callable[..., Any] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and _NAME.fullmatch(self.name)):
            allowed = "lower-case letters, digits and dashes, then :8, :16, :32, :64 or nothing"
            raise InvalidInput.of("name of an operator", allowed, repr(self.name))
        require_range(f"latency of operator {self.name}", self.latency, 0, MOST_LATENCY)
        if self.built_in and (self.latency or self.meaning or self.component):
            allowed = "other than those built in"
            raise InvalidInput.of("name of an operator of your own", allowed, self.name)
        for part in ("meaning", "component"):
            if not (getattr(self, part) is None or callable(getattr(self, part))):
                given = repr(getattr(self, part))
                raise InvalidInput.of(f"{part} of operator {self.name}", "a function", given)
        self._require_three_words()

    def _require_three_words(self) -> None:
        """Refuse a meaning that does not take three arguments, if its signature is known."""
        if self.meaning is None:
            return
        try:
            taken = signature(self.meaning)
        except (TypeError, ValueError):
            # Functions of compiled modules may have no signature.
            return
        try:
            taken.bind(*range(3))
        except TypeError:
            allowed = "a function of three: the word there, the word that comes, bits of a word"
            name = f"meaning of operator {self.name}"
            raise InvalidInput.of(name, allowed, f"one of {taken}") from None

    @property
    def function(self) -> str:
        """The name without its lane width."""
        return function_of(self.name)

    @property
    def lane_width(self) -> int:
        """Bits of a lane; 0 if the operator acts on the whole word."""
        return int(self.name.partition(":")[2] or 0)

    @property
    def built_in(self) -> bool:
        """Tell whether every network may have the operator by its name alone."""
        return self.function in _MEANINGS

    def combine(self, there: Words, coming: Words, bits: int) -> Words:
        """Combine words of ``bits`` bits by NumPy; the result has shape and dtype of ``there``.

        The pieces of wide words are combined as words of 64 bits.

        Raises :class:`.InvalidInput` for an operator without a meaning, and for a meaning whose
        result is not an integer. Adds a note to any exception that the meaning raises.
        """
        if not self.lane_width:
            return self._combine_lanes(there, coming, bits)
        width = self.lane_width
        combined = self._combine_lanes(_lanes(there, width), _lanes(coming, width), width)
        narrow = combined.astype(f"<u{width // 8}").view("<u8").reshape(there.shape)
        return narrow.astype(np.uint64, copy=False) & _ones(bits)

    def _combine_lanes(self, there: Words, coming: Words, bits: int) -> Words:
        if self.built_in:
            return _MEANINGS[self.function](there, coming, bits)
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
        # Python integers may be negative or exceed 64 bits; the cycle model keeps the low 64 bits.
        words = [int(result) & _LARGEST_WORD for result in results]
        return np.array(words, dtype=np.uint64).reshape(there.shape) & _ones(bits)

    def makes_no_word(self, made: str) -> InvalidInput:
        """Return the error for a meaning whose result has the type ``made``, such as a float."""
        allowed = "one that makes an integer, the bits of a word"
        return InvalidInput.of(f"meaning of operator {self.name}", allowed, made)

    def reduce(self, contributions: Words, bits: int) -> Words:
        """Combine ``contributions``, shape (contributors, words), one after the other.

        A built-in operator has the same result in any order, so halves are combined.
        """
        while self.built_in and len(contributions) > 1:
            half, odd = divmod(len(contributions), 2)
            pairs = self.combine(contributions[:half], contributions[half : 2 * half], bits)
            contributions = np.concatenate((pairs, contributions[2 * half :])) if odd else pairs
        result: Words = contributions[0]
        for contribution in contributions[1:]:
            result = self.combine(result, contribution, bits)
        return result


def _lanes(words: Words, width: int) -> Words:
    """Cut words of 64 bits into lanes, lane 0 first: shape (words * 64 / ``width``,)."""
    lanes: Words = np.ascontiguousarray(words, "<u8").ravel().view(f"<u{width // 8}")
    return lanes.astype(np.uint64)


def _ones(bits: int) -> np.uint64:
    """Return a word whose low ``bits`` bits are 1."""
    return np.uint64((1 << bits) - 1)


def _signed(words: Words, bits: int) -> npt.NDArray[np.int64]:
    """Return words of ``bits`` bits as two's complement."""
    shift = np.uint64(64 - bits)
    return (words << shift).astype(np.int64) >> np.int64(64 - bits)


_MEANINGS: dict[str, Callable[[Words, Words, int], Words]] = {
    "add": lambda there, coming, bits: there + coming & _ones(bits),
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
"""The built-in operators, by name."""

IDEMPOTENT = ("min", "max", "min-signed", "max-signed", "and", "or")
"""Names of the operators for which a value combined with itself is the same value."""


def is_built_in(name: object) -> bool:
    """Tell whether a name, with or without a lane width, is that of a built-in operator."""
    return (
        isinstance(name, str)
        and _NAME.fullmatch(name) is not None
        and function_of(name) in BUILT_IN
    )


def require_built_in(parameter: str, name: object) -> None:
    """Raise :class:`.InvalidInput` for a name that no built-in operator has, with lanes or not."""
    if is_built_in(name):
        return
    if isinstance(name, str) and (function := function_of(name)) in BUILT_IN:
        lanes = one_of(f"{function}:{width}" for width in LANE_WIDTHS)
        raise InvalidInput.of(parameter, f"{function}, or with lanes {lanes}", name)
    raise InvalidInput.unknown(parameter, BUILT_IN, name)


def is_idempotent(name: str | None) -> bool:
    """Tell whether an operator makes the same value of a value and itself, in each lane."""
    return name is not None and function_of(name) in IDEMPOTENT


def as_operators(given: str | Iterable[Operator | str]) -> tuple[Operator, ...]:
    """Return the operators in ``given``: names separated by commas, or operators and names.

    Raises :class:`.InvalidInput` for an unknown name, and for a name given twice.
    """
    listed = [name for name in given.split(",") if given] if isinstance(given, str) else given
    operators: list[Operator] = []
    for each in listed:
        if not isinstance(each, Operator):
            require_built_in("operators", each)
        operator = each if isinstance(each, Operator) else Operator(each)
        if any(operator.name == other.name for other in operators):
            raise InvalidInput.of(
                "operators", "different from each other", f"twice {operator.name}"
            )
        operators.append(operator)
    return tuple(operators)


def operator_names(operators: Iterable[Operator]) -> str:
    """Return the names separated by commas, as an option has them."""
    return ",".join(operator.name for operator in operators)
