"""Spanning graphs of a hypercube, from any source: one tree, or n trees that share the data.

An n-cube has N = 2^n nodes; the dimension d of a link is the bit in which its two ends differ. All
graphs are defined for node 0 and translated to a source s by exclusive or: a node has the place of
address c = node ^ s in the graph of node 0. Two examples, in a 3-cube from node 000::

    SBT     000 -> 001 -> 011 -> 111    a node complements the zeros above its highest one
                       -> 101
                -> 010 -> 110
                -> 100
    BRG     000 -> 001 -> 011 -> 010 -> 110 -> 111 -> 101 -> 100          the Gray code's path

=========  =====  =================================================================================
name       trees  graph, and the section of the paper
=========  =====  =================================================================================
``brg``    1      binary-reflected Gray code path (3.1)
``nrbrg``  n      that path, rotated by 0 to n - 1 bits (3.1)
``sbt``    1      spanning binomial tree (3.2)
``tcbt``   1      two-rooted complete binary tree (3.3), see :mod:`.two_rooted_tree`
``nrsbt``  n      the SBT, rotated by 0 to n - 1 bits (3.4)
``nesbt``  n      n edge-disjoint spanning binomial trees (3.5)
``sbnt``   n      spanning balanced n-tree: SBnTc, with several paths to cyclic nodes (3.6)
=========  =====  =================================================================================

(Johnsson & Ho, "Spanning Graphs for Optimum Broadcasting and Personalized Communication in
Hypercubes", Yale University, YALEU/DCS/TR-500, 1986.) The trees of a graph carry equal shares of
the data. ``trees[0]`` of ``sbnt`` is the paper's SBnT, which has one path to every node.

The paper has functions for the parent and the children in the binomial trees and the SBnT; those
for the paths and the two-rooted tree are ours. All are whole-array functions of the relative
addresses. A tree keeps the results of both, so that a test can check one by the other (the
two-rooted tree derives its children from its parents).

One word in the paper's definition of the SBnT is wrong: "for a non-cyclic node i, P_i < n" must say
"cyclic".
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...base.arrays import Numbers
from ...base.errors import InvalidInput, one_of, require_range
from .bits import NO_PARENT, count_ones, highest_bit, rotate_right
from .two_rooted_tree import binary_tree_children, binary_tree_parents

LARGEST_CUBE = 20
"""The largest dimension for which spanning graphs are made: a million nodes."""


@dataclass(frozen=True, eq=False)
class SpanningTree:
    """A spanning tree of a hypercube, its links directed away from ``root``.

    ``parent[node]`` is the node before each node, -1 for the root; ``children[node]`` the nodes
    after it, as a mask: bit d is set if there is one across dimension d. Shapes (N,), int64.
    """

    root: int
    parent: Numbers
    children: Numbers

    @property
    def nodes(self) -> int:
        """Number of nodes, N."""
        return int(self.parent.size)

    @cached_property
    def dimension(self) -> Numbers:
        """Dimension of the link that enters each node, -1 for the root; shape (N,)."""
        nodes = np.arange(self.nodes)
        return highest_bit(np.where(self.parent == NO_PARENT, 0, nodes ^ self.parent))

    @cached_property
    def level(self) -> Numbers:
        """Links from the root to each node, shape (N,), by pointer doubling."""
        ahead = np.where(self.parent == NO_PARENT, self.root, self.parent)
        levels: Numbers = (self.parent != NO_PARENT).astype(np.int64)
        while (ahead != self.root).any():
            levels, ahead = levels + levels[ahead], ahead[ahead]
        return levels

    @property
    def height(self) -> int:
        """The largest level."""
        return int(self.level.max())

    @property
    def greedy(self) -> bool:
        """True if every node is as near to the root as in the cube (section 2)."""
        return bool((self.level == count_ones(np.arange(self.nodes) ^ self.root)).all())

    @property
    def links(self) -> Numbers:
        """The directed links, as ``parent * N + child``, ascending; shape (N - 1,)."""
        nodes = np.flatnonzero(self.parent != NO_PARENT)
        return np.sort(self.parent[nodes] * self.nodes + nodes)


@dataclass(frozen=True, eq=False)
class SpanningGraph:
    """One or n spanning trees of the cube with ``dimension`` dimensions, from one root."""

    name: str
    dimension: int
    root: int
    trees: tuple[SpanningTree, ...]

    @property
    def nodes(self) -> int:
        """Number of nodes, N."""
        return 1 << self.dimension

    @property
    def height(self) -> int:
        """The largest level of any tree."""
        return max(tree.height for tree in self.trees)

    @property
    def greedy(self) -> bool:
        """True if all trees are greedy."""
        return all(tree.greedy for tree in self.trees)

    @property
    def edge_disjoint(self) -> bool:
        """True if no two trees share a directed link."""
        links = np.concatenate([tree.links for tree in self.trees])
        return np.unique(links).size == links.size


def bases(numbers: Numbers, tree: int, dimension: int) -> Numbers:
    """Return the base of each relative address in SBnT ``tree`` (section 3.6).

    The base is a right rotation that makes the address least. A non-cyclic address has one such
    rotation; of a cyclic address's several, the base has the least (rotation + tree) mod n.
    """
    keys = [
        rotate_right(numbers, by, dimension) * dimension + (by + tree) % dimension
        for by in range(dimension)
    ]
    least: Numbers = np.argmin(np.stack(keys), axis=0)
    return least


def _next_one(c: Numbers, j: Numbers | int, n: int) -> tuple[Numbers, Numbers]:
    """Return the paper's k and its set M, as a mask, for bit j of each address c.

    k is the first set bit cyclically to the right of bit j, or j if no other bit is set. M is the
    mask of the bits strictly between, k + 1 to j - 1. At c = 0, k is -1 and M has all bits.
    """
    j = np.broadcast_to(np.asarray(j), c.shape)
    turned = (c >> j) | ((c << (n - j)) & ((1 << n) - 1))
    high = highest_bit(turned)
    zeros = ((1 << n) - 1) & ~((1 << (high + 1)) - 1)
    between = ((zeros << j) | (zeros >> (n - j))) & ((1 << n) - 1)
    return np.where(c == 0, NO_PARENT, (high + j) % n), between


def _bit(c: Numbers, j: Numbers | int) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (c >> j) & 1 == 1
    return found


def _sbt_parent(c: Numbers, j: int, n: int) -> Numbers:
    return _next_one(c, j, n)[0]


def _sbt_children(c: Numbers, j: int, n: int) -> Numbers:
    return _next_one(c, j, n)[1]


def _nesbt_parent(c: Numbers, j: int, n: int) -> Numbers:
    return np.where(_bit(c, j) | (c == 0), _next_one(c, j, n)[0], j)


def _nesbt_children(c: Numbers, j: int, n: int) -> Numbers:
    k, between = _next_one(c, j, n)
    inner = between | np.where(k != j, 1 << j, 0)
    return np.where(c == 0, 1 << j, np.where(_bit(c, j), inner, 0))


def _sbnt_parent(c: Numbers, r: int, n: int) -> Numbers:
    return _next_one(c, bases(c, r, n), n)[0]


def _sbnt_children(c: Numbers, r: int, n: int) -> Numbers:
    base = bases(c, r, n)
    between = _next_one(c, base, n)[1]
    found = np.zeros_like(c)
    for m in range(n):
        same = (bases(c ^ (1 << m), r, n) == base) | (c == 0)
        found |= np.where(_bit(between, m) & same, 1 << m, 0)
    return found


def _brg_places(c: Numbers, j: int, n: int) -> Numbers:
    """Return the index of each address along path j: the number with this Gray code."""
    places = rotate_right(c, j, n)
    shift = 1
    while shift < n:
        places = places ^ (places >> shift)
        shift *= 2
    return places


def _brg_parent(c: Numbers, j: int, n: int) -> Numbers:
    places = _brg_places(c, j, n)
    crossed = highest_bit(places & -places)  # the rightmost 0 of the index before
    return np.where(c == 0, NO_PARENT, (crossed + j) % n)


def _brg_children(c: Numbers, j: int, n: int) -> Numbers:
    places = _brg_places(c, j, n)
    crossed = highest_bit(~places & (places + 1))
    return np.where(places == (1 << n) - 1, 0, 1 << ((crossed + j) % n))


Rule = Callable[[Numbers, int, int], Numbers]

_RULES: dict[str, tuple[Rule, Rule, bool]] = {
    "brg": (_brg_parent, _brg_children, False),
    "nrbrg": (_brg_parent, _brg_children, True),
    "sbt": (_sbt_parent, _sbt_children, False),
    "tcbt": (binary_tree_parents, binary_tree_children, False),
    "nrsbt": (_sbt_parent, _sbt_children, True),
    "nesbt": (_nesbt_parent, _nesbt_children, True),
    "sbnt": (_sbnt_parent, _sbnt_children, True),
}
"""For each graph: functions of the parent's and the children's dimensions, and whether n trees."""

GRAPHS = tuple(_RULES)
"""The names of the spanning graphs."""


def spanning_graph(name: str, dimension: int, source: int = 0) -> SpanningGraph:
    """Return spanning graph ``name`` of the cube with ``dimension`` dimensions, from ``source``.

    Raises :class:`InvalidInput` for a name not in :data:`GRAPHS`, for a dimension not in 1 to
    :data:`LARGEST_CUBE` and for a source outside the cube.
    """
    if name not in _RULES:
        raise InvalidInput.of("spanning graph", one_of(GRAPHS), name)
    require_range("dimension of hypercube", dimension, 1, LARGEST_CUBE)
    require_range("source", source, 0, (1 << dimension) - 1)
    parent, children, several = _RULES[name]
    nodes = np.arange(1 << dimension)
    relative = nodes ^ source
    trees = []
    for tree in range(dimension if several else 1):
        crossed = parent(relative, tree, dimension)
        before = np.where(crossed == NO_PARENT, NO_PARENT, nodes ^ (1 << np.maximum(crossed, 0)))
        trees.append(SpanningTree(source, before, children(relative, tree, dimension)))
    return SpanningGraph(name, dimension, source, tuple(trees))
