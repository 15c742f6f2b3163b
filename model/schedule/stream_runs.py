"""Runs of blocks that must lie side by side in a memory, because they stream.

A packet that streams, or that another send streams on, is one message (docs/router.md, section 20).
So its blocks lie side by side in its order, where it is sent from and where it comes to. Where each
block has one block behind it in all such packets of a node, the node's blocks form runs::

    ring 0 -> 1 -> 2 -> 3 -> 0       node 2 sends   1 0 3      run of node 2:  1 0 3 2
                                     node 2 gets    0 3 2

Every node has an order of its own then, and neither the number of blocks nor their words matter.
"""

from __future__ import annotations

import numpy as np

from .rules import IntArray
from .streams import streams_of
from .table import SendTable

Runs = dict[int, list[int]]
"""For each ``node * blocks + block`` of a run the numbers of the whole run, in its order."""


def streamed_pairs(schedule: SendTable) -> tuple[IntArray, IntArray, IntArray]:
    """The send, a block and the block that follows it, of all packets whose order is fixed."""
    streams = streams_of(schedule)
    fixed = np.zeros(schedule.sends, np.bool_)
    fixed[streams.send] = fixed[streams.feeder] = True
    send, block = schedule.block_sends, schedule.block_ids.astype(np.int64)
    kept = (send[1:] == send[:-1]) & fixed[send[1:]]
    return send[1:][kept], block[:-1][kept], block[1:][kept]


def stream_runs(schedule: SendTable) -> tuple[Runs, set[int]]:
    """The runs of all nodes, and the nodes whose blocks no order puts in runs."""
    send, before, after = streamed_pairs(schedule)
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
    # What follows itself, round a circle, has no head.
    circling = {number // count for number in following.keys() - runs.keys()}
    return runs, crossed | circling


def _ends(schedule: SendTable) -> tuple[IntArray, IntArray]:
    return schedule.source.astype(np.int64), schedule.target.astype(np.int64)


def _repeated(numbers: IntArray) -> list[int]:
    """The numbers that are there more than once."""
    known, times = np.unique(numbers, return_counts=True)
    repeated: list[int] = known[times > 1].tolist()
    return repeated
