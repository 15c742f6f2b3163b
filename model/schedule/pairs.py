"""Pairs of a node and a block, ``node * blocks + block``, as indices of whole arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.ragged import ranges

Pairs = npt.NDArray[np.integer]

MOST_SPARE = 8
"""Pairs for each one in use in a table of all pairs."""


class PairIndex:
    """The index of each pair in use.

    It is the pair itself if most pairs are in use, otherwise the rank among those in use.
    """

    def __init__(self, pairs: int, used: tuple[Pairs, ...]) -> None:
        whole = pairs <= MOST_SPARE * sum(each.size for each in used)
        self._known = None if whole else distinct(np.concatenate(used))
        self.size = pairs if self._known is None else int(self._known.size)

    def __getitem__(self, pairs: Pairs) -> Pairs:
        """Return the indices of ``pairs``; that of a pair that is not in use may be any."""
        if self._known is None:
            return pairs
        return np.minimum(np.searchsorted(self._known, pairs), self.size - 1)

    def used(self, pairs: Pairs) -> npt.NDArray[np.bool_]:
        """Tell for each of ``pairs`` whether its index is its own."""
        if self._known is None:
            return np.ones(pairs.shape, np.bool_)
        own: npt.NDArray[np.bool_] = self._known[self[pairs]] == pairs
        return own


def distinct(numbers: Pairs) -> Pairs:
    """Return the distinct numbers, ascending.

    (np.unique hashes the numbers first, which takes ten times as long.)
    """
    ordered = np.sort(numbers)
    return ordered[np.diff(ordered, prepend=-1) > 0]


def meetings(keys: Numbers, sought: Numbers) -> tuple[Numbers, Numbers]:
    """Return the indices of ``sought`` and of ``keys`` of all equal numbers.

    A row for each pair of equal numbers, in the order of ``sought``, then of ``keys``.
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    known, counts = ordered[begins], np.diff(begins, append=keys.size)
    if not known.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    place = np.minimum(np.searchsorted(known, sought), known.size - 1)
    found = np.flatnonzero(known[place] == sought)
    place = place[found]
    return np.repeat(found, counts[place]), order[ranges(begins[place], counts[place])]
