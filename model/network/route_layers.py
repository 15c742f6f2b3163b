"""Routes on any network with VCs on which packets never wait for each other in a circle.

A grid without faults has dimension-order routes, on VC 0 or on the two classes of a dateline, which
are free of such circles (:mod:`.routes`). In other networks shortest routes are dealt to layers: a
route gets the lowest VC on which it closes no circle with the routes dealt before::

    ring of 4 as a graph, routes of two links       VC 0   0 -> 1 -> 2,  1 -> 2 -> 3,  2 -> 3 -> 0
                                                    VC 1   3 -> 0 -> 1, which would close the circle

(Skeie, Lysne & Theiss, "Layered shortest path (LASH) routing in irregular system area networks",
Proc. 16th International Parallel and Distributed Processing Symposium, 2002.)
"""

from itertools import pairwise

import numpy as np

from ..base.arrays import Int32s
from ..base.errors import InvalidInput
from ..base.graph_cycles import find_circle
from .routes import Nodes, Offsets, route
from .topology import Topology

MOST_LAYERS = 256
"""Most layers that are tried for a route: the VCs of a schedule are 0 to 255."""

Link = tuple[int, int]
"""The nodes at which a link begins and ends."""

Layer = dict[Link, set[Link]]
"""The links of one VC, each with the links that follow it on a route."""


def safe_routes(
    topology: Topology, sources: Nodes, targets: Nodes
) -> tuple[Offsets, Int32s, Int32s]:
    """Return routes on as few VCs as the rules need: ``(path_offsets, path_nodes, path_vcs)``.

    Shapes and errors are those of :func:`.route`.
    """
    path_offsets, path_nodes, path_vcs = route(topology, sources, targets, 2)
    if not in_dimension_order(topology):
        path_vcs = layered_vcs(path_offsets, path_nodes)
    return path_offsets, path_nodes, path_vcs


def in_dimension_order(topology: Topology) -> bool:
    """Tell whether :func:`.route` takes dimension order on VCs free of circles: a whole grid."""
    whole_grid = bool(topology.dims) and topology.without_faults is None
    return whole_grid and topology.kind in _DIMENSION_ORDER


_DIMENSION_ORDER = ("mesh", "torus", "hypercube", "line", "ring")
"""Kinds of network whose ports are those of a grid."""


def layered_vcs(path_offsets: Offsets, path_nodes: Nodes) -> Int32s:
    """Deal paths to VCs so that the channel dependency graph of all has no cycle.

    Paths are as in :func:`.route`. The result has one VC for each of their links, the same for all
    links of a path. Equal paths get equal VCs.
    """
    nodes, bounds = path_nodes.tolist(), path_offsets.tolist()
    layers: list[Layer] = []
    known: dict[tuple[int, ...], int] = {}
    vcs: list[int] = []
    for begin, end in pairwise(bounds):
        path = tuple(nodes[begin:end])
        if path not in known:
            known[path] = _layer(layers, list(pairwise(path)))
        vcs.append(known[path])
    return np.repeat(np.array(vcs, np.int32), np.diff(path_offsets) - 1)


def has_circle(path_offsets: Offsets, path_nodes: Int32s, vcs: Int32s) -> bool:
    """Tell whether packets on these paths may wait for each other in a circle.

    Paths and VCs are columns as in a schedule; parallel links count as one.
    """
    links = np.diff(path_offsets) - 1
    if (links == 1).all():
        return False
    inner = np.ones(path_nodes.size, np.bool_)
    inner[path_offsets[1:] - 1] = False
    begins = np.flatnonzero(inner)
    ends = path_nodes[begins], path_nodes[begins + 1]
    link = ends[0] * (np.int64(path_nodes.max(initial=0)) + 1) + ends[1]
    # Neighbours in the columns are links of one path, except at the last link of each path.
    last = np.zeros(begins.size, np.bool_)
    last[np.cumsum(links) - 1] = True
    channels = link * MOST_LAYERS + vcs
    edges = np.stack((channels[:-1], channels[1:]), axis=1)[~last[:-1]]
    return bool(find_circle(edges))


def _layer(layers: list[Layer], links: list[Link]) -> int:
    """Put a path into the first layer in which it closes no circle; return the layer's number."""
    for number in range(MOST_LAYERS):
        if number == len(layers):
            layers.append({})
        if joins(layers[number], links):
            return number
    raise InvalidInput.of("VCs of all routes", f"at most {MOST_LAYERS}", "more")


def joins(layer: Layer, links: list[Link]) -> bool:
    """Add a path to ``layer``, unless that closes a circle; tell if it was added."""
    added: list[tuple[Link, Link]] = []
    for held, wanted in pairwise(links):
        following = layer.setdefault(held, set())
        if wanted in following:
            continue
        following.add(wanted)
        added.append((held, wanted))
        if _leads(layer, wanted, held):
            for before, after in added:
                layer[before].discard(after)
            return False
    return True


def _leads(layer: Layer, start: Link, end: Link) -> bool:
    """Tell whether ``end`` is reached from ``start``."""
    reached, waiting = {start}, [start]
    while waiting:
        link = waiting.pop()
        if link == end:
            return True
        new = layer.get(link, set()) - reached
        reached |= new
        waiting += new
    return False
