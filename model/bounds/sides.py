"""Sets of nodes to try as cuts, if no search finds the tightest cut."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..network.links import linked_pairs
from ..network.topology import Topology
from .hops import UNREACHED, hops_from

NodeSets = npt.NDArray[np.bool_]
"""Sets of nodes: shape (sets, nodes)."""

MOST_NEAR_NODES = 256
"""Up to this many nodes of a network, the nodes within k hops of an owner are tried, for each k."""
MOST_PLANES = 1 << 12
"""Up to this many nodes, a grid is cut at every coordinate; a larger one at its ends and middle."""
MOST_NEAR_LINKS = 1 << 11
"""Up to this many nodes, the nodes nearer to one end of a link are tried, for each link."""


def sides(topology: Topology, owner_hops: Numbers) -> Iterator[NodeSets]:
    """Yield both sides of every cut to try; ``owner_hops`` has a row of hops for each owner.

    The cuts are the planes across a grid, the nodes within k hops of an owner, and for each link
    the nodes nearer to its begin than to its end. The last are all subtrees of a tree; in a grid
    without faults they equal its planes and are left out.
    """
    for axis in range(len(topology.dims)):
        yield from _both(_planes(topology, axis))
    if topology.nodes <= MOST_NEAR_NODES:
        for hops in owner_hops:
            yield from _both((hops >= 0) & (hops <= np.arange(hops.max())[:, np.newaxis]))
    if topology.nodes <= MOST_NEAR_LINKS and not topology.whole_grid:
        yield from _both(_nearer_to_one_end(topology))


def _both(inside: NodeSets) -> Iterator[NodeSets]:
    """Yield ``inside`` and its complements."""
    yield inside
    yield ~inside


def _planes(topology: Topology, axis: int) -> NodeSets:
    """Return the nodes below each coordinate of an axis; of a wrapped axis, only its lower half."""
    side = topology.dims[axis]
    places: list[int] | range = range(1, side)
    if axis in topology.wrapped:
        places = [side // 2]
    elif topology.nodes > MOST_PLANES:
        places = sorted({1, side // 2, side - 1} - {0})
    coordinates = np.arange(topology.nodes) // int(np.prod(topology.dims[:axis])) % side
    below = [coordinates < place for place in places]
    return np.array(below, np.bool_).reshape(len(below), topology.nodes)


def _nearer_to_one_end(topology: Topology) -> NodeSets:
    """Return, for each link, the nodes nearer to its begin than to its end."""
    hops = hops_from(topology, np.arange(topology.nodes))
    hops = hops.astype(np.int16)
    hops[hops == UNREACHED] = topology.nodes
    begins, ends = linked_pairs(topology)
    nearer: NodeSets = hops[begins] < hops[ends]
    _, first = np.unique(np.packbits(nearer, axis=1), axis=0, return_index=True)
    return nearer[np.sort(first)]
