"""The check that no packet is written to words that a row may still read: docs/router.md, 19.

With barrier timing that is a row of the same step: whether it sends the words of before or those
that come would depend on who is first. What a node sends and what comes to it in a step must lie
apart, as in an exchange *across* the halves of a memory. Self-timed, a packet may come before the
rows of earlier steps are sent, too. A row that streams sends on what comes, and reads it when it is
there.
"""

from __future__ import annotations

import numpy as np

from ..base.errors import InvalidInput
from .addresses import Pieces, pieces_at
from .ends import ends_of
from .table import Numbers, ProgramTable

_NEVER = int(np.iinfo(np.int64).max)


def require_no_overwriting(table: ProgramTable, *, self_timed: bool = False) -> None:
    """Raise :class:`.InvalidInput` for the first row whose words a packet may change too early.

    In a network without operators nothing is refused: no packet there changes what it finds but by
    what its sender had.
    """
    if not table.config.operators:
        return
    own = np.where(table.stream == 0, table.length, 0)
    target = ends_of(table, np.arange(len(table.step))).node
    by_step = not self_timed
    reads = pieces_at(table, table.row_node, table.source_address, own, by_step=by_step)
    writes = pieces_at(table, target, table.target_address, table.length, by_step=by_step)
    earliest = least_steps(table, reads, writes)
    for place in np.flatnonzero(earliest <= table.step[writes.row])[:1].tolist():
        row = table.row_name(int(writes.row[place]))
        step = f"a row of step {earliest[place]} there sends"
        raise InvalidInput.of(f"{row}: target", f"apart from the words that {step}", "among them")


def least_steps(table: ProgramTable, reads: Pieces, writes: Pieces) -> Numbers:
    """The least step of a piece of ``reads`` with which each of ``writes`` has a word in common.

    The memories are cut where a piece that is read begins or ends. Of each part between two cuts
    the least step is found (:func:`_spread`), and of the parts that a piece written has words of,
    the least of these (:func:`_least_of_ranges`).
    """
    cuts = np.unique(np.concatenate((reads.begin, reads.end)))
    if not cuts.size:
        return np.full(len(writes.row), _NEVER)
    begin, end = np.searchsorted(cuts, reads.begin), np.searchsorted(cuts, reads.end)
    least = _spread(begin, end, table.step[reads.row], len(cuts))
    first = np.maximum(np.searchsorted(cuts, writes.begin, side="right") - 1, 0)
    return _least_of_ranges(least, first, np.searchsorted(cuts, writes.end))


def _levels(begin: Numbers, end: Numbers) -> Numbers:
    """The largest k of each range with 2 ** k places in it; -1 of an empty one."""
    level: Numbers = np.frexp(np.maximum(end - begin, 0))[1].astype(np.int64) - 1
    return level


def _spread(begin: Numbers, end: Numbers, value: Numbers, count: int) -> Numbers:
    """The least ``value`` of the ranges ``begin`` up to ``end`` that hold each of ``count`` places.

    A range is two of 2 ** k places each; those of the largest k are halved again and again.
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
    """The least of the values from ``begin`` up to ``end``, of each range; none of an empty one."""
    level = _levels(begin, end)
    result = np.full(len(begin), _NEVER)
    least = values.copy()
    for k in range(int(level.max(initial=-1)) + 1):
        here = np.flatnonzero(level == k)
        last = end[here] - (1 << k)
        result[here] = np.minimum(least[begin[here]], least[last])
        least[: -(1 << k)] = np.minimum(least[: -(1 << k)], least[1 << k :])
    return result
