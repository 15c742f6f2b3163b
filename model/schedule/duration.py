"""About how many cycles a schedule takes, by the rule of docs/router.md, section 5.

A step takes h + L + 4 cycles, for the h hops and the L words of its longest send. That is exact
where nothing waits and each packet has one header flit, but for the cycles in which the first row
is read; the cycle model is what knows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .cost import send_words
from .schedule import Schedule

STEP_CYCLES = 4
"""What the interface and the barrier add to a step."""


def expected_cycles(schedule: Schedule) -> int:
    """About the cycles of ``schedule`` with barrier timing: those of all its steps."""
    ends = arrival_cycles(schedule)
    longest = np.zeros(schedule.steps + 1, np.int64)
    np.maximum.at(longest, schedule.step, ends)
    used = longest[1:][np.bincount(schedule.step, minlength=schedule.steps + 1)[1:] > 0]
    return int((used + STEP_CYCLES).sum())


def arrival_cycles(schedule: Schedule) -> npt.NDArray[np.int64]:
    """Cycles from the beginning of a step until each of its sends has arrived: h + L, (sends,)."""
    return schedule.distances + send_words(schedule)
