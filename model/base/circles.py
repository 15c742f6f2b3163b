"""Circles in graphs that are given as columns of edges."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


def find_circle(edges: Numbers) -> list[int]:
    """The nodes of a circle, its lowest first: each leads to the next one, the last to the first.

    ``edges`` has shape (edges, 2): from, to, any numbers. Empty where there is no circle.
    """
    names, places = np.unique(edges, return_inverse=True)
    before, after = places.reshape(-1, 2).T
    keep = _left_after_peeling(before, after, names.size)[before]
    keep &= _left_after_peeling(after, before, names.size)[after]
    following = dict(zip(before[keep].tolist(), after[keep].tolist(), strict=True))
    found: list[int] = names[circle_ahead(following)].tolist() if following else []
    return found


def circle_ahead(following: Mapping[int, int]) -> list[int]:
    """The circle that the lowest node comes to, where each leads to one that leads on.

    From its own lowest node on: each leads to the next one, the last to the first.
    """
    walk: dict[int, None] = {}
    at = min(following)
    while at not in walk:
        walk[at] = None
        at = following[at]
    visited = list(walk)
    circle = visited[visited.index(at) :]
    lowest = circle.index(min(circle))
    return circle[lowest:] + circle[:lowest]


def _left_after_peeling(before: Numbers, after: Numbers, count: int) -> npt.NDArray[np.bool_]:
    """Find the nodes of ``count`` left when those that no other leads to go, repeatedly.

    ``before`` and ``after`` are the ends of the edges. What is left is in a circle or leads on from
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
