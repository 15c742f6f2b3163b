"""Times of units of circuits: the cycle in which the first word of each is read.

Units are placed one after the other, each in the first cycle from which on all its words are there
and every resource is free when it passes. A unit may begin before one that was placed earlier.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...base.arrays import Numbers
from ...base.errors import InvalidInput
from ...base.loops import compiled_loop, inlined
from ...base.ragged import offsets_of
from ...schedule.rules import send_name
from ...schedule.timetable import Busy, free_from, occupy
from .order import Ties
from .program import FIRST_CYCLE
from .units import Units, Words

NEVER = int(np.iinfo(np.int64).max)
ALWAYS = -(1 << 40)
"""Cycle of a word that is there before the run."""

READ = 4
"""Cycles from the entry that lets a word leave output 0 to one that can read it."""
WRITTEN = 2
"""Cycles from the entry that lets a word leave output 0 to the last one that may read the old word.

In the cycle after that the word is being written: then a block RAM may return anything.
"""
LATER = 1
"""Further cycles of both in a network with operators."""
COMBINED = 3
"""Cycles between two words that are combined into the same word of a memory."""


class _Plan(NamedTuple):
    """Units to place: :class:`.Units` as arrays for the compiled loop.

    ``order`` has the units of all gangs, from ``first_of_gang[i]`` on those of gang i.
    ``first_read`` and ``first_write`` have the first row of each unit in the columns of reads and
    writes. Their pairs are numbered; ``changing`` tells which are written while the node has the
    block: those of reduced blocks, and blocks that come again. ``read_delay`` and ``write_delay``
    are ``READ`` and ``WRITTEN`` in this network.
    """

    order: Numbers
    first_of_gang: Numbers
    length: Numbers
    first_use: Numbers
    resource: Numbers
    use_time: Numbers
    first_read: Numbers
    read_pair: Numbers
    read_time: Numbers
    first_write: Numbers
    write_pair: Numbers
    write_time: Numbers
    combine: npt.NDArray[np.bool_]
    changing: npt.NDArray[np.bool_]
    read_delay: int
    write_delay: int


class _Placed(NamedTuple):
    """Resources that the units placed so far take.

    ``there`` has for each pair the entry that let its last words leave output 0 (its first words,
    if the pair does not change), ``written`` the latest such entry in any case, and ``read_at`` the
    entry that read it last. ``begin`` has the cycle of each unit, or ``NEVER``.
    """

    busy: Busy
    there: Numbers
    written: Numbers
    read_at: Numbers
    begin: Numbers


def begins_of(
    units: Units, ties: Ties, gangs: list[list[int]], *, operators: bool
) -> Numbers | None:
    """Return the cycle in which each unit begins, shape (units,); None if a gang cannot be placed.

    Raises :class:`.InvalidInput` for a unit that sends a block before any unit brings it.
    """
    schedule, reads, writes = units.schedule, units.reads, units.writes
    late = LATER if operators else 0
    if not _gangs_fit(units, ties, gangs, WRITTEN + late):
        return None
    first_read, read = _by_unit(units, reads)
    first_write, written = _by_unit(units, writes)
    pairs, numbers = np.unique(np.concatenate((reads.pair, writes.pair)), return_inverse=True)
    held, written_pair = _held(units, pairs), numbers[len(read) :]
    # A word that comes again is the same, but a memory may not show it while it is written.
    again = held + np.bincount(written_pair, minlength=len(pairs)) > 1
    plan = _Plan(
        order=np.fromiter((unit for gang in gangs for unit in gang), np.int64, len(units.first)),
        first_of_gang=offsets_of([len(gang) for gang in gangs]),
        length=units.length,
        first_use=units.first_use,
        resource=units.resource,
        use_time=units.use_time,
        first_read=first_read,
        read_pair=numbers[: len(read)][read],
        read_time=reads.time[read],
        first_write=first_write,
        write_pair=written_pair[written],
        write_time=writes.time[written],
        combine=schedule.combine[writes.send][written],
        changing=schedule.blocks.reduced[pairs % len(schedule.blocks)] | again,
        read_delay=READ + late,
        write_delay=WRITTEN + late,
    )
    uses = offsets_of(np.bincount(units.resource, minlength=units.resources))
    start, end = np.empty((2, len(units.resource)), np.int64)
    placed = _Placed(
        busy=Busy(uses, np.zeros(units.resources, np.int64), start, end),
        there=np.where(held, ALWAYS, NEVER),
        written=np.full(len(pairs), ALWAYS),
        read_at=np.full(len(pairs), ALWAYS),
        begin=np.full(len(units.first), NEVER),
    )
    _place(plan, placed)
    for unit in np.flatnonzero(placed.begin == NEVER)[:1].tolist():
        name = send_name(schedule, int(units.first[unit]))
        raise InvalidInput(f"{name}: its source never gets its blocks before it")
    return placed.begin


def _gangs_fit(units: Units, ties: Ties, gangs: list[list[int]], written: int) -> bool:
    """Tell whether the units of each gang can begin in one cycle.

    They must not use a resource at the same time, and must read each word before it is written, at
    most ``written`` cycles after its entry. Two lanes must not write a word too soon one after the
    other.
    """
    gang = np.empty(len(units.first), np.int64)
    for number, members in enumerate(gangs):
        gang[members] = number
    if len(gangs) == len(gang):
        return True
    reads, writes = units.reads, units.writes
    read, write = ties.read, ties.write
    within = gang[reads.unit[read]] == gang[writes.unit[write]]
    late = writes.time[write] + written < reads.time[read]
    if (within & (ties.fed | late)).any() or _written_too_soon(units, gang):
        return False
    several = np.bincount(gang)[gang] > 1
    unit = np.repeat(np.arange(len(gang)), np.diff(units.first_use))
    uses = np.flatnonzero(several[unit])
    order = np.lexsort((units.use_time[uses], units.resource[uses], gang[unit[uses]]))
    uses = uses[order]
    before, after = uses[:-1], uses[1:]
    same = (units.resource[before] == units.resource[after]) & (
        gang[unit[before]] == gang[unit[after]]
    )
    ends = units.use_time[before] + units.length[unit[before]]
    return not (same & (units.use_time[after] < ends)).any()


def _written_too_soon(units: Units, gang: Numbers) -> bool:
    """Tell whether units of a gang write one word so soon one after the other that one is lost."""
    writes = units.writes
    order = np.lexsort((writes.time, writes.pair, gang[writes.unit]))
    one, other = order[:-1], order[1:]
    together = gang[writes.unit[one]] == gang[writes.unit[other]]
    together &= (writes.pair[one] == writes.pair[other]) & (writes.unit[one] != writes.unit[other])
    gap = np.where(units.schedule.combine[writes.send[other]], COMBINED, 1)
    return bool((together & (writes.time[other] - writes.time[one] < gap)).any())


def _by_unit(units: Units, words: Words) -> tuple[Numbers, Numbers]:
    """Return the rows of ``words`` sorted by unit: the first row of each unit, and the order."""
    first = offsets_of(np.bincount(words.unit, minlength=len(units.first)))
    return first, np.argsort(words.unit, kind="stable")


def _held(units: Units, pairs: Numbers) -> npt.NDArray[np.bool_]:
    """Tell for each pair of a node and a block whether the node has words of it at the start.

    A block of no words that no unit brings is always there.
    """
    schedule = units.schedule
    blocks, count = schedule.blocks, len(schedule.blocks)
    node, block = pairs // count, pairs % count
    held = blocks.owner[block] == node
    held |= (blocks.words[block] == 0) & ~np.isin(pairs, units.writes.pair)
    for each in np.unique(block[blocks.reduced[block]]).tolist():
        rows = np.flatnonzero(block == each)
        held[rows] = np.isin(node[rows], blocks.holders(each, schedule.topology))
    return np.asarray(held)


@inlined
def _ready(plan: _Plan, placed: _Placed, unit: int) -> int:
    """Return the first cycle in which ``unit`` finds its words, and changes none too early.

    Returns ``NEVER`` if a block never comes to its source.
    """
    cycle = FIRST_CYCLE
    for row in range(plan.first_read[unit], plan.first_read[unit + 1]):
        come = placed.there[plan.read_pair[row]]
        if come == NEVER:
            return NEVER
        cycle = max(cycle, come + plan.read_delay - plan.read_time[row])
    for row in range(plan.first_write[unit], plan.first_write[unit + 1]):
        pair, time = plan.write_pair[row], plan.write_time[row]
        # No two lanes may write a word in the same cycle.
        gap = COMBINED if plan.combine[row] else 1
        cycle = max(cycle, placed.written[pair] + gap - time)
        if plan.changing[pair]:
            cycle = max(cycle, placed.read_at[pair] - plan.write_delay - time)
    return cycle


@inlined
def _free(plan: _Plan, placed: _Placed, unit: int, cycle: int) -> int:
    """Return ``cycle`` if all resources are free for ``unit`` then, otherwise a later cycle."""
    for use in range(plan.first_use[unit], plan.first_use[unit + 1]):
        time = plan.use_time[use]
        later = free_from(placed.busy, plan.resource[use], cycle + time, plan.length[unit])
        cycle = max(cycle, later - time)
    return cycle


@inlined
def _take(plan: _Plan, placed: _Placed, unit: int, cycle: int) -> None:
    """Let ``unit`` begin in ``cycle``."""
    placed.begin[unit] = cycle
    for use in range(plan.first_use[unit], plan.first_use[unit + 1]):
        time = cycle + plan.use_time[use]
        occupy(placed.busy, plan.resource[use], time, plan.length[unit])
    for row in range(plan.first_read[unit], plan.first_read[unit + 1]):
        pair = plan.read_pair[row]
        placed.read_at[pair] = max(placed.read_at[pair], cycle + plan.read_time[row])
    for row in range(plan.first_write[unit], plan.first_write[unit + 1]):
        pair, time = plan.write_pair[row], cycle + plan.write_time[row]
        placed.written[pair] = max(placed.written[pair], time)
        before = placed.there[pair]
        if before == NEVER or not plan.changing[pair]:
            placed.there[pair] = min(before, time)
        else:
            placed.there[pair] = max(before, time)


@compiled_loop
def _place(plan: _Plan, placed: _Placed) -> None:
    """Place each gang in order; stop at one that never gets its blocks."""
    for gang in range(len(plan.first_of_gang) - 1):
        units = plan.order[plan.first_of_gang[gang] : plan.first_of_gang[gang + 1]]
        cycle = FIRST_CYCLE
        for unit in units:
            cycle = max(cycle, _ready(plan, placed, unit))
        if cycle == NEVER:
            return
        before = cycle - 1
        while before < cycle:
            before = cycle
            for unit in units:
                cycle = _free(plan, placed, unit, cycle)
        for unit in units:
            _take(plan, placed, unit, cycle)
