"""Hops between nodes: in closed form on grids without faults, by breadth first search elsewhere."""

import numpy as np

from ..base.arrays import Numbers
from ..network.topology import NO_LINK, Topology

UNREACHED = -1
_FAR = 1 << 40
"""More than the length of any path."""


def hops_from(topology: Topology, sources: Numbers) -> Numbers:
    """Return hops from each of ``sources`` to every node: (sources, nodes), -1 without a path."""
    if topology.whole_grid:
        return _grid_hops(topology, sources)
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


def lengths_from(topology: Topology, sources: Numbers, of_links: Numbers) -> Numbers:
    """Return the shortest lengths from each of ``sources``: (sources, nodes), -1 without a path.

    ``of_links`` has the length of each link, at least 0: shape (nodes, ports).
    """
    node, port = np.nonzero(topology.neighbor != NO_LINK)
    end, into = topology.neighbor[node, port], topology.peer[node, port]
    begins = np.zeros(topology.neighbor.shape, np.int64)
    lengths = np.full(topology.neighbor.shape, _FAR)
    begins[end, into], lengths[end, into] = node, of_links[node, port]
    found = np.full((len(sources), topology.nodes), _FAR)
    found[np.arange(len(sources)), sources] = 0
    while True:
        shorter = found.copy()
        for each in range(1, topology.ports):
            np.minimum(shorter, found[:, begins[:, each]] + lengths[:, each], out=shorter)
        if (shorter == found).all():
            return np.where(found < _FAR, found, UNREACHED)
        found = shorter


def _grid_hops(topology: Topology, sources: Numbers) -> Numbers:
    """Return :func:`hops_from` of a grid without faults: the sum of distances along its axes."""
    sides = topology.dims[::-1]
    hops = np.zeros((len(sources), *sides), np.int64)
    places = topology.coordinates(sources)
    for axis, side in enumerate(topology.dims):
        apart = np.abs(np.arange(side) - places[:, axis, np.newaxis])
        if axis in topology.wrapped:
            apart = np.minimum(apart, side - apart)
        shape = [1] * len(sides)
        shape[len(sides) - 1 - axis] = side
        hops += apart.reshape(len(sources), *shape)
    return hops.reshape(len(sources), topology.nodes)
