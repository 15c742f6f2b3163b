"""Operators by which contributions are combined, as functions of NumPy arrays of words.

This is what a result is compared with: written from the table of docs/router.md, section 19, for
whole arrays, and sharing nothing with the cycle model and the hardware.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, one_of

Words = npt.NDArray[np.uint64]


class Operator(StrEnum):
    """An operator that every network may be built with."""

    ADD = "add"
    MIN = "min"
    MAX = "max"
    MIN_SIGNED = "min-signed"
    MAX_SIGNED = "max-signed"
    AND = "and"
    OR = "or"
    XOR = "xor"


OPERATORS = tuple(Operator)
"""All of them, each commutative and associative: any order of contributions has one result."""


def reduce_words(operator: str, contributions: Words, width: int) -> Words:
    """Combine ``contributions``, shape (contributors, words), to words of ``width`` bits.

    Raises :class:`.InvalidInput` for an operator that is not one of :data:`OPERATORS`.
    """
    if operator not in OPERATORS:
        raise InvalidInput.of("operator", one_of(OPERATORS), operator)
    if operator == Operator.ADD:
        total: Words = contributions.sum(axis=0, dtype=np.uint64)
        return total & np.uint64((1 << width) - 1)
    if operator in (Operator.MIN_SIGNED, Operator.MAX_SIGNED):
        # With the sign bit turned, two's complement is in the order of plain numbers.
        sign = np.uint64(1 << (width - 1))
        turned: Words = _PLAIN[operator](contributions ^ sign, axis=0)
        return turned ^ sign
    return _PLAIN[operator](contributions, axis=0)


_PLAIN: dict[str, Callable[..., Words]] = {
    Operator.MIN: np.min,
    Operator.MAX: np.max,
    Operator.MIN_SIGNED: np.min,
    Operator.MAX_SIGNED: np.max,
    Operator.AND: np.bitwise_and.reduce,
    Operator.OR: np.bitwise_or.reduce,
    Operator.XOR: np.bitwise_xor.reduce,
}
