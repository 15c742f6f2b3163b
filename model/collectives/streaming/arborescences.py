"""Spanning trees from one root that share no link: as many as the tightest cut has links.

J. Edmonds ("Edge-disjoint branchings", 1973): if every node can be reached from the root by k paths
that share no link, there are k *arborescences*, trees of links that lead away from the root, with
no link in common, each of which reaches every node. L. Lovász ("On two minimax theorems in graph",
1976) takes them one at a time, link by link: a link from the tree to a new node may be taken as
long as what is left of the network still has all the paths that the other trees need; there always
is one, and whether a link is one, a flow from the root to the new node tells.

What a tree costs is its depth, so of all links that may be taken it is one nearest to the root, and
of equally near ones one by lot; of some tries the shallowest is kept::

    root ---> 1 ---> 2         root    .-> 1 ---> 2        the two trees of a 3x2 mesh from
              |      |           |     |          ^        its corner: every node gets half
              v      v           v     |          |        of a message by each
     3 <----- 4      5           3 --> 4 ------> 5
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from ...bounds.flow import Graph, Numbers, push
from ...schedule.duration import STREAM_CYCLES
from .passing import Path, PathLinks

TRIES = 12
"""Times that trees are grown, by other lots."""

NO_PARENT = -1


@dataclass(frozen=True, eq=False)
class Arborescence:
    """A tree that leads away from its root: columns of all nodes, int64.

    ``parent`` and ``depth`` are those of each node, and ``delay`` has the cycles that a word takes
    from the root to it. The root's parent is -1. A node that takes no part has parent, depth and
    delay -1. ``paths`` has the path from its parent to each other node.
    """

    parent: Numbers
    depth: Numbers
    delay: Numbers
    paths: dict[int, Path]


def packed_arborescences(
    links: PathLinks, root: int, goals: Numbers, seed: int = 0
) -> list[Arborescence]:
    """As many trees of ``links`` from ``root`` to all ``goals`` as share no link, shallow ones.

    Links lead from the root or a goal to another goal, or to the root. There are no trees where a
    goal cannot be reached. The same seed gives the same trees.
    """
    packing = _Packing(links, root, goals)
    draw = np.random.default_rng(seed)
    tries = (packing.grown(draw) for _ in range(TRIES))
    return min(tries, key=lambda trees: max((int(tree.delay.max()) for tree in trees), default=0))


class _Packing:
    """The links of a network from one root on, and the trees that are grown of them."""

    def __init__(self, links: PathLinks, root: int, goals: Numbers) -> None:
        self._links = links
        self._begins, self._ends = links.begins, links.ends
        self._root = root
        nodes = int(max(root, goals.max(initial=0), links.begins.max(initial=0))) + 1
        self._graph = Graph.of(nodes, self._begins, self._ends)
        self._goals = goals
        self.number = self._connectivity()

    def _connectivity(self) -> int:
        """Paths without a common link from the root to the node that has the fewest."""
        most = int((self._begins == self._root).sum())
        for goal in self._goals.tolist():
            most = self._paths(np.ones(len(self._begins), np.bool_), goal, most)
        return most if len(self._goals) else 0

    def _paths(self, free: np.ndarray, goal: int, most: int) -> int:
        """Paths, up to ``most``, from the root to ``goal`` by free links without a common one."""
        graph = self._graph
        room = np.zeros(graph.head.size, np.int64)
        room[::2] = free
        return push(graph.first, graph.arcs, graph.head, room, self._root, goal, most)

    def grown(self, draw: np.random.Generator) -> list[Arborescence]:
        """All trees, one after the other."""
        free = np.ones(len(self._begins), np.bool_)
        return [self._grow(free, left, draw) for left in reversed(range(self.number))]

    def _grow(self, free: np.ndarray, left: int, draw: np.random.Generator) -> Arborescence:
        """A tree of ``free`` links, which are used up, so that ``left`` more can be grown."""
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
