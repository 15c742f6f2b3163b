"""Lower bounds that no broadcast can beat, whatever its algorithm."""

from __future__ import annotations


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
