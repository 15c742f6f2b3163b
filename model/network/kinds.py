"""The kinds of network that have a name: one entry of :data:`KINDS` for each.

An entry holds a kind's option, its form in files, its number of nodes before it is made, and its
constructor. A new kind needs a constructor and an entry here. A transmitting host's own plan for a
kind is an entry of ``papers.transmit.schemes.SCHEMES``. Any other network is of kind "graph".
"""

from collections.abc import Callable
from dataclasses import dataclass
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
"""The kind of every network without a named kind, described by its table of neighbours."""

Size = tuple[int, ...]
"""The numbers that choose a network of a kind: sides, a dimension, or arms and their length."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of network.

    name
        The name in files, and of the option after ``--``.
    make
        The constructor. It takes the numbers of a size, or one tuple of them if it has sides.
    help, metavar
        Help of the option, and the word for its value there.
    allowed
        Words on what the option's value must be.
    separator
        Character between the numbers in the option's value.
    fields
        Names in files of the numbers of a size, one for each; with ``sides``, one for the list.
    sides
        True if a size is a list of sides of any length.
    nodes
        The number of nodes of a size, known before the network is made, as it may be too large.
    size
        The size of an existing network, without its faults.
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

    def network(self, size: Size) -> Topology:
        """Make the network of a size; raise :class:`.InvalidInput` for a size out of range."""
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
        ),
        Kind(
            name="torus",
            make=torus,
            help="The network: a torus of these sides, such as 4x4x4.",
            metavar="WxH",
            allowed="sides such as 8x8",
            fields=("dims",),
            sides=True,
            size=lambda topology: topology.dims,
        ),
        Kind(
            name="hypercube",
            make=hypercube,
            help="The network: a hypercube of N dimensions.",
            allowed="a dimension such as 4",
            fields=("dimension",),
            nodes=lambda size: 1 << min(size[0], 64),
            size=lambda topology: (len(topology.dims),),
        ),
        Kind(
            name="line",
            make=line,
            help="The network: a line of N nodes.",
        ),
        Kind(name="ring", make=ring, help="The network: a ring of N nodes."),
        Kind(
            name="binary-tree",
            make=binary_tree,
            help="The network: a binary tree of N nodes.",
        ),
        Kind(
            name="star-tree",
            make=star_tree,
            help="The network: P lines of K nodes around a centre.",
            metavar="PxK",
            allowed="arms and their length such as 3x12",
            fields=("arms", "length"),
            nodes=lambda size: 1 + prod(size),
            size=star_tree_size,
        ),
        Kind(
            name="diagonal-mesh",
            make=diagonal_mesh,
            help="The network: a square mesh of side N, with diagonal links.",
            allowed="a side such as 45",
            fields=("side",),
            nodes=lambda size: size[0] ** 2,
            size=lambda topology: topology.dims[:1],
        ),
        Kind(
            name="de-bruijn",
            make=de_bruijn,
            help="The network: a de Bruijn graph of N digits to base D.",
            metavar="D,N",
            allowed="a base and a length such as 2,5",
            separator=",",
            fields=("base", "length"),
            nodes=lambda size: size[0] ** min(size[1], 64),
            size=de_bruijn_size,
        ),
    )
}
"""Kinds by name, in the order in which help lists them."""
