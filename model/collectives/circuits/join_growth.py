"""Trees that join in the routers, grown by draws.

The tree of a reduce grows from its root. Each node that it reaches offers *places* to nodes next to
it, at a cost in cycles::

    first     the node's router joins the child's words with the node's own
    second    the node's router joins the words of both children; its own words leave by another
              link, for a router that has a word to join them with
    further   the child's words end at the node's interface, and the node's words are sent on later

The cheapest free place takes a node next to it; which one is drawn. When all nodes are in the tree,
the own words of nodes with two children are led to routers with one word (:class:`_OwnWords`). On
its way such a word may take the place of another node's own words, which go on instead. A tree of n
nodes makes at most n - 1 sums, so there is a router for each.
"""

import random
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from ...bounds.hops import UNREACHED

IN_ROUTER = 2
"""Cycles from a child's words to those of its parent if the parent's router joins them."""

IN_INTERFACE = 7
"""Cycles from a child's words to those of its parent if the parent's interface combines them."""

JOINED = 2
"""Words that a router joins."""

SECOND = (0, 2, 4, 8, 16)
"""Cycles by which a second place may count as later, so that fewer are taken."""

TRIES = 4
"""Orders in which the own words of a tree look for a way."""


class Growing(NamedTuple):
    """A network for a tree: the nodes with a link to each node, and those with a link from it.

    ``hops`` has the hops of each node to the root. ``free_from`` has the delay that a further child
    of each node must have at least, so that the returning sums find its port free. If
    ``returning``, one link into each node is left for the sums.
    """

    root: int
    feeders: Sequence[Sequence[int]]
    followers: Sequence[Sequence[int]]
    hops: Sequence[int]
    free_from: Sequence[int]
    returning: bool


@dataclass(frozen=True)
class JoiningTree:
    """A tree of all working nodes, grown from ``root``.

    ``parent`` has the parent of every other node, parents first. ``joined`` has the nodes whose
    words the router of their parent joins. ``ways`` has the nodes that the own words of a node pass
    up to the router that joins them, for each node except the root: mostly that node alone.
    ``delay`` is the number of cycles from the words of the node that takes longest to those of the
    root.
    """

    root: int
    parent: dict[int, int]
    joined: frozenset[int]
    ways: dict[int, list[int]]
    delay: int

    def path(self, node: int) -> list[int]:
        """Return the path of a node's own words, up to the node that gets them."""
        path = [*self.ways[node]]
        while path[-1] != self.root:
            last = path[-1]
            path.append(self.parent[last])
            if last not in self.joined:
                break
        return path

    def links(self) -> set[tuple[int, int]]:
        """Return the links of the tree."""
        ways = (link for way in self.ways.values() for link in pairwise(way))
        return {*self.parent.items(), *ways}


class Growth:
    """A tree that grows from its root, by draws of ``draw``.

    ``wide``: nodes have a second place, and the tree may come to nothing.
    """

    def __init__(self, growing: Growing, draw: random.Random, *, wide: bool) -> None:
        self._growing, self._draw, self._wide = growing, draw, wide
        # Whether a child is far from the root, or one that few other nodes can still take.
        self._far = draw.random() < 0.5
        self._second = draw.choice(SECOND) if wide else 0
        self._parent: dict[int, int] = {}
        self._joined: set[int] = set()
        self._cost = {growing.root: 0}
        self._places: list[tuple[int, float, int, int, bool]] = []
        kept = growing.returning and wide
        self._room = [len(feeders) - kept for feeders in growing.feeders]
        self._room[growing.root] += kept

    def tree(self, words: int) -> JoiningTree | None:
        """Return the tree of all nodes; a further child comes after ``words`` of the one before.

        Returns None if the second places took too much.
        """
        root, delay = self._growing.root, 0
        self._offer(root, 0, joins=True)
        self._offer(root, 0, joins=True)
        self._offer(root, max(words, 3), joins=False)
        while self._places:
            counted, _, node, cycles, joins = heappop(self._places)
            free = [each for each in self._growing.feeders[node] if self._is_free(each)]
            if not free or not self._room[node]:
                continue
            child = self._chosen(free)
            self._room[node] -= 1
            self._parent[child], self._cost[child] = node, cycles + IN_ROUTER
            delay = max(delay, counted)
            if joins:
                self._joined.add(child)
            else:
                # The words of the next child come when those of this one have passed.
                self._offer(node, cycles + max(words, 3), joins=False)
            self._offer(child, cycles + IN_ROUTER, joins=True)
            if self._wide:
                self._offer(child, cycles + IN_ROUTER, joins=True, later=self._second)
            self._offer(child, cycles + IN_INTERFACE, joins=False)
        reached = sum(hops != UNREACHED for hops in self._growing.hops)
        if len(self._parent) + 1 < reached:
            return None
        own = _OwnWords(self._growing, self._parent, self._joined, self._room, self._draw)
        ways = own.ways()
        if ways is None:
            return None
        joined = frozenset(self._joined)
        return JoiningTree(root, self._parent, joined, ways, max(delay, self._longest(ways)))

    def _longest(self, ways: dict[int, list[int]]) -> int:
        """Return the cycles from the own words that take longest to those of the root."""
        cost = {node: self._cost[way[-1]] + len(way) - 1 for node, way in ways.items()}
        longest, later = IN_ROUTER, {self._growing.root: 0}
        for child, node in self._parent.items():
            # Words that end at an interface must come before its own words leave, by way of others.
            waits = child not in self._joined and node in ways
            later[child] = later[node] + (cost[node] - self._cost[node] if waits else 0)
            longest = max(longest, later[child] + cost[child])
        return longest - IN_ROUTER

    def _offer(self, node: int, cycles: int, *, joins: bool, later: int = 0) -> None:
        """Offer a place for a child of ``node`` that is ``cycles`` from the root."""
        counted = cycles if joins else max(cycles, self._growing.free_from[node])
        heappush(self._places, (counted + later, self._draw.random(), node, cycles, joins))

    def _is_free(self, node: int) -> bool:
        return node not in self._cost

    def _chosen(self, free: list[int]) -> int:
        """Return one of the ``free`` nodes, mostly by the rule of this growth."""
        if len(free) == 1 or self._draw.random() < 0.3:
            return self._draw.choice(free)
        if self._far:
            return max(free, key=lambda node: (self._growing.hops[node], self._draw.random()))
        others = {node: sum(map(self._is_free, self._growing.feeders[node])) for node in free}
        return min(free, key=lambda node: (others[node], self._draw.random()))


class _OwnWords:
    """The search for the router that joins the own words of each node of a tree.

    Words of a node stay in its *part*: the nodes that are joined on their way to one interface. It
    is named by its node next to that interface, or by the root. ``room`` has the links into each
    node that are not taken.
    """

    def __init__(
        self,
        growing: Growing,
        parent: dict[int, int],
        joined: set[int],
        room: list[int],
        draw: random.Random,
    ) -> None:
        self._growing, self._parent, self._all_room, self._draw = growing, parent, room, draw
        self._part = {growing.root: growing.root}
        children: Counter[int] = Counter()
        for child, node in parent.items():
            self._part[child] = self._part[node] if child in joined else child
            children[node] += child in joined
        self._missing = {node: JOINED - children[node] for node in self._part}

    def ways(self) -> dict[int, list[int]] | None:
        """Return the way of each node's own words to the router that joins them; None for none."""
        waiting = [node for node in self._parent if not self._missing[node]]
        for _ in range(TRIES):
            stuck = self._led(waiting)
            if stuck is None:
                return self._ways
            waiting.remove(stuck)
            waiting.insert(0, stuck)
        return None

    def _led(self, waiting: list[int]) -> int | None:
        """Lead the own words of the ``waiting`` nodes in this order; return one without a way."""
        self._ways = {node: [node] for node in self._parent if self._missing[node]}
        self._spare = {node: self._missing[node] - (node in self._ways) for node in self._missing}
        self._room, self._taken = [*self._all_room], {*self._parent.items()}
        for node in waiting:
            way = self._way(node)
            if way is None:
                return node
            self._spare[way[-1]] -= 1
            for link in pairwise(way):
                self._taken.add(link)
                self._room[link[1]] -= 1
            self._lead(way)
        return None

    def _way(self, node: int) -> list[int] | None:
        """Return the shortest way of free links to a router of the node's part with one word."""
        part, root = self._part[node], self._growing.root
        # Words do not pass the node where those of their part end.
        end = root if part == root else self._parent[part]
        before, queue = {node: node}, deque([node])
        while queue:
            here = queue.popleft()
            near = [each for each in self._growing.followers[here] if each not in before]
            for each in self._draw.sample(near, len(near)):
                if not self._room[each] or (here, each) in self._taken:
                    continue
                inside = self._part[each] == part
                if inside and self._spare[each]:
                    way = [each, here]
                    while way[-1] != node:
                        way.append(before[way[-1]])
                    return way[::-1]
                if each not in (end, root):
                    before[each] = here
                    queue.append(each)
        return None

    def _lead(self, way: list[int]) -> None:
        """Let the words of the first node go along ``way``, and take the place of others."""
        words, path = way[0], way[:1]
        for each in way[1:-1]:
            path.append(each)
            if self._ways.get(each) == [each] and self._part[each] == self._part[words]:
                self._ways[words] = path
                words, path = each, [each]
        self._ways[words] = [*path, way[-1]]
