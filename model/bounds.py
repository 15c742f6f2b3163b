"""Lower bounds that no broadcast can beat, whatever its algorithm."""

from __future__ import annotations


def least_broadcast_steps(nodes: int) -> int:
    """Return the fewest steps of a broadcast where a node sends once in a step: ceil(log2 nodes).

    A step at most doubles the number of nodes that have the message. Holds for the port models
    half-duplex, exchange and full-duplex. (Cang & Wu 1998, section 1: 2k steps for 2^k x 2^k.)
    """
    return (nodes - 1).bit_length()


def least_broadcast_tcd(nodes: int) -> int:
    """Return the least TCD of a broadcast: a hop for every node but the source.

    A broadcast in the fewest steps needs more on most networks; for a 2^k x 2^k mesh
    :func:`.eye.eye_tcd` is the optimum over all sources (Cang & Wu 1998, Corollary 1).
    """
    return nodes - 1
