"""Ways over links that a package's bench sends packets and words by, from node to node."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..model.network.segment import Segment
from ..model.network.topology import NO_LINK, Topology

Link = tuple[int, int]
"""A node, and the port by which the link leaves it."""


def end_of(topology: Topology, link: Link) -> Link:
    """Return the node to which a link leads, and the port by which it enters."""
    return int(topology.neighbor[link]), int(topology.peer[link])


def end_of_route(topology: Topology, node: int, route: Sequence[Segment]) -> Link:
    """Return the node at the end of a route, and the port by which a packet gets there.

    The route goes no further at a node without the link.
    """
    entry = 0
    for port, hops, _ in route:
        for _ in range(hops):
            if topology.neighbor[node, port] != NO_LINK:
                node, entry = end_of(topology, (node, port))
    return node, entry


def links_into(topology: Topology, node: int) -> list[Link]:
    """Return the links that lead to a node."""
    links = np.argwhere(topology.neighbor == node).tolist()
    return [(there, port) for there, port in links if port]


def way_to(topology: Topology, link: Link, besides: int = NO_LINK) -> list[Link]:
    """Return a shortest way that ends with a link and begins at a node; empty if there is none.

    No way turns back, and none begins where it ends, nor at the node ``besides``.
    """
    nodes = {*topology.working_nodes.tolist()} - {end_of(topology, link)[0], besides}
    ways, seen = deque([[link]]), {link}
    while ways:
        way = ways.popleft()
        at, out = way[0]
        if at in nodes:
            return way
        for before in links_into(topology, at):
            if before not in seen and end_of(topology, before)[1] != out:
                seen.add(before)
                ways.append([before, *way])
    return []


def way_from(topology: Topology, link: Link, source: int) -> list[Link]:
    """Return a shortest way that begins with a link and ends at a node other than the source."""
    nodes = {*topology.working_nodes.tolist()} - {source}
    ways, seen = deque([[link]]), {link}
    while ways:
        way = ways.popleft()
        at, entry = end_of(topology, way[-1])
        if at in nodes:
            return way
        ports = np.flatnonzero(topology.neighbor[at] != NO_LINK).tolist()
        for following in ((at, port) for port in ports if port and port != entry):
            if following not in seen:
                seen.add(following)
                ways.append([*way, following])
    return []


def through(topology: Topology, link: Link) -> list[Link]:
    """Return a way from a node over a link to another node; empty if there is none."""
    way = way_to(topology, link)
    onward = way_from(topology, link, way[0][0]) if way else []
    return [*way[:-1], *onward] if onward else []


def links_between_nodes(topology: Topology) -> list[Link]:
    """Return the links over which a way leads from a node to another one."""
    links = [(node, port) for node, port in np.argwhere(topology.neighbor != NO_LINK).tolist()]
    return [link for link in links if through(topology, link)]


def short_ways(topology: Topology) -> list[list[Link]]:
    """Return for each node that another one can reach a shortest way to it, by order of nodes."""
    found = []
    for node in topology.working_nodes.tolist():
        ways = [way_to(topology, link) for link in links_into(topology, node)]
        if way := min(filter(None, ways), key=lambda way: (len(way), way), default=None):
            found.append(way)
    return found


def shortest_way(topology: Topology) -> list[Link]:
    """Return a shortest way between any two nodes, of the lowest that has one, or an empty one."""
    return min(short_ways(topology), key=lambda way: (len(way), way), default=[])


@dataclass(frozen=True)
class Place:
    """An output of a router at which packets meet.

    router, out
        The router, and the port of its output; 0 is the node itself.
    ways
        A way from a node to each other input, by the input's port.
    """

    router: int
    out: int
    ways: dict[int, list[Link]]

    @property
    def pairs(self) -> set[tuple[int, int]]:
        """The pairs of inputs whose packets meet here."""
        return {*combinations(sorted(self.ways), 2)}


def places_of(topology: Topology, *, all_port: bool) -> Iterator[Place]:
    """Yield an output for any input, and any two, that can use one of its port, at some router.

    With a port for every link, each link has an output to its node of its own.
    """
    for out in range(int(all_port), topology.ports):
        found: list[Place] = []
        for router in range(topology.nodes):
            if out and topology.neighbor[router, out] == NO_LINK:
                continue
            if not out and router not in topology.working_nodes:
                continue
            ways = {
                end_of(topology, link)[1]: way_to(topology, link)
                for link in links_into(topology, router)
            }
            ways = {
                entry: way
                for entry, way in ways.items()
                if way
                and entry != out
                and (not out or way_from(topology, (router, out), way[0][0]))
            }
            found.append(Place(router, out, ways))
        pairs, alone = set[tuple[int, int]](), set[int]()
        for place in sorted(found, key=lambda each: -len(each.ways)):
            if place.pairs - pairs or {*place.ways} - alone:
                pairs |= place.pairs
                alone |= {*place.ways}
                yield place
