"""Pairs of nodes that have blocks for each other: in all-to-all, neighbor and halo exchanges.

A *neighbor* exchange is among linked nodes: on a 2-D mesh the halo of a stencil of 5 points. A
*halo* is among nodes whose coordinates differ by at most 1: a stencil of 9 points there::

    neighbor    . x .        halo    x x x
                x o x                x o x
                . x .                x x x
"""

from collections.abc import Iterable
from itertools import product

import numpy as np

from ..base.arrays import Numbers
from ..network.topology import NO_LINK, Topology
from .collective import Collective

MOST_AXES = 3
"""Most axes of a network with halos; on each further axis a node has three times as many."""


def exchanged_pairs(topology: Topology, name: str, nodes: Iterable[int]) -> tuple[Numbers, Numbers]:
    """Return the different nodes among ``nodes`` that have blocks for each other: from, to.

    Pairs ascend, first by the node that has the block. Raises :class:`.InvalidInput` for a halo on
    a network without coordinates, or with more than ``MOST_AXES``.
    """
    among = np.zeros(topology.nodes, np.bool_)
    among[[*nodes]] = True
    every = np.flatnonzero(among)
    if name == Collective.ALL_TO_ALL:
        source, target = np.repeat(every, every.size), np.tile(every, every.size)
    elif name == Collective.NEIGHBOR:
        source, port = np.nonzero(topology.neighbor != NO_LINK)
        target = topology.neighbor[source, port].astype(np.int64)
    else:
        source, target = _around(topology, every)
    kept = among[source] & among[target] & (source != target)
    pairs = np.unique(source[kept] * topology.nodes + target[kept])
    return pairs // topology.nodes, pairs % topology.nodes


def _around(topology: Topology, nodes: Numbers) -> tuple[Numbers, Numbers]:
    """Return each node with all nodes around it, itself included; some pairs repeatedly."""
    sides = np.array(topology.dims, np.int64)
    if not 1 <= sides.size <= MOST_AXES:
        allowed = f"a mesh or torus of 1 to {MOST_AXES} axes, as nodes need coordinates"
        raise topology.refusal(Collective.HALO, allowed)
    offsets = np.array([*product((-1, 0, 1), repeat=sides.size)])
    places = (topology.coordinates(nodes)[:, np.newaxis] + offsets).reshape(-1, sides.size)
    wraps = np.isin(np.arange(sides.size), topology.wrapped)
    inside = (((places >= 0) & (places < sides)) | wraps).all(axis=1)
    target = np.ravel_multi_index((places % sides).T, topology.dims, order="F")
    return np.repeat(nodes, len(offsets))[inside], target[inside]
