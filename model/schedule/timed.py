"""The check that a schedule which says that it is timed can be: its ports, and its order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..network.port_model import PortModel
from .rules import ScheduleError, broken, first_broken

if TYPE_CHECKING:
    from .table import SendTable


def check_timed(schedule: SendTable) -> None:
    """Require that a timed schedule has one port a node, and can be taken in the table's order."""
    if not schedule.timed:
        return
    if schedule.port_model == PortModel.ALL_PORT:
        raise ScheduleError("port model of a timed schedule must be another than all-port")
    check_order(schedule)


def check_order(schedule: SendTable) -> None:
    """Require that each send stands behind one that brings its blocks, if it is not their owner."""
    send, block = schedule.block_sends, schedule.block_ids
    number = block.astype(np.int64) * schedule.topology.nodes
    brought, first = np.unique(number + schedule.target[send], return_index=True)
    # A place behind the last stands for what never comes.
    brought, first = np.append(brought, -1), np.append(send[first], schedule.sends)
    taken = number + schedule.source[send]
    place = np.searchsorted(brought[:-1], taken)
    came = np.where(brought[place] == taken, first[place], schedule.sends)
    early = (schedule.blocks.owner[block] != schedule.source[send]) & (came >= send)
    at = first_broken(schedule, early, send)
    if at is not None:
        complaint = "timed, it stands before the send that brings its blocks"
        raise broken(schedule, int(send[at]), complaint)
