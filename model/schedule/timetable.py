"""Timetables of timed schedules: the cycle in which each send begins, so that no flit ever waits.

A *timed* schedule does not wait for the end of steps. Its sends are placed in the order of the
table. Each begins in the first cycle in which its source holds its blocks, and from which every
resource is free when the send passes it. A send may begin before one that was placed earlier. If
no flit waits, the cycles of F flits are known in advance (docs/router.md, sections 5 and 9)::

    begin t        port out of the source     t  ...  t+F-1, and then the next row is read
                   first link                    t+1  ...  t+F
                   second link (R registers)          t+R+2  ...  t+R+F+1
                   port into the target                       ...
"""

from typing import NamedTuple

import numpy as np

from ..base.arrays import Numbers
from ..base.loops import compiled_loop
from ..base.ragged import offsets_of
from .resources import Resources, resources_of
from .rules import broken
from .schedule import Schedule

READ_CYCLES = 2
"""Cycles from the one in which a word leaves the network to the one in which it can be sent on."""
NEVER = -1
"""The cycle of a block that has not arrived."""
NO_CYCLES = np.iinfo(np.int64).max


class Busy(NamedTuple):
    """The cycles in which resources are busy.

    Resource r is busy from ``start[i]`` to ``end[i]`` for ``used[r]`` indices i from ``first[r]``
    on, ascending.
    """

    first: Numbers
    used: Numbers
    start: Numbers
    end: Numbers


class _Carried(NamedTuple):
    """The blocks that sends carry, as numbers of (node, block) pairs.

    Send i carries the pairs ``source[first[i]:first[i + 1]]`` to the pairs of the same indices in
    ``target``. From cycle ``there[p]`` on the node of pair p holds the block; ``NEVER`` if unknown.
    """

    first: Numbers
    source: Numbers
    target: Numbers
    there: Numbers


def begins(schedule: Schedule, lasting: Numbers, row_cycles: int, hop_cycles: int) -> Numbers:
    """Return the cycle in which each send of ``schedule`` begins, shape (sends,).

    ``lasting`` has the cycles that injecting the packets of each send takes, shape (sends,), if no
    link differs. ``row_cycles`` are the cycles that reading a row of the table takes,
    ``hop_cycles`` those of a hop. Raises :class:`.ScheduleError` for a send listed before the one
    that brings its blocks.
    """
    resources, lasting = resources_of(schedule), lasting * schedule.send_rates
    uses = offsets_of(np.bincount(resources.resource, minlength=resources.number))
    start, end = np.full((2, uses[-1]), NO_CYCLES)
    busy = Busy(uses, np.zeros(resources.number, np.int64), start, end)
    begin = np.full(schedule.sends, NEVER)
    delay = _delays(schedule, resources, hop_cycles)
    _place(resources, busy, _carried(schedule), lasting, row_cycles, delay, begin)
    for send in np.flatnonzero(begin == NEVER)[:1].tolist():
        raise broken(schedule, send, "timed, it stands before the send that brings its blocks")
    return begin


def ends(schedule: Schedule, begin: Numbers, lasting: Numbers, hop_cycles: int) -> Numbers:
    """Return the cycle after the one in which each send's last flit arrives, shape (sends,)."""
    sent = begin + lasting * schedule.send_rates
    end: Numbers = sent + 1 + schedule.send_latencies(hop_cycles)
    return end


def _delays(schedule: Schedule, resources: Resources, hop_cycles: int) -> Numbers:
    """Return the cycles from each send's begin until it reaches each of its resources."""
    first, last = resources.first[:-1], resources.first[1:] - 1
    steps = np.zeros(len(resources.resource), np.int64)
    # The first link comes a cycle after the port, and each further resource a hop later.
    steps[first + 1] = 1
    inner = np.ones(len(steps), np.bool_)
    inner[first] = inner[first + 1] = False
    inner[last] = True
    steps[inner] = schedule.latencies(hop_cycles)
    total = np.cumsum(steps)
    delays: Numbers = total - np.repeat(total[first], np.diff(resources.first))
    return delays


def _carried(schedule: Schedule) -> _Carried:
    """Number the (node, block) pairs of all sends; owners hold their blocks from cycle 0 on."""
    send, count = schedule.block_sends, len(schedule.blocks)
    ends = (schedule.source[send], schedule.target[send])
    keys = [node.astype(np.int64) * count + schedule.block_ids for node in ends]
    known, numbers = np.unique(np.concatenate(keys), return_inverse=True)
    owned = schedule.blocks.owner[known % count] == known // count
    source, target = numbers[: len(send)], numbers[len(send) :]
    return _Carried(schedule.block_offsets, source, target, np.where(owned, 0, NEVER))


@compiled_loop
def free_from(busy: Busy, resource: int, cycle: int, cycles: int) -> int:
    """Return the first cycle from ``cycle`` on from which a resource is free for ``cycles``."""
    begin = busy.first[resource]
    used = begin + busy.used[resource]
    at = begin + np.searchsorted(busy.end[begin:used], cycle, side="right")
    while at < used and busy.start[at] < cycle + cycles:
        cycle = busy.end[at]
        at += 1
    return cycle


@compiled_loop
def occupy(busy: Busy, resource: int, cycle: int, cycles: int) -> None:
    """Record that a resource is busy for ``cycles`` from ``cycle`` on."""
    begin = busy.first[resource]
    last = begin + busy.used[resource]
    at = begin + np.searchsorted(busy.start[begin:last], cycle)
    if at > begin and busy.end[at - 1] == cycle:
        # Times that meet become one, so a resource that is always busy has one.
        at -= 1
        cycle, cycles = busy.start[at], cycle + cycles - busy.start[at]
    else:
        for place in range(last, at, -1):
            busy.start[place], busy.end[place] = busy.start[place - 1], busy.end[place - 1]
        last += 1
    end = cycle + cycles
    if at + 1 < last and busy.start[at + 1] == end:
        end = busy.end[at + 1]
        last -= 1
        for place in range(at + 1, last):
            busy.start[place], busy.end[place] = busy.start[place + 1], busy.end[place + 1]
    busy.start[at], busy.end[at] = cycle, end
    busy.used[resource] = last - begin


@compiled_loop
def _place(
    resources: Resources,
    busy: Busy,
    carried: _Carried,
    lasting: Numbers,
    row_cycles: int,
    delays: Numbers,
    begin: Numbers,
) -> None:
    """Set ``begin`` for each send in order; stop at a send whose blocks have not arrived."""
    for send in range(len(begin)):
        cycle = row_cycles
        for block in range(carried.first[send], carried.first[send + 1]):
            held = carried.there[carried.source[block]]
            if held == NEVER:
                return
            cycle = max(cycle, held)
        first, hops = resources.first[send], resources.first[send + 1] - resources.first[send]
        hop = 0
        while hop < hops:
            delay = delays[first + hop]
            cycles = lasting[send] + (0 if hop else row_cycles)
            later = free_from(busy, resources.resource[first + hop], cycle + delay, cycles) - delay
            # After a conflict, check every resource again.
            hop, cycle = hop + 1 if later == cycle else 0, later
        for hop in range(hops):
            cycles = lasting[send] + (0 if hop else row_cycles)
            occupy(busy, resources.resource[first + hop], cycle + delays[first + hop], cycles)
        begin[send] = cycle
        arrived = cycle + lasting[send] + delays[first + hops - 1] - 1 + READ_CYCLES
        for block in range(carried.first[send], carried.first[send + 1]):
            target = carried.target[block]
            carried.there[target] = max(carried.there[target], arrived)
