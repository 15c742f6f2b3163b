"""Transmitting on networks whose nodes are strings of digits: hypercubes and de Bruijn graphs.

On a hypercube of n dimensions the host sends to any node and then to the opposite one. A node at
distance d from the first is at n - d from the second, so that it has the message in step
min(1 + d, 2 + n - d): ceil(n / 2) + 1 at most, which is the least time (N. Alon, "Transmitting in
the n-Dimensional Cube", Discrete Applied Mathematics 37/38, 1992). With n = 1 one send is enough,
(2, 1), as the one neighbour has the message in step 2 anyway.

On a de Bruijn graph of n digits to base 2 the host sends to 0...01, from where all nodes but
0...00 are n - 1 links away at most, and to 0...00 in any other of the n steps (Ho, Hsu & Sung 1996,
Theorem 6). To a larger base no n steps are enough, and in n + 1 steps one send to any node is.
"""

from itertools import accumulate
from math import comb

from ...network.named_graphs import de_bruijn_size
from ...network.topology import Topology
from .plan import Plan, require_kind


def antipodal_plan(topology: Topology) -> Plan:
    """Alon's two sends, to node 0 and the one opposite, for hypercubes."""
    require_kind(topology, "hypercube")
    dimension = len(topology.dims)
    sends = [0, topology.nodes - 1]
    return Plan.of_centres(topology, sends, "Alon", claim=((dimension + 1) // 2 + 1, 2))


def hypercube_plan(topology: Topology) -> Plan:
    """Alon's plan; for one dimension its first send alone, as the second is for nothing."""
    plan = antipodal_plan(topology)
    single = Plan.of_centres(topology, [0], "single send")
    return min(plan, single, key=lambda each: each.cost)


def theorem_6_plan(topology: Topology) -> Plan:
    """Return the plan of Theorem 6, for de Bruijn graphs."""
    require_kind(topology, "de-bruijn")
    base, length = de_bruijn_size(topology)
    if base == 1:
        centres, claim = [0], (1, 1)
    elif length == 1:
        centres, claim = [0], (2, 1)
    elif base == 2:
        centres, claim = [1, 0], (length, 2)
    else:
        centres, claim = [0], (length + 1, 1)
    return Plan.of_centres(topology, centres, "Theorem 6", claim=claim)


def hypercube_balls(dimension: int) -> list[int]:
    """Nodes of a hypercube within r links of one, by r."""
    return list(accumulate(comb(dimension, away) for away in range(dimension + 1)))


def de_bruijn_balls(base: int, length: int) -> list[int]:
    """No ball of a de Bruijn graph has more nodes than this within r links, by r (equation 9)."""
    nodes = base**length if base > 1 else 1
    powers = [base**away for away in range(length + 1)]
    return [min(size, nodes) for size in accumulate(powers)]
