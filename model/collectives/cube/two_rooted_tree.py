"""The two-rooted complete binary tree (TCBT) in a hypercube; its links are links of the cube.

A complete binary tree of 2^n - 1 nodes does not fit into an n-cube in this way. With its root split
into two roots it fits. In the middle is a path a - u - v - b: u and v are the two roots, a and b
the roots of two complete binary trees of 2^(n-1) - 1 nodes. Two copies make the next larger tree::

       copy 1        copy 2                     the tree of one dimension more

     a1-u1-v1-b1   a2-u2-v2-b2       a1-u1 - v1 - u2 - v2-b2       roots v1 and u2, below them
                                      a2-'              '-b1       u1 (over a1, a2) and v2 (b1, b2)

The copies lie in the two halves of the cube. The second copy is turned so that a2, u2, v2 lie where
u1, v1, b1 lie in the first half: then u1 - a2, v1 - u2 and b1 - v2 are links across the new
dimension. If the smaller tree's path crosses dimensions p, q, r, the second copy's dimensions are
permuted p to q and q to r, and the larger tree's path crosses q, new, r.

(Johnsson & Ho, section 3.3, describe the tree and cite others for the embedding. Bhatt & Ipsen,
"How to Embed Trees in Hypercubes", 1985, prove that one exists; this one is ours.)
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...base.arrays import Numbers
from .bits import NO_PARENT, highest_bit


@dataclass(frozen=True, eq=False)
class _Tree:
    """A tree: ``parent[node]``, -1 at the root u = ``path[1]``; ``path`` is nodes a, u, v, b."""

    parent: Numbers
    path: tuple[int, int, int, int]


@lru_cache(maxsize=1)
def _two_rooted_tree(dimension: int) -> Numbers:
    """Return ``parent[node]`` of the tree of 2^dimension nodes; node 0 is the root, with -1."""
    if dimension == 1:
        return np.array([NO_PARENT, 0])
    tree = _Tree(np.array([NO_PARENT, 0, 0, 2]), (1, 0, 2, 3))
    for new in range(2, dimension):
        tree = _doubled(tree, new)
    return _moved(tree.parent, np.arange(1 << dimension), tree.path[1])


def _moved(parent: Numbers, places: Numbers, by: int) -> Numbers:
    """Return the parents of the tree with node x moved to node ``places[x] ^ by``."""
    to = places ^ by
    moved = np.full_like(parent, NO_PARENT)
    inner = parent != NO_PARENT
    moved[to[inner]] = to[parent[inner]]
    return moved


def _doubled(tree: _Tree, new: int) -> _Tree:
    a, u, v, b = tree.path
    p, q, r = a ^ u, u ^ v, v ^ b
    nodes = np.arange(tree.parent.size)
    turned = nodes & ~(p | q | r)
    # p and r may be the same dimension: then p and q are exchanged.
    for old, image in {r: p, p: q, q: r}.items():
        turned |= np.where(nodes & old, image, 0)
    shift = int(turned[a]) ^ u
    second = _moved(tree.parent, turned, shift)
    second = np.where(second == NO_PARENT, NO_PARENT, second + nodes.size)
    parent = np.concatenate((tree.parent, second))
    a2, u2, v2 = ((int(turned[node]) ^ shift) + nodes.size for node in (a, u, v))
    parent[v], parent[u], parent[u2] = NO_PARENT, v, v
    parent[a2], parent[b] = u, v2
    return _Tree(parent, (u, v, u2, v2))


def binary_tree_parents(c: Numbers, _tree: int, n: int) -> Numbers:
    """Return the dimension of the link to each address's parent, -1 at address 0."""
    parent = _two_rooted_tree(n)[c]
    return np.where(parent == NO_PARENT, NO_PARENT, highest_bit(c ^ parent))


def binary_tree_children(c: Numbers, _tree: int, n: int) -> Numbers:
    """Return the dimensions of the links to each address's children, as a mask."""
    parent = _two_rooted_tree(n)
    found = np.zeros_like(c)
    for m in range(n):
        found |= np.where(parent[c ^ (1 << m)] == c, 1 << m, 0)
    return found
