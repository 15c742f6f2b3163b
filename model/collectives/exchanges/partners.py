"""Partners of exchanges in which all nodes have equally many words; sides are powers of two.

*Swing* (D. De Sensi et al., "Swing: Short-cutting Rings for Higher Bandwidth Allreduce", NSDI
2024), and the butterflies of *Bine trees* (D. De Sensi et al., SC 2025), on a ring of p nodes: an
even node r exchanges with node r + d, an odd one with r - d, for the distances

    d = 1, -1, 3, -5, 11, -21 …          d_s = (1 - (-2)^(s+1)) / 3

On a torus, each distance is used on all axes in turn. The signs alternate, so an exchange may take
the ring's wrap link, and paths are short.

**These are the eye's distances.** Cang & Wu put the eyes of their broadcast 1, 1, 3, 5, 11, 21 …
apart: a_k = (2^k - (-1)^k) / 3 = |d_(k-1)| (:mod:`..halving.eye`, docs/errata.md). A broadcast by
Swing's partners, farthest first, has the same TCD as theirs from an eye. On a line of 2^k nodes,
2^i nodes send over |d_(k-1-i)| hops in step i + 1. So the TCD is

    Σ 2^i |d_(k-1-i)|, i = 0 … k-1  =  Σ 2^i (2^(k-i) - (-1)^(k-i)) / 3
                                    =  (k 2^k - Σ 2^i (-1)^(k-i)) / 3
                                    =  (k 2^k + (2^k - (-1)^k) / 3) / 3          [1]
                                    =  ((3k + 1) 2^k - (-1)^k) / 9

[1] as Σ 2^i (-1)^(k-i) = (-1)^k Σ (-2)^i = (-1)^k (1 - (-2)^k) / 3 = ((-1)^k - 2^k) / 3. This is
the line formula of the errata. On two axes in turn, 4^i nodes send along the first axis and 2 · 4^i
along the second: 3 Σ 4^i |d_(k-1-i)| = 3, 15, 69, 291, 1197 for k = 1 to 5. This is ``eye_tcd`` of
a 2^k x 2^k mesh.
"""

from collections.abc import Iterator
from math import prod

import numpy as np
import numpy.typing as npt

from ...network.topology import Topology
from .rounds import require_ring

Nodes = npt.NDArray[np.int64]


def swing_distance(round_number: int) -> int:
    """Return the distance of Swing in a round; rounds count from 0.

    >>> [swing_distance(number) for number in range(6)]
    [1, -1, 3, -5, 11, -21]
    """
    return int((1 - (-2) ** (round_number + 1)) // 3)


def swing_partners(topology: Topology) -> list[Nodes]:
    """Return each round's partners by node, nearest first, on a torus of sides 2^k."""
    require_ring("swing", topology)
    if any(side.bit_count() != 1 for side in topology.dims):
        raise topology.refusal("swing", "of sides that are powers of two")
    return list(_swing_rounds(topology))


def _swing_rounds(topology: Topology) -> Iterator[Nodes]:
    nodes = np.arange(topology.nodes)
    for number in range(max(topology.dims).bit_length() - 1):
        for axis, side in enumerate(topology.dims):
            if side >> number > 1:
                stride = prod(topology.dims[:axis])
                place = nodes // stride % side
                to = (place + swing_distance(number) * np.where(place % 2, -1, 1)) % side
                yield nodes + (to - place) * stride
