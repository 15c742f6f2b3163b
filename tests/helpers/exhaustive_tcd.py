"""The least TCD of a broadcast in log2 N steps, by a search without boxes.

In log2 N steps every node that has the message must send it in every step, each to a different node
without it. So a broadcast is a chain of sets of 1, 2, 4, ..., N nodes. The least cost from one set
to a set twice as large is a least assignment of new nodes to old nodes. Sends of one step may share
links here, so the result is a lower bound for every contention-free broadcast. A broadcast that
reaches it is cheapest.
"""

from itertools import combinations

import numpy as np
import numpy.typing as npt

Costs = npt.NDArray[np.int16]
NOT_REACHED = 1 << 14
PAIRS_AT_ONCE = 1 << 18


def least_tcds(dims: tuple[int, ...], wrapped: bool = False) -> list[int]:
    """Return the least TCD from each node of a mesh or torus of N nodes, N = 1, 2, 4, 8, 16."""
    places = np.array(list(np.ndindex(*dims[::-1])))
    along = np.abs(places[:, None] - places)
    if wrapped:
        along = np.minimum(along, np.array(dims[::-1]) - along)
    distances = along.sum(axis=-1).astype(np.int16)
    nodes = len(places)
    remaining = np.full(1 << nodes, NOT_REACHED, np.int16)
    remaining[-1] = 0
    size = nodes
    while size > 1:
        size //= 2
        remaining = _one_step_earlier(distances, remaining, size)
    return [int(remaining[1 << node]) for node in range(nodes)]


def _one_step_earlier(distances: Costs, remaining: Costs, size: int) -> Costs:
    """Return the least cost from each set of ``size`` nodes, given that of sets twice as large."""
    nodes = len(distances)
    sets = np.array(list(combinations(range(nodes), size)))
    choices = np.array(list(combinations(range(nodes - size), size)))
    outside = np.ones((len(sets), nodes), dtype=bool)
    np.put_along_axis(outside, sets, False, axis=1)
    rest = np.nonzero(outside)[1].reshape(len(sets), nodes - size)
    earlier = np.full(1 << nodes, NOT_REACHED, np.int16)
    for some in np.array_split(np.arange(len(sets)), 1 + len(sets) * len(choices) // PAIRS_AT_ONCE):
        added = rest[some][:, choices]
        senders = sets[some][:, None, :, None]
        step = _least_assignments(distances[senders, added[:, :, None, :]])
        before = (1 << sets[some]).sum(axis=1)
        after = before[:, None] + (1 << added).sum(axis=2)
        earlier[before] = (step + remaining[after]).min(axis=1)
    return earlier


def _least_assignments(costs: Costs) -> Costs:
    """Return the least assignment of matrices: shape (..., n, n) to (...).

    An assignment takes one entry from each row and each column. The search goes row by row, with
    the least sum for every set of taken columns.
    """
    least = {0: np.zeros(costs.shape[:-2], np.int16)}
    for row in range(costs.shape[-1]):
        longer: dict[int, Costs] = {}
        for taken, cost in least.items():
            for column in range(costs.shape[-1]):
                key = taken | 1 << column
                if key != taken:
                    total = cost + costs[..., row, column]
                    longer[key] = np.minimum(longer[key], total) if key in longer else total
        least = longer
    return least[(1 << costs.shape[-1]) - 1]
