"""The kinds of network that have a name: one entry for each, which all else is made from.

An entry says how a kind is asked for on the command line, what files say of it, how many nodes it
has before it is made, how it is made, how it is drawn, and which of its sizes a soak draws. A new
kind is a constructor and an entry here. A plan of its own for a transmitting host, if there is one,
is an entry of ``collectives.transmit.schemes.SCHEMES``. Any other network is of kind "graph".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from .named_graphs import (
    binary_tree,
    de_bruijn,
    de_bruijn_size,
    diagonal_mesh,
    star_tree,
    star_tree_size,
)
from .topology import Topology, hypercube, line, mesh, ring, torus

GRAPH = "graph"
"""The kind of every network that has no other, described by its table of neighbours."""

Size = tuple[int, ...]
"""The numbers that say which network of a kind: sides, or a dimension, or arms and their length."""


class Drawing(StrEnum):
    """Places of a network's nodes in the picture of a transmitting host's plan."""

    CIRCLE = "circle"
    GRID = "grid"
    LEVELS = "levels"
    RAYS = "rays"
    ROWS = "rows"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of network.

    name
        The name in files, and after ``--`` of the option.
    make
        The constructor, which takes the numbers of a size, or one tuple of them if it has sides.
    help, metavar
        Help of the option, and the word for its text there.
    allowed
        Words on what the option's text must be.
    separator
        Character between the numbers in the option's text.
    fields
        Names in files of the numbers of a size, one for each; one alone for a list of ``sides``.
    sides
        True where a size is any number of sides.
    nodes
        The number of nodes of a size, before a network is made that may be too large for that.
    size
        The size of a network that was made, its faults put aside.
    drawing
        Places of nodes in a drawing; a grid of more than two axes is a circle all the same.
    samples
        Sizes that a soak draws.
    """

    name: str
    make: Callable[..., Topology]
    help: str
    metavar: str = "N"
    allowed: str = "a number of nodes"
    separator: str = "x"
    fields: tuple[str, ...] = ("nodes",)
    sides: bool = False
    nodes: Callable[[Size], int] = prod
    size: Callable[[Topology], Size] = lambda topology: (topology.nodes,)
    drawing: Drawing = Drawing.CIRCLE
    samples: tuple[Size, ...] = ()

    def network(self, size: Size) -> Topology:
        """Make the network of a size; raises :class:`.InvalidInput` if there is none."""
        return self.make(size) if self.sides else self.make(*size)


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            name="mesh",
            make=mesh,
            help="The network: a mesh of these sides, such as 8x8.",
            metavar="WxH",
            allowed="sides such as 8x8",
            fields=("dims",),
            sides=True,
            size=lambda topology: topology.dims,
            drawing=Drawing.GRID,
            samples=((4, 4), (5, 3), (2, 2, 2), (1, 1), (1, 6), (2, 1, 3, 2)),
        ),
        Kind(
            name="torus",
            make=torus,
            help="Or a torus.",
            metavar="WxH",
            allowed="sides such as 8x8",
            fields=("dims",),
            sides=True,
            size=lambda topology: topology.dims,
            drawing=Drawing.GRID,
            samples=((4, 4), (5, 3), (2, 3), (3, 3, 2)),
        ),
        Kind(
            name="hypercube",
            make=hypercube,
            help="Or a hypercube of N dimensions.",
            allowed="a dimension such as 4",
            fields=("dimension",),
            nodes=lambda size: 1 << min(size[0], 64),
            size=lambda topology: (len(topology.dims),),
            samples=((4,),),
        ),
        Kind(
            name="line",
            make=line,
            help="Or a line of N nodes.",
            drawing=Drawing.ROWS,
            samples=((5,),),
        ),
        Kind(name="ring", make=ring, help="Or a ring of N nodes.", samples=((7,),)),
        Kind(
            name="binary-tree",
            make=binary_tree,
            help="Or a binary tree of N nodes.",
            drawing=Drawing.LEVELS,
        ),
        Kind(
            name="star-tree",
            make=star_tree,
            help="Or P lines of K nodes around a centre.",
            metavar="PxK",
            allowed="arms and their length such as 3x12",
            fields=("arms", "length"),
            nodes=lambda size: 1 + prod(size),
            size=star_tree_size,
            drawing=Drawing.RAYS,
        ),
        Kind(
            name="diagonal-mesh",
            make=diagonal_mesh,
            help="Or a square mesh of side N and diagonals.",
            allowed="a side such as 45",
            fields=("side",),
            nodes=lambda size: size[0] ** 2,
            size=lambda topology: topology.dims[:1],
            drawing=Drawing.GRID,
        ),
        Kind(
            name="de-bruijn",
            make=de_bruijn,
            help="Or a de Bruijn graph: N digits to base D.",
            metavar="D,N",
            allowed="a base and a length such as 2,5",
            separator=",",
            fields=("base", "length"),
            nodes=lambda size: size[0] ** min(size[1], 64),
            size=de_bruijn_size,
        ),
    )
}
"""By name, in the order in which help lists them."""


def drawing_of(topology: Topology) -> Drawing:
    """Choose where the nodes of ``topology`` are drawn when a host transmits."""
    drawing = KINDS[topology.kind].drawing if topology.kind in KINDS else Drawing.CIRCLE
    return Drawing.CIRCLE if drawing is Drawing.GRID and len(topology.dims) > 2 else drawing
