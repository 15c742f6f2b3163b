"""Reduce, all-reduce and barrier by trees that join in the routers.

A router can join two words in a cycle, so a node's own words and those of one child leave it as
one sum, a cycle later: a *chain*. The words of any further child end at the node. Its interface
combines them with the node's words, and the node sends the sum on in a chain of its own::

    4 ──► 3 ──► 1 ──► 0        chain of 4, 3 and 1, joined in the routers of 3 and 1, to the root
          2 ──► 1              chain of 2 alone, to the interface of 1, before that

The root joins two chains on their way to its interface. A child in the router costs two cycles (a
hop and the join), one in the interface seven, because its words pass the memory. The tree is grown
from the root: the cheapest free place takes a node next to it. Which one is drawn, and the best of
many draws is kept.

In an all-reduce the root is a node near the middle, and its sums return to all nodes by one tree
that forks (:mod:`.light_trees`). A node gets its sums only when the words of its further children
have come in. So for long messages on a grid the tree is a path through all nodes with the root in
its middle: two chains, and no further child.

With a port for every link, the words of further children come by lanes of their own, three cycles
one after the other. (An all-reduce in pieces, each with a root of its own, is slower: the pieces
wait for each other at the adders.)
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...base.errors import require_range
from ...base.ragged import offsets_of
from ...bounds.hops import UNREACHED, hops_from
from ...network.faults import with_faults
from ...network.port_model import PortModel
from ...network.topology import NO_LINK, Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared
from ..declared.request import Request
from ..halving.boxes import is_whole_grid
from ..reductions.backwards import against, require_reached
from ..streaming.snakes import snake
from .light_trees import MOST_NODES, light_tree, require_no_switches

IN_ROUTER = 2
"""Cycles from a child's words to those of its parent if the parent's router joins them."""

IN_INTERFACE = 7
"""Cycles from a child's words to those of its parent if the parent's interface combines them."""

PASSING = 5
"""Cycles from the last word of a sum at the root until it leaves the root again."""

DRAWS = 300
"""Trees drawn for a small network; fewer for a large one, in proportion."""

NAME = "joining-tree"


@dataclass(frozen=True)
class JoiningTree:
    """A tree of all working nodes, grown from ``root``.

    ``parent`` has the parent of every other node. ``joined`` has the nodes whose words their
    parent's router joins with its own, at the root with those of another child. ``delay`` is the
    number of cycles from the words of the node that takes longest to those of the root.
    """

    root: int
    parent: dict[int, int]
    joined: frozenset[int]
    delay: int


def _two_chains(path: Sequence[int]) -> JoiningTree:
    """Return the tree of two chains that meet in the middle of a ``path`` of all nodes."""
    middle = len(path) // 2
    arms = (path[middle::-1], path[middle:])
    parent = {child: node for arm in arms for node, child in pairwise(arm)}
    return JoiningTree(path[middle], parent, frozenset(parent), IN_ROUTER * (middle - 1))


def joining_tree(
    topology: Topology, root: int, words: int, *, returning: bool = False, all_port: bool = False
) -> JoiningTree:
    """Return the tree with the least delay among those drawn, for messages of ``words`` words.

    ``returning``: the sums return to all nodes, as in an all-reduce. ``all_port``: nodes have a
    port for every link. Raises :class:`.InvalidInput`
    for a node without a path to the root.
    """
    require_reached(topology, root)
    turned = against(topology)
    (hops,) = hops_from(turned, np.array([root]))
    feeders = [[end for end in ends if end != NO_LINK] for ends in turned.neighbor[:, 1:].tolist()]
    # The words of a child fill the port into its parent, and the sums come some hops after the end.
    waits = returning and not all_port
    free_from = [words - PASSING - away if waits else 0 for away in hops.tolist()]
    free_from[root] = 0
    draws = max(1, DRAWS * 64 // topology.nodes) if topology.nodes > 64 else DRAWS
    trees = (
        _Growth(feeders, hops.tolist(), free_from, random.Random(number)).tree(
            root, 0 if all_port else words
        )
        for number in range(draws)
    )
    return min(trees, key=lambda tree: tree.delay)


class _Growth:
    """A tree that grows from its root, by draws of ``draw``.

    feeders, hops
        The nodes with a link to each node, and the hops of each node to the root.
    free_from
        The delay that a further child of a node must have at least for the sums to find its port
        free, for each node.
    """

    def __init__(
        self, feeders: list[list[int]], hops: list[int], free_from: list[int], draw: random.Random
    ) -> None:
        self._feeders, self._hops, self._free_from, self._draw = feeders, hops, free_from, draw
        # Whether a child is far from the root, or one that few other nodes can still take.
        self._far = draw.random() < 0.5
        self._parent: dict[int, int] = {}
        self._places: list[tuple[int, float, int, int, bool]] = []

    def tree(self, root: int, words: int) -> JoiningTree:
        """Return the tree of all nodes; a further child comes after ``words`` of the one before."""
        joined, delay = set(), 0
        self._offer(root, 0, joins=True)
        self._offer(root, 0, joins=True)
        self._offer(root, max(words, 3), joins=False)
        while self._places:
            counted, _, node, cycles, joins = heapq.heappop(self._places)
            free = [each for each in self._feeders[node] if self._is_free(each, root)]
            if not free:
                continue
            child = self._chosen(free, root)
            self._parent[child], delay = node, max(delay, counted)
            if joins:
                joined.add(child)
            else:
                # The words of the next child come when those of this one have passed.
                self._offer(node, cycles + max(words, 3), joins=False)
            self._offer(child, cycles + IN_ROUTER, joins=True)
            self._offer(child, cycles + IN_INTERFACE, joins=False)
        return JoiningTree(root, self._parent, frozenset(joined), delay)

    def _offer(self, node: int, cycles: int, *, joins: bool) -> None:
        """Offer a place for a child of ``node`` that is ``cycles`` from the root."""
        counted = cycles if joins else max(cycles, self._free_from[node])
        heapq.heappush(self._places, (counted, self._draw.random(), node, cycles, joins))

    def _is_free(self, node: int, root: int) -> bool:
        return node != root and node not in self._parent

    def _chosen(self, free: list[int], root: int) -> int:
        """Return one of the ``free`` nodes, mostly by the rule of this growth."""
        if len(free) == 1 or self._draw.random() < 0.3:
            return self._draw.choice(free)
        if self._far:
            return max(free, key=lambda node: (self._hops[node], self._draw.random()))
        others = {
            node: sum(self._is_free(each, root) for each in self._feeders[node]) for node in free
        }
        return min(free, key=lambda node: (others[node], self._draw.random()))


def _chains(tree: JoiningTree) -> list[tuple[int, list[int]]]:
    """Return step and nodes of each chain, the nodes from the end of the chain backwards.

    A chain comes after the chains that end at its nodes. No two chains end at the same node in one
    step, except for the two that the root joins, which have the last step.
    """
    joined = {tree.parent[node]: node for node in tree.joined if tree.parent[node] != tree.root}
    depth = {tree.root: 0}
    for node in tree.parent:
        depth[node] = depth[tree.parent[node]] + 1
    tops = [node for node in tree.parent if node not in joined.values()]
    taken: dict[int, set[int]] = {}
    chains = []
    for top in sorted(tops, key=lambda node: -depth[node]):
        nodes = [top]
        while nodes[-1] in joined:
            nodes.append(joined[nodes[-1]])
        step = 1 + max((step for node in nodes for step in taken.get(node, ())), default=0)
        ends = taken.setdefault(tree.parent[top], set())
        if top not in tree.joined:
            while step in ends:
                step += 1
            ends.add(step)
        chains.append((step, nodes))
    of_root = [tree.joined.issuperset(nodes[:1]) for _, nodes in chains]
    last = max((step for step, _ in chains), default=0)
    last += last in taken.get(tree.root, ())
    return [
        (last if joins else step, nodes)
        for joins, (step, nodes) in zip(of_root, chains, strict=True)
    ]


def _reducing_sends(tree: JoiningTree) -> tuple[list[int], list[list[int]]]:
    """Return the steps and the paths of the sends of a reduce, in order of step."""
    sends = [
        (step, [*reversed(nodes[: place + 1]), tree.parent[nodes[0]]])
        for step, nodes in _chains(tree)
        for place in range(len(nodes))
    ]
    sends.sort(key=lambda send: send[0])
    return [step for step, _ in sends], [path for _, path in sends]


def joining_reduce(
    topology: Topology, root: int, words: int, operator: str, *, all_port: bool = False
) -> Schedule:
    """Combine ``words`` words of all working nodes at ``root`` by ``operator``.

    ``all_port``: nodes have a port for every link. Raises :class:`.InvalidInput` for a faulty root,
    more than 4,096 working nodes, or a node without a path to the root.
    """
    topology.require_working("source", root)
    require_no_switches(topology, NAME)
    require_range("nodes for joining-tree", len(topology.working_nodes), 1, MOST_NODES)
    steps, paths = _reducing_sends(joining_tree(topology, root, words, all_port=all_port))
    blocks = Blocks.reduced_to(((root,),), words, operator)
    made = _schedule(topology, Collective.REDUCE, root, blocks, steps, paths, len(paths))
    return replace(made, port_model=PortModel.ALL_PORT) if all_port else made


def joining_all_reduce(
    topology: Topology, words: int, operator: str, *, all_port: bool = False
) -> Schedule:
    """Combine ``words`` words of all working nodes by ``operator``, for all of them.

    ``all_port``: a port for every link. Raises :class:`.InvalidInput` for more than 4,096
    working nodes, or nodes without a path to each other.
    """
    working = topology.working_nodes
    require_no_switches(topology, NAME)
    require_range("nodes for joining-tree", len(working), 1, MOST_NODES)
    trees = [
        joining_tree(topology, root, words, returning=True, all_port=all_port)
        for root in _middles(topology)
    ]
    path = snake(topology.dims, 0) if is_whole_grid(topology) else None
    if path is not None:
        trees.append(_two_chains(path))
    tree = min(trees, key=lambda each: each.delay)
    steps, paths = _reducing_sends(tree)
    others = [node for node in working.tolist() if node != tree.root]
    returning = light_tree(_without_links_of(topology, tree), tree.root, others)
    blocks = Blocks.reduced_to((None,), words, operator)
    last = max(steps, default=0) + 1
    made = _schedule(
        *(topology, Collective.ALL_REDUCE, None, blocks),
        *([*steps, *(last for _ in returning)], [*paths, *returning], len(paths)),
    )
    return replace(made, port_model=PortModel.ALL_PORT) if all_port else made


def _without_links_of(topology: Topology, tree: JoiningTree) -> Topology:
    """Return the network without the links of ``tree``, if all nodes are reached from its root."""
    left = with_faults(topology, faulty_links=tree.parent.items())
    (hops,) = hops_from(left, np.array([tree.root]))
    return topology if (hops[topology.working_nodes] == UNREACHED).any() else left


def _middles(topology: Topology) -> list[int]:
    """Return up to four working nodes with the least greatest distance to all others."""
    working = topology.working_nodes
    eccentricity = hops_from(topology, working)[:, working].max(axis=1, initial=0)
    return [int(node) for node in working[np.argsort(eccentricity, kind="stable")[:4]]]


def _schedule(
    topology: Topology,
    collective: str,
    root: int | None,
    blocks: Blocks,
    steps: list[int],
    paths: list[list[int]],
    combining: int,
) -> Schedule:
    """Return the schedule of these sends of one block; the first ``combining`` of them combine."""
    sends = len(paths)
    nodes = np.array([node for path in paths for node in path], np.int32)
    return Schedule(
        topology=topology,
        collective=collective,
        algorithm=NAME,
        port_model=PortModel.FULL_DUPLEX,
        root=root,
        blocks=blocks,
        step=np.array(steps, np.int32),
        source=np.array([path[0] for path in paths], np.int32),
        target=np.array([path[-1] for path in paths], np.int32),
        path_offsets=offsets_of([len(path) for path in paths]),
        path_nodes=nodes,
        vcs=np.zeros(len(nodes) - sends, np.int32),
        block_offsets=np.arange(sends + 1),
        block_ids=np.zeros(sends, np.int32),
        combine=np.arange(sends) < combining,
        circuits=True,
    )


def _reduce(request: Request) -> Schedule:
    return joining_reduce(
        *(request.topology, request.root, request.words, request.combining),
        all_port=request.all_port,
    )


def _all_reduce(request: Request) -> Schedule:
    return joining_all_reduce(
        *(request.topology, request.words, request.combining), all_port=request.all_port
    )


ALGORITHMS = (
    Declared(
        Collective.REDUCE,
        NAME,
        _reduce,
        networks="any network of circuits",
        steps="as many as chains wait for each other",
        takes=("operator", "all_port"),
        ports=(ONE, ALL),
        circuits=True,
    ),
    Declared(
        Collective.ALL_REDUCE,
        NAME,
        _all_reduce,
        networks="any network of circuits",
        steps="those of the reduce, and 1",
        takes=("operator", "all_port"),
        ports=(ONE, ALL),
        circuits=True,
    ),
)
