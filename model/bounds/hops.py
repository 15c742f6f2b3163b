"""Hops between nodes: in closed form on grids without faults, by breadth first search elsewhere."""

from __future__ import annotations

import numpy as np

from ..base.arrays import Numbers
from ..network.topology import NO_LINK, Topology

UNREACHED = -1


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
