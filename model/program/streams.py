"""Rows that send on a packet while it comes, and the packets: docs/router.md, section 20.

A row that streams waits for the packet of its step that comes to its node. That packet may itself
be of a row that streams, and so on, back to a row that has all its words, or round a ring::

    row a ──► row b ──► row c        b is the feeder of c, a the feeder of b
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.circles import find_circle
from ..base.errors import InvalidInput
from .ends import ends_of
from .table import Numbers, ProgramTable

NO_FEEDER = -1
"""The feeder of a row that sends words of its own alone."""


def feeders(table: ProgramTable) -> Numbers:
    """The row whose packet each row sends on while it comes; ``NO_FEEDER`` where there is none.

    Of several packets of one step at one lane it is that of the program's first row.
    """
    found = np.full(len(table.step), NO_FEEDER)
    rows = np.flatnonzero(table.stream)
    if rows.size:
        coming = _Coming.of(table)
        found[rows] = coming.first(coming.sought(table, rows))
    return found


def require_streams(table: ProgramTable) -> None:
    """Raise :class:`.InvalidInput` for the first row that streams what it may not.

    That is a packet that does not come, one of several, one that is continued or too short; and
    in the end itself, round a circle in which no row sends anything before what comes.
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
            raise InvalidInput.of(f"{table.row_name(row)}: stream", allowed, given)
    waits = (table.lead[rows] == 0) & (table.length[rows] > 0)
    circle = find_circle(np.stack((rows[waits], feeder[waits]), axis=1))
    if circle:
        around = ", ".join(f"node {node}" for node in table.row_node[circle].tolist())
        raise InvalidInput(
            f"streams must begin with words that are there, not wait in a circle: {around}"
        )


class _Coming(NamedTuple):
    """The packets that steps wait for: their rows, and step and lane of each as one number.

    In ascending order of that number.
    """

    row: Numbers
    number: Numbers

    @classmethod
    def of(cls, table: ProgramTable) -> _Coming:
        """All of a program's."""
        rows = np.flatnonzero(table.header_step)
        ends = ends_of(table, rows)
        number = _number(table, ends.node, ends.lane, table.step[rows])
        order = np.argsort(number, kind="stable")
        return cls(rows[order], number[order])

    def sought(self, table: ProgramTable, rows: Numbers) -> Numbers:
        """The numbers of what comes to the lanes that ``rows`` stream, in their steps."""
        return _number(table, table.row_node[rows], table.stream[rows], table.step[rows])

    def first(self, sought: Numbers) -> Numbers:
        """The first row of each number, or ``NO_FEEDER``."""
        place = np.searchsorted(self.number, sought)
        return np.where(self.rows_of(sought) > 0, np.append(self.row, NO_FEEDER)[place], NO_FEEDER)

    def rows_of(self, sought: Numbers) -> Numbers:
        """Count the rows of each number."""
        end = np.searchsorted(self.number, sought, side="right")
        return end - np.searchsorted(self.number, sought)


def _number(table: ProgramTable, node: Numbers, lane: Numbers, step: Numbers) -> Numbers:
    """A step at an ejection port as one number."""
    number: Numbers = (node * table.config.lanes + lane - 1) * (1 << table.config.step_bits) + step
    return number


def _continues(table: ProgramTable) -> npt.NDArray[np.bool_]:
    """Tell which rows go on with the message of the row before, of the same sender."""
    order = table.sender_order
    result = np.zeros(len(order), dtype=np.bool_)
    result[order[1:]] = table.continued[order[:-1]]
    return result
