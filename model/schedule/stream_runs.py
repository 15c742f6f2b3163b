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


def stream_runs(schedule: SendTable) -> Runs | None:
    """The runs of all nodes; None where no order of some node's blocks has all of its packets."""
    send, before, after = streamed_pairs(schedule)
    count = np.int64(len(schedule.blocks))
    first = np.concatenate([node[send] * count for node in (schedule.source, schedule.target)])
    pairs = np.stack((first + np.tile(before, 2), first + np.tile(after, 2)), axis=1)
    pairs = np.unique(pairs, axis=0)
    following = dict(pairs.tolist())
    behind = {*following.values()}
    if not len(following) == len(behind) == len(pairs):
        return None
    runs: Runs = {}
    for head in following.keys() - behind:
        run = [head]
        while run[-1] in following:
            run.append(following[run[-1]])
        runs.update(dict.fromkeys(run, run))
    # What follows itself, round a circle, has no head.
    return runs if following.keys() <= runs.keys() else None
