"""Schedules whose sends carry some of their blocks alone."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..base.pieces import offsets_of
from .table import SendTable

Table = TypeVar("Table", bound=SendTable)


def carrying(schedule: Table, kept: npt.NDArray[np.bool_]) -> Table:
    """The schedule without blocks that are not ``kept``, shape (blocks,), in its sends.

    A send that carries no other is left out, and so is a step without sends. The list of blocks
    stays as it is.
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
