"""Reduces by streaming broadcasts run backwards: a node sends combined words on while they arrive.

In a broadcast a node may stream one packet to several others. Backwards, several packets arrive at
the node, and its send can stream only one. So the last packet arrives while the node sends, all
others in earlier steps. A chain takes one step backwards too. In a tree every send has a *level*,
its earliest step. Take the greatest level of the sends into its source. If one send has it, the
level is the same and the send streams; if several have it, the level is one more (A. N. Strahler's
order of rivers, "Quantitative analysis of watershed geomorphology", 1957)::

    0 <--2-- 1 <--2-- 2 <--1-- 3 <--1-- 4       levels of sends; node 2 waits for 3 and 5,
                      ^                         node 1 streams the words from node 2
                      '---1--- 5

If there are several levels, a long message is cut into pieces, each one step after the one before.
So sends of all levels are busy at the same time.
"""

from dataclasses import replace

import numpy as np

from ...base.ragged import even_shares, offsets_of
from ...schedule.blocks import Blocks
from ...schedule.duration import expected_cycles
from ...schedule.schedule import Schedule
from ...schedule.streams import streams_of

MOST_PIECES = 64
LEAST_PIECE = 16
"""Least words of a piece."""


def streamed_backwards(broadcast: Schedule, backwards: Schedule) -> Schedule:
    """Return the reduce that is a streaming ``broadcast`` backwards.

    ``backwards`` has the reduced blocks and the broadcast's sends reversed: the last send first,
    each from target to source and combining, with one step for each of the broadcast's. The number
    of pieces is the one with the fewest expected cycles.
    """
    level, streams = (column[::-1] for column in _levels(broadcast))
    shortest = int(broadcast.blocks.words.min())
    numbers = [1]
    while level.any() and 2 * numbers[-1] <= min(MOST_PIECES, shortest // LEAST_PIECE):
        numbers.append(2 * numbers[-1])
    found = (_in_pieces(backwards, level, streams, number) for number in numbers)
    return min(found, key=expected_cycles)


def _levels(broadcast: Schedule) -> tuple[np.ndarray, np.ndarray]:
    """Return the level of each send backwards, and whether it streams: shapes (sends,)."""
    streams = streams_of(broadcast)
    feeder = dict(zip(streams.send.tolist(), streams.feeder.tolist(), strict=True))
    depth: dict[int, int] = {}
    for send in range(broadcast.sends):
        walk = [send]
        while walk[-1] in feeder and walk[-1] not in depth:
            walk.append(feeder[walk[-1]])
        for each in reversed(walk):
            depth[each] = depth[feeder[each]] + 1 if each in feeder else 0
    level = np.zeros(broadcast.sends, np.int64)
    coming = np.zeros(broadcast.sends, np.int64)
    # Farthest first, so that a send's level is known before its feeder's.
    for send in sorted(feeder, key=lambda each: -depth[each]):
        level[send] += coming[send] > 1
        onto = feeder[send]
        if level[send] > level[onto] or coming[onto] == 0:
            level[onto], coming[onto] = level[send], 0
        coming[onto] += level[send] == level[onto]
    roots = [send for send in depth if send not in feeder]
    level[roots] += coming[roots] > 1
    return level, coming == 1


def _in_pieces(
    backwards: Schedule, level: np.ndarray, streams: np.ndarray, number: int
) -> Schedule:
    """Return the schedule with blocks in ``number`` pieces, each one step after the one before."""
    late = level[:, np.newaxis] + np.arange(number)
    steps = backwards.step[:, np.newaxis] * (int(late.max(initial=0)) + 1) + late
    step = np.unique(steps.ravel(), return_inverse=True)[1] + 1
    piece = np.tile(np.arange(number), backwards.sends)
    send = np.repeat(np.arange(backwards.sends), number)
    order = np.argsort(step, kind="stable")
    send, piece = send[order], piece[order]
    counts = np.diff(backwards.block_offsets)[send]
    block_ids = backwards.carried(send) * number + np.repeat(piece, counts)
    made = backwards.with_sends(send, step[order], offsets_of(counts), block_ids)
    return replace(made, blocks=_cut(backwards.blocks, number), stream=streams[send])


def in_pieces(schedule: Schedule, number: int) -> Schedule:
    """Return the schedule with every block in ``number`` pieces, sent one after the other."""
    if number == 1:
        return schedule
    carried = np.repeat(schedule.block_ids, number) * number
    return replace(
        schedule,
        blocks=_cut(schedule.blocks, number),
        block_offsets=schedule.block_offsets * number,
        block_ids=carried + np.tile(np.arange(number), len(schedule.block_ids)),
    )


def _cut(blocks: Blocks, number: int) -> Blocks:
    """Return the blocks, each in ``number`` consecutive pieces."""
    words = [even_shares(length, number) for length in blocks.words.tolist()]
    repeated = blocks.chosen(np.repeat(np.arange(len(blocks)), number))
    return replace(repeated, words=np.concatenate(words))
