"""The best cuts of a part of a few nodes, by trying all of them."""

import numpy as np

from ...base.arrays import Int32s
from ...base.compiled import compiled
from .graph import UNKNOWN

EXACT = 8
"""Parts of up to this many nodes try all cuts."""
EXACT_STEPS = 3
"""Steps that suffice for a part of EXACT nodes."""


@compiled
def exact_cuts(offsets: Int32s, neighbors: Int32s, steps: int) -> tuple[Int32s, Int32s, Int32s]:
    """Serve a part of at most :data:`EXACT` nodes in ``steps`` steps, 1 to :data:`EXACT_STEPS`.

    Sets of nodes are bit masks. Returns for each node as the source: the least TCD, UNKNOWN if
    connected halves cannot do it; the half that it keeps; and its target in the other half.
    """
    nodes = offsets.size - 1
    linked = np.zeros(nodes, np.int32)
    for node in range(nodes):
        for place in range(offsets[node], offsets[node + 1]):
            linked[node] |= 1 << neighbors[place]
    everything = (1 << nodes) - 1
    costs = np.full((steps + 1, everything + 1, nodes), UNKNOWN, np.int32)
    for left in range(steps + 1):
        for node in range(nodes):
            costs[left, 1 << node, node] = 0
    kept, target = np.zeros(nodes, np.int32), np.zeros(nodes, np.int32)
    for left in range(1, steps + 1):
        for members in range(3, everything + 1):
            if left == steps and members != everything:
                continue
            if 1 < count(members) <= 1 << left:
                cut_all_ways(linked, members, costs[left - 1], costs[left, members], kept, target)
    return costs[steps, everything], kept, target


@compiled
def count(members: int) -> int:
    """Return the number of nodes in a set."""
    total = 0
    while members:
        members &= members - 1
        total += 1
    return total


@compiled
def lowest(members: int) -> int:
    """Return the lowest node of a set that is not empty."""
    node = 0
    while not members >> node & 1:
        node += 1
    return node


@compiled
def cut_all_ways(
    linked: Int32s,
    members: int,
    before: Int32s,
    costs: Int32s,
    kept: Int32s,
    target: Int32s,
) -> None:
    """Set the ``costs`` of the set ``members`` from those of its subsets, ``before``.

    ``before`` has shape (sets, nodes), the others (nodes,).
    """
    nodes = linked.size
    hops = np.full((nodes, nodes), UNKNOWN, np.int32)
    for start in range(nodes):
        if members >> start & 1:
            hops_within(linked, members, start, hops[start])
    own = (members - 1) & members
    while own:
        other = members ^ own
        # A set that can be served from one node can be served from all its nodes.
        if before[own, lowest(own)] < UNKNOWN and before[other, lowest(other)] < UNKNOWN:
            for source in range(nodes):
                if not own >> source & 1:
                    continue
                for end in range(nodes):
                    if not other >> end & 1:
                        continue
                    cost = before[own, source] + hops[source, end] + before[other, end]
                    if cost < costs[source]:
                        costs[source], kept[source], target[source] = cost, own, end
        own = (own - 1) & members


@compiled
def hops_within(linked: Int32s, members: int, start: int, hops: Int32s) -> None:
    """Set ``hops`` from ``start`` to each node of ``members``, by paths within ``members``."""
    reached = border = 1 << start
    distance = 0
    while border:
        beyond = 0
        for node in range(linked.size):
            if border >> node & 1:
                hops[node] = distance
                beyond |= linked[node]
        border = beyond & members & ~reached
        reached |= border
        distance += 1
