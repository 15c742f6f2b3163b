"""The check that no packet overwrites words that a row may still read: docs/router.md, 19.

With barrier timing, such a row is of the same step: timing would decide whether it sends the old
words or the arriving ones. So the words that a node sends and receives in a step must not overlap,
as in an exchange *across* the halves of a memory. With self-timed nodes, a packet may also arrive
before rows of earlier steps are sent. A row that streams reads arriving words once they are
written; its lead it may read at any time.

Words may come *back* to the row that sent them, through rows that stream each other without a lead
and combine or forward the words. Then word i is written long after it has been read.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from .addresses import Pieces, pieces_at
from .route_ends import ends_of
from .streams import NO_FEEDER, feeders
from .table import RowTable

_NEVER = int(np.iinfo(np.int64).max)


def require_no_overwriting(table: RowTable, *, self_timed: bool = False) -> None:
    """Raise :class:`.InvalidInput` for the first row whose words a packet may change too early.

    In a network without operators nothing is refused: its packets only replace words, by words that
    their senders had.
    """
    if not table.config.operators:
        return
    back, left = returning_rows(table)
    lead = np.minimum(table.lead, table.length)
    own = np.where(table.stream == 0, table.length, lead)
    target = ends_of(table, np.arange(len(table.step))).node
    by_step = not self_timed
    reads = pieces_at(table, table.row_node, table.source_address, own, by_step=by_step)
    writes = pieces_at(table, target, table.target_address, table.length, by_step=by_step)
    coming, leaving = np.isin(writes.row, back), np.isin(reads.row, left)
    # Returning words may overlap only the words that they are made from.
    _require_apart(table, _some(reads, ~leaving), writes)
    _require_apart(table, _some(reads, leaving), _some(writes, ~coming))
    _require_alone(table, _some(reads, leaving))


def _some(found: Pieces, chosen: npt.NDArray[np.bool_]) -> Pieces:
    return Pieces(*(column[chosen] for column in found))


def _require_apart(table: RowTable, reads: Pieces, writes: Pieces) -> None:
    """Require that no write overlaps a word read in the same or a later step."""
    earliest = least_steps(table, reads, writes)
    for place in np.flatnonzero(earliest <= table.step[writes.row])[:1].tolist():
        allowed = f"apart from the words that its node sends in step {earliest[place]}"
        raise table.refusal(int(writes.row[place]), "target", allowed, "among them")


def _require_alone(table: RowTable, reads: Pieces) -> None:
    """Require that no two rows send words that return to one of them."""
    order = np.argsort(reads.begin)
    latest = np.maximum.accumulate(reads.end[order])
    for place in np.flatnonzero(reads.begin[order][1:] < latest[:-1])[:1].tolist():
        allowed = "apart from other words that its node sends in its step, as they come back"
        raise table.refusal(int(reads.row[order[place + 1]]), "words", allowed, "among them")


def returning_rows(table: RowTable) -> tuple[Numbers, Numbers]:
    """Return the rows that bring words back to where they were read, and their first senders."""
    if not table.stream.any():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    count = len(table.step)
    ahead = np.append(np.where(table.lead == 0, feeders(table), NO_FEEDER), NO_FEEDER)
    first, jump = np.arange(count), ahead
    for _ in range(count.bit_length()):
        first = np.where(jump[first] == NO_FEEDER, first, jump[first])
        jump = np.where(jump[jump] == NO_FEEDER, jump, jump[jump])
    target = ends_of(table, np.arange(count)).node
    returns = (first != np.arange(count)) & (table.stream[first] == 0)
    returns &= (target == table.row_node[first]) & (table.window == table.window[first])
    returns &= table.target_address == table.source_address[first]
    back = np.flatnonzero(returns)
    return back, first[back]


def least_steps(table: RowTable, reads: Pieces, writes: Pieces) -> Numbers:
    """Return, for each of ``writes``, the least step of the ``reads`` that it overlaps.

    The memories are cut at both ends of each read. :func:`_spread` finds the least step of each
    part between two cuts, and :func:`_least_of_ranges` the least over the parts of each write.
    """
    cuts = np.unique(np.concatenate((reads.begin, reads.end)))
    if not cuts.size:
        return np.full(len(writes.row), _NEVER)
    begin, end = np.searchsorted(cuts, reads.begin), np.searchsorted(cuts, reads.end)
    least = _spread(begin, end, table.step[reads.row], len(cuts))
    first = np.maximum(np.searchsorted(cuts, writes.begin, side="right") - 1, 0)
    return _least_of_ranges(least, first, np.searchsorted(cuts, writes.end))


def _levels(begin: Numbers, end: Numbers) -> Numbers:
    """Return the largest k for each range such that it has 2 ** k entries; -1 for an empty one."""
    level: Numbers = np.frexp(np.maximum(end - begin, 0))[1].astype(np.int64) - 1
    return level


def _spread(begin: Numbers, end: Numbers, value: Numbers, count: int) -> Numbers:
    """Return, for each of ``count`` entries, the least ``value`` of the ranges that contain it.

    Each range is covered by two of 2 ** k entries, which are halved from the largest k downwards.
    """
    level = _levels(begin, end)
    least = np.full(count, _NEVER)
    for k in range(int(level.max(initial=-1)), -1, -1):
        here = level == k
        for first in (begin[here], end[here] - (1 << k)):
            np.minimum.at(least, first, value[here])
        if k:
            half = 1 << (k - 1)
            least[half:] = np.minimum(least[half:], least[:-half])
    return least


def _least_of_ranges(values: Numbers, begin: Numbers, end: Numbers) -> Numbers:
    """Return the least of ``values[begin:end]`` for each range; ``_NEVER`` for an empty one."""
    level = _levels(begin, end)
    result = np.full(len(begin), _NEVER)
    least = values.copy()
    for k in range(int(level.max(initial=-1)) + 1):
        here = np.flatnonzero(level == k)
        last = end[here] - (1 << k)
        result[here] = np.minimum(least[begin[here]], least[last])
        least[: -(1 << k)] = np.minimum(least[: -(1 << k)], least[1 << k :])
    return result
