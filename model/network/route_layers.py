"""Routes on any network with VCs on which packets never wait for each other in a circle.

A grid without faults has dimension-order routes, on VC 0 or on the two classes of a dateline, which
are free of such circles (:mod:`.routes`). In other networks shortest routes are dealt to layers: a
route gets the lowest VC on which it closes no circle with the routes dealt before::

    ring of 4 as a graph, routes of two links       VC 0   0 -> 1 -> 2,  1 -> 2 -> 3,  2 -> 3 -> 0
                                                    VC 1   3 -> 0 -> 1, which would close the circle

(Skeie, Lysne & Theiss, "Layered shortest path (LASH) routing in irregular system area networks",
Proc. 16th International Parallel and Distributed Processing Symposium, 2002.)
"""

import numpy as np

from ..base.arrays import Int32s, Numbers
from ..base.errors import InvalidInput
from ..base.graph_cycles import find_circle
from ..base.ragged import offsets_of
from .routes import Nodes, Offsets, route
from .topology import Topology

MOST_LAYERS = 256
"""Most layers that are tried for a route: the VCs of a schedule are 0 to 255."""


def safe_routes(
    topology: Topology, sources: Nodes, targets: Nodes
) -> tuple[Offsets, Int32s, Int32s]:
    """Return routes on as few VCs as the rules need: ``(path_offsets, path_nodes, path_vcs)``.

    Shapes and errors are those of :func:`.route`.
    """
    path_offsets, path_nodes, path_vcs = route(topology, sources, targets, 2)
    if not topology.whole_grid:
        path_vcs = layered_vcs(path_offsets, path_nodes)
    return path_offsets, path_nodes, path_vcs


def layered_vcs(path_offsets: Offsets, path_nodes: Nodes) -> Int32s:
    """Deal paths to VCs so that the channel dependency graph of all has no cycle.

    Paths are as in :func:`.route`. The result has one VC for each of their links, the same for all
    links of a path. Equal paths get equal VCs.
    """
    layers = Layers(path_offsets, path_nodes)
    return np.repeat(layers.deal(), np.diff(path_offsets) - 1).astype(np.int32)


def has_circle(path_offsets: Offsets, path_nodes: Int32s, vcs: Int32s) -> bool:
    """Tell whether packets on these paths may wait for each other in a circle.

    Paths and VCs are columns as in a schedule; parallel links count as one.
    """
    if (np.diff(path_offsets) == 2).all():
        return False
    link, turns = _links(path_offsets, path_nodes)
    channels = link * MOST_LAYERS + vcs
    return bool(find_circle(np.stack((channels[turns], channels[turns + 1]), axis=1)))


def _links(path_offsets: Offsets, path_nodes: Nodes) -> tuple[Numbers, Numbers]:
    """Return the number of each link of all paths, and the links that another of the path follows.

    The first column has one number for each pair of nodes, shape (links,); the second has places
    in the first.
    """
    inner = np.ones(path_nodes.size, np.bool_)
    inner[path_offsets[1:] - 1] = False
    begins = np.flatnonzero(inner)
    link = path_nodes[begins] * (np.int64(path_nodes.max(initial=0)) + 1) + path_nodes[begins + 1]
    # Neighbours in the columns are links of one path, except at the last link of each path.
    follows = np.ones(begins.size, np.bool_)
    lengths = np.diff(path_offsets) - 1
    follows[(np.cumsum(lengths) - 1)[lengths > 0]] = False
    return link, np.flatnonzero(follows)


class Layers:
    """Paths, and layers in which no links wait for each other in a circle.

    A *turn* is a pair of links that follow each other on a path. ``_turns`` has the turns of all
    paths, those of path p from ``_first[p]`` on. Turn t leads from ``_link[t]`` to ``_next[t]``;
    those from link l begin at ``_ahead[l]``. ``_states`` has the state of each turn in each layer.
    """

    def __init__(self, path_offsets: Offsets, path_nodes: Nodes) -> None:
        links, follows = _links(path_offsets, path_nodes)
        names, place = np.unique(links, return_inverse=True)
        keys = place[follows] * len(names) + place[follows + 1]
        turns, self._turns = np.unique(keys, return_inverse=True)
        self._first = offsets_of(np.maximum(np.diff(path_offsets) - 2, 0))
        self._link, self._next = np.divmod(turns, max(1, len(names)))
        self._ahead = np.searchsorted(self._link, np.arange(len(names) + 1))
        self._states = np.zeros((MOST_LAYERS, len(turns)), np.int8)

    def deal(self) -> Numbers:
        """Add each path to the lowest layer that it joins; return the layers, shape (paths,)."""
        from .layer_loops import deal  # noqa: PLC0415 - Numba takes long to load

        columns = (self._turns, self._link, self._next, self._ahead, self._states)
        layers = np.empty(len(self._first) - 1, np.int64)
        if not deal(self._first, *columns, layers):
            raise InvalidInput.of("VCs of all routes", f"at most {MOST_LAYERS}", "more")
        return layers

    def joins(self, path: int, layer: int) -> bool:
        """Add a path to a layer, unless that closes a circle; tell if it was added."""
        from .layer_loops import joins  # noqa: PLC0415 - Numba takes long to load

        turns = self._turns[self._first[path] : self._first[path + 1]]
        return bool(joins(turns, self._link, self._next, self._ahead, self._states[layer]))
