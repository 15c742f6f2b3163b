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

from dataclasses import dataclass

import numpy as np

from ..base.arrays import Numbers
from ..base.ragged import offsets_of
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


def check_streams(schedule: SendTable) -> None:
    """Raise :class:`.ScheduleError` unless every send that streams gets its words in time.

    One packet of the send's step must bring all blocks that its source lacks. No such block may
    stand earlier in the send than in the packet. The packet must have as many words as the send has
    after its lead. No circle of feeders may be without any lead.
    """
    if schedule.stream.any():
        _require_no_circle(schedule, streams_of(schedule))


def streams_of(schedule: SendTable) -> Streams:
    """Return the feeder and the lead of every send that streams.

    Raises :class:`.ScheduleError` if a send has no feeder, or would leave before its words arrive.
    """
    if not schedule.stream.any():
        return NO_STREAMS
    coming = _coming(schedule)
    send, early = coming.send, coming.offset - coming.feeder_offset
    streaming = np.flatnonzero(schedule.stream).astype(np.int64)
    alone = first_broken(schedule, ~np.isin(streaming, send), streaming)
    if alone is not None:
        complaint = "it streams, but nothing of it comes to its source in its step"
        raise broken(schedule, int(streaming[alone]), complaint)
    first = np.searchsorted(send, streaming)
    feeder = coming.feeder[first]
    fed = np.searchsorted(streaming, send)
    place = first_broken(schedule, coming.feeder != feeder[fed], send)
    if place is not None:
        two = f"{send_name(schedule, int(feeder[fed[place]]))} and of "
        complaint = f"it streams words of two packets, of {two}"
        complaint += send_name(schedule, int(coming.feeder[place]))
        raise broken(schedule, int(send[place]), complaint)
    lead = np.minimum.reduceat(early, first) if len(first) else early
    _require_in_time(schedule, Streams(streaming, feeder, lead))
    return Streams(streaming, feeder, lead)


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


@dataclass(frozen=True, eq=False)
class _Coming:
    """Blocks that streaming sends forward: a row for each, in the order of the sends.

    ``offset`` counts the words before the block in the send, ``feeder_offset`` in the feeder.
    """

    send: Numbers
    offset: Numbers
    feeder: Numbers
    feeder_offset: Numbers


def _coming(schedule: SendTable) -> _Coming:
    """Match the blocks that leave a node with those that arrive there in the same step."""
    count = np.int64(len(schedule.blocks))
    send = schedule.block_sends
    block = schedule.block_ids.astype(np.int64)
    before = offsets_of(schedule.blocks.words[block])[:-1]
    offset = before - before[schedule.block_offsets[:-1]][send]
    in_step = schedule.step[send].astype(np.int64) * schedule.topology.nodes
    streamed = schedule.stream[send]
    # Only steps in which something streams matter.
    steps = np.unique(schedule.step[schedule.stream])
    arriving = np.flatnonzero(np.isin(schedule.step[send], steps))
    keys = (in_step + schedule.target[send])[arriving] * count + block[arriving]
    order = np.argsort(keys, kind="stable")
    keys, arriving = keys[order], arriving[order]
    leaving = np.flatnonzero(streamed & ~_there_before(schedule, send, block))
    wanted = (in_step + schedule.source[send])[leaving] * count + block[leaving]
    low, high = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
    row = np.repeat(np.arange(len(wanted)), high - low)
    match = np.arange(len(row)) - np.repeat(offsets_of(high - low)[:-1], high - low)
    found = arriving[np.repeat(low, high - low) + match]
    leaving = leaving[row]
    chosen = _of_its_kind(schedule, send[leaving], send[found], row)
    leaving, found = leaving[chosen], found[chosen]
    return _Coming(send[leaving], offset[leaving], send[found], offset[found])


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


def _there_before(schedule: SendTable, send: Numbers, block: Numbers) -> np.ndarray:
    """Tell for each block of each send whether its source holds the whole block before the step.

    A reduced block always counts as arriving in the step, even if the source holds a value.
    """
    count = np.int64(len(schedule.blocks))
    plain = ~schedule.blocks.reduced
    owner = schedule.blocks.owner[block]
    have = plain[block] & (owner == schedule.source[send])
    # The first step that brings each pair of node and block, found by bisection.
    brought = schedule.target[send].astype(np.int64) * count + block
    order = np.lexsort((schedule.step[send], brought))
    pairs, steps = brought[order], schedule.step[send][order]
    wanted = schedule.source[send].astype(np.int64) * count + block
    place = np.minimum(np.searchsorted(pairs, wanted), max(len(pairs) - 1, 0))
    earlier = (pairs[place] == wanted) & (steps[place] < schedule.step[send])
    return np.asarray(have | (earlier & plain[block]))


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
