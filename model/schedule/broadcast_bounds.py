"""Lower bounds for any broadcast, in steps and in TCD."""

from collections.abc import Collection, Sequence

import numpy as np

from ..network.topology import NO_LINK, Topology


def least_broadcast_steps(nodes: int, sends: int = 1) -> int:
    """Return the fewest steps of a broadcast if a node can send ``sends`` times in a step.

    A step multiplies the number of nodes that have the message by at most ``sends`` + 1. With one
    send the result is ceil(log2 nodes), for the port models half-duplex, exchange and full-duplex
    (Cang & Wu 1998, section 1: 2k steps for 2^k x 2^k). All-port nodes send by all their links.
    """
    steps, reached = 0, 1
    while reached < nodes:
        steps, reached = steps + 1, reached * (sends + 1)
    return steps


def least_tcd(topology: Topology, reached: Collection[int]) -> int:
    """Return the least TCD of sends, from any nodes, that bring something to each of ``reached``.

    Each of ``reached`` is the target of a send, which crosses at least the links from the nearest
    node that can send: one, unless switches lie between.
    """
    if not topology.switches:
        return len(reached)
    begins, ports = np.nonzero(topology.neighbor != NO_LINK)
    before: list[list[int]] = [[] for _ in range(topology.nodes)]
    for begin, end in zip(begins.tolist(), topology.neighbor[begins, ports].tolist(), strict=True):
        before[end].append(begin)
    senders = {*topology.working_nodes.tolist()}
    return sum(_hops_from_nearest(before, senders, node) for node in reached)


def _hops_from_nearest(before: Sequence[Sequence[int]], senders: set[int], node: int) -> int:
    """Count the links to ``node`` from the nearest other of ``senders``.

    ``before`` lists for each node the nodes with a link to it.
    """
    seen, border, hops = {node}, [node], 0
    while border:
        hops += 1
        further: list[int] = []
        for end in border:
            for begin in before[end]:
                if begin in senders and begin != node:
                    return hops
                if begin not in seen:
                    seen.add(begin)
                    further.append(begin)
        border = further
    return hops


def least_spanning_tcd(topology: Topology) -> int:
    """Return the least TCD of a broadcast to all working nodes, across switches too.

    The sends are the edges of a tree of the working nodes. Each edge costs at least the shortest
    path between its ends, so the TCD is at least that of the least spanning tree. Only paths
    between two regions count; a region is a node with the switches nearest to it
    (K. Mehlhorn, "A faster approximation algorithm for the Steiner problem in graphs", 1988).
    Links count in both directions, which can only lower the bound.
    """
    begins, ports = np.nonzero(topology.neighbor != NO_LINK)
    links = np.stack((begins, topology.neighbor[begins, ports]))
    links = np.concatenate((links, links[::-1]), axis=1)
    region = np.full(topology.nodes, NO_LINK)
    region[topology.working_nodes] = topology.working_nodes
    hops = np.zeros(topology.nodes, np.int64)
    while True:
        begin, end = links[:, (region[links[0]] != NO_LINK) & (region[links[1]] == NO_LINK)]
        if not end.size:
            break
        region[end], hops[end] = region[begin], hops[begin] + 1
    begin, end = links[:, (region[links] != NO_LINK).all(axis=0)]
    lengths = hops[begin] + hops[end] + 1
    order = np.argsort(lengths, kind="stable")
    return _least_tree(
        *(column[order].tolist() for column in (region[begin], region[end], lengths))
    )


def _least_tree(begins: Sequence[int], ends: Sequence[int], lengths: Sequence[int]) -> int:
    """Add up the edges of a least spanning tree; edges are given by rising length (Kruskal)."""
    above: dict[int, int] = {}

    def root(node: int) -> int:
        while (parent := above.get(node, node)) != node:
            above[node] = node = above.get(parent, parent)
        return node

    total = 0
    for begin, end, length in zip(begins, ends, lengths, strict=True):
        one, other = root(begin), root(end)
        if one != other:
            above[one] = other
            total += length
    return total
