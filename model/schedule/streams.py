"""The rule on streams: a send may begin before its words are there, if each is when it leaves.

A send that streams sends on the packet of its step (docs/router.md, section 20): its *feeder*. Its
first words, the *lead*, are there before; from then on word i leaves when word i - lead of the
feeder has come::

    feeder of node 5 (4 -> 5)     | block 4 | block 3 | block 2 | ...      words in this order
    send   of node 5 (5 -> 6)     | block 5 | block 4 | block 3 | ...      lead: block 5

So a ring may turn in one step: every word goes back, from send to feeder, to one that was there
before, as each lead brings it nearer to the beginning of a packet. A circle of feeders without any
lead would wait for itself.

Where a block comes twice, as when it has been reduced along a line and comes back, a send that
combines streams the packet that is combined, and one that replaces the one that does.

This file says which send feeds which, and by how much (:func:`streams_of`); the compiler uses it,
and :func:`check_streams` is the proof, word by word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..base.pieces import offsets_of
from .rules import IntArray, ScheduleError, broken, first_broken, send_name

if TYPE_CHECKING:
    from .table import SendTable


@dataclass(frozen=True, eq=False)
class Streams:
    """The sends that stream, ascending, with the feeder and the lead in words of each.

    Columns of one length, int64.
    """

    send: IntArray
    feeder: IntArray
    lead: IntArray


def check_streams(schedule: SendTable) -> None:
    """Raise :class:`.ScheduleError` unless every send that streams sends on what comes in time.

    One packet of its step brings to its source all that is not there before, and for any two blocks
    of it, none leaves farther behind its coming than the words that the send has before; the packet
    is not over before the send; and no send waits for itself.
    """
    if schedule.stream.any():
        _require_no_circle(schedule, streams_of(schedule))


def streams_of(schedule: SendTable) -> Streams:
    """Find feeder and lead of every send that streams.

    Raises :class:`.ScheduleError` for one that has none, or that would leave before its words come.
    """
    if not schedule.stream.any():
        nothing = np.zeros(0, np.int64)
        return Streams(nothing, nothing, nothing)
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
    """Require leads that are not below 0, and packets that are not over too soon."""
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
    """Blocks that a streaming send sends on: a row for each, in order of the sends.

    ``offset`` is the words of the send before the block, ``feeder_offset`` those of the feeder.
    """

    send: IntArray
    offset: IntArray
    feeder: IntArray
    feeder_offset: IntArray


def _coming(schedule: SendTable) -> _Coming:
    """Match the blocks that leave with those that come to the same node in the same step."""
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
    schedule: SendTable, leaving: IntArray, coming: IntArray, row: IntArray
) -> np.ndarray:
    """Tell which of the packets that bring what leaves in ``row`` are meant, of several.

    What combines streams a packet that does, and what replaces one that does.
    """
    same = schedule.combine[leaving] == schedule.combine[coming]
    some = np.bincount(row, same, minlength=1) > 0
    return np.asarray(same | ~some[row])


def _there_before(schedule: SendTable, send: IntArray, block: IntArray) -> np.ndarray:
    """Tell of each block of each send whether its source has all of it before the step.

    Of a reduced block only what comes in the step is awaited, whatever is there.
    """
    count = np.int64(len(schedule.blocks))
    plain = ~schedule.blocks.reduced
    owner = schedule.blocks.owner[block]
    have = plain[block] & (owner == schedule.source[send])
    # The first step in which a pair of node and block is brought, found by bisection.
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
    # Twice as far with each round: who is still under way after all has come round.
    ahead = feeder
    for _ in range(max(schedule.sends, 1).bit_length()):
        ahead = np.where(ahead >= 0, ahead[np.maximum(ahead, 0)], -1)
    place = first_broken(schedule, ahead[streams.send] >= 0, streams.send)
    if place is None:
        return
    # Anyone ahead is on the circle itself.
    send = int(ahead[streams.send[place]])
    raise ScheduleError(_around(schedule, feeder, send), send)


def _around(schedule: SendTable, feeder: IntArray, send: int) -> str:
    """Words on the circle that ``send`` is on."""
    walk, at = [send], int(feeder[send])
    while at != send:
        walk.append(at)
        at = int(feeder[at])
    ends = " -> ".join(str(schedule.source[each]) for each in [*reversed(walk), walk[-1]])
    return f"{send_name(schedule, send)}: its stream waits for itself, around {ends}"
