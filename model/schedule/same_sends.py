"""Sends that agree in a number and in their blocks: how trees of sends are found."""

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


def first_alike(
    keys: Numbers, sends: Numbers, block_offsets: Numbers, block_ids: npt.NDArray[np.int32]
) -> Numbers:
    """Return for each of ``sends`` the first one with the same key and the same set of blocks.

    ``sends`` is ascending and has a key for each send.
    """
    _, number, count = np.unique(keys, return_inverse=True, return_counts=True)
    several = np.flatnonzero(count[number] > 1)
    first = sends.copy()
    carried = sets_of(sends[several], block_offsets, block_ids)
    both = number[several] * (1 + carried.max(initial=0)) + carried
    _, one, number = np.unique(both, return_index=True, return_inverse=True)
    first[several] = sends[several[one]][number]
    return first


def sets_of(sends: Numbers, offsets: Numbers, block_ids: npt.NDArray[np.int32]) -> Numbers:
    """Return a number for the set of blocks of each of ``sends``: equal numbers for equal sets."""
    begins, counts = offsets[sends], np.diff(offsets)[sends]
    if (counts == 1).all():
        return block_ids[begins].astype(np.int64)
    numbers: dict[bytes, int] = {}
    blocks = (
        np.sort(block_ids[begin : begin + count]).tobytes()
        for begin, count in zip(begins.tolist(), counts.tolist(), strict=True)
    )
    return np.array([numbers.setdefault(each, len(numbers)) for each in blocks], np.int64)


def first_of_pairs(trees: Numbers, ends: npt.NDArray[np.integer]) -> Numbers:
    """Return the first index of each distinct pair of a tree and one of ``ends``, ascending."""
    largest = np.int64(ends.max(initial=0)) + 1
    _, first = np.unique(trees * largest + ends, return_index=True)
    return np.sort(first)
