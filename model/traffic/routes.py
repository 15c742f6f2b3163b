"""Routes of traffic, on VCs on which packets do not wait for each other in a circle."""

from typing import NamedTuple

import numpy as np

from ..base.arrays import Int32s
from ..base.notices import LOG
from ..base.ragged import offsets_of, ranges
from ..network.route_layers import has_circle, layered_vcs
from ..network.routes import Nodes, Offsets, route
from ..network.topology import Topology
from ..network.up_down_routes import up_down_paths


class TrafficRoutes(NamedTuple):
    """Paths and VCs of some pairs of nodes, in the shapes of :func:`.route`.

    ``classes`` is the number of VCs that the routes take turns on; ``vcs`` are 0 to classes - 1.
    """

    offsets: Offsets
    nodes: Int32s
    vcs: Int32s
    classes: int

    def of(self, pairs: Nodes) -> "TrafficRoutes":
        """Return the routes of ``pairs``, which are places in these routes."""
        lengths, begins = np.diff(self.offsets)[pairs], self.offsets[pairs]
        nodes = self.nodes[ranges(begins, lengths)]
        vcs = self.vcs[ranges(begins - pairs, lengths - 1)]
        return TrafficRoutes(offsets_of(lengths), nodes, vcs, self.classes)


def traffic_routes(topology: Topology, sources: Nodes, targets: Nodes, vcs: int) -> TrafficRoutes:
    """Return routes for ``vcs`` VCs, free of deadlock on any graph whose links work both ways.

    They are the first of these that is free of deadlock:

    1. the shortest routes on VC 0, or on the two classes of a dateline (:mod:`..network.routes`);
    2. the shortest routes, each on one of ``vcs`` VCs (:mod:`..network.route_layers`);
    3. up*/down* routes on VC 0 (:mod:`..network.up_down_routes`), with a notice.

    If none is, the result is the first. Raises :class:`.InvalidInput` as :func:`.route`.
    """
    shortest = route(topology, sources, targets, vcs)
    found = TrafficRoutes(*shortest, classes=2 if vcs > 1 and topology.wrapped else 1)
    if topology.whole_grid or not has_circle(*shortest):
        return found
    layers = layered_vcs(*shortest[:2])
    needed = int(layers.max()) + 1
    if needed <= vcs:
        return found._replace(vcs=layers, classes=needed)
    paths = up_down_paths(topology, sources, targets)
    if paths is None:
        return found
    LOG.warning(
        "routes on the %s lead up*/down*, because the shortest ones need %d VCs, not %d",
        topology.label,
        needed,
        vcs,
    )
    links = paths[1].size - sources.size
    return TrafficRoutes(*paths, vcs=np.zeros(links, np.int32), classes=1)
