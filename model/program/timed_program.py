"""Programs of timed schedules: rows begin in cycles of a timetable (docs/router.md, 11).

All rows are of step 1. A node does not wait for single packets; it counts all arriving packets. No
flit waits for another, so each word has arrived when the row that forwards it begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..base.errors import InvalidInput
from ..base.ragged import offsets_of
from ..network.config import NetworkConfig
from ..network.exclusions import incompatible
from .row import ADDITIONS

if TYPE_CHECKING:
    from ..schedule.schedule import Schedule
    from .program import Program

_OF_ROWS = ("source_address", "target_address", "length", "continued", "route", *ADDITIONS)
"""Columns of rows that a timetable only reorders."""


def require_no_other(config: NetworkConfig, schedules: Sequence[Schedule]) -> None:
    """Raise :class:`.InvalidInput` if a schedule is timed and a parameter excludes timed rows.

    The error names the first such parameter of ``config``.
    """
    for schedule in (schedule for schedule in schedules if schedule.timed):
        for name in (name for name in incompatible("timed_rows") if getattr(config, name)):
            allowed = f"left out with {schedule.algorithm}, whose rows are timed"
            raise InvalidInput.of(name.replace("_", " "), allowed, "given")


def require_timed_rows(config: NetworkConfig) -> None:
    """Raise :class:`.InvalidInput` unless a network has timed rows and full-rate links."""
    if not config.timed_rows:
        raise InvalidInput.must_be("timed_rows", "given", "for a timed schedule")
    if config.depth < config.busy_depth:
        allowed = f"at least {config.busy_depth} for a timed schedule"
        raise InvalidInput.of("depth", allowed, config.depth)


def timed(program: Program, schedule: Schedule) -> Program:
    """Return the ``program`` of a ``schedule`` with rows that begin by a timetable, not by steps.

    Row i of ``program`` carries out all or a part of the send ``program.route[i]``.
    """
    # Numba takes long to load, and few schedules are timed.
    from ..schedule.timetable import begins  # noqa: PLC0415

    config, send = program.config, program.route
    row_cycles = config.table.control_words
    busy = program.header_flits + program.length + row_cycles
    lasting = np.bincount(send, busy, schedule.sends).astype(np.int64) - row_cycles
    begin = begins(schedule, lasting, row_cycles, 1 + config.link_registers)
    # The rows of a send follow each other without a gap.
    before = offsets_of(busy)[:-1]
    opens = np.append(True, send[1:] != send[:-1])[: len(send)]
    first = before[np.flatnonzero(opens)][np.cumsum(opens) - 1]
    start = begin[send] + before - first
    order = np.lexsort((start, program.row_node))
    columns = {name: getattr(program, name)[order] for name in _OF_ROWS}
    none = np.zeros(0, dtype=np.int64)
    return replace(
        program,
        **columns,
        step=np.ones_like(program.step),
        start=start[order],
        first_receive=np.zeros(program.nodes + 1, dtype=np.int64),
        receive_step=none,
        receive_port=none,
        awaited=np.bincount(schedule.target[send], minlength=program.nodes),
    )
