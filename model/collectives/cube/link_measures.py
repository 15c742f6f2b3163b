"""Loads of the links of a spanning graph, by level and dimension, counted link by link.

A link is at level l if it leads from a node of level l to one of level l + 1; it is of dimension d
if it crosses dimension d. The names of Johnsson & Ho (section 3; Lemmas 3.1 to 3.28, Table 1)::

    E_d, e_ld     directed links of the graph in dimension d, and those of level l; a link that
                  several trees share counts once
    Ew_d, ew_ld   the same with their weights: each tree that has the link adds 1 / trees
    s_ld          nodes in all subtrees that hang from level l by a link of dimension d
    r_ld          nodes that are l levels below the end of a link of dimension d

The weighted quantities are sums over the trees, divided by the number of trees. This module keeps
the undivided sums, which are integers.

In routing cycle l of an all-to-all broadcast a link of the cube carries ew_ld times M words (Lemma
3.3). In an all-to-all personalized communication it carries sw_ld times M in postorder, and rw_ld
times M in reverse breadth first order (Lemma 3.5).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...base.arrays import Numbers
from .bits import NO_PARENT
from .spanning_graphs import SpanningGraph, SpanningTree


@dataclass(frozen=True, eq=False)
class Measures:
    """The counts of one spanning graph; height h, n dimensions; int64.

    ``links`` is E_d, shape (n,), and ``level_links`` e_ld, shape (h, n). The rest are sums over the
    trees, ``trees`` times the paper's quantities: ``weighted_links`` Ew_d, shape (n,);
    ``weighted_level_links`` ew_ld, ``subtree_nodes`` sw_ld and ``nodes_below`` rw_ld, shape (h, n).
    """

    trees: int
    links: Numbers
    level_links: Numbers
    weighted_links: Numbers
    weighted_level_links: Numbers
    subtree_nodes: Numbers
    nodes_below: Numbers


def measures(graph: SpanningGraph) -> Measures:
    """Count all :class:`Measures`, in time proportional to the sum of all nodes' levels."""
    shape = graph.height, graph.dimension
    below = np.zeros(shape, np.int64)
    subtrees = np.zeros(shape, np.int64)
    inner = []
    for tree in graph.trees:
        inner.append(np.flatnonzero(tree.parent != NO_PARENT))
        for ancestors, nodes in ancestors_of_nodes(tree):
            dimensions = tree.dimension[ancestors]
            np.add.at(subtrees, (tree.level[ancestors] - 1, dimensions), 1)
            np.add.at(below, (tree.level[nodes] - tree.level[ancestors], dimensions), 1)
    # One row for each link of each tree: its level, its dimension and the link itself.
    level = np.concatenate([t.level[at] - 1 for t, at in zip(graph.trees, inner, strict=True)])
    across = np.concatenate([t.dimension[at] for t, at in zip(graph.trees, inner, strict=True)])
    end = np.concatenate(inner)
    by_level = level * graph.dimension + across
    link = end * graph.dimension + across
    weighted = np.bincount(by_level, minlength=shape[0] * shape[1]).reshape(shape)
    distinct = np.unique(by_level * (graph.nodes * graph.dimension) + link)
    level_links = np.bincount(
        distinct // (graph.nodes * graph.dimension), minlength=shape[0] * shape[1]
    ).reshape(shape)
    links = np.bincount(np.unique(link) % graph.dimension, minlength=graph.dimension)
    return Measures(
        len(graph.trees), links, level_links, weighted.sum(axis=0), weighted, subtrees, below
    )


def ancestors_of_nodes(tree: SpanningTree) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield all pairs of a node and one of its ancestors, without the root.

    Yields arrays (ancestors, nodes); each node is also its own ancestor.
    """
    nodes = np.flatnonzero(tree.parent != NO_PARENT)
    ancestors = nodes
    while nodes.size:
        yield ancestors, nodes
        above = tree.parent[ancestors]
        inner = above != tree.root
        ancestors, nodes = above[inner], nodes[inner]
