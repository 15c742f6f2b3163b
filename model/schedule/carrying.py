"""Schedules whose sends carry some of their blocks alone."""

from __future__ import annotations

from dataclasses import replace
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
    sent, lengths = counts > 0, np.diff(schedule.path_offsets)
    _, steps = np.unique(schedule.step[sent], return_inverse=True)
    return replace(
        schedule,
        step=(steps + 1).astype(np.int32),
        source=schedule.source[sent],
        target=schedule.target[sent],
        path_offsets=offsets_of(lengths[sent]),
        path_nodes=schedule.path_nodes[np.repeat(sent, lengths)],
        vcs=schedule.vcs[np.repeat(sent, lengths - 1)],
        block_offsets=offsets_of(counts[sent]),
        block_ids=schedule.block_ids[carried],
        combine=schedule.combine[sent],
        stream=schedule.stream[sent],
    )
