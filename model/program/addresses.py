"""Addresses of the words that rows read and write, with their windows: docs/router.md, section 20.

In a window of 2 ** w words the first address follows the last one, so a message is in one piece or
in two::

    window 2, from 6, 3 words      | 4 | 5 | 6 | 7 |    words 6, 7, 4: pieces [6, 8) and [4, 5)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..network.config import MOST_MEMORY_WORDS
from .table import RowTable

PLACE_WORDS = 2 * MOST_MEMORY_WORDS
"""A number larger than any address of a memory."""


def window_sizes(table: RowTable) -> Numbers:
    """Return the words of each row's window; 1 without one."""
    # Other checks refuse windows that are too large.
    return np.int64(1) << np.clip(table.window, 0, MOST_MEMORY_WORDS.bit_length())


class Pieces(NamedTuple):
    """Pieces of memory from ``begin`` up to ``end``, each of a row: columns of one length."""

    row: Numbers
    begin: Numbers
    end: Numbers


def pieces(table: RowTable, first: Numbers, length: Numbers) -> Pieces:
    """Return the pieces of ``length`` words from ``first`` on, for all rows; no empty pieces."""
    rows = np.arange(len(first))
    size = window_sizes(table)
    base = first // size * size
    before = np.where(table.window > 0, np.minimum(length, base + size - first), length)
    wrapped = length - before
    row, begin = np.concatenate((rows, rows)), np.concatenate((first, base))
    end = begin + np.concatenate((before, wrapped))
    some = end > begin
    return Pieces(row[some], begin[some], end[some])


def pieces_at(
    table: RowTable, node: Numbers, first: Numbers, length: Numbers, *, by_step: bool
) -> Pieces:
    """Return the pieces of ``length`` words from ``first`` on in the memory of each row's ``node``.

    Different nodes (and -1), with ``by_step`` also different steps, get disjoint addresses.
    """
    found = pieces(table, first, length)
    place = node + (table.step * (table.nodes + 1) if by_step else 0)
    base = place[found.row] * PLACE_WORDS
    return Pieces(found.row, base + found.begin, base + found.end)


def ends(table: RowTable, first: Numbers) -> Numbers:
    """Return the end (last address + 1) of each row's message from ``first`` on."""
    end = first + table.length
    size = window_sizes(table)
    window_end = (first // size + 1) * size
    wraps = (table.window > 0) & (end > window_end)
    return np.where(wraps, window_end, end)


def source_ends(table: RowTable) -> Numbers:
    """Return the end (last address + 1) of the words that each row may read: its whole window."""
    size = window_sizes(table)
    whole = (table.source_address // size + 1) * size
    return np.where(table.window > 0, whole, table.source_address + table.length)


def across(table: RowTable) -> npt.NDArray[np.bool_]:
    """Tell which rows' packets combine with words of the other half of the memory."""
    combined: npt.NDArray[np.bool_] = (table.operator > 0) & (table.operator % 2 == 0)
    return combined


def across_ends(table: RowTable) -> Numbers:
    """Return, by row, the end (last address + 1) of the words that its packet combines across.

    It is 0 for a row without such words in the upper half.
    """
    half = np.int64(1 << (table.config.address_bits - 1))
    lower = np.minimum(ends(table, table.target_address), half) + half
    reads = across(table) & (table.target_address < half) & (table.length > 0)
    return np.where(reads, lower, 0)
