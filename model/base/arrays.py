"""Types of whole arrays, and columns that nobody can change."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InvalidInput

Numbers = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]


def freeze(table: object, *columns: str, dtype: type[np.generic]) -> None:
    """Make each of ``columns`` of a frozen dataclass a read-only array of ``dtype``."""
    for column in columns:
        array = np.ascontiguousarray(getattr(table, column), dtype=dtype)
        if array.ndim != 1:
            raise InvalidInput.of(column, "an array with one axis", f"with {array.ndim}")
        array.setflags(write=False)
        object.__setattr__(table, column, array)


def words_differ(one: Words, other: Words, axes: int = 1) -> npt.NDArray[np.bool_]:
    """Mark the words that differ, on the first ``axes`` of both; pieces of words are another."""
    differ = one != other
    different: npt.NDArray[np.bool_] = differ.any(axis=tuple(range(axes, differ.ndim)))
    return different


def low_pieces(words: Words) -> Words:
    """Return a view of the lowest piece of each word of an array with one axis of words."""
    return words if words.ndim == 1 else words[:, 0]


def as_words(integers: Sequence[int], pieces: int = 1) -> Words:
    """Return Python's integers as words of so many pieces; the inverse of :func:`as_integers`."""
    if pieces == 1:
        return np.array(integers, dtype=np.uint64)
    ones = (1 << 64) - 1
    cut = [[word >> 64 * piece & ones for piece in range(pieces)] for word in integers]
    return np.array(cut, dtype=np.uint64).reshape(len(integers), pieces)


def as_integers(words: Words, axes: int = 1) -> list[Any]:
    """Return words as Python's integers, in lists as deep as ``axes``; pieces of words are joined.

    Piece i of a word has its bits 64·i and up (docs/router.md, section 25).
    """
    joined: Any = words
    if words.ndim > axes:
        pieces = words.astype(object) << (64 * np.arange(words.shape[-1])).astype(object)
        joined = pieces.sum(axis=-1)
    integers: list[Any] = joined.tolist()
    return integers
