"""The tightest cut: where the most words must cross the fewest links.

A set of nodes X is a *cut* of what node t is owed: the words that nodes in X have for t, who is not
in X, must leave X by its links, one word per link and cycle. The most words per link over all X is
found by maximum flow, exactly, as ForestColl does (Zhao et al., "ForestColl: Throughput-Optimal
Collective Communications on Heterogeneous Network Fabrics", 2024, arXiv:2402.06787)::

    origin --words of v--> v ==links, p words each==> t       T = p / q

If all words come through while every link carries at most T words, no cut of t needs more than T.
If not, the minimum cut is an X that needs more; T becomes that, and so on (W. Dinkelbach, 1967):
each T is the ratio of a cut, so there is an end.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..network.links import directed_links
from ..network.topology import Topology
from .cut import Cut, NodeSet
from .flow import UNREACHED, Graph, Numbers, push, set_levels


class Cutter:
    """Looks for cuts of one network, forwards or, for what leaves one node, backwards."""

    def __init__(self, topology: Topology, *, backwards: bool = False) -> None:
        begins, ends = directed_links(topology)
        self._begins, self._ends = (ends, begins) if backwards else (begins, ends)
        nodes = topology.nodes
        each = np.arange(nodes)
        # The links first, then an arc from the origin, which is the last node, to each node.
        self._graph = Graph.of(
            nodes + 1,
            np.concatenate((self._begins, np.full(nodes, nodes))),
            np.concatenate((self._ends, each)),
        )

    def cut_of(self, inside: NodeSet, words: Numbers) -> Cut:
        """The cut that ``inside`` is for ``words`` of each node, all owed outside."""
        leaving = inside[self._begins] & ~inside[self._ends]
        return Cut(inside, int(words[inside].sum()), int(leaving.sum()))

    def tightest(self, words: Numbers, target: int, least: Fraction) -> Cut | None:
        """The cut of largest ratio between the nodes that have ``words`` and ``target``.

        None where no cut has a larger ratio than ``least``, which is above 0. ``words`` has shape
        (nodes,). A target that some word has no path to is a cut with 0 links.
        """
        graph, best = self._graph, None
        ratio = least
        origin = graph.nodes - 1
        while True:
            room = np.zeros(graph.head.size, np.int64)
            room[: 2 * len(self._begins) : 2] = ratio.numerator
            room[2 * len(self._begins) :: 2] = words * ratio.denominator
            needed = int(words.sum()) * ratio.denominator
            flown = push(graph.first, graph.arcs, graph.head, room, origin, target, needed)
            if flown == needed:
                return best
            level = np.empty(graph.nodes, np.int64)
            set_levels(graph.first, graph.arcs, graph.head, room, origin, level)
            best = self.cut_of(level[:-1] != UNREACHED, words)
            if not best.links:
                return best
            ratio = best.ratio
