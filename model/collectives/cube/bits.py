"""Bits of node numbers of a hypercube, for whole arrays at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

NO_PARENT = -1
"""In place of a node or a dimension: the root of a tree has no parent."""


def count_ones(numbers: Numbers) -> Numbers:
    """Count the bits of each number that are set."""
    return np.bitwise_count(numbers).astype(np.int64)


def highest_bit(numbers: Numbers) -> Numbers:
    """The position of each number's highest one, -1 for 0; for numbers below 2^53."""
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64) - 1


def rotate_right(numbers: Numbers, by: int, dimension: int) -> Numbers:
    """R^by of Johnsson & Ho: rotate the ``dimension`` low bits of each number to the right."""
    by %= dimension
    low = numbers & ((1 << by) - 1)
    return (numbers >> by) | (low << (dimension - by))
