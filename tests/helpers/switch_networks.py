"""Networks with switches: a star, a tree, a mesh of switches with a node at each, a fat tree."""

from helpers.tree_networks import graph_of

from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import Topology

SIX_NODES = graph(
    [
        *([-1, 1, 2, 3], [-1, 0, 4, -1], [-1, 0, 5, 4]),
        *([-1, 0, -1, -1], [-1, 1, 2, -1], [-1, 2, -1, -1]),
    ],
    [0, 2],
)
"""Six nodes; nodes 0 and 2 are switches."""


def switch_star(leaves: int) -> Topology:
    """Return switch 0 and leaves around it; leaf n is behind port n of the switch."""
    return graph_of(leaves + 1, [(0, leaf) for leaf in range(1, leaves + 1)], [0])


def switch_tree() -> Topology:
    """Return a binary tree: switches 0, 1 and 2 on two levels, and the leaves 3 to 6."""
    return graph_of(7, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)], [0, 1, 2])


def switch_mesh(width: int, height: int, leaves: int = 1) -> Topology:
    """Return a mesh of switches in the mesh's order, followed by the nodes behind them."""
    switches = width * height
    edges = []
    for switch in range(switches):
        y, x = divmod(switch, width)
        edges += [(switch, switch + 1)] * (x + 1 < width)
        edges += [(switch, switch + width)] * (y + 1 < height)
        edges += [(switch, switches + switch * leaves + leaf) for leaf in range(leaves)]
    return graph_of(switches * (1 + leaves), edges, range(switches))


def fat_tree(ports: int) -> Topology:
    """Return a fat tree of switches with ``ports`` ports (Al-Fares, Loukissas & Vahdat 2008).

    The switches come first: core, middle, edge.
    """
    half = ports // 2
    middle, edge = half * half, half * half + ports * half
    switches = edge + ports * half
    edges = []
    for pod in range(ports):
        for i in range(half):
            upper, lower = middle + pod * half + i, edge + pod * half + i
            edges += [(i * half + j, upper) for j in range(half)]
            edges += [(upper, edge + pod * half + j) for j in range(half)]
            edges += [(lower, switches + (pod * half + i) * half + j) for j in range(half)]
    return graph_of(switches + ports * half * half, edges, range(switches))
