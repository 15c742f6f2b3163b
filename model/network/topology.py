"""Topologies: any network as a table of neighbours, and constructors for grids and hypercubes.

A node has numbered ports. Port 0 is the node's own (injection and ejection); on a grid, port
``1 + 2*i`` leads up axis *i* (to the larger coordinate) and port ``2 + 2*i`` down it::

                      port 4                  node = x + width*y
                        |                     x grows along port 1, y along port 3
             port 2 --[node]-- port 1
                        |
                      port 3

A torus also links the last node of each axis up to the first one, by the same ports. An axis of
length 1 has no links. An axis of length 2 has two links each way, because the way up and the way
down both lead to the other node::

    length 4    .-> 0 <--> 1 <--> 2 <--> 3 <-.        length 2    0 <-- up 0, down 1 --> 1
                '----------------------------'                    0 <-- down 0, up 1 --> 1

A hypercube of dimension n has 2^n nodes. Port ``i + 1`` of a node leads to the node whose number
differs in bit *i*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range, with_article
from ..base.texts import integers

NO_LINK = -1
GRIDS = ("mesh", "torus", "hypercube", "line", "ring")
"""Kinds of network whose links are those of a grid, and no others."""
UNSAID = -1
"""The registers or the rate of a link of which the topology says nothing."""
MOST_LINK_REGISTERS = LONGEST_RATE = 63
"""Most registers of a link, and most cycles between two of its flits, where links differ."""
MOST_AXES = 31
LARGEST_NODE_COUNT = 1 << 24
LARGEST_PORT_COUNT = 1 << 28
"""Most ports of all nodes together; the two tables of a topology take eight bytes for each port."""
LARGEST_DIMENSION = 23
"""Largest dimension of a hypercube; 24 would exceed LARGEST_PORT_COUNT."""


@dataclass(frozen=True, eq=False, repr=False)
class Topology:
    """A network's nodes and directed links.

    Links come in pairs, one each way between the same two ports; a fault may remove one of the two.

    Attributes
    ----------
    kind
        The kind of network: "mesh", "torus", "graph", ...
    dims
        The side lengths of a grid, axis 0 first, by which coordinates are counted; for a hypercube
        (2, 2, ...), for a diagonal mesh (side, side), for any other graph ().
    neighbor
        ``neighbor[node, port]`` is the node at the far end of the link that leaves ``node`` by
        ``port``; -1 without a link, and in column 0. Shape (nodes, ports), int32.
    peer
        ``peer[node, port]`` is the port by which that link enters that node; -1 where ``neighbor``
        is.
    wrapped
        The axes of a grid whose two ends are linked.
    name
        The network's name for people, if dims and kind do not give it.
    faulty_nodes, faulty_links
        The nodes, and the links as pairs (from, to), that :func:`.with_faults` removed; ascending.
    without_faults
        The network from which they were removed; None without faults.
    switches
        Nodes that forward packets and have no network interface (docs/router.md, section 15): no
        send starts or ends there. Ascending; only graphs have switches.
    node_names
        The names of the nodes in the file of a graph, by number; () without names.
    link_registers_of, link_rate_of
        The registers of the link that leaves each node by each port, and its rate: at least this
        many cycles pass between two flits (docs/router.md, section 24). -1 for a link with the
        registers of the network, or the rate 1. Shape (nodes, ports); None if no link differs.
    """

    kind: str
    dims: tuple[int, ...]
    neighbor: npt.NDArray[np.int32]
    peer: npt.NDArray[np.int32]
    wrapped: tuple[int, ...] = ()
    name: str = ""
    faulty_nodes: tuple[int, ...] = ()
    faulty_links: tuple[tuple[int, int], ...] = ()
    without_faults: Topology | None = None
    switches: tuple[int, ...] = ()
    node_names: tuple[str, ...] = ()
    link_registers_of: npt.NDArray[np.int64] | None = None
    link_rate_of: npt.NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        limits = {"link_registers_of": MOST_LINK_REGISTERS, "link_rate_of": LONGEST_RATE}
        for (name, most), least in zip(limits.items(), (0, 1), strict=True):
            object.__setattr__(self, name, self._of_links(name, least, most))
        for table in (self.neighbor, self.peer):
            table.setflags(write=False)

    def _of_links(self, name: str, least: int, most: int) -> npt.NDArray[np.int64] | None:
        """Return a table with a value for each link, checked; None if it says nothing."""
        given = getattr(self, name)
        if given is None:
            return None
        table = np.where(self.neighbor != NO_LINK, np.asarray(given, np.int64), UNSAID)
        for value in table[(table != UNSAID) & ((table < least) | (table > most))][:1].tolist():
            raise InvalidInput.of(name.replace("_", " "), f"{least} to {most}, or -1", value)
        table.setflags(write=False)
        return table if (table != UNSAID).any() else None

    @property
    def links_differ(self) -> bool:
        """True if the topology gives the registers or the rate of any link."""
        return self.link_registers_of is not None or self.link_rate_of is not None

    @property
    def differing_links(self) -> npt.NDArray[np.bool_]:
        """The links whose registers or rate the topology says: shape (nodes, ports)."""
        said = np.zeros(self.neighbor.shape, np.bool_)
        for table in (self.link_registers_of, self.link_rate_of):
            if table is not None:
                said |= table != UNSAID
        return said

    def registers_of(self, link_registers: int) -> npt.NDArray[np.int64]:
        """Return the registers of each link in a network with ``link_registers``: (nodes, ports).

        Ports without a link, and port 0, have none.
        """
        return self._filled(self.link_registers_of, link_registers, none=0)

    @property
    def rates(self) -> npt.NDArray[np.int64]:
        """Least cycles between two flits on each link, shape (nodes, ports); 1 without a link."""
        return self._filled(self.link_rate_of, 1, none=1)

    def _filled(
        self, table: npt.NDArray[np.int64] | None, usual: int, *, none: int
    ) -> npt.NDArray[np.int64]:
        said = np.full(self.neighbor.shape, usual) if table is None else table
        said = np.where(said == UNSAID, usual, said)
        filled: npt.NDArray[np.int64] = np.where(self.neighbor == NO_LINK, none, said)
        return filled

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.label}, {self.nodes} nodes>"

    @property
    def nodes(self) -> int:
        """Number of nodes, faulty ones and switches included."""
        return int(self.neighbor.shape[0])

    @property
    def interfaces(self) -> int:
        """Number of nodes with a network interface, faulty ones included."""
        return self.nodes - len(self.switches)

    @property
    def has_interface(self) -> npt.NDArray[np.bool_]:
        """True for each node with a network interface, False for each switch: shape (nodes,)."""
        there = np.ones(self.nodes, np.bool_)
        there[[*self.switches]] = False
        return there

    def refusal(self, what: str, allowed: str) -> InvalidInput:
        """Return the error of ``what``, an algorithm that needs a network that is ``allowed``."""
        return InvalidInput.of(f"network for {what}", allowed, with_article(self.label))

    @property
    def whole_grid(self) -> bool:
        """True if this is a mesh, torus, line, ring or hypercube without faults.

        A diagonal mesh has ``dims``, too, but further links.
        """
        return self.kind in GRIDS and self.without_faults is None

    @property
    def working_nodes(self) -> npt.NDArray[np.int64]:
        """The nodes that take part: neither faulty nor switches; ascending."""
        works = np.ones(self.nodes, np.bool_)
        works[[*self.faulty_nodes, *self.switches]] = False
        return np.flatnonzero(works)

    @property
    def ports(self) -> int:
        """Number of ports of every node, port 0 included."""
        return int(self.neighbor.shape[1])

    @property
    def plain_label(self) -> str:
        """The network as people write it, without its switches and faults."""
        return self.name or "x".join(str(side) for side in self.dims) + f" {self.kind}"

    @property
    def label(self) -> str:
        """The network as people write it: "8x8 mesh", "7-cube with 1 faulty node"."""
        parts = [
            f"{len(nodes)} {one if len(nodes) == 1 else several}"
            for nodes, one, several in (
                (self.switches, "switch", "switches"),
                (self.faulty_nodes, "faulty node", "faulty nodes"),
                (self.faulty_links, "faulty link", "faulty links"),
            )
            if nodes
        ]
        if differing := int(self.differing_links.sum()):
            link = "link that differs" if differing == 1 else "links that differ"
            parts.append(f"{differing} {link}")
        listed = " and ".join((", ".join(parts[:-1]), *parts[-1:])).removeprefix(" and ")
        return f"{self.plain_label} with {listed}" if parts else self.plain_label

    def require_interface(self, parameter: str, node: int) -> None:
        """Raise :class:`InvalidInput` that names ``parameter`` if ``node`` is a switch."""
        if node in self.switches:
            raise InvalidInput.of(parameter, "a node with a network interface", f"switch {node}")

    def require_working(self, parameter: str, node: int) -> None:
        """Raise :class:`InvalidInput` for a ``node`` that is outside, faulty or a switch."""
        require_range(parameter, node, 0, self.nodes - 1)
        self.require_interface(parameter, node)
        if node in self.faulty_nodes:
            raise InvalidInput.of(parameter, "a node that is not faulty", node)

    @cached_property
    def longest_run(self) -> int:
        """The most hops that one route segment (one port) should cover; at least 1.

        It is the longest run that visits no node twice: L - 1 on an axis of length L. Shortest
        routes of a torus need only L // 2. But a schedule may go round a ring one way, and a detour
        may go the long way; the longer run costs a slot one bit. Faults do not change the result,
        so a network keeps its format when a link breaks. (Longer runs take several slots.)
        """
        if self.dims:
            return max(1, max(self.dims) - 1)
        whole = self.without_faults or self
        return max((1, *(_longest_chain(column.tolist()) for column in whole.neighbor.T[1:])))

    def coordinates(self, nodes: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return grid coordinates of ``nodes``: shape (..., axes), axis 0 first.

        In a graph that is not a grid a node has one coordinate, its number.
        """
        return np.stack(np.unravel_index(np.asarray(nodes), self._sides, order="F"), axis=-1)

    def node_at(self, coordinates: tuple[int, ...], parameter: str = "source") -> int:
        """Return the node at ``coordinates``; refuse coordinates outside, naming ``parameter``.

        On a grid of several axes a single coordinate is the number of a node.
        """
        sides = self._sides
        if len(coordinates) == 1 and len(sides) > 1 and 0 <= coordinates[0] < self.nodes:
            return coordinates[0]
        inside = len(coordinates) == len(sides) and all(
            0 <= c < side for c, side in zip(coordinates, sides, strict=True)
        )
        if not inside:
            corner = ",".join(str(side - 1) for side in sides)
            origin = ",".join("0" for _ in sides)
            given = ",".join(str(c) for c in coordinates)
            numbers = f", or 0 to {self.nodes - 1}" if len(coordinates) == 1 < len(sides) else ""
            allowed = f"a node of the {self.label}, {origin} to {corner}{numbers}"
            raise InvalidInput.of(parameter, allowed, given)
        return int(np.ravel_multi_index(coordinates, sides, order="F"))

    def ports_between(
        self, sources: npt.NDArray[np.integer], targets: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.int32]:
        """Return the port of the link from each source to each target, -1 without a link.

        Of parallel links the result is the lowest port: the way up a torus axis of length 2.
        A path, which lists only nodes, means these links.
        """
        found = np.full(sources.shape, NO_LINK, dtype=np.int32)
        for port in range(self.ports - 1, 0, -1):
            found[self.neighbor[sources, port] == targets] = port
        return found

    @property
    def _sides(self) -> tuple[int, ...]:
        return self.dims or (self.nodes,)


def _longest_chain(following: list[int]) -> int:
    """Return the most links in a chain of ``following`` (-1: end) that visits no node twice."""
    links: list[int] = [NO_LINK] * len(following)
    for start in range(len(following)):
        places: dict[int, int] = {}
        node = start
        while node != NO_LINK and links[node] == NO_LINK and node not in places:
            places[node] = len(places)
            node = following[node]
        begin = places.get(node, len(places))  # from here on, the chain's nodes form a circle
        walked = list(places)
        for circling in walked[begin:]:
            links[circling] = len(walked) - begin - 1
        ahead = links[node] if node != NO_LINK else NO_LINK
        for steps, before in enumerate(reversed(walked[:begin]), start=1):
            links[before] = ahead + steps
    return max(links)


def mesh(dims: Sequence[int] | str) -> Topology:
    """Return a mesh: a grid whose nodes are linked to their neighbours on each axis.

    Parameters
    ----------
    dims
        Number of nodes on each axis, axis 0 first: ``(8, 8)`` or ``"8x8"``.

    Returns
    -------
    Topology
        The network. Node numbers grow along axis 0 first.

    Raises
    ------
    InvalidInput
        If a side is no integer of at least 1, or the mesh has more than 2^24 nodes.

    Examples
    --------
    >>> mesh((3, 2)).neighbor[0].tolist()
    [-1, 1, -1, 3, -1]
    """
    sides = _sides("mesh", dims)
    return Topology("mesh", sides, *_grid(sides, wrapped=()))


def torus(dims: Sequence[int] | str) -> Topology:
    """Return a torus: a mesh in which the two ends of each axis are linked.

    >>> torus((3, 2)).neighbor[0].tolist()
    [-1, 1, 2, 3, 3]

    Parameters
    ----------
    dims
        Number of nodes on each axis, axis 0 first: ``(8, 8)`` or ``"8x8"``. An axis of 2
        nodes has two links each way.

    Returns
    -------
    Topology
        The network. Node numbers grow along axis 0 first.

    Raises
    ------
    InvalidInput
        If a side is no integer of at least 1, or the torus has more than 2^24 nodes.
    """
    sides = _sides("torus", dims)
    wrapped = tuple(axis for axis, side in enumerate(sides) if side > 1)
    return Topology("torus", sides, *_grid(sides, wrapped), wrapped=wrapped)


def line(nodes: int) -> Topology:
    """Return nodes in a line: a mesh with one axis.

    Parameters
    ----------
    nodes
        Number of nodes, 1 to 2^24.

    Returns
    -------
    Topology
        The network.

    Raises
    ------
    InvalidInput
        If the number is out of range.
    """
    require_range("nodes of line", nodes, 1, LARGEST_NODE_COUNT)
    return Topology("line", (nodes,), *_grid((nodes,), ()), name=f"line of {nodes}")


def ring(nodes: int) -> Topology:
    """Return nodes in a ring: a torus with one axis.

    Parameters
    ----------
    nodes
        Number of nodes, 1 to 2^24.

    Returns
    -------
    Topology
        The network.

    Raises
    ------
    InvalidInput
        If the number is out of range.
    """
    require_range("nodes of ring", nodes, 1, LARGEST_NODE_COUNT)
    wrapped = (0,) if nodes > 1 else ()
    tables = _grid((nodes,), wrapped)
    return Topology("ring", (nodes,), *tables, wrapped=wrapped, name=f"ring of {nodes}")


def hypercube(dimension: int) -> Topology:
    """Return a hypercube of 2^dimension nodes.

    >>> hypercube(3).neighbor[5].tolist()
    [-1, 4, 7, 1]

    Parameters
    ----------
    dimension
        Number of links of each node, 1 to 23. Port i + 1 of a node flips bit i of its number.

    Returns
    -------
    Topology
        The network.

    Raises
    ------
    InvalidInput
        If the dimension is out of range.
    """
    require_range("dimension of hypercube", dimension, 1, LARGEST_DIMENSION)
    neighbor = np.full((1 << dimension, 1 + dimension), NO_LINK, dtype=np.int32)
    peer = np.full_like(neighbor, NO_LINK)
    numbers = np.arange(1 << dimension, dtype=np.int32)
    for bit in range(dimension):
        neighbor[:, bit + 1] = numbers ^ (1 << bit)
        peer[:, bit + 1] = bit + 1
    return Topology("hypercube", (2,) * dimension, neighbor, peer, name=f"{dimension}-cube")


def _sides(kind: str, dims: Sequence[int] | str) -> tuple[int, ...]:
    """Return the sides of a grid, also of a text; raise :class:`InvalidInput` if there is none."""
    allowed = "integers such as (8, 8), or '8x8'"
    sides = integers("sides", allowed, dims, "x") if isinstance(dims, str) else tuple(dims)
    if not sides:
        raise InvalidInput.of(kind, "sides such as 8x8", "without sides")
    if len(sides) > MOST_AXES:
        raise InvalidInput.of(f"axes of {kind}", f"at most {MOST_AXES}", len(sides))
    text = "x".join(str(side) for side in sides)
    for side in sides:
        require_range(f"side of {kind} {text}", side, 1)
    nodes = prod(sides)
    if nodes > LARGEST_NODE_COUNT:
        raise InvalidInput.of(f"nodes of {kind} {text}", f"at most {LARGEST_NODE_COUNT}", nodes)
    require_port_count(f"{kind} {text}", nodes, 1 + 2 * len(sides))
    return sides


def require_port_count(name: str, nodes: int, ports: int) -> None:
    """Raise :class:`InvalidInput` if the tables of ``nodes`` x ``ports`` would be too large."""
    if nodes * ports > LARGEST_PORT_COUNT:
        allowed = f"at most {LARGEST_PORT_COUNT} in all nodes together"
        raise InvalidInput.of(f"ports of {name}", allowed, nodes * ports)


def _grid(
    dims: tuple[int, ...], wrapped: tuple[int, ...]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the tables ``neighbor`` and ``peer`` of a grid; axes ``wrapped`` have linked ends."""
    neighbor = np.full((prod(dims), 1 + 2 * len(dims)), NO_LINK, dtype=np.int32)
    peer = np.full_like(neighbor, NO_LINK)
    numbers = np.arange(prod(dims), dtype=np.int32)
    for axis in range(len(dims)):
        up, down = 1 + 2 * axis, 2 + 2 * axis
        # Views of the tables with this axis first, to link whole layers of nodes at once.
        at, to, by = (
            np.moveaxis(table.reshape(*dims[::-1], -1), -2 - axis, 0)
            for table in (numbers, neighbor, peer)
        )
        to[:-1, ..., up], by[:-1, ..., up] = at[1:, ..., 0], down
        to[1:, ..., down], by[1:, ..., down] = at[:-1, ..., 0], up
        if axis in wrapped:
            to[-1, ..., up], by[-1, ..., up] = at[0, ..., 0], down
            to[0, ..., down], by[0, ..., down] = at[-1, ..., 0], up
    return neighbor, peer
