"""Routes on any network that share its links evenly.

In an irregular network, shortest routes by the lowest port crowd on few links. A search lays the
routes one after the other, each along the cheapest path; the more routes use a link, the more it
costs. Then the search removes each route and lays it again, several times. Each time the links with
many routes cost more::

    routes 0 -> 2 and 1 -> 2      by the lowest port      0 -> 1 -> 2    1 -> 2     link 1 -> 2: 2
    of a ring of 4                by the cheapest path    0 -> 3 -> 2    1 -> 2     each link: 1

(L. McMurchie and C. Ebeling, "PathFinder: A Negotiation-Based Performance-Driven Router for FPGAs",
Proc. ACM Symposium on FPGAs, 1995.)
"""

import numpy as np
import numpy.typing as npt

from ..base.arrays import Int32s
from ..base.compiled import compiled
from ..base.ragged import offsets_of, ranges
from . import routes
from .config import MOST_VCS
from .links import linked_pairs
from .route_layers import layered_vcs, safe_routes
from .routes import Nodes, Offsets
from .topology import Topology

SWEEPS = 10
"""Number of times that all routes are laid."""
LEAST_POWER, MOST_POWER = 2.0, 12.0
"""Exponents of a link's load in its cost, in the first sweep and in the last."""
HOP_COST = 0.2
"""Cost of a hop in addition to the load of its link, which is at most 1."""
MOST_WORK = 1 << 28
"""Most nodes visited by all searches for paths together: about a second."""
MOST_PATH_NODES = 1 << 23
"""Most routes times nodes of a path, so that dealing them to VCs takes a few seconds."""

Integers = npt.NDArray[np.int64]


def spread_routes(
    topology: Topology, sources: Nodes, targets: Nodes, enough: int = 0
) -> tuple[Offsets, Int32s, Int32s]:
    """Return routes that share links evenly: ``(path_offsets, path_nodes, path_vcs)``.

    Shapes and errors are those of :func:`.safe_routes`. Packets on the routes never wait for each
    other in a circle. The same arguments give the same routes.

    The routes are those of :func:`.safe_routes` on a mesh without faults; if there are too many
    routes; if they put at most ``enough`` on a link, or share all links evenly; and if this search
    finds no better ones on the VCs that a network can have.
    """
    given = safe_routes(topology, sources, targets)
    offsets, nodes, _ = given
    width = 2 * int(np.diff(offsets).max(initial=1))
    mesh = topology.whole_grid and not topology.wrapped
    if mesh or len(sources) * width > MOST_PATH_NODES:
        return given
    links = _Links(topology)
    most = links.busiest(offsets, nodes)
    evenly = -(-(len(nodes) - len(sources)) // max(len(links.ends), 1))
    if most <= max(enough, evenly):
        return given
    found = links.laid(offsets, nodes, width)
    if links.busiest(*found) >= most:
        return given
    vcs = layered_vcs(*found)
    return given if vcs.max() >= MOST_VCS else (*found, vcs)


def spread_paths(topology: Topology, sources: Nodes, targets: Nodes) -> tuple[Offsets, Int32s]:
    """Return paths that share links evenly: ``(path_offsets, path_nodes)``.

    Shapes and errors are those of :func:`.route`. The same arguments give the same paths.
    """
    offsets, nodes, _ = routes.route(topology, sources, targets, 1)
    return _Links(topology).laid(offsets, nodes, 2 * int(np.diff(offsets).max(initial=1)))


class _Links:
    """The directed links of a network, parallel ones once.

    Link i leads to node ``ends[i]``; the links of node n begin at ``first[n]``. ``number`` has the
    link between two nodes, shape (nodes, nodes).
    """

    def __init__(self, topology: Topology) -> None:
        begins, self.ends = linked_pairs(topology)
        self.first = offsets_of(np.bincount(begins, minlength=topology.nodes))
        self.number = np.full((topology.nodes, topology.nodes), -1)
        self.number[begins, self.ends] = np.arange(len(begins))

    def busiest(self, offsets: Offsets, nodes: Int32s) -> int:
        """Return the number of routes on the most used link."""
        begins = np.delete(np.arange(len(nodes)), offsets[1:] - 1)
        links = self.number[nodes[begins], nodes[begins + 1]]
        return int(np.bincount(links, minlength=1).max())

    def laid(self, offsets: Offsets, nodes: Int32s, width: int) -> tuple[Offsets, Int32s]:
        """Lay these routes again; return those of the sweep with the fewest on the busiest link.

        A path of more than ``width`` nodes stays as it is.
        """
        draw = np.random.default_rng(0)
        length = np.diff(offsets)
        flat = np.arange(len(length)) * width
        way = np.zeros(len(length) * width, np.int32)
        way[ranges(flat, length)] = nodes
        sources = nodes[offsets[:-1]]
        order, groups = self._groups(sources, draw)
        state = length.copy(), way.reshape(-1, width)
        best, kept = self.busiest(offsets, nodes), (offsets, nodes)
        for power in np.linspace(LEAST_POWER, MOST_POWER, SWEEPS).tolist():
            draw.shuffle(groups)
            _lay(self.first, self.ends, self.number, order, groups, power, *state)
            found = offsets_of(state[0]), way[ranges(flat, state[0])]
            if self.busiest(*found) < best:
                best, kept = self.busiest(*found), found
        return kept

    def _groups(self, sources: Int32s, draw: np.random.Generator) -> tuple[Integers, Integers]:
        """Return the routes sorted by source, and the rows (begin, end) of groups laid together.

        One search finds the paths of a group; :data:`MOST_WORK` limits the number of groups.
        """
        order = np.lexsort((draw.random(len(sources)), sources))
        searches = max(1, MOST_WORK // (SWEEPS * len(self.number) ** 2))
        at_once = -(-len(order) // searches)
        rank = np.arange(len(order)) - np.searchsorted(sources[order], sources[order])
        begins = np.flatnonzero(rank % at_once == 0)
        return order, np.stack((begins, np.append(begins[1:], len(order))), axis=1)


@compiled
def _lay(
    first: Integers,
    ends: Integers,
    number: Integers,
    order: Integers,
    groups: Integers,
    power: float,
    length: Integers,
    way: Int32s,
) -> None:
    """Remove the routes of each group, and lay them along the cheapest paths from their source.

    Route r is ``way[r, :length[r]]``; group g has the routes ``order[groups[g, 0]:groups[g, 1]]``.
    """
    load = np.zeros(len(ends), np.int64)
    for route in range(len(length)):
        _add(load, number, way[route, : length[route]], 1)
    cost, before = np.empty(len(ends)), np.empty(len(number), np.int64)
    path = np.empty(way.shape[1], way.dtype)
    for group in range(len(groups)):
        taken_up = order[groups[group, 0] : groups[group, 1]]
        for route in taken_up:
            _add(load, number, way[route, : length[route]], -1)
        most = load.max() + 1
        for link in range(len(ends)):
            cost[link] = ((load[link] + 1) / most) ** power + HOP_COST
        _search(first, ends, cost, way[taken_up[0], 0], before)
        for route in taken_up:
            hops, node = 1, np.int64(way[route, length[route] - 1])
            while before[node] >= 0 and hops < len(path):
                path[-hops] = node
                node = before[node]
                hops += 1
            if before[node] < 0:
                path[-hops] = node
                way[route, :hops] = path[len(path) - hops :]
                length[route] = hops
            _add(load, number, way[route, : length[route]], 1)


@compiled
def _add(load: Integers, number: Integers, path: Int32s, routes: int) -> None:
    """Add ``routes`` to the load of each link of ``path``."""
    for hop in range(len(path) - 1):
        load[number[path[hop], path[hop + 1]]] += routes


@compiled
def _search(
    first: Integers,
    ends: Integers,
    cost: npt.NDArray[np.float64],
    source: int,
    before: Integers,
) -> None:
    """Set ``before`` to each node's predecessor on the cheapest path from ``source``; -1: none."""
    nodes = len(before)
    far, done = np.full(nodes, np.inf), np.zeros(nodes, np.bool_)
    before[:] = -1
    far[source] = 0
    while True:
        node = -1
        for each in range(nodes):
            if not done[each] and far[each] < np.inf and (node < 0 or far[each] < far[node]):
                node = each
        if node < 0:
            return
        done[node] = True
        for link in range(first[node], first[node + 1]):
            if far[node] + cost[link] < far[ends[link]]:
                far[ends[link]] = far[node] + cost[link]
                before[ends[link]] = node
