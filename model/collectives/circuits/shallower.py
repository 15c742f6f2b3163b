"""Trees that share no link, made shallower by exchanges.

Of two trees that reach a node by two links, each may take the other's link, and a tree may take a
link that no tree has. An exchange is kept if both are trees afterwards and no deeper together::

    root ─► 1 ─► 2         tree A gets 2 by 1, tree B by 3          A  1 ─► 2      B  3 ─► 2
      └───► 3 ─► 2         after the exchange A by 3, B by 1        A  3 ─► 2      B  1 ─► 2

Trees grown one after the other need it: the last one only gets links that the others have left.
"""

import numpy as np

from ...base.arrays import Numbers
from ...base.compiled import compiled
from ...base.loops import inlined

TRIED = 30
"""Exchanges tried for each link."""


def shallower(parents: Numbers, root: int, begins: Numbers, ends: Numbers, seed: int) -> Numbers:
    """Return trees from ``root`` that together are no deeper than those of ``parents``.

    ``parents`` has the parent of each node in each tree, -1 for the root and for a node outside:
    shape (trees, nodes). The trees use the links from ``begins`` to ``ends``.
    """
    found = parents.copy()
    draw = np.random.default_rng(seed)
    links = draw.integers(len(begins), size=TRIED * len(begins))
    trees = draw.integers(len(found), size=len(links))
    _exchange(found, root, begins[links], ends[links], trees, np.empty(found.shape[1], np.int64))
    return found


@inlined
def _cost(parent: Numbers, root: int, depth: Numbers) -> float:
    """Return a number that is greater for a deeper tree, or infinity for a circle.

    A level costs twice as much as the one above. Writes ``depth``.
    """
    depth[:] = -1
    depth[root] = 0
    cost = 0.0
    for node in range(len(parent)):
        if parent[node] < 0:
            continue
        level, here = 0, node
        while depth[here] < 0:
            level, here = level + 1, parent[here]
            if level > len(parent):
                return np.inf
        level, here = level + depth[here], node
        while depth[here] < 0:
            depth[here] = level
            level, here = level - 1, parent[here]
        cost += 2.0 ** depth[node]
    return cost


@compiled
def _exchange(
    parents: Numbers, root: int, begins: Numbers, ends: Numbers, trees: Numbers, depth: Numbers
) -> None:
    """Let each of ``trees`` in turn take the link from ``begins`` to ``ends``, if that is good."""
    costs = [_cost(parent, root, depth) for parent in parents]
    for begin, end, tree in zip(begins, ends, trees):  # noqa: B905 - Numba knows no strict
        other = -1
        for each in range(len(parents)):
            if parents[each, end] == begin:
                other = each
        before = parents[tree, end]
        if before < 0 or other == tree:
            continue
        parents[tree, end] = begin
        cost, others = _cost(parents[tree], root, depth), 0.0
        limit = costs[tree]
        if other >= 0:
            parents[other, end] = before
            others = _cost(parents[other], root, depth)
            limit += costs[other]
        if cost + others <= limit:
            costs[tree] = cost
            if other >= 0:
                costs[other] = others
        else:
            parents[tree, end] = before
            if other >= 0:
                parents[other, end] = begin
