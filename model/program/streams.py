"""Rows that forward a packet while it arrives, and their packets: docs/router.md, section 20.

A row that streams waits for the packet that arrives at its node in its step. That packet may come
from another row that streams, and so on, back to a row that has all its words, or around a ring::

    row a ──► row b ──► row c        b is the feeder of c, a the feeder of b
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.errors import InvalidInput
from ..base.graph_cycles import find_circle
from .route_ends import ends_of
from .table import RowTable

NO_FEEDER = -1
"""No feeder: the row sends only words of its own."""


def feeders(table: RowTable) -> Numbers:
    """Return the row whose packet each row forwards while it arrives; ``NO_FEEDER`` without one.

    If several packets of one step arrive at one lane, the program's first row counts.
    """
    found = np.full(len(table.step), NO_FEEDER)
    rows = np.flatnonzero(table.stream)
    if rows.size:
        coming = _Coming.of(table)
        found[rows] = coming.first(coming.sought(table, rows))
    return found


def require_streams(table: RowTable) -> None:
    """Raise :class:`.InvalidInput` for the first row whose stream is not allowed.

    Its packet must arrive, as the only one of its step, not continued and long enough. Rows must
    not wait in a circle in which no row has a lead.
    """
    rows = np.flatnonzero(table.stream)
    if not rows.size:
        return
    coming = _Coming.of(table)
    sought = coming.sought(table, rows)
    feeder = coming.first(sought)
    most = np.where(feeder == NO_FEEDER, 0, table.length[feeder] + table.lead[rows])
    for refused, allowed, given in (
        (feeder == NO_FEEDER, "of a packet of its step that comes", "of none"),
        (coming.rows_of(sought) > 1, "of one packet of its step", "of several"),
        (_continues(table)[feeder], "of a packet that is one message", "of a continued one"),
        (table.length[rows] > most, "of a packet that has its words", "of one too short"),
    ):
        for row in rows[refused][:1].tolist():
            raise table.refusal(row, "stream", allowed, given)
    waits = (table.lead[rows] == 0) & (table.length[rows] > 0)
    circle = find_circle(np.stack((rows[waits], feeder[waits]), axis=1))
    if circle:
        around = ", ".join(f"node {node}" for node in table.row_node[circle].tolist())
        raise InvalidInput(
            f"streams must begin with words that are there, not wait in a circle: {around}"
        )


class _Coming(NamedTuple):
    """The packets that steps wait for: the row of each, and its step and lane as one number.

    The columns are sorted by that number.
    """

    row: Numbers
    number: Numbers

    @classmethod
    def of(cls, table: RowTable) -> _Coming:
        """Return the packets of a program."""
        rows = np.flatnonzero(table.header_step)
        ends = ends_of(table, rows)
        number = _number(table, ends.node, ends.lane, table.step[rows])
        order = np.argsort(number, kind="stable")
        return cls(rows[order], number[order])

    def sought(self, table: RowTable, rows: Numbers) -> Numbers:
        """Return the numbers of the packets that ``rows`` stream."""
        return _number(table, table.row_node[rows], table.stream[rows], table.step[rows])

    def first(self, sought: Numbers) -> Numbers:
        """Return the first row of each number, or ``NO_FEEDER``."""
        place = np.searchsorted(self.number, sought)
        return np.where(self.rows_of(sought) > 0, np.append(self.row, NO_FEEDER)[place], NO_FEEDER)

    def rows_of(self, sought: Numbers) -> Numbers:
        """Return how many rows have each number."""
        end = np.searchsorted(self.number, sought, side="right")
        return end - np.searchsorted(self.number, sought)


def _number(table: RowTable, node: Numbers, lane: Numbers, step: Numbers) -> Numbers:
    """Return a step at an ejection port as one number."""
    number: Numbers = (node * table.config.lanes + lane - 1) * (1 << table.config.step_bits) + step
    return number


def _continues(table: RowTable) -> npt.NDArray[np.bool_]:
    """Tell which rows continue the message of the row before, of the same sender."""
    order = table.sender_order
    result = np.zeros(len(order), dtype=np.bool_)
    result[order[1:]] = table.continued[order[:-1]]
    return result
