"""Packing of equal packets into time, so that no two want a port or link in the same cycle.

A packet is a row of places (the port out of its source, its links, the port into its target); it is
at the first from the cycle in which it begins, at each further one a cycle later, and at each for
its F flits. (Where cycles stand for whole steps it is at all of them in the same one.) Cycle by
cycle the packets that could begin are tried, those first whose places have the most left to carry,
and that follow at once behind others::

    link a     | A A A A A | B B B B B |     | C C C C C |      B follows A at once: no cycle lost
    link b       | A A A A A | B B B B B |

What is lost are gaps too short for a packet. Lots, a little of each, decide between packets that
are nearly alike, and of several tries the shortest is kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...base.compiled import compiled
from ...base.pieces import Numbers, offsets_of

LOAD_POWER = 12.0
"""Power of what a place has left to carry, by which it counts."""
CLOSE = 2.0
"""Factor for a place at which a packet leaves no gap to the one before, or behind."""
LOTS = 0.2
"""The part of a packet's count that is drawn."""
LOOKED_AT = 8192
"""Packets of all nodes together that are tried in a cycle, about."""
ROOM = 2
"""Length that the packing may have at first, in times that the busiest place takes."""


class Packets(NamedTuple):
    """Packets to be packed.

    Packet i has the places ``places[first[i]:first[i + 1]]``, of ``number`` that there are, and
    occupies each for ``flits`` cycles, the first one for ``gap`` cycles more. From one place to the
    next it takes ``hop_cycles``.
    """

    first: Numbers
    places: Numbers
    number: int
    flits: int
    gap: int
    hop_cycles: int


class _Queues(NamedTuple):
    """Packets that wait at each node: ``left[n]`` of them, in ``waiting`` from ``begin[n]`` on."""

    begin: Numbers
    left: Numbers
    waiting: Numbers


def pack(packets: Packets, tries: int) -> Numbers:
    """The cycle in which each packet begins, shape (packets,), from the best of ``tries``."""
    way = np.diff(packets.first) * packets.hop_cycles
    found = [_packed(packets, seed) for seed in range(tries)]
    return min(found, key=lambda begin: int((begin + way).max(initial=0)))


def steps_of(packets: Packets, begin: Numbers) -> Numbers:
    """A step for each packet, from 1, that rises at each place in the order of ``begin``."""
    step = np.zeros(len(begin), np.int64)
    order = np.argsort(begin, kind="stable")
    _number(order, packets.first, packets.places, np.zeros(packets.number, np.int64), step)
    return step


@compiled
def _number(order: Numbers, first: Numbers, places: Numbers, last: Numbers, step: Numbers) -> None:
    """Find ``step`` of one packet after the other; ``last`` is the last step of each place."""
    for packet in order:
        passed = places[first[packet] : first[packet + 1]]
        step[packet] = 1 + last[passed].max()
        last[passed] = step[packet]


def _packed(packets: Packets, seed: int) -> Numbers:
    """The cycles of one try."""
    first, places, number, flits, gap, hop_cycles = packets
    load = np.bincount(places, minlength=number) * flits
    origin = places[first[:-1]]
    starts, senders = np.unique(origin, return_counts=True)
    load[starts] += senders * gap
    draw = np.random.default_rng(seed)
    waiting = np.lexsort((draw.random(len(origin)), origin))
    longest = int(np.diff(first).max(initial=0)) * hop_cycles + flits + gap + 1
    cycles = ROOM * int(load.max(initial=0)) + longest
    while True:
        begin = np.full(len(origin), -1)
        busy = np.zeros((number, cycles), np.bool_)
        lots = draw.random(1 << 16)
        queues = _Queues(offsets_of(senders)[:-1], senders.copy(), waiting.copy())
        _fill(packets, queues, lots, load.astype(np.float64), busy, cycles - longest, begin)
        if not queues.left.any():
            return begin
        cycles *= 2


@compiled
def _value(
    packets: Packets,
    packet: int,
    cycle: int,
    weight: npt.NDArray[np.float64],
    busy: npt.NDArray[np.bool_],
) -> float:
    """The count of ``packet`` if it begins in ``cycle``; -1 where something is in its way.

    Packets are of one length, so a place is free for one if it is in its first cycle and its last.
    """
    value, at = 0.0, cycle
    for place in packets.places[packets.first[packet] : packets.first[packet + 1]]:
        if busy[place, at] or busy[place, at + packets.flits - 1]:
            return -1.0
        share = weight[place]
        if at and busy[place, at - 1]:
            share *= CLOSE
        if busy[place, at + packets.flits]:
            share *= CLOSE
        value += share
        at += packets.hop_cycles
    return value


@compiled
def _put(
    packets: Packets,
    packet: int,
    cycle: int,
    load: npt.NDArray[np.float64],
    busy: npt.NDArray[np.bool_],
) -> None:
    """Let ``packet`` begin in ``cycle``."""
    at, taken = cycle, packets.flits + packets.gap
    for place in packets.places[packets.first[packet] : packets.first[packet + 1]]:
        busy[place, at : at + taken] = True
        load[place] -= taken
        at, taken = at + packets.hop_cycles, packets.flits


@compiled
def _ready(
    packets: Packets,
    queues: _Queues,
    cycle: int,
    weight: npt.NDArray[np.float64],
    busy: npt.NDArray[np.bool_],
    ready: Numbers,
    worth: npt.NDArray[np.float64],
) -> int:
    """Find packets that can begin in ``cycle``, and give how many.

    They come into ``ready``, by their places in ``queues.waiting``, and their counts into
    ``worth``. Of a node as many are tried as there is room for in its part of these.
    """
    found, look = 0, len(ready) // len(queues.left)
    for node, here in enumerate(queues.begin):
        left = queues.left[node]
        if left == 0 or busy[packets.places[packets.first[queues.waiting[here]]], cycle]:
            continue
        for turn in range(min(look, left)):
            at = here + (cycle + turn) % left
            value = _value(packets, queues.waiting[at], cycle, weight, busy)
            if value >= 0:
                ready[found], worth[found] = at, value
                found += 1
    return found


@compiled
def _fill(
    packets: Packets,
    queues: _Queues,
    lots: npt.NDArray[np.float64],
    load: npt.NDArray[np.float64],
    busy: npt.NDArray[np.bool_],
    cycles: int,
    begin: Numbers,
) -> None:
    """Find ``begin`` of as many packets as can begin in so many ``cycles``.

    ``load`` are the cycles that each place has still to be busy.
    """
    drawn, nodes = 0, len(queues.left)
    room = nodes * max(8, LOOKED_AT // max(nodes, 1))
    ready, worth = np.empty(room, np.int64), np.empty(room)
    for cycle in range(cycles):
        weight = (load / max(load.max(), 1.0)) ** LOAD_POWER
        found = _ready(packets, queues, cycle, weight, busy, ready, worth)
        for candidate in range(found):
            drawn = (drawn + 1) % len(lots)
            worth[candidate] *= 1 - LOTS * lots[drawn]
        for candidate in np.argsort(-worth[:found]):
            at = ready[candidate]
            packet = queues.waiting[at]
            if _value(packets, packet, cycle, weight, busy) >= 0:
                _put(packets, packet, cycle, load, busy)
                begin[packet] = cycle
                # A node sends one packet in a cycle, so its others are where they were.
                node = np.searchsorted(queues.begin, at, side="right") - 1
                queues.left[node] -= 1
                last = queues.begin[node] + queues.left[node]
                queues.waiting[at], queues.waiting[last] = queues.waiting[last], packet
