"""The compiled part of ``matching``: which arriving packet a departing packet can be, and when."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers, Words
from ..base.loops import Int, compiled_loop, inlined
from .trace import HEAD_MARK

NEVER = 1 << 60


class Arrivals(NamedTuple):
    """Packets that arrive at routers, and their flits, as arrays.

    Of each packet: its flits ``first_flit`` to ``stop`` - 1, the first flit ``start`` that is not
    dropped, and ``first``, that flit as it leaves; the output VC ``exit``, or -1; ``kind``, its
    number in ``looks_of``; the last cycle ``latest`` in which its first flit can have left.
    Of each flit: the cycles ``came``, in which it arrived, and ``credit``, in which its slot was
    used again.
    """

    first_flit: Numbers
    start: Numbers
    stop: Numbers
    first: Words
    exit: Numbers
    kind: Numbers
    latest: Numbers
    came: Numbers
    credit: Numbers
    port: npt.NDArray[np.int16]
    marks: npt.NDArray[np.int8]
    data: Words


class Departures(NamedTuple):
    """Packets that leave routers, and their flits, as arrays.

    Of each packet: its flits ``begin`` to ``end`` - 1, the cycle ``tail`` of its last flit, its
    output VC ``channel``, and ``looks``, its two numbers in ``looks_of``. Of each flit: the cycle
    ``gone`` in which it left.
    """

    begin: Numbers
    end: Numbers
    whole: npt.NDArray[np.bool_]
    tail: Numbers
    channel: Numbers
    looks: Numbers
    gone: Numbers
    marks: npt.NDArray[np.int8]
    data: Words


class Steps(NamedTuple):
    """The matched departures of one router, and the state of its queues.

    ``front[q]`` is the packet at the front of queue q, which ends before ``stop[q]``, and
    ``free[q]`` the cycle in which the tail before it left. Departure ``order[i]`` was taken from
    queue ``taken[i]``, which had been free since ``freed[i]``; the ``untried[i]`` first queues of
    ``options[i]`` are left to try.
    """

    order: Numbers
    stop: Numbers
    front: Numbers
    free: Numbers
    taken: Numbers
    freed: Numbers
    options: Numbers
    untried: Numbers


@compiled_loop
def advance(
    arrivals: Arrivals, departures: Departures, steps: Steps, step: Int, until: Int, strict: bool
) -> Int:
    """Match departures from ``step`` on; return the first one without options, or ``until``."""
    while step < until:
        steps.untried[step] = _find_options(arrivals, departures, steps, step, strict)
        if steps.untried[step] == 0:
            break
        take(departures, steps, step)
        step += 1
    return step


@inlined
def take(departures: Departures, steps: Steps, step: Int) -> None:
    """Take a departure from the likeliest queue that was not tried."""
    steps.untried[step] -= 1
    queue = steps.options[step, steps.untried[step]]
    steps.taken[step], steps.freed[step] = queue, steps.free[queue]
    steps.front[queue] += 1
    steps.free[queue] = departures.tail[steps.order[step]]


@inlined
def _find_options(
    arrivals: Arrivals, departures: Departures, steps: Steps, step: Int, strict: bool
) -> int:
    """Write the queues that a departure may have come from, the likeliest last; return how many."""
    departure, found = steps.order[step], 0
    head = departures.gone[departures.begin[departure]]
    for queue in range(len(steps.front)):
        arrival = steps.front[queue]
        if arrival >= steps.stop[queue]:
            continue
        if strict and arrivals.latest[arrival] < head:
            return 0
        if _fits(arrivals, departures, departure, arrival, steps.free[queue], strict):
            place = found
            while place > 0:
                other = steps.options[step, place - 1]
                if not _more_urgent(arrivals, steps.front[other], arrival):
                    break
                steps.options[step, place] = other
                place -= 1
            steps.options[step, place] = queue
            found += 1
    return found


@inlined
def _more_urgent(arrivals: Arrivals, one: Int, other: Int) -> bool:
    """Tell whether ``one`` must leave before ``other``, or may and has come earlier."""
    if arrivals.latest[one] != arrivals.latest[other]:
        return bool(arrivals.latest[one] < arrivals.latest[other])
    came = arrivals.came
    return bool(came[arrivals.start[one]] < came[arrivals.start[other]])


@inlined
def _fits(
    arrivals: Arrivals,
    departures: Departures,
    departure: Int,
    arrival: Int,
    free: Int,
    strict: bool,
) -> bool:
    """Tell whether the packet at the front of a queue may be this departure."""
    if not same(arrivals, departures, departure, arrival):
        return False
    begin, start = departures.begin[departure], arrivals.start[arrival]
    if departures.gone[begin] <= ready_after(arrivals, arrival, free):
        return False
    if strict:
        for flit in range(arrivals.first_flit[arrival], start):
            free = max(free, arrivals.came[flit]) + 1
            if free > arrivals.credit[flit]:
                return False
    for flit in range(departures.end[departure] - begin):
        gone = departures.gone[begin + flit]
        if gone <= arrivals.came[start + flit]:
            return False
        if strict and gone > arrivals.credit[start + flit]:
            return False
    return True


@compiled_loop
def same(arrivals: Arrivals, departures: Departures, departure: Int, arrival: Int) -> bool:
    """Tell whether the arrival, rewritten, equals the departure, or begins like it."""
    if departures.whole[departure]:
        kind = arrivals.kind[arrival]
        return bool(
            kind == departures.looks[departure, 0] or kind == departures.looks[departure, 1]
        )
    begin, start = departures.begin[departure], arrivals.start[arrival]
    flits = departures.end[departure] - begin
    if (
        start + flits > arrivals.stop[arrival]
        or arrivals.exit[arrival] != departures.channel[departure]
        or arrivals.first[arrival] != departures.data[begin]
    ):
        return False
    for flit in range(flits):
        marks = arrivals.marks[start + flit]
        if marks != departures.marks[begin + flit]:
            return False
        unknown = arrivals.port[start] == 0 and marks & HEAD_MARK == 0
        equal = arrivals.data[start + flit] == departures.data[begin + flit]
        if flit > 0 and not equal and not unknown:
            return False
    return True


@compiled_loop
def ready_after(arrivals: Arrivals, arrival: Int, free: Int) -> Int:
    """Return when a queue that is free after ``free`` has dropped the used-up header flits."""
    for flit in range(arrivals.first_flit[arrival], arrivals.start[arrival]):
        free = max(free, arrivals.came[flit]) + 1
    return free


@compiled_loop
def first_stranger(
    arrivals: Arrivals, departures: Departures, order: Numbers, alike: Numbers
) -> int:
    """Return the first whole departure of ``order`` that no packet of ``alike`` can be, or -1.

    ``alike`` are the packets that arrived at this router, in order of their ``kind``.
    """
    for step in range(len(order)):
        departure = order[step]
        begin, flits = departures.begin[departure], 0
        known = not departures.whole[departure]
        for look in departures.looks[departure]:
            place = 0 if known else _bisect(arrivals.kind, alike, look)
            flits = departures.end[departure] - begin
            while not known and place < len(alike) and arrivals.kind[alike[place]] == look:
                start, early = arrivals.start[alike[place]], 0
                for flit in range(flits):
                    early += departures.gone[begin + flit] <= arrivals.came[start + flit]
                known = early == 0
                place += 1
        if not known:
            return step
    return -1


@inlined
def _bisect(kind: Numbers, alike: Numbers, look: Int) -> int:
    """Return the first place in ``alike`` whose kind is not less than ``look``."""
    low, high = 0, len(alike)
    while low < high:
        middle = (low + high) // 2
        if kind[alike[middle]] < look:
            low = middle + 1
        else:
            high = middle
    return low


@compiled_loop
def find_latest(
    arrivals: Arrivals,
    channel: Numbers,
    unfinished: Numbers,
    heads: Numbers,
    bounds: Numbers,
    complete: bool,
) -> None:
    """Write the last cycle in which each arrival's first flit can have left, or -1.

    The limits are a credit that was used later, the latest cycle of the packet behind it, and the
    cycles in which packets of equal form left: ``heads[bounds[kind]]`` to
    ``heads[bounds[kind + 1] - 1]``, or ``unfinished`` of a packet that had not left to its end.
    """
    latest = arrivals.latest
    for packet in range(len(latest) - 1, -1, -1):
        start, stop = arrivals.start[packet], arrivals.stop[packet]
        limit = arrivals.credit[start] if start < stop else NEVER
        if packet + 1 < len(latest) and channel[packet] == channel[packet + 1]:
            behind = latest[packet + 1]
            if behind < NEVER:
                limit = min(limit, behind - (stop - start))
        if limit < NEVER or complete:
            kind = arrivals.kind[packet]
            low, high = (bounds[kind], bounds[kind + 1]) if kind >= 0 else (0, 0)
            none_before = low
            while low < high:
                middle = (low + high) // 2
                if heads[middle] <= limit:
                    low = middle + 1
                else:
                    high = middle
            if unfinished[packet] <= limit:
                limit = unfinished[packet]
            else:
                limit = heads[low - 1] if low > none_before else -1
        latest[packet] = limit


@compiled_loop
def write_left(
    arrivals: Arrivals, departures: Departures, steps: Steps, front: Numbers, left: Numbers
) -> None:
    """Write when each flit left its buffer, after all departures were matched.

    ``front`` has the first packet of each queue, and afterwards the first one that stayed.
    """
    for step in range(len(steps.order)):
        departure, queue = steps.order[step], steps.taken[step]
        arrival = front[queue]
        _write_dropped(arrivals, arrival, steps.freed[step], left)
        first, start = departures.begin[departure], arrivals.start[arrival]
        for flit in range(departures.end[departure] - first):
            left[start + flit] = departures.gone[first + flit]
        front[queue] += 1
    for queue in range(len(front)):
        if front[queue] < steps.stop[queue] and steps.free[queue] < NEVER:
            _write_dropped(arrivals, front[queue], steps.free[queue], left)


@inlined
def _write_dropped(arrivals: Arrivals, arrival: Int, free: Int, left: Numbers) -> None:
    """Write when the used-up header flits of a packet were dropped."""
    for flit in range(arrivals.first_flit[arrival], arrivals.start[arrival]):
        free = max(free, arrivals.came[flit]) + 1
        left[flit] = free
