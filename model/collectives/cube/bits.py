"""Bits of node numbers of a hypercube, for whole arrays at once."""

import numpy as np

from ...base.arrays import Numbers

NO_PARENT = -1
"""The parent of a tree's root, and the dimension of the link to it."""


def count_ones(numbers: Numbers) -> Numbers:
    """Count the bits of each number that are set."""
    return np.bitwise_count(numbers).astype(np.int64)


def highest_bit(numbers: Numbers) -> Numbers:
    """Return the position of each number's highest set bit, -1 for 0; for numbers below 2^53."""
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64) - 1


def rotate_right(numbers: Numbers, by: int, dimension: int) -> Numbers:
    """Rotate the ``dimension`` low bits of each number right: R^by of Johnsson & Ho."""
    by %= dimension
    low = numbers & ((1 << by) - 1)
    return (numbers >> by) | (low << (dimension - by))
