"""Timetables of timed schedules: the cycle in which each send begins, so that no flit ever waits.

A *timed* schedule does not wait for the end of steps. Its sends are placed in the order of the
table. Each begins in the first cycle from which on its source holds its blocks and every resource
is free when it passes. A send may begin before one that was placed earlier. The cycles of F flits
are known in advance if nothing is in their way (docs/router.md, sections 5 and 9)::

    begin t        port out of the source     t  ...  t+F-1, and then the next row is read
                   first link                    t+1  ...  t+F
                   second link (R registers)          t+R+2  ...  t+R+F+1
                   port into the target                       ...
"""

from __future__ import annotations

import numpy as np

from ..base.arrays import Numbers
from ..base.loops import compiled_loop
from ..base.pieces import offsets_of
from .places import places_of
from .rules import broken
from .schedule import Schedule

READ_CYCLES = 2
"""Cycles from the one in which a word leaves the network to the one in which it can be sent on."""
NEVER = -1
"""The cycle of a block that has not arrived."""
NO_CYCLES = np.iinfo(np.int64).max


def begins(schedule: Schedule, lasting: Numbers, row_cycles: int, hop_cycles: int) -> Numbers:
    """Return the cycle in which each send of ``schedule`` begins, shape (sends,).

    ``lasting`` has the cycles that injecting the packets of each send takes, shape (sends,).
    ``row_cycles`` are the cycles that reading a row of the table takes, ``hop_cycles`` those of a
    hop. Raises :class:`.ScheduleError` for a send listed before the one that brings its blocks.
    """
    first, place, number = places_of(schedule)
    uses = offsets_of(np.bincount(place, minlength=number))
    start, end = np.full((2, uses[-1]), NO_CYCLES)
    source, target, there = _holdings(schedule)
    begin = np.full(schedule.sends, NEVER)
    _place(
        first, place, uses, np.zeros(number, np.int64), start, end,
        schedule.block_offsets, source, target, there, lasting, row_cycles, hop_cycles, begin,
    )  # fmt: skip
    for send in np.flatnonzero(begin == NEVER)[:1].tolist():
        raise broken(schedule, send, "timed, it stands before the send that brings its blocks")
    return begin


def ends(schedule: Schedule, begin: Numbers, lasting: Numbers, hop_cycles: int) -> Numbers:
    """Return the cycle after the one in which each send's last flit arrives, shape (sends,)."""
    end: Numbers = begin + lasting + 1 + hop_cycles * schedule.distances
    return end


def _holdings(schedule: Schedule) -> tuple[Numbers, Numbers, Numbers]:
    """Number the (node, block) pairs of all sends, and return the cycle of each pair's block.

    Returns the numbers at the sources, those at the targets, and for each number the cycle from
    which the node holds the block: 0 for its owner, otherwise ``NEVER``.
    """
    send, count = schedule.block_sends, len(schedule.blocks)
    ends = (schedule.source[send], schedule.target[send])
    keys = [node.astype(np.int64) * count + schedule.block_ids for node in ends]
    known, numbers = np.unique(np.concatenate(keys), return_inverse=True)
    owned = schedule.blocks.owner[known % count] == known // count
    return numbers[: len(send)], numbers[len(send) :], np.where(owned, 0, NEVER)


@compiled_loop
def _free_from(begin: int, used: int, start: Numbers, end: Numbers, cycle: int, busy: int) -> int:
    """Return the first cycle from ``cycle`` on from which a resource is free for ``busy`` cycles.

    Its busy times are ``start[i]`` to ``end[i]`` for ``used`` indices from ``begin`` on, ascending.
    """
    at = begin + np.searchsorted(end[begin : begin + used], cycle, side="right")
    while at < begin + used and start[at] < cycle + busy:
        cycle = end[at]
        at += 1
    return cycle


@compiled_loop
def _occupy(begin: int, used: int, start: Numbers, end: Numbers, cycle: int, busy: int) -> None:
    """Record that a resource, as in :func:`_free_from`, is busy for ``busy`` cycles."""
    at = begin + used
    while at > begin and start[at - 1] > cycle:
        start[at], end[at] = start[at - 1], end[at - 1]
        at -= 1
    start[at], end[at] = cycle, cycle + busy


@compiled_loop
def _place(
    first: Numbers,
    place: Numbers,
    uses: Numbers,
    used: Numbers,
    start: Numbers,
    end: Numbers,
    first_block: Numbers,
    source: Numbers,
    target: Numbers,
    there: Numbers,
    lasting: Numbers,
    row_cycles: int,
    hop_cycles: int,
    begin: Numbers,
) -> None:
    """Set ``begin`` for each send in order; stop at a send whose blocks have not arrived.

    Resource p is busy from ``start[i]`` to ``end[i]`` for ``used[p]`` indices i from ``uses[p]``.
    """
    for send in range(len(begin)):
        cycle = row_cycles
        for block in range(first_block[send], first_block[send + 1]):
            if there[source[block]] == NEVER:
                return
            cycle = max(cycle, there[source[block]])
        hop, hops = 0, first[send + 1] - first[send]
        while hop < hops:
            at, delay = place[first[send] + hop], 1 + (hop - 1) * hop_cycles if hop else 0
            busy = lasting[send] + (0 if hop else row_cycles)
            later = _free_from(uses[at], used[at], start, end, cycle + delay, busy) - delay
            # After a conflict, check every resource again.
            hop, cycle = hop + 1 if later == cycle else 0, later
        for hop in range(hops):
            at, delay = place[first[send] + hop], 1 + (hop - 1) * hop_cycles if hop else 0
            busy = lasting[send] + (0 if hop else row_cycles)
            _occupy(uses[at], used[at], start, end, cycle + delay, busy)
            used[at] += 1
        begin[send] = cycle
        come = cycle + lasting[send] + (hops - 2) * hop_cycles + READ_CYCLES
        for block in range(first_block[send], first_block[send + 1]):
            there[target[block]] = max(there[target[block]], come)
