"""Circles in graphs given as columns of edges."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from .arrays import Numbers


def find_circle(edges: Numbers) -> list[int]:
    """Return the nodes of a circle in the order of its edges, from its lowest node on.

    ``edges`` has shape (edges, 2): from, to; any integers. The list is empty without a circle.
    """
    names, places = np.unique(edges, return_inverse=True)
    before, after = places.reshape(-1, 2).T
    keep = _left_after_peeling(before, after, names.size)[before]
    keep &= _left_after_peeling(after, before, names.size)[after]
    following = dict(zip(before[keep].tolist(), after[keep].tolist(), strict=True))
    found: list[int] = names[circle_ahead(following)].tolist() if following else []
    return found


def circle_ahead(following: Mapping[int, int]) -> list[int]:
    """Return the circle that a walk from the lowest node ends in, from the circle's lowest node on.

    ``following`` gives each node's next node, which must be a key as well.
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
    """Mark the nodes of ``count`` left after peeling: shape (count,).

    Peeling removes nodes without an incoming edge until none is left. ``before`` and ``after`` are
    the ends of the edges. A node that is left lies on a circle or behind one. The work is
    proportional to the number of edges.
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
