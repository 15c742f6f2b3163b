"""Packing of equal packets into time, so that no two need a port or link in the same cycle.

A packet passes a list of places: the port out of its source, its links, the port into its target.
It occupies each place for F cycles, one for each flit, and reaches each next place one cycle later.
(If a cycle stands for a whole step, it occupies all places in the same one.) The packing goes cycle
by cycle and tries the packets that can begin. It prefers packets whose places have the most left to
carry, and packets that follow another one without a gap::

    link a     | A A A A A | B B B B B |     | C C C C C |      B follows A at once: no cycle lost
    link b       | A A A A A | B B B B B |

Only gaps too short for a packet are lost. A small random part decides between nearly equal packets,
and the shortest of several tries is kept.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.compiled import compiled
from ..base.loops import compiled_loop, inlined
from ..base.ragged import offsets_of

LOAD_POWER = 12.0
"""Exponent: a place's weight is the cycles it has left to carry, to this power."""
CLOSE = 2.0
"""Factor on a place's weight for a packet without a gap before it; again for none behind it."""
LOTS = 0.2
"""The random part of a packet's value."""
LOOKED_AT = 8192
"""Packets tried in a cycle, of all nodes together, about."""
NEVER = -1
"""The end of a packet for a cycle in which a place is free: before all cycles."""


class Packets(NamedTuple):
    """Packets to pack.

    Packet i passes the places ``places[first[i]:first[i + 1]]``; there are ``number`` places. It
    occupies each place for ``flits`` cycles, the first one for ``gap`` cycles more. It reaches the
    next place ``hop_cycles`` cycles later.
    """

    first: Numbers
    places: Numbers
    number: int
    flits: int
    gap: int
    hop_cycles: int


class _Queues(NamedTuple):
    """Packets that wait at each node: ``left[n]`` of them, in ``waiting`` from ``begin[n]`` on.

    A packet cannot begin before its cycle ``earliest``. ``place`` is the place that blocked it
    last, and ``delay`` the cycles from its begin until it reaches that place.
    """

    begin: Numbers
    left: Numbers
    waiting: Numbers
    earliest: Numbers
    place: Numbers
    delay: Numbers


class _Loads(NamedTuple):
    """The occupied cycles of each place, and the cycles it has left to carry.

    ``ends[p, t % columns]`` is the cycle after the packet that occupies place p in cycle t. If that
    is t or less, p is free in t; so no column must be cleared. ``left[p]`` are the cycles for which
    p must still carry packets, and ``weight[p]`` is its weight in a packet's value.
    """

    ends: npt.NDArray[np.int32]
    left: Numbers
    weight: npt.NDArray[np.float64]


def pack(packets: Packets, tries: int) -> Numbers:
    """Return the cycle in which each packet begins, shape (packets,): the best of ``tries``."""
    way = np.diff(packets.first) * packets.hop_cycles
    found = [_packed(packets, seed) for seed in range(tries)]
    return min(found, key=lambda begin: int((begin + way).max(initial=0)))


def steps_of(packets: Packets, begin: Numbers) -> Numbers:
    """Return a step for each packet, from 1; at each place steps rise in the order of ``begin``."""
    step = np.zeros(len(begin), np.int64)
    order = np.argsort(begin, kind="stable")
    _number(order, packets.first, packets.places, np.zeros(packets.number, np.int64), step)
    return step


@compiled
def _number(order: Numbers, first: Numbers, places: Numbers, last: Numbers, step: Numbers) -> None:
    """Write ``step`` packet by packet in ``order``; ``last`` is each place's last step."""
    for packet in order:
        passed = places[first[packet] : first[packet + 1]]
        step[packet] = 1 + last[passed].max()
        last[passed] = step[packet]


def _packed(packets: Packets, seed: int) -> Numbers:
    """Return the cycle in which each packet begins, by one try."""
    first, places, number, flits, gap, hop_cycles = packets
    load = np.bincount(places, minlength=number) * flits
    origin = places[first[:-1]]
    starts, senders = np.unique(origin, return_counts=True)
    load[starts] += senders * gap
    draw = np.random.default_rng(seed)
    waiting = np.lexsort((draw.random(len(origin)), origin))
    # From one cycle before a packet begins to one after its end at the last place.
    cycles = 1 + int(np.diff(first).max(initial=0)) * hop_cycles + flits + gap + 1
    ends = np.full((number, 1 << cycles.bit_length()), NEVER, np.int32)
    earliest, delay = np.zeros((2, len(waiting)), np.int64)
    queues = _Queues(offsets_of(senders)[:-1], senders, waiting, earliest, origin[waiting], delay)
    loads = _Loads(ends, load, load.astype(np.float64) ** LOAD_POWER)
    begin = np.empty(len(origin), np.int64)
    _fill(packets, queues, draw.random(1 << 16), loads, begin)
    return begin


@inlined
def _free_from(place: int, cycle: int, flits: int, ends: npt.NDArray[np.int32]) -> int:
    """Return ``cycle`` if ``place`` is free for a packet from then on, otherwise a later cycle.

    The place is not free before the later cycle. All packets have the same length, so a place that
    is free in a packet's first and last cycle is free between them.
    """
    last, mask = cycle + flits - 1, ends.shape[1] - 1
    if ends[place, last & mask] > last:
        return int(ends[place, last & mask])
    return max(cycle, int(ends[place, cycle & mask]))


@inlined
def _in_the_way(packets: Packets, packet: int, cycle: int, ends: npt.NDArray[np.int32]) -> int:
    """Find the first place of ``packet`` that is not free for it if it begins in ``cycle``.

    Returns its index among the packet's places, from 0; -1 if all are free.
    """
    at = cycle
    places = packets.places[packets.first[packet] : packets.first[packet + 1]]
    for number, place in enumerate(places):
        if _free_from(place, at, packets.flits, ends) > at:
            return number
        at += packets.hop_cycles
    return -1


@inlined
def _can_begin(
    packets: Packets, queues: _Queues, at: int, cycle: int, ends: npt.NDArray[np.int32]
) -> bool:
    """Return whether ``queues.waiting[at]`` can begin in ``cycle``; note what place blocks it."""
    # The place that blocked it last often blocks it again.
    there = cycle + queues.delay[at]
    queues.earliest[at] = cycle - there + _free_from(queues.place[at], there, packets.flits, ends)
    if queues.earliest[at] > cycle:
        return False
    packet = queues.waiting[at]
    number = _in_the_way(packets, packet, cycle, ends)
    if number < 0:
        return True
    queues.place[at] = packets.places[packets.first[packet] + number]
    queues.delay[at] = number * packets.hop_cycles
    return False


@inlined
def _value(packets: Packets, packet: int, cycle: int, loads: _Loads) -> float:
    """Return the value of ``packet`` if it begins in ``cycle``; its places must be free."""
    ends, mask = loads.ends, loads.ends.shape[1] - 1
    value, at = 0.0, cycle
    for place in packets.places[packets.first[packet] : packets.first[packet + 1]]:
        share, behind = loads.weight[place], at + packets.flits
        if ends[place, (at - 1) & mask] > at - 1:
            share *= CLOSE
        if ends[place, behind & mask] > behind:
            share *= CLOSE
        value += share
        at += packets.hop_cycles
    return value


@compiled_loop
def _ready(
    packets: Packets,
    queues: _Queues,
    cycle: int,
    loads: _Loads,
    ready: Numbers,
    worth: npt.NDArray[np.float64],
) -> int:
    """Find packets that can begin in ``cycle``, and return how many.

    Writes their indices in ``queues.waiting`` to ``ready``, and their values to ``worth``. Each
    node has an equal part of both arrays, which limits the number of its packets tried.
    """
    found, look = 0, len(ready) // len(queues.left)
    for node, here in enumerate(queues.begin):
        left = queues.left[node]
        if left == 0:
            continue
        origin = packets.places[packets.first[queues.waiting[here]]]
        if loads.ends[origin, cycle & (loads.ends.shape[1] - 1)] > cycle:
            continue
        at = here + cycle % left
        for _ in range(min(look, left)):
            if queues.earliest[at] <= cycle and _can_begin(packets, queues, at, cycle, loads.ends):
                ready[found] = at
                worth[found] = _value(packets, queues.waiting[at], cycle, loads)
                found += 1
            at = at + 1 if at + 1 < here + left else here
    return found


@compiled_loop
def _begin(packets: Packets, queues: _Queues, at: int, cycle: int, loads: _Loads) -> int:
    """Let packet ``queues.waiting[at]`` begin in ``cycle``, remove it from its queue, return it."""
    packet = int(queues.waiting[at])
    time, taken, mask = cycle, packets.flits + packets.gap, loads.ends.shape[1] - 1
    for place in packets.places[packets.first[packet] : packets.first[packet + 1]]:
        for each in range(time, time + taken):
            loads.ends[place, each & mask] = time + taken
        loads.left[place] -= taken
        loads.weight[place] = loads.left[place] ** LOAD_POWER
        time, taken = time + packets.hop_cycles, packets.flits
    node = np.searchsorted(queues.begin, at, side="right") - 1
    queues.left[node] -= 1
    last = queues.begin[node] + queues.left[node]
    for column in (queues.waiting, queues.earliest, queues.place, queues.delay):
        column[at] = column[last]
    return packet


@compiled
def _fill(
    packets: Packets,
    queues: _Queues,
    lots: npt.NDArray[np.float64],
    loads: _Loads,
    begin: Numbers,
) -> None:
    """Find the cycle in which each packet begins, and write it to ``begin``."""
    drawn, nodes, cycle, waiting = 0, len(queues.left), 0, len(begin)
    room = nodes * max(8, LOOKED_AT // max(nodes, 1))
    ready, worth = np.empty(room, np.int64), np.empty(room)
    while waiting:
        found = _ready(packets, queues, cycle, loads, ready, worth)
        for candidate in range(found):
            drawn = (drawn + 1) % len(lots)
            worth[candidate] *= 1 - LOTS * lots[drawn]
        for at in ready[np.argsort(-worth[:found])]:
            # A node begins one packet in a cycle, so its other packets keep their indices.
            if _in_the_way(packets, queues.waiting[at], cycle, loads.ends) < 0:
                begin[_begin(packets, queues, at, cycle, loads)] = cycle
                waiting -= 1
        cycle += 1
