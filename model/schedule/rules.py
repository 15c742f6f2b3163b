"""The error that all checks of a schedule raise, and the search for a send at fault.

The send at fault is the first in the table among those of the lowest step.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.errors import InvalidInput
from .table import SendTable

LARGEST_STEP = 1 << 20
LARGEST_VC = 255


class ScheduleError(InvalidInput):
    """The error of a schedule that breaks a rule.

    Attributes
    ----------
    send
        Index in the table of the send at fault; None if a send is missing.
    """

    def __init__(self, message: str, send: int | None = None) -> None:
        super().__init__(message)
        self.send = send


def first_broken(schedule: SendTable, broken: npt.NDArray[np.bool_], sends: Numbers) -> int | None:
    """Find the first index where ``broken`` holds, by step and then by send; None without one."""
    places = np.flatnonzero(broken)
    if not places.size:
        return None
    return int(places[np.argmin(schedule.step[sends[places]])])


def first_clash(
    schedule: SendTable, keys: npt.NDArray[np.integer], sends: Numbers
) -> tuple[int, int] | None:
    """Find the first key that occurs twice: its two indices, None if all keys differ."""
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    order = np.lexsort((sends, schedule.step[sends]))
    keys = keys[order]
    again = np.ones(keys.size, dtype=bool)
    again[np.unique(keys, return_index=True)[1]] = False
    second = int(np.argmax(again))
    first = int(np.argmax(keys == keys[second]))
    return int(order[first]), int(order[second])


def send_name(schedule: SendTable, send: int) -> str:
    """Name a send as errors do: "send 3 (step 2, 0 -> 5)"."""
    ends = f"{schedule.source[send]} -> {schedule.target[send]}"
    return f"send {send} (step {schedule.step[send]}, {ends})"


def broken(schedule: SendTable, send: int, complaint: str) -> ScheduleError:
    """Make the error of a ``send`` that breaks a rule."""
    return ScheduleError(f"{send_name(schedule, send)}: {complaint}", send)
