"""The graph of the tree broadcast, and its compiled loops.

A graph, or a part of one, is two arrays: the neighbours of node *n*, ascending, are
``neighbors[offsets[n]:offsets[n + 1]]``; int32. Nodes of a part are numbered from 0, in the order
of their numbers in the whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...base.arrays import Int32s
from ...base.compiled import compiled
from ...network.topology import NO_LINK, Topology

Members = npt.NDArray[np.bool_]
"""For each node, whether it is served; otherwise it only passes words on."""

UNKNOWN = 1 << 29
"""In place of an unknown distance or cost, larger than all; the sum of two fits in 32 bits."""


@dataclass(frozen=True, eq=False)
class Graph:
    """The neighbours of each node, as at the top of this module."""

    offsets: Int32s
    neighbors: Int32s

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(self.offsets.size - 1)

    def part(self, nodes: Int32s) -> Graph:
        """Return the part of ``nodes``, ascending, and the links among them."""
        return Graph(*induced(self.offsets, self.neighbors, nodes))

    def distances(self, node: int) -> Int32s:
        """Return hops from ``node`` to each node, :data:`UNKNOWN` without path; shape (nodes,)."""
        costs = np.full(self.nodes, UNKNOWN, np.int32)
        costs[node] = 0
        return self.spread(costs)[0]

    def spread(self, costs: Int32s) -> tuple[Int32s, Int32s]:
        """Return for each node the least of hops to a node + the cost there, and the path to it.

        ``costs`` has shape (nodes,), :data:`UNKNOWN` at nodes that do not count. Returns the sums,
        and for each node the next node of the path, itself where the path ends.
        """
        by_cost = np.argsort(costs, kind="stable")
        total, following = costs.copy(), np.arange(self.nodes, dtype=np.int32)
        spread(self.offsets, self.neighbors, by_cost, total, following)
        return total, following


def one_way_graph(topology: Topology) -> Graph:
    """Return the graph of all links of ``topology``; parallel links count once."""
    begins, ends = _links(topology)
    return _graph(np.unique(begins * topology.nodes + ends), topology.nodes)


def two_way_graph(topology: Topology) -> Graph:
    """Return the graph of links that work both ways; parallel links count once."""
    begins, ends = _links(topology)
    there = np.unique(begins * topology.nodes + ends)
    back = np.unique(ends * topology.nodes + begins)
    return _graph(np.intersect1d(there, back, assume_unique=True), topology.nodes)


def _links(topology: Topology) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    begins, ports = np.nonzero(topology.neighbor != NO_LINK)
    return begins, topology.neighbor[begins, ports].astype(np.int64)


def _graph(links: npt.NDArray[np.int64], nodes: int) -> Graph:
    """Return the graph of ``links``, which are begin * nodes + end, ascending."""
    begins, ends = np.divmod(links, nodes)
    offsets = np.searchsorted(begins, np.arange(nodes + 1)).astype(np.int32)
    return Graph(offsets, ends.astype(np.int32))


@compiled
def induced(offsets: Int32s, neighbors: Int32s, nodes: Int32s) -> tuple[Int32s, Int32s]:
    """Return the arrays of the part that consists of ``nodes``, ascending."""
    part_offsets = np.zeros(nodes.size + 1, np.int32)
    degrees = 0
    for node in nodes:
        degrees += offsets[node + 1] - offsets[node]
    part_neighbors = np.empty(degrees, np.int32)
    used = 0
    for local in range(nodes.size):
        node = nodes[local]
        for place in range(offsets[node], offsets[node + 1]):
            end = np.searchsorted(nodes, neighbors[place])
            if end < nodes.size and nodes[end] == neighbors[place]:
                part_neighbors[used] = end
                used += 1
        part_offsets[local + 1] = used
    return part_offsets, part_neighbors[:used].copy()


@compiled
def spread(
    offsets: Int32s,
    neighbors: Int32s,
    by_cost: npt.NDArray[np.int64],
    total: Int32s,
    following: Int32s,
) -> None:
    """Lower the costs ``total`` to the sums of :meth:`Graph.spread`, and set ``following``.

    ``by_cost`` lists the nodes by ascending cost.
    """
    nodes = total.size
    reached = np.empty(nodes, np.int32)  # nodes that are cheaper by way of a neighbour, a queue
    begin = end = given = 0
    while given < nodes or begin < end:
        if begin == end or (given < nodes and total[by_cost[given]] <= total[reached[begin]]):
            node = by_cost[given]
            given += 1
            if following[node] != node:
                continue  # it is in the queue, or was
        else:
            node = np.int64(reached[begin])
            begin += 1
        if total[node] >= UNKNOWN:
            break
        for place in range(offsets[node], offsets[node + 1]):
            other = neighbors[place]
            if total[node] + 1 < total[other]:
                total[other] = total[node] + 1
                following[other] = node
                reached[end] = other
                end += 1


@compiled
def label_components(
    offsets: Int32s, neighbors: Int32s, side: Int32s, which: int, label: Int32s
) -> tuple[int, int]:
    """Number the connected pieces of the nodes whose ``side`` is ``which``.

    The numbers go to ``label``, -1 for other nodes. Returns the number of the largest piece and its
    number of nodes.
    """
    for node in range(side.size):
        label[node] = -1
    queue = np.empty(side.size, np.int32)
    pieces, largest, most = 0, 0, 0
    for start in range(side.size):
        if side[start] != which or label[start] >= 0:
            continue
        label[start] = pieces
        queue[0] = start
        end, begin = 1, 0
        while begin < end:
            node = queue[begin]
            begin += 1
            for place in range(offsets[node], offsets[node + 1]):
                other = neighbors[place]
                if side[other] == which and label[other] < 0:
                    label[other] = pieces
                    queue[end] = other
                    end += 1
        if end > most:
            largest, most = pieces, end
        pieces += 1
    return largest, most


@compiled
def halves(
    offsets: Int32s, neighbors: Int32s, order: Int32s, first: int, least: int, most: int
) -> tuple[Int32s, int]:
    """Cut a connected graph into two connected parts of ``least`` to ``most`` nodes each.

    The first part should be the ``first`` nodes of ``order``, a permutation of all nodes. To meet
    the conditions, nodes near the cut change parts. Returns the part of each node, 0 or 1, and the
    number of links between the parts, -1 if no two such parts were found.
    """
    nodes = order.size
    side = np.zeros(nodes, np.int32)
    side[order[first:]] = 1
    label = np.empty(nodes, np.int32)
    for which in range(2):  # all but the largest piece go to the other side
        largest, _ = label_components(offsets, neighbors, side, which, label)
        for node in range(nodes):
            if side[node] == which and label[node] != largest:
                side[node] = 1 - which
    ones = side.sum()
    while not least <= ones <= most:
        big = 1 if ones > most else 0
        size = ones if big else nodes - ones
        moved = shift(offsets, neighbors, order, side, big, size, most - nodes + size, label)
        if moved == 0:
            return side, -1
        ones += -moved if big else moved
    links = 0
    for node in range(nodes):
        for place in range(offsets[node], offsets[node + 1]):
            links += side[node] < side[neighbors[place]]
    return side, links


@compiled
def shift(
    offsets: Int32s,
    neighbors: Int32s,
    order: Int32s,
    side: Int32s,
    big: int,
    size: int,
    room: int,
    label: Int32s,
) -> int:
    """Move a node of the part ``big`` to the other part, with all nodes that this cuts off.

    The part has ``size`` nodes. Moves the node closest to the cut in ``order`` with which at most
    ``room`` nodes move. Returns how many nodes moved.
    """
    nodes = order.size
    for turn in range(nodes):
        node = order[turn] if big else order[nodes - 1 - turn]
        touches = False
        for place in range(offsets[node], offsets[node + 1]):
            touches |= side[neighbors[place]] != big
        if side[node] != big or not touches:
            continue
        side[node] = 1 - big
        largest, most = label_components(offsets, neighbors, side, big, label)
        moved = size - most
        if moved <= room:
            for other in range(nodes):
                if label[other] >= 0 and label[other] != largest:
                    side[other] = 1 - big
            return moved
        side[node] = big
    return 0
