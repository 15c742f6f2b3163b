"""The rule on streams: a send may begin before its words arrive, if each arrives before it leaves.

A send that streams forwards a packet that arrives in its step (docs/router.md, section 20): its
*feeder*. Its first words, the *lead*, are at its source before the step. From then on word i leaves
when word i - lead of the feeder has arrived::

    feeder of node 5 (4 -> 5)     | block 4 | block 3 | block 2 | ...      words in this order
    send   of node 5 (5 -> 6)     | block 5 | block 4 | block 3 | ...      lead: block 5

So an all-gather around a ring may take a single step. Followed back from send to feeder, a word is
nearer to the start of its packet after each lead, until its node had it before the step. A circle
of feeders without any lead would wait for itself.

A block may arrive twice, such as a block that is reduced along a line and then comes back. Then a
send that combines streams a packet that combines; a send that replaces, one that replaces.

:func:`streams_of` finds the feeder and the lead of each send; the compiler uses it too.
:func:`check_streams` proves the rule for each word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from ..base.arrays import Numbers
from ..base.ragged import offsets_of, ranges
from .block_runs import BlockRuns
from .pairs import meetings
from .rules import ScheduleError, broken, first_broken, send_name
from .table import SendTable


@dataclass(frozen=True, eq=False)
class Streams:
    """The sends that stream, ascending, with the feeder and the lead (in words) of each.

    Columns of one length, int64.
    """

    send: Numbers
    feeder: Numbers
    lead: Numbers


NO_STREAMS = Streams(*np.zeros((3, 0), np.int64))

AT_ONCE = 1 << 17
"""Blocks that are matched at a time, about: some 15 MB, which caches hold."""


def check_streams(schedule: SendTable) -> None:
    """Raise :class:`.ScheduleError` unless every send that streams gets its words in time.

    One packet of the send's step must bring all blocks that its source lacks. No such block may
    stand earlier in the send than in the packet. The packet must have as many words as the send has
    after its lead. No circle of feeders may be without any lead.
    """
    if schedule.stream.any():
        _require_no_circle(schedule, streams_of(schedule))


_KNOWN: WeakKeyDictionary[SendTable, Streams] = WeakKeyDictionary()
"""Streams of the tables in use: checks, the order of moves, layout and compiler ask for them."""


def streams_of(schedule: SendTable) -> Streams:
    """Return the feeder and the lead of every send that streams.

    Raises :class:`.ScheduleError` if a send has no feeder, or would leave before its words arrive.
    """
    if schedule not in _KNOWN:
        _KNOWN[schedule] = _found_streams(schedule)
    return _KNOWN[schedule]


def _found_streams(schedule: SendTable) -> Streams:
    """Match all sends that stream with their feeders."""
    streaming = np.flatnonzero(schedule.stream)
    if not len(streaming):
        return NO_STREAMS
    parts = (
        [_fed_by_runs(schedule, streaming)]
        if _are_runs(schedule)
        else [_feeders(schedule, *sends) for sends in _by_node(schedule, streaming)]
    )
    send, feeder, lead, *others = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    alone = first_broken(schedule, ~np.isin(streaming, send), streaming)
    if alone is not None:
        complaint = "it streams, but nothing of it comes to its source in its step"
        raise broken(schedule, int(streaming[alone]), complaint)
    order = np.argsort(send)
    streams = Streams(send[order], feeder[order], lead[order])
    fed, other = (column[np.argsort(others[0], kind="stable")] for column in others)
    place = first_broken(schedule, np.ones(len(fed), np.bool_), fed)
    if place is not None:
        one = int(streams.feeder[np.searchsorted(streams.send, fed[place])])
        two = f"{send_name(schedule, one)} and of {send_name(schedule, int(other[place]))}"
        complaint = f"it streams words of two packets, of {two}"
        raise broken(schedule, int(fed[place]), complaint)
    _require_in_time(schedule, streams)
    return streams


def _are_runs(schedule: SendTable) -> bool:
    """Return whether :func:`_fed_by_runs` serves: reduced blocks in runs, a packet per node."""
    if not isinstance(schedule.block_ids, BlockRuns) or not schedule.blocks.reduced.all():
        return False
    arrivals = schedule.step * np.int64(schedule.topology.nodes) + schedule.target
    return len(np.unique(arrivals)) == schedule.sends


def _fed_by_runs(schedule: SendTable, streaming: Numbers) -> tuple[Numbers, ...]:
    """Match the runs of the sends ``streaming`` with those of the packet that their node gets.

    Returns columns as :func:`_feeders`. A send awaits all its blocks, as all are reduced, so two
    runs match in all their common blocks, and all of these have the same lead.
    """
    carriers, runs = next(schedule.runs())
    starts, nodes = offsets_of(schedule.blocks.words), np.int64(schedule.topology.nodes)
    first, end = runs.first.astype(np.int64), runs.end
    # The words before a run in its send, less the words before its first block in the list.
    before = offsets_of(starts[end] - starts[first])[:-1]
    of_send = np.searchsorted(carriers, np.arange(schedule.sends + 1))
    before += -before[of_send[:-1]][carriers] - starts[first]
    arrivals = schedule.step * nodes + schedule.target
    fed, coming = meetings(arrivals, schedule.step[streaming] * nodes + schedule.source[streaming])
    fed = streaming[fed]
    counts = np.diff(of_send)
    pairs = counts[fed] * counts[coming]
    row, pair = np.repeat(np.arange(len(fed)), pairs), ranges(0, pairs)
    mine = of_send[fed[row]] + pair // counts[coming[row]]
    other = of_send[coming[row]] + pair % counts[coming[row]]
    common = np.maximum(first[mine], first[other]) < np.minimum(end[mine], end[other])
    row, lead = row[common], (before[mine] - before[other])[common]
    known = np.flatnonzero(np.diff(row, prepend=-1))
    lead = np.minimum.reduceat(lead, known) if len(known) else lead
    none = np.zeros(0, np.int64)
    return fed[row[known]], coming[row[known]], lead, none, none


def _require_in_time(schedule: SendTable, streams: Streams) -> None:
    """Require leads of 0 or more, and feeders with all the awaited words."""
    words = schedule.send_words
    place = first_broken(schedule, streams.lead < 0, streams.send)
    if place is not None:
        complaint = f"it would send words {-streams.lead[place]} words before they come"
        raise broken(schedule, int(streams.send[place]), complaint)
    awaited = words[streams.send] - streams.lead
    place = first_broken(schedule, awaited > words[streams.feeder], streams.send)
    if place is not None:
        feeder = send_name(schedule, int(streams.feeder[place]))
        complaint = f"it would wait for {awaited[place]} words of {feeder}, which has"
        complaint += f" {words[streams.feeder[place]]}"
        raise broken(schedule, int(streams.send[place]), complaint)


def _by_node(schedule: SendTable, streaming: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield the sends that stream from some nodes and all sends to these nodes, ascending.

    Only sends of one node match. The nodes together have about :data:`AT_ONCE` blocks, so a large
    schedule takes no more memory than its table.
    """
    counts, nodes = np.diff(schedule.block_offsets), schedule.topology.nodes
    load = np.bincount(schedule.target, counts, nodes)
    load += np.bincount(schedule.source[streaming], counts[streaming], nodes)
    part = (np.cumsum(load) // AT_ONCE).astype(np.int64)
    source, target = part[schedule.source[streaming]], part[schedule.target]
    for number in np.unique(source).tolist():
        yield streaming[source == number], np.flatnonzero(target == number)


def _feeders(schedule: SendTable, leaving: Numbers, arriving: Numbers) -> tuple[Numbers, ...]:
    """Match the blocks of the sends ``leaving`` some nodes with those arriving in the same step.

    Returns columns: the sends with a feeder, the feeder of their first block, and their lead; then
    a row for each block with another feeder: its send and that feeder.
    """
    send, block, offset = _carried(schedule, leaving)
    coming, brought, coming_offset = _carried(schedule, arriving)
    steps, count = schedule.steps + 1, np.int64(len(schedule.blocks))
    # By node, block and step; packets of one step in the order of the table.
    keys = (schedule.target[coming] * count + brought) * steps + schedule.step[coming]
    pair = (schedule.source[send] * count + block) * steps
    step = schedule.step[send]
    awaited = schedule.blocks.reduced[block]
    # Its source holds any other block before the step, or awaits it.
    others = np.flatnonzero(~awaited & (schedule.blocks.owner[block] != schedule.source[send]))
    if others.size:
        ordered = np.sort(keys)
        low, high = (np.searchsorted(ordered, pair[others] + part) for part in (0, step[others]))
        awaited[others] = low == high
    row = np.flatnonzero(awaited)
    place, found = meetings(keys, (pair + step)[row])
    row = row[place]
    chosen = _of_its_kind(schedule, send[row], coming[found], row)
    row, found = row[chosen], found[chosen]
    fed, feeder = send[row], coming[found]
    first = np.flatnonzero(np.diff(fed, prepend=-1))
    early = offset[row] - coming_offset[found]
    lead = np.minimum.reduceat(early, first) if len(first) else early
    another = feeder != np.repeat(feeder[first], np.diff(first, append=len(fed)))
    return fed[first], feeder[first], lead, fed[another], feeder[another]


def _carried(schedule: SendTable, sends: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return columns of the blocks that ``sends`` carry: send, block, words before it there."""
    counts = np.diff(schedule.block_offsets)[sends]
    block = schedule.carried(sends).astype(np.int64)
    before = offsets_of(schedule.blocks.words[block])
    first = before[offsets_of(counts)[:-1]]
    return np.repeat(sends, counts), block, before[:-1] - np.repeat(first, counts)


def _of_its_kind(
    schedule: SendTable, leaving: Numbers, coming: Numbers, row: Numbers
) -> np.ndarray:
    """Tell for each candidate whether it is the packet that ``row`` streams.

    A send that combines streams a packet that combines; a send that replaces, one that replaces.
    If no packet is of the same kind, all candidates count.
    """
    same = schedule.combine[leaving] == schedule.combine[coming]
    some = np.bincount(row, same, minlength=1) > 0
    return np.asarray(same | ~some[row])


def _require_no_circle(schedule: SendTable, streams: Streams) -> None:
    """Require that no circle of feeders has leads that add up to 0."""
    feeder = np.full(schedule.sends, -1)
    feeder[streams.send[streams.lead == 0]] = streams.feeder[streams.lead == 0]
    # Each round doubles the distance; a send with a feeder after all rounds leads into a circle.
    ahead = feeder
    for _ in range(max(schedule.sends, 1).bit_length()):
        ahead = np.where(ahead >= 0, ahead[np.maximum(ahead, 0)], -1)
    place = first_broken(schedule, ahead[streams.send] >= 0, streams.send)
    if place is None:
        return
    # That feeder lies on the circle itself.
    send = int(ahead[streams.send[place]])
    raise ScheduleError(_around(schedule, feeder, send), send)


def _around(schedule: SendTable, feeder: Numbers, send: int) -> str:
    """Return the error's words on the circle that ``send`` is on."""
    walk, at = [send], int(feeder[send])
    while at != send:
        walk.append(at)
        at = int(feeder[at])
    ends = " -> ".join(str(schedule.source[each]) for each in [*reversed(walk), walk[-1]])
    return f"{send_name(schedule, send)}: its stream waits for itself, around {ends}"
