"""Up*/down* routes: free of deadlock on one VC, on any graph whose links work both ways.

A search from the node with the most links ranks all nodes. A link leads *up* to a node of lower
rank, or *down*. A route goes up first, then down, and never up again::

    ranks in a ring of 5       1 --- 3       from 2 to 3: up to 0, down to 1 and 3;
                              /      |       not by 4, from where the link leads up
                             0 - 2 - 4

No packets wait for each other in a circle: a circle of links has both ways, so after one of its
links down comes one up, and no route does that.

(M. D. Schroeder et al., "Autonet: A High-Speed, Self-Configuring Local Area Network Using
Point-to-Point Links", IEEE Journal on Selected Areas in Communications 9(8), 1991.)
"""

from collections import deque

import numpy as np

from ..base.arrays import Int32s, Numbers
from ..base.errors import InvalidInput
from .links import directed_links
from .routes import Nodes, Offsets, shortest_paths
from .topology import NO_LINK, Topology


def up_down_paths(
    topology: Topology, sources: Nodes, targets: Nodes
) -> tuple[Offsets, Int32s] | None:
    """Return the shortest paths up, then down, as ``(path_offsets, path_nodes)``.

    Shapes are those of :func:`.route`; no source is its own target. None if no such path leads to
    some target, because links work one way.
    """
    nodes, neighbor = topology.nodes, topology.neighbor
    rank = _ranks(topology)
    there = neighbor != NO_LINK
    up = there & (rank[neighbor] < rank[:, np.newaxis])
    # Node n + v is node v on a path that leads only down from there.
    lower = np.where(there, neighbor + nodes, NO_LINK)
    rising = np.hstack((np.where(up, neighbor, NO_LINK), lower))
    falling = np.hstack((np.where(up, NO_LINK, lower), np.full_like(lower, NO_LINK)))
    try:
        offsets, path_nodes = shortest_paths(np.vstack((rising, falling)), sources, targets + nodes)
    except InvalidInput:
        return None
    return offsets, path_nodes % nodes


def _ranks(topology: Topology) -> Numbers:
    """Rank all nodes by searches in breadth along links that work both ways: shape (nodes,)."""
    begins, ends = directed_links(topology)
    two_way = np.isin(begins * topology.nodes + ends, ends * topology.nodes + begins)
    beside: list[list[int]] = [[] for _ in range(topology.nodes)]
    for begin, end in zip(begins[two_way].tolist(), ends[two_way].tolist(), strict=True):
        beside[begin].append(end)
    rank: dict[int, int] = {}
    for root in sorted(range(topology.nodes), key=lambda node: -len(beside[node])):
        queue = deque([root])
        while queue:
            node = queue.popleft()
            if node not in rank:
                rank[node] = len(rank)
                queue.extend(beside[node])
    return np.array([rank[node] for node in range(topology.nodes)])
