"""Circles of channels, each of which a packet may hold while it waits for the next."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


def has_circle(
    path_offsets: Numbers, path_nodes: npt.NDArray[np.int32], vcs: npt.NDArray[np.int32]
) -> bool:
    """Tell whether packets on these paths may wait for each other in a circle.

    Paths and VCs are columns as those of a schedule; of parallel links each is all.
    """
    links = np.diff(path_offsets) - 1
    inner = np.ones(path_nodes.size, np.bool_)
    inner[path_offsets[1:] - 1] = False
    begins = np.flatnonzero(inner)
    pairs = path_nodes[begins] * (np.int64(path_nodes.max(initial=0)) + 1) + path_nodes[begins + 1]
    # The links of a path are neighbours in the columns, but for the last and the next one's first.
    last = np.zeros(begins.size, np.bool_)
    last[np.cumsum(links) - 1] = True
    _, channel = np.unique(pairs * 256 + vcs, return_inverse=True)
    held = np.flatnonzero(~last)
    _, first = np.unique(
        channel[held] * np.int64(channel.size) + channel[held + 1], return_index=True
    )
    before, after = channel[held][first], channel[held + 1][first]
    return bool(left_after_peeling(before, after, int(channel.max(initial=-1)) + 1).any())


def left_after_peeling(before: Numbers, after: Numbers, count: int) -> npt.NDArray[np.bool_]:
    """Find the channels of ``count`` left when those that no other leads to go, repeatedly.

    ``before`` and ``after`` are the ends of the edges. What is left is in a cycle or leads on from
    one. The work is proportional to the number of edges.
    """
    order = np.argsort(before, kind="stable")
    after = after[order]
    begin = np.searchsorted(before[order], np.arange(count + 1))
    waiting = np.bincount(after, minlength=count)
    peeled = np.flatnonzero(waiting == 0)
    while peeled.size:
        sizes = begin[peeled + 1] - begin[peeled]
        skipped = np.repeat(begin[peeled] - np.cumsum(sizes) + sizes, sizes)
        reached, times = np.unique(after[np.arange(sizes.sum()) + skipped], return_counts=True)
        waiting[reached] -= times
        peeled = reached[waiting[reached] == 0]
    return waiting > 0
