"""Transmitting on lines and rings (Ho, Hsu & Sung 1996, section 2).

A line of m^2 nodes is cut into intervals of 1, 3, ..., 2m - 1 nodes, and the host sends to the
middle of each, the longest first: in step m all nodes have the message. For m = 3, the step in
which each node has it, that of a send in brackets::

    3   2  [1]  2   3  |  3  [2]  3  | [3]

Theorem 1 and Corollary 1 say that (t, s) = (m, m), m the root of n rounded up, is optimal for every
line and ring of n nodes. That is so only where n is a square: for n = 2, one send in step 1 is
enough, (2, 1), as the other node has the message in step 2. Balls of radii m - 1 to m - s hold
m^2 - (m - s)^2 nodes of a path, so that s can be as small as m - floor(sqrt(m^2 - n)), and that is
reached.
"""

from math import isqrt

from ...network.topology import Topology
from .plan import Plan, require_kind


def theorem_1_plan(topology: Topology) -> Plan:
    """Return the plan of Theorem 1 and Corollary 1: as many sends as steps, for lines and rings.

    The paper has n = m^2 "without loss of generality". For other n the intervals are those of m^2
    nodes, the longest last, and what lies beyond the end of the line is moved onto it.
    """
    require_kind(topology, "line", "ring")
    nodes = topology.nodes
    root = isqrt(nodes - 1) + 1
    # The interval of 2i - 1 nodes begins behind those of 1, 3, ..., 2i - 3: at (i - 1)^2.
    middles = [(i - 1) ** 2 + i - 1 for i in range(root, 0, -1)]
    centres = [min(middle, nodes - 1) for middle in middles]
    return Plan.of_centres(topology, centres, "Theorem 1", claim=(root, root))


def path_plan(topology: Topology) -> Plan:
    """Return the optimal plan for a line or ring: the longest intervals, as many as it takes."""
    require_kind(topology, "line", "ring")
    nodes = topology.nodes
    radius, begin, centres = isqrt(nodes - 1), 0, []
    while begin < nodes:
        centres.append(min(begin + radius, nodes - 1))
        begin, radius = begin + 2 * radius + 1, radius - 1
    return Plan.of_centres(topology, centres, "intervals")


def path_balls(nodes: int) -> list[int]:
    """Return the most nodes within r links of a node of a line or ring, by r, up to all nodes."""
    return [min(2 * radius + 1, nodes) for radius in range(nodes // 2 + 1)]
