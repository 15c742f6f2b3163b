"""The tightest cut: where the most words must cross the fewest links.

A set of nodes X is a *cut* for a node t outside X: the words that nodes in X have for t must leave
X by its links, one word per link and cycle (a link of rate r: one in r cycles). Maximum flow finds
the largest number of words per link over all X exactly, as in ForestColl (Zhao et al.,
"ForestColl: Throughput-Optimal Collective Communications on Heterogeneous Network Fabrics", 2024,
arXiv:2402.06787)::

    origin --words of v--> v ==links, p words each==> t       T = p / q

If all words arrive while every link carries at most T words, no cut of t needs more than T. If not,
the minimum cut is an X that needs more; T becomes its ratio, and the search repeats (W. Dinkelbach,
1967). Each T is the ratio of a cut and larger than the one before, so the search ends.
"""

from fractions import Fraction

import numpy as np

from ..base.arrays import Numbers
from ..network.links import directed_links
from ..network.topology import Topology
from .cut import Cut, NodeSet, shares
from .flow import UNREACHED, Graph, push, set_levels


class Cutter:
    """A search for cuts of one network: for words to one node, or backwards, from one node."""

    def __init__(self, topology: Topology, *, backwards: bool = False) -> None:
        begins, ends = directed_links(topology)
        self._begins, self._ends = (ends, begins) if backwards else (begins, ends)
        self._shares, self._cycles = shares(topology)
        nodes = topology.nodes
        each = np.arange(nodes)
        # First the links, then one arc from the origin (the last node) to each node.
        self._graph = Graph.of(
            nodes + 1,
            np.concatenate((self._begins, np.full(nodes, nodes))),
            np.concatenate((self._ends, each)),
        )

    def cut_of(self, inside: NodeSet, words: Numbers) -> Cut:
        """Return ``inside`` as a cut; ``words`` of each of its nodes are owed outside."""
        leaving = inside[self._begins] & ~inside[self._ends]
        capacity = Fraction(int(self._shares[leaving].sum()), self._cycles)
        return Cut(inside, int(words[inside].sum()), int(leaving.sum()), capacity)

    def tightest(self, words: Numbers, target: int, least: Fraction) -> Cut | None:
        """Return the cut of the largest ratio between the nodes that have ``words`` and ``target``.

        None if no cut has a larger ratio than ``least``, which is above 0. ``words`` has shape
        (nodes,). If some words have no path to ``target``, the cut has 0 links.
        """
        graph, best = self._graph, None
        ratio = least
        origin = graph.nodes - 1
        while True:
            room = np.zeros(graph.head.size, np.int64)
            scale = ratio.denominator * self._cycles
            room[: 2 * len(self._begins) : 2] = ratio.numerator * self._shares
            room[2 * len(self._begins) :: 2] = words * scale
            needed = int(words.sum()) * scale
            flown = push(graph.first, graph.arcs, graph.head, room, origin, target, needed)
            if flown == needed:
                return best
            level = np.empty(graph.nodes, np.int64)
            set_levels(graph.first, graph.arcs, graph.head, room, origin, level)
            best = self.cut_of(level[:-1] != UNREACHED, words)
            if not best.links:
                return best
            ratio = best.ratio
