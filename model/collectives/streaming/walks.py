r"""Walks through a network that cross no link twice in one direction: for chains and for rings.

A walk visits some nodes, its *goals*, and is cut at them into paths. All paths may be in use in one
step, because they share no link. There are two kinds of walk:

* **From goal to goal**: the walk goes on to a nearest goal that is left, by links that it has not
  crossed, if possible to a goal that few others are next to. Its paths are short, but it may end
  where no such link leads on.
* **Around a tree**: the closed walk around a tree crosses every link of the tree once each way, so
  such a walk exists wherever links lead both ways. It passes a goal several times and visits it
  once. A chain visits each goal at the first time, and takes the deepest branch last. A ring visits
  goals of even levels at the first time, goals of odd levels at the last time::

          0             closed walk     0 1 0 2 3 2 4 2 0
         / \            chain           0 1   2 3   4
        1   2           ring            0 1     3   4 2
           / \
          3   4

  So the nodes of any tree form a ring with at most 3 links from one node to the next (M. Sekanina,
  "On an ordering of the set of vertices of a connected graph", Publ. Fac. Sci. Univ. Brno 412,
  1960). Switches are visited never, and do not count as a level.

The tree grows from its root, each time by a shortest path to a goal (H. Takahashi and
A. Matsuyama, "An approximate solution for the Steiner problem in graphs", Math. Japonica 24, 1980).
Its leaves are goals, so no path of the walk turns back.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import chain, count, pairwise
from typing import Any

import numpy as np

from ...network.topology import NO_LINK, Topology

TRIED_NODES = 1 << 12
"""Nodes of all tries of one kind together."""
KEPT_RESULTS = 8
"""Latest results that are kept: algorithms and collectives of one task share their walks."""

Path = Sequence[int]
Lots = list[float]
"""A random number for each node, by which tries differ."""
Tree = dict[int, int]
"""The nodes of a tree, each with the one above it; the root with itself."""


@lru_cache(maxsize=KEPT_RESULTS)
def chain_through(topology: Topology, root: int, goals: tuple[int, ...]) -> Sequence[Path] | None:
    """Return paths from ``root`` to a first goal, from there to a next one, and so on through all.

    Together they are the shortest of some tries; None if all tries fail.
    """
    walks = _Walks(topology, goals)
    tried = chain(
        walks.tried(lambda lots: walks.from_goal_to_goal(root, lots)),
        walks.tried(lambda lots: walks.around_tree(root, lots, ring=False)),
    )
    return _best(tried, _nodes_of, 2 * len({*goals} - {root}))


@lru_cache(maxsize=KEPT_RESULTS)
def ring_through(topology: Topology) -> Sequence[Path] | None:
    """Return the paths of a ring of all working nodes, each from the end of the one before.

    Of several tries the one with the shortest longest path is kept, then the shortest ring; None if
    all tries fail.
    """
    goals = topology.working_nodes.tolist()
    if len(goals) < 2:
        return []
    walks = _Walks(topology, goals)
    tried = chain(
        walks.tried(lambda lots: walks.back_to(goals[0], lots)),
        walks.tried(lambda lots: walks.around_tree(goals[0], lots, ring=True)),
    )
    least = walks.fewest_links()
    shortest = 2 if least == len(goals) else 3, len(goals) + least
    return _best(tried, lambda paths: (max(map(len, paths)), _nodes_of(paths)), shortest)


def _best(
    tried: Iterable[Sequence[Path]], key: Callable[[Sequence[Path]], Any], least: Any
) -> Sequence[Path] | None:
    """Return the first walk with the least ``key``; the lower bound ``least`` ends the tries."""
    best = None
    for walk in tried:
        if best is None or key(walk) < key(best):
            best = walk
            if key(walk) == least:
                break
    return best


def _nodes_of(paths: Sequence[Path]) -> int:
    return sum(map(len, paths))


class _Walks:
    """Tries of walks through a network that visit the same goals."""

    def __init__(self, topology: Topology, goals: Iterable[int]) -> None:
        self._goals = frozenset(goals)
        self._next = [[end for end in row if end != NO_LINK] for row in topology.neighbor.tolist()]

    def fewest_links(self) -> int:
        """Return a lower bound on the links that a closed walk through all goals crosses.

        It crosses each link of a tree both ways, and an even number of links if no links form an
        odd cycle.
        """
        nodes = len(self._goals)
        if len({frozenset((at, end)) for at in self._goals for end in self._next[at]}) < nodes:
            return 2 * (nodes - 1)
        return nodes + (nodes % 2 and not self._has_odd_cycle())

    def _has_odd_cycle(self) -> bool:
        """Tell whether two neighbors are equally many links away from a goal, mod 2."""
        first = min(self._goals)
        odd, border = {first: 0}, [first]
        for at in border:
            for end in self._next[at]:
                if end not in odd:
                    odd[end] = 1 - odd[at]
                    border.append(end)
                elif odd[end] == odd[at]:
                    return True
        return False

    def tried(self, walk: Callable[[Lots], list[Path] | None]) -> Iterator[list[Path]]:
        """Yield the walks that ``walk`` finds with different random numbers."""
        nodes = len(self._next)
        for seed in range(max(1, TRIED_NODES // nodes)):
            found = walk(np.random.default_rng(seed).random(nodes).tolist())
            if found is not None:
                yield found

    def from_goal_to_goal(self, root: int, lots: Lots) -> list[Path] | None:
        """Go to a nearest remaining goal repeatedly; return None if no path leads to any."""
        left = {*self._goals} - {root}
        used: set[tuple[int, int]] = set()
        paths: list[Path] = []
        at = root
        while left:
            path = self._nearest(at, left, used, lots)
            if path is None:
                return None
            used.update(pairwise(path))
            paths.append(path)
            at = path[-1]
            left.remove(at)
        return paths

    def back_to(self, root: int, lots: Lots) -> list[Path] | None:
        """Go from goal to goal, and back to ``root``."""
        paths = self.from_goal_to_goal(root, lots)
        if paths is None:
            return None
        used = {link for path in paths for link in pairwise(path)}
        last = self._nearest(paths[-1][-1], {root}, used, lots)
        return None if last is None else [*paths, last]

    def _nearest(
        self, start: int, left: set[int], used: set[tuple[int, int]], lots: Lots
    ) -> Path | None:
        """Return a path to a nearest node of ``left``, the one with the fewest others beside it."""
        before = {start: start}
        border = [start]
        while border:
            ends = [
                (end, node)
                for node in border
                for end in self._next[node]
                if end not in before and (node, end) not in used
            ]
            before |= dict(reversed(ends))
            border = list(dict.fromkeys(end for end, _ in ends))
            near = [end for end in border if end in left]
            if near:
                goal = min(near, key=lambda node: (self._others(node, left), lots[node]))
                return _back(before, goal)
        return None

    def _others(self, node: int, left: set[int]) -> int:
        return sum(end in left for end in self._next[node])

    def around_tree(self, root: int, lots: Lots, *, ring: bool) -> list[Path] | None:
        """Go around a tree of links that lead both ways; return None if it misses a goal."""
        tree = self._tree(root, lots)
        if tree is None:
            return None
        walk, levels = _around(tree, root), self._levels(tree)
        first = {node: place for place, node in reversed([*enumerate(walk)])}
        last = {node: place for place, node in enumerate(walk)}
        goals = {root, *self._goals}
        visits = sorted(last[node] if ring and levels[node] % 2 else first[node] for node in goals)
        if ring:
            visits.append(len(walk) - 1)
        return [tuple(walk[begin : end + 1]) for begin, end in pairwise(visits)]

    def _tree(self, root: int, lots: Lots) -> Tree | None:
        """Grow a tree from ``root`` by repeatedly adding a shortest path to a goal.

        Half of the tries continue from the newest nodes, so that their trees are deep.
        """
        left = {*self._goals} - {root}
        numbers = count(0, -1) if lots[root] < 1 / 2 else count()
        tree, before, hops = {root: root}, {root: root}, {root: 0}
        border = [(0, next(numbers), root)]
        while left and border:
            away, _, node = heappop(border)
            if away > hops[node]:
                continue
            grown = node in left
            while grown and hops[node]:
                left.discard(node)
                tree[node], hops[node] = before[node], 0
                heappush(border, (0, next(numbers), node))
                node = before[node]
            for end in () if grown else sorted(self._next[node], key=lots.__getitem__):
                if hops.get(end, away + 2) > away + 1 and node in self._next[end]:
                    before[end], hops[end] = node, away + 1
                    heappush(border, (away + 1, next(numbers), end))
        return None if left else tree

    def _levels(self, tree: Tree) -> dict[int, int]:
        """Count the goals above each node of ``tree``, whose nodes may be in any order."""
        levels: dict[int, int] = {}
        for node in tree:
            way = [node]
            while way[-1] not in levels and tree[way[-1]] != way[-1]:
                way.append(tree[way[-1]])
            for each in reversed(way):
                above = tree[each]
                levels[each] = 0 if above == each else levels[above] + (above in self._goals)
        return levels


def _around(tree: Tree, root: int) -> list[int]:
    """Return the nodes of the closed walk around ``tree`` from ``root``, deepest branches last."""
    below: defaultdict[int, list[int]] = defaultdict(list)
    for node, above in tree.items():
        if node != root:
            below[above].append(node)
    order = [root]
    for node in order:  # grows as it is read
        order += below[node]
    height = dict.fromkeys(order, 0)
    for node in reversed(order[1:]):
        height[tree[node]] = max(height[tree[node]], 1 + height[node])
    for node in order:
        below[node].sort(key=height.__getitem__, reverse=True)
    walk = [root]
    while below[walk[-1]] or walk[-1] != root:
        at = walk[-1]
        walk.append(below[at].pop() if below[at] else tree[at])
    return walk


def _back(before: Tree, goal: int) -> Path:
    """Return the path to ``goal``, read backwards from ``before``."""
    path = deque([goal])
    while before[path[0]] != path[0]:
        path.appendleft(before[path[0]])
    return tuple(path)
