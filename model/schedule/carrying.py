"""Schedules reduced to some of their blocks."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..base.pieces import offsets_of
from .table import SendTable

Table = TypeVar("Table", bound=SendTable)


def carrying(schedule: Table, kept: npt.NDArray[np.bool_]) -> Table:
    """Return the schedule whose sends carry only the blocks ``kept``, shape (blocks,).

    Sends without a block are left out, and so are steps without a send. The list of blocks stays
    as it is.
    """
    carried = kept[schedule.block_ids]
    if carried.all():
        return schedule
    counts = np.bincount(schedule.block_sends[carried], minlength=schedule.sends)
    sent = np.flatnonzero(counts)
    _, steps = np.unique(schedule.step[sent], return_inverse=True)
    return schedule.with_sends(
        sent, steps + 1, offsets_of(counts[sent]), schedule.block_ids[carried]
    )
