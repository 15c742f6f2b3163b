"""All-reduce over slow links: pieces on trees of their own, combined and copied at the same time.

A reduce-scatter followed by an all-gather uses only some links at a time. First all words leave a
corner of a mesh while none come back, then the other way round. Here the message is cut into
pieces, and each has a tree of links. Its words are combined towards the root and copied back from
there, so that a tree uses each of its links once in each direction. Pieces follow each other::

    piece 1   | up   | up   | down | down |               up: combined, towards the root
    piece 2          | up   | up   | down | down |        down: copied, away from it

**Trees.** Nodes that links faster than the slowest join are a *part*, as a chiplet is. A tree
enters each part once, so that it uses the fewest slow links, one less than there are parts. Each
tree grows along the links that earlier trees used least, between parts above all. So all links
between parts are equally busy, and the lower bound (:mod:`..reductions.bounds`) is near.

**Steps.** A step takes as long as the slowest link needs for one piece. A faster link carries
several pieces in it, but all of them up or all of them down: a port sends one packet in a step. Its
steps up and down alternate in the ratio of its uses. Nodes an odd number of hops apart begin one
step apart: a piece that moves one link in a step then need not wait. Pieces take the first free
places, in their order.

More pieces keep slow links idle for a shorter time at both ends, but each step takes more than its
words. The number of pieces with the fewest estimated cycles is chosen.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import isqrt

import numpy as np

from ...base.errors import InvalidInput, require_range, with_article
from ...base.ragged import even_shares
from ...bounds.hops import hops_from
from ...network.links import linked_pairs
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, Declared
from ..reductions.bounds import parts_joined
from .sends import SendList

NAME = "overlapped"
MOST_MOVES = 1 << 18
"""Most pieces times nodes: half of the moves."""
MOST_NODES = 1 << 12
TREES = 1 << 14
"""Trees times nodes."""
ROOTS = 4
"""Roots that are tried for each tree."""
BETWEEN_PARTS, WITHIN = 100.0, 0.5
"""Hops that an earlier tree on a link counts for, between parts and within a part."""
AVOIDED = 0.1
"""Levels that an earlier tree on a link counts for, when a root is chosen."""
CLOSING_CYCLES = 6
"""Cycles of a step in addition to its flits and the registers of the slowest link, about."""
FILLING = 2
"""Steps in which links wait at both ends, for each level of the deepest tree, about."""

Link = tuple[int, int]
"""The node at which a link begins, and the node at which it ends."""
Move = tuple[int, Link, bool]
"""A step, the link of a packet in it, and whether the packet combines."""


@dataclass(frozen=True)
class _Graph:
    """Nodes, and links that lead both ways.

    beside
        The neighbours of each node.
    part
        The part of each node.
    odd
        Whether each node is an odd number of hops from the first, 0 or 1.
    room
        Pieces that each link carries while the slowest link carries one.
    """

    beside: dict[int, list[int]]
    part: list[int]
    odd: list[int]
    room: dict[Link, int]


@dataclass
class _Tree:
    """A tree of links: the parent and the level of each node, the root first; it has no parent."""

    parent: dict[int, int] = field(default_factory=dict)
    level: dict[int, int] = field(default_factory=dict)

    @property
    def levels(self) -> int:
        """The level of the node farthest from the root."""
        return max(self.level.values())

    @property
    def down(self) -> list[Link]:
        """The links away from the root, those near it first."""
        order = sorted(self.parent, key=self.level.__getitem__)
        return [(self.parent[node], node) for node in order]


def overlapped_all_reduce(topology: Topology, words: int, operator: str) -> Schedule:
    """All-reduce ``words`` words by ``operator`` on all ports, where links differ in their rates.

    Raises :class:`.InvalidInput` if all links have the same rate, if links that lead both ways do
    not join all nodes, or if the network is too large.
    """
    require_range("flits", words, 1)
    require_range(f"nodes for {NAME}", topology.nodes, 1, MOST_NODES)
    graph = _graph(topology)
    trees, busiest = _trees(graph, min(TREES // topology.nodes, words))
    levels = max(tree.levels for tree in trees)
    number = _likely_number(topology, levels, busiest, words)
    # The first and the last steps are not steady, and the last step is not known before.
    first = _moves(graph, trees, number, range(levels, sys.maxsize))
    last = max((step for step, _, _ in first), default=0)
    moves = _moves(graph, trees, number, range(levels, last - 3 * levels // 2))
    sends = SendList()
    for (step, link, combine), pieces in sorted(moves.items()):
        sends.add(step, link, pieces, combine=combine)
    blocks = Blocks.reduced_to((None,) * number, even_shares(words, number), operator)
    return sends.schedule(NAME, topology, Collective.ALL_REDUCE, PortModel.ALL_PORT, None, blocks)


def _graph(topology: Topology) -> _Graph:
    """Return the nodes and their links; raise :class:`.InvalidInput` for unsuitable links."""
    begins, ends = linked_pairs(topology)
    rates = topology.rates[begins, topology.ports_between(begins, ends)]
    pairs = zip(begins.tolist(), ends.tolist(), strict=True)
    rate = dict(zip(pairs, rates.tolist(), strict=True))
    working = topology.working_nodes
    nodes = {*working.tolist()}
    both = {
        link: max(rate[link], rate[link[::-1]])
        for link in rate
        if link[::-1] in rate and nodes.issuperset(link)
    }
    slowest = max(both.values(), default=1)
    joined = parts_joined(topology.nodes, *np.array([*both], np.int64).reshape(-1, 2).T)
    allowed = ""
    if min(both.values(), default=1) == slowest:
        allowed = "one whose links differ in rate"
    elif np.unique(joined[working]).size > 1:
        allowed = "one in which links that lead both ways join all nodes"
    if allowed:
        label = with_article(topology.label)
        raise InvalidInput.of(f"network for {NAME}", allowed, label)
    beside: dict[int, list[int]] = {node: [] for node in working.tolist()}
    for begin, end in both:
        beside[begin].append(end)
    fast = np.array([link for link in both if both[link] < slowest], np.int64).reshape(-1, 2)
    part = parts_joined(topology.nodes, *fast.T)
    odd = hops_from(topology, working[:1])[0] % 2
    room = {link: slowest // each for link, each in both.items()}
    return _Graph(beside, part.tolist(), odd.tolist(), room)


def _trees(graph: _Graph, number: int) -> tuple[list[_Tree], float]:
    """Return trees that together use all links about equally, and the steps that each takes.

    A tree of one piece takes as many steps of the busiest link, on average.
    """
    draw = np.random.default_rng(0)
    nodes = list(graph.beside)
    uses = dict.fromkeys(graph.room, 0.0)
    found = []
    for _ in range(number):
        roots = draw.choice(nodes, min(ROOTS, len(nodes)), replace=False).tolist()
        tree = min(
            (_grown(graph, root, uses) for root in roots),
            key=lambda tree: tree.levels + AVOIDED * sum(uses[link] for link in tree.down),
        )
        found.append(tree)
        for begin, end in tree.down:
            for link in ((begin, end), (end, begin)):
                uses[link] += 1 / graph.room[link]
    return found, max(uses.values()) / number


def _grown(graph: _Graph, root: int, uses: dict[Link, float]) -> _Tree:
    """Return the tree from ``root`` by shortest paths; a link in use counts as more hops."""
    tree, entered = _Tree(), set()
    border: list[tuple[float, int, int, int | None]] = [(0.0, 0, root, None)]
    while border:
        cost, level, node, parent = heappop(border)
        part = graph.part[node]
        from_outside = parent is None or graph.part[parent] != part
        if node in tree.level or (from_outside and part in entered):
            continue
        entered.add(part)
        tree.level[node] = level
        if parent is not None:
            tree.parent[node] = parent
        for end in graph.beside[node]:
            weight = WITHIN if graph.part[end] == part else BETWEEN_PARTS
            if end not in tree.level:
                further = cost + 1 + weight * uses[node, end]
                heappush(border, (further, level + 1, end, node))
    return tree


def _likely_number(topology: Topology, levels: int, busiest: float, words: int) -> int:
    """Return the number of pieces with the fewest cycles, by an estimate.

    Of n pieces the busiest link takes b n steps, and all steps are b n + f. Their cycles are least
    if (b n + f) (r w / n + c) is: steps of w / n words at rate r, and c more cycles.
    """
    slowest = int(topology.rates.max())
    further = CLOSING_CYCLES + slowest + int(topology.registers_of(0).max())
    filling = FILLING * levels
    number = isqrt(int(filling * slowest * words / (busiest * further)))
    return max(1, min(number, words, MOST_MOVES // topology.nodes))


def _moves(graph: _Graph, trees: list[_Tree], number: int, steady: range) -> dict[Move, list[int]]:
    """Return the pieces of each packet: every piece moves as early as its link has room.

    In ``steady`` steps links alternate.
    """
    places = _Places(graph, trees, steady)
    moves: dict[Move, list[int]] = {}
    for piece in range(number):
        links = trees[piece % len(trees)].down
        ready = dict.fromkeys(graph.beside, 1)
        for parent, node in reversed(links):
            step = places.take((node, parent), ready[node], combine=True)
            moves.setdefault((step, (node, parent), True), []).append(piece)
            ready[parent] = max(ready[parent], step + 1)
        for parent, node in links:
            step = places.take((parent, node), ready[parent], combine=False)
            moves.setdefault((step, (parent, node), False), []).append(piece)
            ready[node] = step + 1
    return moves


class _Places:
    """The room that each link has in each step.

    A link with room for one piece carries one in any step, either up or down. In steady steps any
    other link alternates in the ratio of its uses; in all others the first piece decides.
    """

    def __init__(self, graph: _Graph, trees: list[_Tree], steady: range) -> None:
        self._graph, self._steady = graph, steady
        self._downs = Counter(link for tree in trees for link in tree.down)
        self._taken: Counter[tuple[Link, int]] = Counter()
        self._combines: dict[tuple[Link, int], bool] = {}
        self._full: dict[tuple[Link, bool], int] = {}

    def take(self, link: Link, ready: int, *, combine: bool) -> int:
        """Take a place on the link, and return its step: the first free one from ``ready`` on."""
        full = self._full.get((link, combine), 1)
        step = max(ready, full)
        while not self._free(link, step, combine=combine):
            step += 1
        self._taken[link, step] += 1
        self._combines[link, step] = combine
        while not self._free(link, full, combine=combine):
            full += 1
        self._full[link, combine] = full
        return step

    def _free(self, link: Link, step: int, *, combine: bool) -> bool:
        """Tell whether the link has room in a step for a piece that combines or is copied."""
        room, taken = self._graph.room[link], self._taken[link, step]
        if taken:
            return taken < room and self._combines[link, step] == combine
        return room == 1 or step not in self._steady or self._turn(link, step) == combine

    def _turn(self, link: Link, step: int) -> bool:
        """Tell whether a link combines in a steady step."""
        up, down = self._downs[link[::-1]], self._downs[link]
        place = (step + self._graph.odd[link[0]]) * up + (up + down) // 2
        return (place + up) // (up + down) > place // (up + down)


ALGORITHM = Declared(
    Collective.ALL_REDUCE,
    NAME,
    lambda asked: overlapped_all_reduce(asked.topology, asked.words, asked.combining),
    networks="networks whose links differ in rate",
    steps="pieces divided by trees that fit on the slowest links, and hops",
    takes=("all_port", "operator"),
    ports=(ALL,),
)
