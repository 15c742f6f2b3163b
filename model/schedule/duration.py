"""About how many cycles a schedule takes, by the rules of docs/router.md, sections 5, 11 and 20.

A step takes h + L + 4 cycles, for the h hops and the L words of its longest send; a send that
streams ends at least h + 3 cycles after the last word that it sends on has come. That is exact
where nothing waits and each packet has one header flit, but for the cycles in which the first row
is read; the cycle model is what knows.
"""

from __future__ import annotations

import numpy as np

from .rules import IntArray
from .schedule import Schedule
from .streams import streams_of

STEP_CYCLES = 4
"""What the interface and the barrier add to a step."""
COMBINED_CYCLES = 1
"""What a network with operators adds to that, and to STREAM_CYCLES: packets are written later."""
STREAM_CYCLES = 3
"""What a node adds to the hops of a word that it sends on."""
TIMED_ROW_CYCLES = 2
"""Cycles in which a timed row is read, in networks whose addresses are not the largest."""


def expected_cycles(schedule: Schedule) -> int:
    """About the cycles of ``schedule`` with barrier timing, those of all its steps; or timed."""
    if schedule.timed:
        return _timed_cycles(schedule)
    written = COMBINED_CYCLES if schedule.combine.any() else 0
    longest = np.zeros(schedule.steps + 1, np.int64)
    np.maximum.at(longest, schedule.step, _arrivals(schedule, STREAM_CYCLES + written))
    used = np.bincount(schedule.step, minlength=schedule.steps + 1) > 0
    return int((longest[used] + STEP_CYCLES + written).sum())


def _timed_cycles(schedule: Schedule) -> int:
    """The cycles of a timed schedule, where each send is one packet with one header flit."""
    # Numba takes long to load, and few schedules are timed.
    from .timetable import begins, ends  # noqa: PLC0415

    lasting = schedule.send_words + 1
    begin = begins(schedule, lasting, TIMED_ROW_CYCLES, hop_cycles=1)
    return int(ends(schedule, begin, lasting, hop_cycles=1).max(initial=0))


def _arrivals(schedule: Schedule, stream_cycles: int) -> IntArray:
    """Cycles from the beginning of a step until the last word of each send has come, (sends,).

    A word that is sent on takes ``stream_cycles`` besides its hops.
    """
    words = schedule.send_words
    arrival: IntArray = schedule.distances + words
    if not schedule.stream.any():
        return arrival
    streams = streams_of(schedule)
    feeder = np.full(schedule.sends, -1)
    feeder[streams.send] = streams.feeder
    # From the last word sent on to the last of all, and what its way takes.
    after = np.zeros(schedule.sends, np.int64)
    after[streams.send] = words[streams.send] - streams.lead - words[streams.feeder]
    after[streams.send] += schedule.distances[streams.send] + stream_cycles
    for send in _feeders_first(feeder.tolist()):
        if feeder[send] >= 0:
            arrival[send] = max(arrival[send], arrival[feeder[send]] + after[send])
    return arrival


def _feeders_first(feeder: list[int]) -> list[int]:
    """All sends, each after its feeder; a circle of them begins anywhere."""
    order: list[int] = []
    known = [False] * len(feeder)
    for send in range(len(feeder)):
        walk = []
        at = send
        while at >= 0 and not known[at]:
            known[at] = True
            walk.append(at)
            at = feeder[at]
        order += reversed(walk)
    return order
