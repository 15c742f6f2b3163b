"""Spanning trees from one root that share no link: as many as the tightest cut has links.

J. Edmonds ("Edge-disjoint branchings", 1973): if k paths without a common link lead from the root
to every node, there are k *arborescences*: trees of links that lead away from the root and reach
every node, without a common link. L. Lovász ("On two minimax theorems in graph", 1976) grows them
one at a time, link by link. A link to a new node may be taken if the other links still have all
paths that the remaining trees need. Such a link always exists; a flow from the root to the new
node tells whether a link is one.

A tree costs its depth. So of the possible links the one nearest to the root is taken, at random
among equals, and the shallowest of several tries is kept::

    root ---> 1 ---> 2         root    .-> 1 ---> 2        the two trees of a 3x2 mesh from
              |      |           |     |          ^        its corner: every node gets half
              v      v           v     |          |        of a message by each
     3 <----- 4      5           3 --> 4 ------> 5
"""

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from ...base.arrays import Numbers
from ...bounds.flow import Graph, push
from ...schedule.duration import STREAM_CYCLES
from .passing import Path, PathLinks

TRIES = 12
"""Random tries of growing the trees."""

NO_PARENT = -1


@dataclass(frozen=True, eq=False)
class Arborescence:
    """A tree that leads away from its root: columns of all nodes, int64.

    ``parent``, ``depth`` and ``delay`` are those of each node; ``delay`` is in cycles, for a word
    from the root. The root's parent is -1; a node outside the tree has -1 in all three. ``paths``
    has for each other node the path from its parent.
    """

    parent: Numbers
    depth: Numbers
    delay: Numbers
    paths: dict[int, Path]


def packed_arborescences(
    links: PathLinks, root: int, goals: Numbers, seed: int = 0
) -> list[Arborescence]:
    """Return the most trees of ``links`` from ``root`` to all ``goals`` that share no link.

    Links lead from the root or a goal to another goal, or to the root. If a goal cannot be reached,
    the result is empty. The same seed gives the same trees.
    """
    packing = _Packing(links, root, goals)
    draw = np.random.default_rng(seed)
    tries = (packing.grown(draw) for _ in range(TRIES))
    return min(tries, key=lambda trees: max((int(tree.delay.max()) for tree in trees), default=0))


class _Packing:
    """The links of a network from one root, and the trees grown from them."""

    def __init__(self, links: PathLinks, root: int, goals: Numbers) -> None:
        self._links = links
        self._begins, self._ends = links.begins, links.ends
        self._root = root
        nodes = int(max(root, goals.max(initial=0), links.begins.max(initial=0))) + 1
        self._graph = Graph.of(nodes, self._begins, self._ends)
        self._goals = goals
        self.number = self._connectivity()

    def _connectivity(self) -> int:
        """Return the fewest paths without a common link from the root to any goal."""
        most = int((self._begins == self._root).sum())
        for goal in self._goals.tolist():
            most = self._paths(np.ones(len(self._begins), np.bool_), goal, most)
        return most if len(self._goals) else 0

    def _paths(self, free: np.ndarray, goal: int, most: int) -> int:
        """Count paths without a common link, up to ``most``, from the root to ``goal``."""
        graph = self._graph
        room = np.zeros(graph.head.size, np.int64)
        room[::2] = free
        return push(graph.first, graph.arcs, graph.head, room, self._root, goal, most)

    def grown(self, draw: np.random.Generator) -> list[Arborescence]:
        """Return all trees of one try."""
        free = np.ones(len(self._begins), np.bool_)
        return [self._grow(free, left, draw) for left in reversed(range(self.number))]

    def _grow(self, free: np.ndarray, left: int, draw: np.random.Generator) -> Arborescence:
        """Return a tree of ``free`` links so that ``left`` more can be grown; take its links."""
        graph, nodes = self._graph, self._graph.nodes
        parent, depth, delay = np.full((3, nodes), NO_PARENT)
        paths: dict[int, Path] = {}
        lots = draw.random(len(self._begins)).tolist()
        depth[self._root] = delay[self._root] = 0
        missing = len(self._goals)
        links: list[tuple[int, float, int]] = []

        def reach(node: int) -> None:
            for arc in graph.arcs[graph.first[node] : graph.first[node + 1]].tolist():
                link = arc // 2
                if arc % 2 == 0 and free[link] and depth[self._ends[link]] < 0:
                    cycles = len(self._links.paths[link]) - 1 + STREAM_CYCLES
                    heappush(links, (int(delay[node]) + cycles, lots[link], link))

        reach(self._root)
        while missing:
            late, _, link = heappop(links)
            begin, end = int(self._begins[link]), int(self._ends[link])
            if depth[end] >= 0:
                continue
            free[link] = False
            if left and self._paths(free, end, left) < left:
                free[link] = True
                continue
            parent[end], depth[end], delay[end] = begin, depth[begin] + 1, late
            paths[end] = self._links.paths[link]
            missing -= 1
            reach(end)
        return Arborescence(parent, depth, delay, paths)
