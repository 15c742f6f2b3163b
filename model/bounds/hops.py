"""Hops between nodes of any network: breadth first, from many nodes at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..network.topology import NO_LINK, Topology

Numbers = npt.NDArray[np.int64]

UNREACHED = -1


def hops_from(topology: Topology, sources: Numbers) -> Numbers:
    """Hops from each of ``sources`` to every node: shape (sources, nodes), -1 for no path."""
    nodes = topology.nodes
    hops = np.full(len(sources) * nodes, UNREACHED, np.int64)
    border = np.arange(len(sources)) * nodes + sources
    hops[border] = 0
    distance = 0
    while border.size:
        distance += 1
        row, node = np.divmod(border, nodes)
        ends = topology.neighbor[node, 1:].astype(np.int64)
        ahead = (row[:, np.newaxis] * nodes + ends)[ends != NO_LINK]
        ahead = ahead[hops[ahead] == UNREACHED]
        hops[ahead] = distance
        border = np.unique(ahead)
    return hops.reshape(len(sources), nodes)
