r"""Trees, diagonal meshes and de Bruijn graphs (Ho, Hsu & Sung 1996, sections 3 to 6).

::

    binary tree of 6       star tree 3x2          diagonal mesh 3         de Bruijn graph 2,2

           0                 2-1-0-3-4              0--1--2                 0 --> 1
         /   \                   |                  |\/|\/|                 ^   // |
        1     2                  5                  |/\|/\|                 |  //  v
       / \   /                   |                  3--4--5                 2 <-- 3
      3   4 5                    6                  |\/|\/|
                                                    |/\|/\|             (1 and 2 are linked both
                                                    6--7--8              ways, all others one way)

The papers number the nodes of a tree from 1 and those of a diagonal mesh by pairs from 1. This
module numbers all nodes from 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from .topology import LARGEST_NODE_COUNT, NO_LINK, Topology, require_port_count

LARGEST_SIDE = 1 << 12
"""Largest side of a diagonal mesh, which keeps its nodes below LARGEST_NODE_COUNT."""

_Table = npt.NDArray[np.int32]


def binary_tree(nodes: int) -> Topology:
    """Return the binary tree that is filled level by level.

    The paper's full binary tree FT(nodes), whose vertices have numbers that are one larger.

    >>> binary_tree(4).neighbor.tolist()
    [[-1, -1, 1, 2], [-1, 0, 3, -1], [-1, 0, -1, -1], [-1, 1, -1, -1]]

    Parameters
    ----------
    nodes
        Number of nodes, 1 to 2^24. Node i has the children 2i + 1 (port 2) and 2i + 2 (port 3);
        port 1 leads to its parent.

    Returns
    -------
    Topology
        The network.

    Raises
    ------
    InvalidInput
        If the number is out of range.

    References
    ----------
    T.-Y. Ho, L.-H. Hsu & T.-Y. Sung, "Transmitting on Various Network Topologies", Networks, 1996,
    section 3.
    """
    require_range("nodes of binary tree", nodes, 1, LARGEST_NODE_COUNT)
    neighbor, peer = _empty(nodes, 4)
    child = np.arange(1, nodes, dtype=np.int32)
    _link(neighbor, peer, (child, 1), ((child - 1) // 2, 2 + (child - 1) % 2))
    return Topology("binary-tree", (), neighbor, peer, name=f"binary tree of {nodes}")


def star_tree(arms: int, length: int) -> Topology:
    """Return a star tree: lines of equal length that meet at node 0.

    Port ``1 + a`` of the centre leads to arm *a*; on the arm, port 1 leads inwards and port 2
    outwards. The paper's star trees have two or more arms; one arm makes a line.

    >>> star_tree(2, 2).neighbor.tolist()
    [[-1, 1, 3], [-1, 0, 2], [-1, 1, -1], [-1, 0, 4], [-1, 3, -1]]

    Parameters
    ----------
    arms
        Number of lines.
    length
        Nodes of each line, without node 0. Arm a, from 0, has the nodes ``1 + a*length`` to
        ``(a + 1)*length``, counted outwards.

    Returns
    -------
    Topology
        The network.

    Raises
    ------
    InvalidInput
        If a number is less than 1, or the tree has more than 2^24 nodes.

    References
    ----------
    T.-Y. Ho, L.-H. Hsu & T.-Y. Sung, "Transmitting on Various Network Topologies", Networks, 1996,
    section 4.
    """
    text = f"star tree {arms}x{length}"
    require_range(f"arms of {text}", arms, 1)
    require_range(f"length of {text}", length, 1)
    nodes, ports = 1 + arms * length, 1 + max(arms, 2)
    if nodes > LARGEST_NODE_COUNT:
        raise InvalidInput.of(f"nodes of {text}", f"at most {LARGEST_NODE_COUNT}", nodes)
    require_port_count(text, nodes, ports)
    neighbor, peer = _empty(nodes, ports)
    arm = np.arange(arms, dtype=np.int32)
    _link(neighbor, peer, (np.zeros_like(arm), 1 + arm), (1 + arm * length, 1))
    inner = np.arange(1, nodes, dtype=np.int32)
    inner = inner[inner % length != 0]
    _link(neighbor, peer, (inner, 2), (inner + 1, 1))
    return Topology("star-tree", (), neighbor, peer, name=text)


def star_tree_size(topology: Topology) -> tuple[int, int]:
    """Return arms and length of a star tree made by :func:`star_tree`, without its faults."""
    table = (topology.without_faults or topology).neighbor
    arms = int((table[0] != NO_LINK).sum())
    return arms, (len(table) - 1) // arms


def diagonal_mesh(side: int) -> Topology:
    """Return a square mesh in which nodes are also linked to their diagonal neighbours.

    >>> diagonal_mesh(2).neighbor[0].tolist()
    [-1, 1, -1, 2, -1, 3, -1, -1, -1]

    Parameters
    ----------
    side
        Number of nodes on each of the two axes, 1 to 4,096.

    Returns
    -------
    Topology
        The network. Ports 1 to 4 are those of a mesh; ports 5 to 8 lead to (x+1, y+1), (x-1, y-1),
        (x+1, y-1) and (x-1, y+1).

    Raises
    ------
    InvalidInput
        If the side is out of range.

    References
    ----------
    T.-Y. Ho, L.-H. Hsu & T.-Y. Sung, "Transmitting on Various Network Topologies", Networks, 1996,
    section 5.
    """
    require_range("side of diagonal mesh", side, 1, LARGEST_SIDE)
    neighbor, peer = _empty(side * side, 9)
    place = np.arange(side * side, dtype=np.int32).reshape(side, side)
    low, high, every = slice(None, -1), slice(1, None), slice(None)
    for port, (rows, columns), (to_rows, to_columns) in (
        (1, (every, low), (every, high)),
        (3, (low, every), (high, every)),
        (5, (low, low), (high, high)),
        (7, (high, low), (low, high)),
    ):
        begins, ends = place[rows, columns].ravel(), place[to_rows, to_columns].ravel()
        _link(neighbor, peer, (begins, port), (ends, port + 1))
    name = f"diagonal mesh of side {side}"
    return Topology("diagonal-mesh", (side, side), neighbor, peer, name=name)


def de_bruijn(base: int, length: int) -> Topology:
    """Return the de Bruijn graph of all numbers of ``length`` digits.

    Opposite links share a port at each end. Links from a node to itself carry nothing and are left
    out. Ports are in the order of the nodes that they lead to or come from.

    >>> de_bruijn(2, 2).neighbor.tolist()
    [[-1, 1, -1, -1], [-1, -1, 2, 3], [-1, 0, 1, -1], [-1, -1, 2, -1]]

    Parameters
    ----------
    base
        Number of different digits.
    length
        Number of digits. Node v has links to the nodes ``base*v % base**length + digit``. A link
        works one way only, unless the graph has the opposite link too.

    Returns
    -------
    Topology
        The network.

    Raises
    ------
    InvalidInput
        If a number is less than 1, or the graph has more than 2^24 nodes.

    References
    ----------
    T.-Y. Ho, L.-H. Hsu & T.-Y. Sung, "Transmitting on Various Network Topologies", Networks, 1996,
    section 6.
    """
    text = f"de Bruijn graph {base},{length}"
    require_range(f"base of {text}", base, 1)
    require_range(f"length of {text}", length, 1)
    digits = length if base > 1 else 0
    nodes = base ** min(digits, LARGEST_NODE_COUNT.bit_length())
    if nodes > LARGEST_NODE_COUNT:
        raise InvalidInput.of(f"nodes of {text}", f"at most {LARGEST_NODE_COUNT}", "more")
    require_port_count(text, nodes, 2 * base + 1)
    begins = np.repeat(np.arange(nodes, dtype=np.int64), base)
    ends = begins * base % nodes + np.tile(np.arange(base), nodes)
    neighbor, peer = one_way_tables(nodes, begins, ends)
    return Topology("de-bruijn", (), neighbor, peer, name=text)


def de_bruijn_size(topology: Topology) -> tuple[int, int]:
    """Return base and length of a graph made by :func:`de_bruijn`, without its faults.

    With one node (base 1) every length gives the same graph, and the result is 1.
    """
    table = (topology.without_faults or topology).neighbor
    # Node 0 has a link for each digit except 0, which would lead back to itself.
    base = int((table[0] != NO_LINK).sum()) + 1
    nodes, length = len(table), 1
    while base**length < nodes:
        length += 1
    return base, length


def one_way_tables(
    nodes: int, begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> tuple[_Table, _Table]:
    """Return the tables ``neighbor`` and ``peer`` of a directed graph, given the ends of its links.

    Two nodes share one pair of ports, whether linked one way or both. Parallel links count once;
    links from a node to itself do not count.
    """
    apart = begins != ends
    pairs = np.stack((begins[apart], ends[apart]), axis=1)
    links = np.unique(np.concatenate((pairs, pairs[:, ::-1])), axis=0).reshape(-1, 2)
    firsts = np.searchsorted(links[:, 0], links[:, 0])
    ports = 1 + np.arange(len(links)) - firsts
    most_ports = 1 + int(ports.max(initial=0))
    require_port_count(f"the graph of {nodes} nodes", nodes, most_ports)
    neighbor, peer = _empty(nodes, most_ports)
    keys = links[:, 0] * nodes + links[:, 1]
    there = np.isin(keys, pairs[:, 0] * nodes + pairs[:, 1])
    back = np.searchsorted(keys, links[:, 1] * nodes + links[:, 0])
    neighbor[links[there, 0], ports[there]] = links[there, 1]
    peer[links[there, 0], ports[there]] = ports[back[there]]
    return neighbor, peer


def _empty(nodes: int, ports: int) -> tuple[_Table, _Table]:
    """Return the tables of a network without links."""
    neighbor = np.full((nodes, ports), NO_LINK, dtype=np.int32)
    return neighbor, np.full_like(neighbor, NO_LINK)


def _link(
    neighbor: _Table, peer: _Table, begins: tuple[_Table, _Ports], ends: tuple[_Table, _Ports]
) -> None:
    """Link the (node, port) pairs ``begins`` with ``ends``, both ways."""
    for here, there in ((begins, ends), (ends, begins)):
        neighbor[here], peer[here] = there


_Ports = int | _Table
"""One port for all nodes, or one for each node."""
