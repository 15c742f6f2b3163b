"""Maximum flow on small networks: E. A. Dinic's algorithm (1970), compiled.

A :class:`Graph` keeps each arc ``a`` beside its reverse ``a ^ 1``: a flow through one makes room in
the other. Capacities are integers, so flows are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import Numbers
from ..base.compiled import compiled
from ..base.ragged import offsets_of

UNREACHED = -1


@dataclass(frozen=True, eq=False)
class Graph:
    """Arcs in pairs: each arc with its reverse.

    ``head`` has the node that each arc leads to, shape (2 * pairs,). The arcs out of node n,
    reverse arcs included, are ``arcs[first[n]:first[n + 1]]``. All int64.
    """

    first: Numbers
    arcs: Numbers
    head: Numbers

    @classmethod
    def of(cls, nodes: int, begins: Numbers, ends: Numbers) -> Graph:
        """Make the graph of the arcs from ``begins`` to ``ends``; each becomes an even arc."""
        head = np.stack((ends, begins), axis=1).ravel().astype(np.int64)
        tail = np.stack((begins, ends), axis=1).ravel()
        order = np.argsort(tail, kind="stable").astype(np.int64)
        return cls(offsets_of(np.bincount(tail, minlength=nodes)), order, head)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.first.size - 1


@compiled
def push(
    first: Numbers, arcs: Numbers, head: Numbers, room: Numbers, source: int, sink: int, most: int
) -> int:
    """Send up to ``most`` from ``source`` to ``sink``, and return the amount sent.

    ``room`` is the capacity left in each arc; the function changes it.
    """
    nodes = first.size - 1
    level, path = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    total = 0
    while total < most:
        set_levels(first, arcs, head, room, source, level)
        if level[sink] == UNREACHED:
            break
        place = first[:-1].copy()
        node, depth = source, 0
        while True:
            if node == sink:
                least = most - total
                for each in range(depth):
                    least = min(least, room[path[each]])
                for each in range(depth):
                    room[path[each]] -= least
                    room[path[each] ^ 1] += least
                total += least
                node, depth = source, 0
                if total == most:
                    break
            arc = next_arc(first, arcs, head, room, level, place, node)
            if arc != UNREACHED:
                path[depth] = arc
                node = head[arc]
                depth += 1
            elif depth == 0:
                break
            else:
                depth -= 1
                node = head[path[depth] ^ 1]
                place[node] += 1
    return total


@compiled
def next_arc(
    first: Numbers,
    arcs: Numbers,
    head: Numbers,
    room: Numbers,
    level: Numbers,
    place: Numbers,
    node: int,
) -> int:
    """Return the next arc of ``node`` with room and one level up, UNREACHED without one."""
    while place[node] < first[node + 1]:
        arc = arcs[place[node]]
        if room[arc] > 0 and level[head[arc]] == level[node] + 1:
            return int(arc)
        place[node] += 1
    return UNREACHED


@compiled
def set_levels(
    first: Numbers, arcs: Numbers, head: Numbers, room: Numbers, source: int, level: Numbers
) -> None:
    """Set ``level`` to the number of arcs with room from ``source``, UNREACHED without a path."""
    queue = np.empty(first.size - 1, np.int64)
    level[:] = UNREACHED
    level[source] = 0
    queue[0] = source
    begin, end = 0, 1
    while begin < end:
        node = queue[begin]
        begin += 1
        for place in range(first[node], first[node + 1]):
            arc = arcs[place]
            if room[arc] > 0 and level[head[arc]] == UNREACHED:
                level[head[arc]] = level[node] + 1
                queue[end] = head[arc]
                end += 1
