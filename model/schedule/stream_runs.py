"""Runs of blocks that must be adjacent in a memory, because they stream.

A packet that streams, or that another send streams, is one message (docs/router.md, section 20). So
its blocks are adjacent and in its order, at its source and at its target. If in all such packets of
a node each block has at most one successor, the node's blocks form runs::

    ring 0 -> 1 -> 2 -> 3 -> 0       node 2 sends   1 0 3      run of node 2:  1 0 3 2
                                     node 2 gets    0 3 2

Then every node can have its own order, for any number of blocks and words.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.ragged import portions, ranges
from .schedule import Schedule
from .streams import streams_of

Runs = dict[int, list[int]]
"""The whole run, in its order, for each ``node * blocks + block`` in it."""


def in_fixed_order(schedule: Schedule) -> npt.NDArray[np.bool_]:
    """Mark the sends that stream or are streamed, so that their blocks have a fixed order."""
    fixed, streams = np.zeros(schedule.sends, np.bool_), streams_of(schedule)
    fixed[streams.send] = fixed[streams.feeder] = True
    return fixed


def _streamed_pairs(schedule: Schedule) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """Yield columns: send, block, next block, of packets with a fixed order of blocks, in parts."""
    fixed, counts = in_fixed_order(schedule), np.diff(schedule.block_offsets)
    for first, end in portions(schedule.block_offsets):
        sends = first + np.flatnonzero(fixed[first:end])
        before = ranges(schedule.block_offsets[sends], counts[sends] - 1)
        block, after = (schedule.block_ids[each].astype(np.int64) for each in (before, before + 1))
        yield np.repeat(sends, counts[sends] - 1), block, after


def stream_runs(schedule: Schedule) -> tuple[Runs, set[int]]:
    """Return the runs of all nodes, and the nodes whose blocks fit no order of runs."""
    parts = zip(*_streamed_pairs(schedule), strict=True)
    send, before, after = (np.concatenate(columns) for columns in parts)
    count = len(schedule.blocks)
    first = np.concatenate([node[send] * np.int64(count) for node in _ends(schedule)])
    pairs = np.stack((first + np.tile(before, 2), first + np.tile(after, 2)), axis=1)
    pairs = np.unique(pairs, axis=0)
    crossed = {number // count for column in pairs.T for number in _repeated(column)}
    following = {one: next_ for one, next_ in pairs.tolist() if one // count not in crossed}
    runs: Runs = {}
    for head in following.keys() - following.values():
        run = [head]
        while run[-1] in following:
            run.append(following[run[-1]])
        runs.update(dict.fromkeys(run, run))
    # A run that is a circle has no head.
    circling = {number // count for number in following.keys() - runs.keys()}
    return runs, crossed | circling


def _ends(schedule: Schedule) -> tuple[Numbers, Numbers]:
    return schedule.source.astype(np.int64), schedule.target.astype(np.int64)


def _repeated(numbers: Numbers) -> list[int]:
    """Return the numbers that occur more than once."""
    known, times = np.unique(numbers, return_counts=True)
    repeated: list[int] = known[times > 1].tolist()
    return repeated
