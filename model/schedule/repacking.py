"""Repacking: packets that are packed into time move, until all of them end earlier.

The last cycle is taken away, and packets that need it wait. One of them after the other takes the
cycles in which the fewest others are in its way, and these wait instead. What had to leave a cycle
does not come back to it for a while, so that the search does not go round in a circle. As soon as
none waits, the next cycle is taken away::

    link a    | B | A |   |           | A |   |           | A | B |
    link b    |   |   | A |    ──►    |   | A |    ──►    |   | A |

              A needs cycle 3         A goes first,       B takes a cycle
              and waits               B waits             that is free

(The search is that of I. Blöchliger & N. Zufferey, "A graph coloring heuristic using partial
solutions and a reactive tabu scheme", Computers & Operations Research 35, 2008, with packets in
place of vertices and cycles in place of colors.)
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.loops import compiled_loop, inlined
from .packing import Packets

FREE = -1
"""The holder of a place in a cycle in which no packet does."""
WAITS = -1
"""The begin of a packet that waits for one."""
AWAY = 5
AWAY_DRAWN = 10
AWAY_OF_WAITING = 0.6
"""Moves for which a packet does not come back: at least, at most more by lot, for each waiting."""
MOVES = 40
"""Moves of each packet, about: each looks at all places of a packet in every cycle."""
MOST_LOOKS = 1_000_000_000
"""Looks at a place in a cycle, at most."""
MOST_CELLS = 1 << 25
"""Packets or places, times cycles, at most: each has a number, of a move or of a packet."""


class _Table(NamedTuple):
    """Packets in their places: ``holder[p, t]`` has place p in cycle t.

    ``begin`` has the cycle in which each packet begins, ``away[i, t]`` the number of the move
    before which packet i does not begin in t again. ``waiting`` is room for the packets that wait.
    ``lots`` are random numbers from 0 to 1; the last one drawn is ``lots[drawn[0]]``.
    """

    holder: npt.NDArray[np.int32]
    begin: Numbers
    away: npt.NDArray[np.int32]
    waiting: Numbers
    lots: npt.NDArray[np.float64]
    drawn: Numbers


def repacked(packets: Packets, begin: Numbers) -> Numbers:
    """Return the cycle in which each packet begins, shape (packets,).

    The last one ends earlier than with ``begin`` if the search finds how; otherwise these stay.
    """
    way = (np.diff(packets.first) - 1) * packets.hop_cycles
    cycles = int((begin + way).max(initial=0)) + packets.flits + packets.gap
    if cycles * max(len(begin), packets.number) > MOST_CELLS:
        return begin
    looks = min(MOST_LOOKS, MOVES * cycles * len(packets.places))
    table = _table(packets, begin, cycles)
    least = _least_end(packets, way)
    while looks > 0 and (last := int((begin + way).max(initial=0)) - 1) >= least:
        looks = _move(packets, table, way, last, looks)
        if (table.begin == WAITS).any():
            break
        begin = table.begin.copy()
    return begin


def _least_end(packets: Packets, way: Numbers) -> int:
    """Return a cycle before which no last packet reaches its last place.

    All packets of a place pass it one after the other. The first one must have come there, and the
    last one must still go on.
    """
    lengths = np.diff(packets.first)
    hop = np.arange(len(packets.places)) - np.repeat(packets.first[:-1], lengths)
    before = hop * packets.hop_cycles
    least_before, least_after = np.full((2, packets.number), way.max(initial=0))
    np.minimum.at(least_before, packets.places, before)
    np.minimum.at(least_after, packets.places, np.repeat(way, lengths) - before)
    others = np.bincount(packets.places, minlength=packets.number) - 1
    ends = least_before + others * packets.flits + least_after
    return max(int(way.max(initial=0)), int(ends[others >= 0].max(initial=0)))


def _table(packets: Packets, begin: Numbers, cycles: int) -> _Table:
    """Return the table of packed packets for ``cycles`` cycles."""
    holder = np.full((packets.number, cycles), FREE, np.int32)
    away = np.zeros((len(begin), cycles), np.int32)
    lots, drawn = np.random.default_rng(0).random(1 << 16), np.zeros(1, np.int64)
    table = _Table(holder, begin.copy(), away, np.empty_like(begin), lots, drawn)
    _hold_all(packets, table)
    return table


@inlined
def _lot(table: _Table) -> float:
    """Draw a random number."""
    table.drawn[0] = (table.drawn[0] + 1) % len(table.lots)
    return float(table.lots[table.drawn[0]])


@inlined
def _hold(packets: Packets, table: _Table, packet: int, holder: int) -> None:
    """Let ``holder``, the packet or none, have all places of ``packet``."""
    at, taken = table.begin[packet], packets.flits + packets.gap
    for place in packets.places[packets.first[packet] : packets.first[packet + 1]]:
        for cycle in range(at, at + taken):
            table.holder[place, cycle] = holder
        at, taken = at + packets.hop_cycles, packets.flits


@compiled_loop
def _hold_all(packets: Packets, table: _Table) -> None:
    """Let each packet have its places."""
    for packet in range(len(table.begin)):
        _hold(packets, table, packet, packet)


@inlined
def _in_the_way(packets: Packets, table: _Table, packet: int, cycle: int, most: int) -> int:
    """Return how many packets are in the way of ``packet`` in ``cycle``, above ``most`` roughly.

    Packets have the same length, so those in a place's first and last cycle are all there are. One
    that meets the packet in several places counts once, unless another stands between.
    """
    at, taken, number, before = cycle, packets.flits + packets.gap, 0, FREE
    for place in packets.places[packets.first[packet] : packets.first[packet + 1]]:
        for there in (table.holder[place, at], table.holder[place, at + taken - 1]):
            if there not in (FREE, before):
                number, before = number + 1, there
        if number > most:
            break
        at, taken = at + packets.hop_cycles, packets.flits
    return number


@inlined
def _wait(packets: Packets, table: _Table, packet: int, until: int, left: int) -> int:
    """Let ``packet`` wait behind ``left`` others, away from its cycle until a move; count them."""
    _hold(packets, table, packet, FREE)
    table.away[packet, table.begin[packet]] = until
    table.begin[packet] = WAITS
    table.waiting[left] = packet
    return left + 1


@inlined
def _cycle_for(packets: Packets, table: _Table, packet: int, latest: int, move: int) -> int:
    """Return the cycle up to ``latest`` in which the fewest packets are in the way of ``packet``.

    Of equal ones, each is chosen with the same chance. Returns ``WAITS`` if it stays away from all.
    """
    cycle, least, equal = WAITS, len(table.begin), 0
    for each in range(latest + 1):
        if table.away[packet, each] > move:
            continue
        number = _in_the_way(packets, table, packet, each, least)
        if number > least:
            continue
        equal = 1 if number < least else equal + 1
        if equal * _lot(table) < 1:
            cycle, least = each, number
    return cycle


@inlined
def _begin(packets: Packets, table: _Table, packet: int, cycle: int, until: int, left: int) -> int:
    """Let ``packet`` begin in ``cycle``, and those in its way wait; return how many wait now."""
    at, taken = cycle, packets.flits + packets.gap
    for place in packets.places[packets.first[packet] : packets.first[packet + 1]]:
        for there in (at, at + taken - 1):
            other = table.holder[place, there]
            if other != FREE:
                away = int(AWAY_DRAWN * _lot(table) + AWAY_OF_WAITING * left)
                left = _wait(packets, table, other, until + away, left)
        at, taken = at + packets.hop_cycles, packets.flits
    table.begin[packet] = cycle
    _hold(packets, table, packet, packet)
    return left


@compiled_loop
def _move(packets: Packets, table: _Table, way: Numbers, last: int, looks: int) -> int:
    """Move packets until all reach their last places by cycle ``last``; return the looks left."""
    waiting, left, move = table.waiting, 0, 0
    table.away[:] = 0
    for packet in range(len(way)):
        if table.begin[packet] + way[packet] > last:
            left = _wait(packets, table, packet, 0, left)
    while left and looks > 0:
        move += 1
        chosen = int(left * _lot(table))
        packet = waiting[chosen]
        latest = last - way[packet]
        cycle = _cycle_for(packets, table, packet, latest, move)
        looks -= (latest + 1) * (packets.first[packet + 1] - packets.first[packet])
        if cycle != WAITS:
            left -= 1
            waiting[chosen] = waiting[left]
            left = _begin(packets, table, packet, cycle, move + AWAY, left)
    return looks
