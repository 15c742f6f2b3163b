"""Lower bounds that no broadcast can beat, whatever its algorithm."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ..network.topology import NO_LINK, Topology


def least_broadcast_steps(nodes: int, sends: int = 1) -> int:
    """Return the fewest steps of a broadcast where a node sends ``sends`` times in a step.

    A step at most multiplies the number of nodes that have the message by ``sends`` + 1. With one
    send that is ceil(log2 nodes), for the port models half-duplex, exchange and full-duplex
    (Cang & Wu 1998, section 1: 2k steps for 2^k x 2^k); all-port nodes send by all their links.
    """
    steps, reached = 0, 1
    while reached < nodes:
        steps, reached = steps + 1, reached * (sends + 1)
    return steps


def least_broadcast_tcd(nodes: int) -> int:
    """Return the least TCD of a broadcast: a hop for every node but the source.

    A broadcast in the fewest steps needs more on most networks; for a 2^k x 2^k mesh
    :func:`.eye.eye_tcd` is the optimum over all sources (Cang & Wu 1998, Corollary 1).
    """
    return nodes - 1


def least_tcd(topology: Topology, reached: Collection[int]) -> int:
    """Return the least TCD of sends, from any nodes, that bring something to each of ``reached``.

    Each of them is the target of a send, which crosses as many links as there are from the nearest
    node that can send: one, where no switches lie between them.
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

    ``before`` lists for each node those from which a link leads to it.
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
