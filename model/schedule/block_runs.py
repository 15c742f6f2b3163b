"""The blocks of sends as runs of ascending numbers, in place of a list of all of them.

The sends of a ring along the lines of a grid carry neighbouring blocks. On a torus of 128x128 nodes
an all-reduce around such rings carries 537 million blocks, but in 131,072 runs::

    blocks of a send     5   6   7   0   1          first     5   0
                                                    count     3   2
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..base.arrays import Int32s, Numbers
from ..base.ragged import offsets_of, ranges


class BlockRuns(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of block numbers, kept as runs; NumPy and all else can read it as an array.

    Attributes
    ----------
    first
        The first block of each run: shape (runs,).
    offsets
        The entries before each run, and all entries: shape (runs + 1,).
    """

    def __init__(self, first: npt.NDArray[np.integer], count: npt.NDArray[np.integer]) -> None:
        self.first: Int32s = np.array(first, np.int32)
        self.first.setflags(write=False)
        self.offsets = offsets_of(count)

    @classmethod
    def of(cls, blocks: Int32s, offsets: Numbers) -> BlockRuns:
        """Return the runs of ``blocks``; each run is within one of the sends that ``offsets`` cut.

        Runs that are given as ``blocks`` stay as they are.
        """
        if isinstance(blocks, cls):
            return blocks
        begins = np.ones(blocks.size, np.bool_)
        begins[1:] = np.diff(blocks) != 1
        begins[offsets[:-1]] = True
        places = np.flatnonzero(begins)
        return cls(blocks[places], np.diff(places, append=blocks.size))

    @classmethod
    def joined(cls, parts: Iterable[Any]) -> BlockRuns:
        """Return the runs of all ``parts``, which are :class:`BlockRuns`, one after the other."""
        columns = zip(*((part.first, part.count) for part in parts), strict=True)
        return cls(*map(np.concatenate, columns))

    @property
    def array(self) -> Int32s:
        """The object itself, with the type of the array that it stands for."""
        return cast(Int32s, self)

    @property
    def count(self) -> Numbers:
        """The number of blocks of each run: shape (runs,)."""
        return self.offsets[1:] - self.offsets[:-1]

    @property
    def end(self) -> Numbers:
        """The number after the last block of each run: shape (runs,)."""
        return self.first + self.count

    @property
    def ends(self) -> Numbers:
        """The first and the last block of each run: shape (2 × runs,)."""
        ends = np.stack((self.first.astype(np.int64), self.end - 1), axis=1)
        return ends.ravel()

    @property
    def size(self) -> int:
        """The number of entries."""
        return int(self.offsets[-1])

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            begin, end, step = key.indices(self.size)
            return self._slice(begin, max(begin, end)) if step == 1 else self[:][key]
        places = np.asarray(key)
        if places.dtype == np.bool_ or (places < 0).any():
            return self[:][key]
        run = np.searchsorted(self.offsets, places, side="right") - 1
        return (self.first[run] + places - self.offsets[run]).astype(np.int32)

    def _slice(self, begin: int, end: int) -> Int32s:
        """Return the entries ``begin`` to ``end``."""
        low = np.searchsorted(self.offsets, begin, side="right") - 1
        high = max(low, np.searchsorted(self.offsets, end))
        before = self.offsets[low:high]
        begins, ends = np.maximum(before, begin), np.minimum(self.offsets[low + 1 : high + 1], end)
        return ranges(self.first[low:high] + begins - before, ends - begins).astype(np.int32)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self[:] if dtype is None else np.asarray(self[:], dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = (each[:] if isinstance(each, BlockRuns) else each for each in inputs)
        return getattr(ufunc, method)(*arrays, **options)

    def astype(self, dtype: Any) -> Any:
        """Return all entries as an array of ``dtype``; the runs themselves if it is int32."""
        return self if dtype is np.int32 else self[:].astype(dtype)

    def of_pieces(self, begins: Numbers, ends: Numbers) -> BlockRuns:
        """Return the runs of some pieces, one after the other, each from an entry to another."""
        low, high = (np.searchsorted(self.offsets, places) for places in (begins, ends))
        order = ranges(low, high - low)
        return BlockRuns(self.first[order], self.count[order])

    def tolist(self) -> list[int]:
        """Return all entries."""
        entries: list[int] = self[:].tolist()
        return entries

    def kept(self, marks: npt.NDArray[np.bool_]) -> Numbers:
        """Count the blocks of each run that are marked: shape (runs,)."""
        before = offsets_of(marks.astype(np.int64))
        return before[self.end] - before[self.first]

    def only(self, marks: npt.NDArray[np.bool_]) -> BlockRuns:
        """Return the marked blocks alone."""
        edges = np.flatnonzero(np.diff(marks, prepend=False, append=False))
        begins, ends = edges[::2], edges[1::2]
        low, high = np.searchsorted(ends, self.first, "right"), np.searchsorted(begins, self.end)
        run, span = np.repeat(np.arange(low.size), high - low), ranges(low, high - low)
        first = np.maximum(self.first[run], begins[span])
        return BlockRuns(first, np.minimum(self.end[run], ends[span]) - first)

    def renumbered(self, numbers: Numbers) -> BlockRuns:
        """Return the runs with the new number of each block, ascending by one in each run."""
        return BlockRuns(numbers[self.first], self.count)


def end_to_end(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return the blocks of all ``parts``, one after the other; as runs if all parts are."""
    if are_runs(parts):
        return BlockRuns.joined(parts).array
    return np.concatenate([np.zeros(0, np.int32), *parts])


def are_runs(parts: Collection[object]) -> bool:
    """Tell whether there are parts, and all of them are runs."""
    return bool(parts) and all(isinstance(part, BlockRuns) for part in parts)
