"""Pieces of different lengths, end to end in one array: how columns hold lists of lists."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .arrays import Numbers


def offsets_of(lengths: Sequence[int] | npt.NDArray[np.integer]) -> Numbers:
    """Return where each piece begins, and where the last one ends: shape (pieces + 1,)."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)))


def ranges(begins: int | npt.NDArray[np.integer], lengths: npt.NDArray[np.integer]) -> Numbers:
    """Return ``lengths[0]`` numbers from ``begins[0]`` on, ``lengths[1]`` from ``begins[1]``, ...

    A single number for ``begins`` holds for all pieces.
    """
    before = np.cumsum(lengths) - lengths
    numbers: Numbers = np.arange(int(lengths.sum())) + np.repeat(begins - before, lengths)
    return numbers


def portions(offsets: Numbers, most: int = 1 << 20) -> Iterator[tuple[int, int]]:
    """Yield runs of pieces, each as its first piece and its end; one has about ``most`` entries.

    Without pieces there is one empty run.
    """
    cuts = {*np.searchsorted(offsets, np.arange(0, offsets[-1], most)).tolist()}
    yield from pairwise(sorted(cuts | {0, len(offsets) - 1})) if len(offsets) > 1 else [(0, 0)]


def even_shares(total: int, parts: int) -> Numbers:
    """Return ``parts`` nearly equal shares of ``total``, the larger ones first: shape (parts,)."""
    return total // parts + (np.arange(parts) < total % parts)


def shares_of(totals: Numbers, numbers: npt.NDArray[np.integer]) -> Numbers:
    """Split ``totals[n]`` evenly among all entries of ``numbers`` that equal n.

    Shape as ``numbers``; the first entries get the larger shares, as in :func:`even_shares`.
    """
    parts = np.bincount(numbers, minlength=len(totals))
    order = np.argsort(numbers, kind="stable")
    rank = np.empty(len(numbers), np.int64)
    rank[order] = np.arange(len(numbers)) - np.repeat(offsets_of(parts)[:-1], parts)
    count, total = parts[numbers], totals[numbers]
    shares: Numbers = total // count + (rank < total % count)
    return shares
