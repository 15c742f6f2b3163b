"""Programs of timed schedules: rows that begin in cycles of a timetable (docs/router.md, 11).

All rows are of step 1, and a node does not wait for a packet but counts all that come to it. As no
flit waits for another, each word is there when the row begins that sends it on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..base.errors import InvalidInput
from ..base.pieces import offsets_of
from ..network.config import NetworkConfig
from ..network.exclusions import incompatible
from .table import ADDITIONS

if TYPE_CHECKING:
    from ..schedule.schedule import Schedule
    from .program import Program

_OF_ROWS = ("source_address", "target_address", "length", "continued", "route", *ADDITIONS)
"""Columns of rows that a timetable leaves as they are, but for their order."""


def require_no_other(config: NetworkConfig, schedules: Sequence[Schedule]) -> None:
    """Raise :class:`.InvalidInput` where a schedule is timed and a network has no room for that.

    ``config`` may have what does not go with timed rows; the first such parameter is named.
    """
    for schedule in (schedule for schedule in schedules if schedule.timed):
        for name in (name for name in incompatible("timed_rows") if getattr(config, name)):
            allowed = f"left out with {schedule.algorithm}, whose rows are timed"
            raise InvalidInput.of(name.replace("_", " "), allowed, "given")


def require_timed_rows(config: NetworkConfig) -> None:
    """Raise :class:`.InvalidInput` unless a network has timed rows, and keeps its links busy."""
    if not config.timed_rows:
        raise InvalidInput.of("network", "one with timed rows, for a timed schedule", "without")
    if config.depth < config.busy_depth:
        allowed = f"at least {config.busy_depth} for a timed schedule"
        raise InvalidInput.of("depth", allowed, config.depth)


def timed(program: Program, schedule: Schedule) -> Program:
    """The ``program`` of a ``schedule``, its rows begun by a timetable and not by steps.

    Row i carries out, or helps to, the send ``program.route[i]``.
    """
    # Numba takes long to load, and few schedules are timed.
    from ..schedule.timetable import begins  # noqa: PLC0415

    config, send = program.config, program.route
    row_cycles = config.table.control_words
    busy = program.header_flits + program.length + row_cycles
    lasting = np.bincount(send, busy, schedule.sends).astype(np.int64) - row_cycles
    begin = begins(schedule, lasting, row_cycles, 1 + config.link_registers)
    # The rows of a send stand one behind the other.
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
