"""Reduce, all-reduce and barrier by trees that join in the routers.

A router can join two words in a cycle, and one such pair::

    4 ──► 3 ──► 1 ──► 0        the routers of 3 and 1 join the arriving words with their node's own
          2 ──► 1              the words of 2 end at the interface of 1, before that

A node with two children in its router sends its own words to another router
(:mod:`.join_growth`)::

    5 ──► 3 ──► 1 ──► 0        the router of 3 joins the words of 5 and 4, and that of 4
          3 ⇄ 4                those of 4 and 3: node 3's own words leave for 4

So the words of an 8x8 mesh pass 16 hops and joins at most; in a chain it would be 125. The
root's own words wait in its memory. In an all-reduce the root is a node near the middle, and its
sums return to all nodes by one tree that forks (:mod:`.light_trees`), while others still come in.

The words of further children end at a node's interface, and the node sends the sum on later. One
port for all makes the returning sums wait. With a port for every link, the words of further
children come by lanes of their own, three cycles one after the other. (An all-reduce in pieces,
each with a root of its own, is slower: the pieces wait for each other at the adders.)

With all ports, an 8x8 torus needs 32 cycles for one word, and takes 53 for 16. In T cycles, the
word of a node d hops from the root passes at most T - d joins. In a tree of joins of two words the
sum of 2^-joins is 1. So the sum of 2^d, which is 2,025, is at most 2^T: T is 11 or more. The root's
interface takes 5 cycles, the way back 8, and reading the first and writing the last word 8.
"""

import random
from dataclasses import replace

import numpy as np

from ...bounds.hops import UNREACHED, hops_from
from ...network.faults import with_faults
from ...network.port_model import PortModel
from ...network.topology import NO_LINK, Topology
from ...schedule.blocks import Blocks
from ...schedule.builder import path_columns
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared
from ..declared.request import Request
from ..reductions.backwards import against, require_reached
from .join_growth import Growing, Growth, JoiningTree
from .light_trees import light_tree, require_no_switches

PASSING = 5
"""Cycles from the last word of a sum at the root until it leaves the root again."""

DRAWS = 100
"""Trees drawn for a small network; fewer for a large one, in proportion."""

NAME = "joining-tree"


def joining_tree(
    topology: Topology, root: int, words: int, *, returning: bool = False, all_port: bool = False
) -> tuple[JoiningTree, int]:
    """Return the best drawn tree for ``words`` words, and the cycles back from its root.

    ``returning``: the sums return to all nodes, as in an all-reduce; otherwise these cycles are 0.
    ``all_port``: nodes have a port for every link. Raises :class:`.InvalidInput` for a node without
    a path to the root.
    """
    require_reached(topology, root)
    turned = against(topology)
    (hops,) = hops_from(turned, np.array([root]))
    feeders, followers = (
        [[end for end in ends if end != NO_LINK] for ends in links.neighbor[:, 1:].tolist()]
        for links in (turned, topology)
    )
    # The words of a child fill the port into its parent, and the sums come some hops after the end.
    waits = returning and not all_port
    free_from = [words - PASSING - away if waits else 0 for away in hops.tolist()]
    free_from[root] = 0
    growing = Growing(root, feeders, followers, hops.tolist(), free_from, returning)
    draws = max(1, DRAWS * 64 // topology.nodes) if topology.nodes > 64 else DRAWS
    trees = (
        Growth(growing, random.Random(number), wide=number > 0).tree(0 if all_port else words)
        for number in range(1 + draws)
    )
    found = [(tree, _back(growing, tree, words) if returning else 0) for tree in trees if tree]
    tree, back = min(found, key=lambda each: each[0].delay + each[1])
    return tree, back


def _back(growing: Growing, tree: JoiningTree, words: int) -> int:
    """Return the cycles that sums return to all nodes, past the links of ``tree`` if they can."""
    taken, away = tree.links(), {tree.root: 0}
    for node in (queue := [tree.root]):
        for each in growing.followers[node]:
            if each not in away and (node, each) not in taken:
                away[each] = away[node] + 1
                queue.append(each)
    if len(away) > len(tree.parent):
        return max(away.values())
    return words + max(growing.hops)


def _parts(tree: JoiningTree) -> list[tuple[int, list[int]]]:
    """Return step and nodes of each part of a tree: the nodes whose words become one sum.

    A part comes after the parts that end at its nodes. No two parts end at the same node in one
    step. The part that the root's router joins has the last step.
    """
    nodes: dict[int, list[int]] = {tree.root: []}
    part = {tree.root: tree.root}
    for node, parent in tree.parent.items():
        part[node] = part[parent] if node in tree.joined else node
        nodes.setdefault(part[node], []).append(node)
    taken: dict[int, set[int]] = {}
    parts = []
    for top in reversed(nodes):
        if top == tree.root:
            break
        step = 1 + max((step for node in nodes[top] for step in taken.get(node, ())), default=0)
        ends = taken.setdefault(tree.parent[top], set())
        while step in ends:
            step += 1
        ends.add(step)
        parts.append((step, nodes[top]))
    last = 1 + max((step for node in part for step in taken.get(node, ())), default=0)
    return [*parts, (last, nodes[tree.root])]


def _reducing_sends(tree: JoiningTree) -> tuple[list[int], list[list[int]]]:
    """Return the steps and the paths of the sends of a reduce, in order of step."""
    sends = [(step, tree.path(node)) for step, nodes in _parts(tree) for node in nodes]
    sends.sort(key=lambda send: send[0])
    return [step for step, _ in sends], [path for _, path in sends]


def joining_reduce(
    topology: Topology, root: int, words: int, operator: str, *, all_port: bool = False
) -> Schedule:
    """Combine ``words`` words of all working nodes at ``root`` by ``operator``.

    ``all_port``: nodes have a port for every link. Raises :class:`.InvalidInput` for a faulty root,
    or a node without a path to the root.
    """
    topology.require_working("source", root)
    require_no_switches(topology, NAME)
    tree, _ = joining_tree(topology, root, words, all_port=all_port)
    steps, paths = _reducing_sends(tree)
    blocks = Blocks.reduced_to(((root,),), words, operator)
    made = _schedule(topology, Collective.REDUCE, root, blocks, steps, paths, len(paths))
    return replace(made, port_model=PortModel.ALL_PORT) if all_port else made


def joining_all_reduce(
    topology: Topology, words: int, operator: str, *, all_port: bool = False
) -> Schedule:
    """Combine ``words`` words of all working nodes by ``operator``, for all of them.

    ``all_port``: a port for every link. Raises :class:`.InvalidInput` for nodes without a path to
    each other.
    """
    working = topology.working_nodes
    require_no_switches(topology, NAME)
    trees = [
        joining_tree(topology, root, words, returning=True, all_port=all_port)
        for root in _middles(topology)
    ]
    tree, _ = min(trees, key=lambda each: each[0].delay + each[1])
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
    left = with_faults(topology, faulty_links=tree.links())
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
    return Schedule(
        topology=topology,
        collective=collective,
        algorithm=NAME,
        port_model=PortModel.FULL_DUPLEX,
        root=root,
        blocks=blocks,
        step=np.array(steps, np.int32),
        combine=np.arange(len(paths)) < combining,
        circuits=True,
        **path_columns(paths, [[0]] * len(paths)),
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
        networks="networks of circuits without switches",
        steps="as many as chains wait for each other",
        takes=("operator", "all_port"),
        ports=(ONE, ALL),
        circuits=True,
    ),
    Declared(
        Collective.ALL_REDUCE,
        NAME,
        _all_reduce,
        networks="networks of circuits without switches",
        steps="those of the reduce, and 1",
        takes=("operator", "all_port"),
        ports=(ONE, ALL),
        circuits=True,
    ),
)
