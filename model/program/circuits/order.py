"""The order in which units of circuits are placed: a unit after those that it depends on.

Steps come one after the other. Within a step, a send carries the words that its source holds before
the step. So a node reads a reduced block before words of the same step change it, and a send that
streams reads after its feeder has written. Units that wait for each other in a circle, such as the
two of an exchange, form a *gang*: they begin in the same cycle, and then each word is read before
the word that changes it arrives.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
import numpy.typing as npt

from ...base.arrays import Numbers
from ...base.graph_cycles import strong_parts
from ...schedule.streams import Streams
from .units import Units

Behind = Mapping[int, set[int]]
"""For each unit, those that must be placed after it."""


@dataclass(frozen=True, eq=False)
class Ties:
    """Reads and writes of one block at one node in one step: columns of rows of the units' words.

    ``fed`` tells that the read is of the word that is written, or of one that replaces it later in
    the step; otherwise it is of the word before.
    """

    read: Numbers
    write: Numbers
    fed: npt.NDArray[np.bool_]


def gangs_of(units: Units, ties: Ties, key: Numbers) -> list[list[int]]:
    """Return the units in the order in which to place them, as gangs of one unit or several.

    Among units that depend on no other, the lowest ``key`` comes first.
    """
    step = units.schedule.step[units.first]
    behind = _behind(units, ties)
    order = np.lexsort((key, step)).tolist()
    if not behind:
        return [[unit] for unit in order]
    bounds = np.flatnonzero(np.diff(step[order], prepend=-1, append=-1))
    tangled = {*step[[*behind]].tolist()}
    found: list[list[int]] = []
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        members = order[begin:end]
        if step[members[0]] in tangled:
            found += _in_order(members, behind)
        else:
            found += [[unit] for unit in members]
    return found


def ties_of(units: Units, streams: Streams, origin: Numbers) -> Ties:
    """Return the reads and writes of which the order within a step matters.

    They are those of reduced blocks, and of sends that stream. ``origin`` has the send of the
    original schedule for each send of the units, to which ``streams`` refers.
    """
    schedule, reads, writes = units.schedule, units.reads, units.writes
    count = len(schedule.blocks)
    step = schedule.step.astype(np.int64) * (schedule.topology.nodes * count)
    read, written = step[reads.send] + reads.pair, step[writes.send] + writes.pair
    order = np.argsort(written, kind="stable")
    low = np.searchsorted(written[order], read)
    number = np.searchsorted(written[order], read, side="right") - low
    row = np.repeat(np.arange(len(read)), number)
    match = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
    write = order[np.repeat(low, number) + match]
    feeder = np.full(1 + origin.max(initial=0), -1)
    feeder[streams.send] = streams.feeder
    reader, writer = reads.send[row], writes.send[write]
    fed = feeder[origin[reader]] == origin[writer]
    # A sum that comes back in the step replaces what was combined; its stream follows both.
    fed |= schedule.stream[reader] & ~schedule.combine[reader] & schedule.combine[writer]
    kept = fed | schedule.blocks.reduced[reads.pair[row] % count]
    return Ties(row[kept], write[kept], fed[kept])


def _behind(units: Units, ties: Ties) -> Behind:
    """Return the units of one step that must be placed after each other one."""
    reader, writer = units.reads.unit[ties.read], units.writes.unit[ties.write]
    before, after = np.where(ties.fed, writer, reader), np.where(ties.fed, reader, writer)
    behind: dict[int, set[int]] = defaultdict(set)
    for one, other in zip(before.tolist(), after.tolist(), strict=True):
        behind[one].add(other)
    return behind


def _in_order(members: list[int], behind: Behind) -> list[list[int]]:
    """Return ``members`` as gangs, each after those it depends on, otherwise as they come."""
    gangs = strong_parts(members, behind)
    rank = {unit: place for place, unit in enumerate(members)}
    number = {unit: gang for gang, units in enumerate(gangs) for unit in units}
    missing = [0] * len(gangs)
    after: list[set[int]] = [set() for _ in gangs]
    for unit in members:
        gang = number[unit]
        after[gang] |= {number[other] for other in behind.get(unit, ())} - {gang}
    for others in after:
        for other in others:
            missing[other] += 1
    first = [min(map(rank.__getitem__, units)) for units in gangs]
    ready = [(first[gang], gang) for gang, count in enumerate(missing) if not count]
    heapify(ready)
    found = []
    while ready:
        _, gang = heappop(ready)
        found.append(sorted(gangs[gang], key=rank.__getitem__))
        for other in after[gang]:
            missing[other] -= 1
            if not missing[other]:
                heappush(ready, (first[other], other))
    return found
