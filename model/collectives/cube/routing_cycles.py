"""The routing cycle of each link of a spanning graph: the paper's labellings.

All functions return one array for each tree: ``cycles[tree][node]`` is the cycle (from 0) of the
link that enters the node, -1 at the root; shape (N,), int64.

With one port a node exchanges with one neighbour in a cycle. If all nodes are roots at the same
time, all links of a cycle must be of the same dimension, and cycles must grow along each path
(section 6, rules 1 and 2). The cycle of a link of dimension d in tree j::

    SBT     d                          cycles 0 to n - 1
    nRSBT   j + (d - j) mod n          tree j is one cycle later than tree j - 1: to 2n - 2
    SBnT    b + (d - b) mod n          b is the base of the node: to 2n - 2
    nESBT   j + (d - j) mod n,         f(i, j) of Theorem 4.1: to 2n - 1
            j + n into leaves (d = j)
"""

import numpy as np

from ...base.arrays import Numbers
from .bits import NO_PARENT
from .spanning_graphs import SpanningGraph, SpanningTree, bases

ONE_DIMENSION_A_CYCLE = ("brg", "sbt", "nrsbt", "nesbt", "sbnt")
"""The graphs with one-port cycles in which all nodes are roots at the same time."""


def level_cycles(graph: SpanningGraph) -> list[Numbers]:
    """Return cycle l for each link at level l, for n ports (sections 4 to 7)."""
    return [tree.level - 1 for tree in graph.trees]


def dimension_cycles(graph: SpanningGraph) -> list[Numbers]:
    """Return cycle i for links of dimension (j + i) mod n in tree j: nRSBT (section 4.1.4).

    For n ports. In each cycle a dimension belongs to one tree, so no two trees share a link. The
    SBT uses dimension i in cycle i.
    """
    n = graph.dimension
    return [
        np.where(tree.parent == NO_PARENT, NO_PARENT, (tree.dimension - j) % n)
        for j, tree in enumerate(graph.trees)
    ]


def one_port_cycles(graph: SpanningGraph) -> list[Numbers]:
    """Return the cycles of a graph of :data:`ONE_DIMENSION_A_CYCLE`, as in the table above."""
    if graph.name == "brg":
        return level_cycles(graph)
    n = graph.dimension
    relative = np.arange(graph.nodes) ^ graph.root
    cycles = []
    for j, tree in enumerate(graph.trees):
        start = bases(relative, j, n) if graph.name == "sbnt" else np.full(graph.nodes, j)
        cycle = start + (tree.dimension - start) % n
        if graph.name == "nesbt":
            cycle = np.where((relative >> j) & 1, cycle, j + n)
        cycles.append(np.where(tree.parent == NO_PARENT, NO_PARENT, cycle))
    return cycles


def tallest_first_cycles(tree: SpanningTree) -> Numbers:
    """Return cycles for one port and one root: each node serves its tallest subtrees first.

    (Section 4.1.2. The SBT uses dimension i in cycle i.) Of two equally tall subtrees the one
    across the lower dimension goes first.
    """
    deepest = _deepest_below(tree)
    nodes = np.flatnonzero(tree.parent != NO_PARENT)
    order = np.lexsort((tree.dimension[nodes], -deepest[nodes], tree.parent[nodes]))
    nodes = nodes[order]
    parents = tree.parent[nodes]
    begins = np.searchsorted(parents, parents)
    turn = np.zeros(tree.nodes, np.int64)
    turn[nodes] = np.arange(nodes.size) - begins
    cycle = np.full(tree.nodes, NO_PARENT)
    for level in range(1, tree.height + 1):
        here = np.flatnonzero(tree.level == level)
        cycle[here] = cycle[tree.parent[here]] + 1 + turn[here]
    return cycle


def _deepest_below(tree: SpanningTree) -> Numbers:
    """Return the largest level in the subtree of each node."""
    deepest = tree.level.copy()
    for level in range(tree.height, 0, -1):
        here = np.flatnonzero(tree.level == level)
        np.maximum.at(deepest, tree.parent[here], deepest[here])
    return deepest


def most_links_at_a_node(tree: SpanningTree) -> int:
    """Return the most links, in and out together, of any node of the tree."""
    entering = tree.parent != NO_PARENT
    return int((np.bitwise_count(tree.children) + entering).max())
