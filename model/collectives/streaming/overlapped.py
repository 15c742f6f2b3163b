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
several pieces in it, but all of them up or all of them down: a port sends one packet in a step. In
each step every link takes the most urgent pieces that have arrived at its node. A piece is urgent
if it came early in the message, and if it has many links before it. A link that has a full packet
in one direction only takes that one, so that links within parts keep up with those between parts.
If no piece waits for the slowest links, the step may be *short*: a link takes one piece in it, so
that first pieces reach the slowest links early, and last pieces their nodes.

More pieces keep slow links idle for a shorter time at both ends, but each step takes more than its
words. The number of pieces with the fewest estimated cycles is chosen; then, of three ways to order
them, the one whose schedule is expected to take the fewest cycles.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import isqrt

import numpy as np

from ...base.errors import require_range
from ...base.ragged import even_shares
from ...network.links import linked_pairs
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.duration import COMBINED_CYCLES, ONE_HOP_CYCLES, expected_cycles
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, Declared
from ..reductions.bounds import parts_joined
from .sends import SendList

NAME = "overlapped"
MOST_MOVES = 1 << 18
"""Most pieces times nodes: half of the moves."""
TREES = 1 << 17
"""Trees times nodes."""
FEW = 64
"""Trees from which the number of pieces is estimated."""
ROOTS = 8
"""Roots that are tried for each tree."""
BETWEEN_PARTS, WITHIN = 100.0, 0.5
"""Hops that an earlier tree on a link counts for, between parts and within a part."""
AVOIDED = 0.03
"""Levels that an earlier tree on a link counts for, when a root is chosen."""
FILLING = 1.2
"""Steps in which links wait at both ends, for each level of the deepest tree, about."""
WAYS = ((0.5, False), (0.5, True), (0.25, True))
"""Pace (hops that a piece is less urgent for each step that the busiest link takes for it), and
whether some steps are short."""

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
    room
        Pieces that each link carries while the slowest link carries one.
    """

    beside: dict[int, list[int]]
    part: list[int]
    room: dict[Link, int]


@dataclass
class _Tree:
    """A tree of links: level, parent and children of each node. The first has no parent."""

    parent: dict[int, int] = field(default_factory=dict)
    children: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    level: dict[int, int] = field(default_factory=dict)

    @property
    def levels(self) -> int:
        """The level of the node farthest from the root."""
        return max(self.level.values())

    @property
    def down(self) -> list[Link]:
        """The links away from the root."""
        return [(parent, node) for node, parent in self.parent.items()]


def overlapped_all_reduce(topology: Topology, words: int, operator: str) -> Schedule:
    """All-reduce ``words`` words by ``operator`` on all ports, where links differ in their rates.

    Raises :class:`.InvalidInput` if all links have the same rate, or if links that lead both ways
    do not join all nodes.
    """
    require_range("words", words, 1)
    graph = _graph(topology)
    few, busiest = _trees(graph, min(FEW, words))
    levels = max(tree.levels for tree in few)
    number = _likely_number(topology, levels, busiest, words)
    trees, busiest = _trees(graph, min(number, TREES // topology.nodes))
    blocks = Blocks.reduced_to((None,) * number, even_shares(words, number), operator)

    def made(pace: float, short: bool) -> Schedule:
        queues, sends = _Queues(graph, trees, pace * busiest, short), SendList()
        for (step, link, combine), pieces in _moves(queues, number).items():
            sends.add(step, link, pieces, combine=combine)
        ports, name = PortModel.ALL_PORT, Collective.ALL_REDUCE
        return sends.schedule(NAME, topology, name, ports, None, blocks)

    return min((made(*way) for way in WAYS), key=expected_cycles)


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
        raise topology.refusal(NAME, allowed)
    beside: dict[int, list[int]] = {node: [] for node in working.tolist()}
    for begin, end in both:
        beside[begin].append(end)
    fast = np.array([link for link in both if both[link] < slowest], np.int64).reshape(-1, 2)
    part = parts_joined(topology.nodes, *fast.T)
    room = {link: slowest // each for link, each in both.items()}
    return _Graph(beside, part.tolist(), room)


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
            tree.children[parent].append(node)
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
    further = ONE_HOP_CYCLES + COMBINED_CYCLES + slowest + int(topology.registers_of(0).max())
    filling = FILLING * levels
    number = isqrt(int(filling * slowest * words / (busiest * further)))
    return max(1, min(number, words, MOST_MOVES // topology.nodes))


def _moves(queues: _Queues, number: int) -> dict[Move, list[int]]:
    """Return the pieces of each packet."""
    for piece in range(number):
        queues.begin(piece)
    moves: dict[Move, list[int]] = {}
    step = 0
    while packets := queues.packets():
        step += 1
        for link, combine, pieces in packets:
            moves[step, link, combine] = sorted(pieces)
            for piece in pieces:
                queues.arrive(piece, link, combine=combine)
    return moves


class _Queues:
    """The pieces that wait for each link, to be combined or copied: the most urgent ones first.

    Pieces with many hops left are more urgent; each is ``pace`` hops less urgent than the last one.
    With ``short``, steps without a piece for the slowest links are short.
    """

    def __init__(self, graph: _Graph, trees: list[_Tree], pace: float, short: bool) -> None:
        self._graph, self._trees, self._pace, self._short = graph, trees, pace, short
        self._waiting: dict[tuple[Link, bool], list[tuple[float, int]]] = {
            (link, combine): [] for link in graph.room for combine in (True, False)
        }
        self._missing: dict[tuple[int, int], int] = {}

    def begin(self, piece: int) -> None:
        """Let a piece wait at the nodes that receive nothing before they send it."""
        tree = self._trees[piece % len(self._trees)]
        for node in tree.level:
            self._missing[piece, node] = len(tree.children[node])
        for node in tree.level:
            if not tree.children[node]:
                self._complete(piece, node)

    def packets(self) -> list[tuple[Link, bool, list[int]]]:
        """Take the pieces of the next step: for each link, whether they combine, and the pieces."""
        taken = []
        short = self._short and not any(
            queue for (link, _), queue in self._waiting.items() if self._graph.room[link] == 1
        )
        for link, most in self._graph.room.items():
            room = 1 if short else most
            combine = self._combines(link, room)
            queue = self._waiting[link, combine]
            pieces = [heappop(queue)[1] for _ in range(min(room, len(queue)))]
            if pieces:
                taken.append((link, combine, pieces))
        return taken

    def arrive(self, piece: int, link: Link, *, combine: bool) -> None:
        """Let a piece that arrived by a link wait for the next links of its tree."""
        node = link[1]
        if not combine:
            self._copy(piece, node)
            return
        self._missing[piece, node] -= 1
        if not self._missing[piece, node]:
            self._complete(piece, node)

    def _combines(self, link: Link, room: int) -> bool:
        """Tell whether the next packet combines: the more urgent one, but a full one first."""
        up, down = self._waiting[link, True], self._waiting[link, False]
        if (len(up) < room) != (len(down) < room):
            return len(down) < room
        return bool(up) and (not down or up[0] < down[0])

    def _complete(self, piece: int, node: int) -> None:
        """Send a piece on that is combined of all values below a node."""
        tree = self._trees[piece % len(self._trees)]
        if node in tree.parent:
            hops_left = tree.levels + tree.level[node]
            self._wait(piece, (node, tree.parent[node]), hops_left, combine=True)
        else:
            self._copy(piece, node)

    def _copy(self, piece: int, node: int) -> None:
        """Send a piece that is whole from a node to its children."""
        tree = self._trees[piece % len(self._trees)]
        for child in tree.children[node]:
            hops_left = tree.levels - tree.level[node]
            self._wait(piece, (node, child), hops_left, combine=False)

    def _wait(self, piece: int, link: Link, hops_left: int, *, combine: bool) -> None:
        heappush(self._waiting[link, combine], (piece * self._pace - hops_left, piece))


ALGORITHM = Declared(
    Collective.ALL_REDUCE,
    NAME,
    lambda asked: overlapped_all_reduce(asked.topology, asked.words, asked.combining),
    networks="networks whose links differ in rate",
    steps="pieces divided by trees that fit on the slowest links, and hops",
    takes=("all_port", "operator"),
    ports=(ALL,),
)
