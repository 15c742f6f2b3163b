"""All-to-all personalized communication on a hypercube: every node has words for every other.

Each node is the root of one graph, moved there by exclusive or (Johnsson & Ho, section 7). Of M
words for each pair of nodes, N = 2^n nodes, n > 1, in packets of B words, in steps:

=========  =============================================  ========================================
graph      one port (Table 15)                            n ports (Table 17)
=========  =============================================  ========================================
``brg``    sum(ceil(i M / B), i < N)
``nrbrg``                                                 sum(ceil(i M / nB), i < N)
``sbt``    n ceil(N M / 2B)                               sum of the largest s_ld (below)
``nrsbt``  sum(ceil((i + 1) N M / 2nB), i < n) +          n ceil(N M / 2nB)
           sum(ceil((2n - i - 1) N M / 2nB),
           i = n to 2n - 2)
``nesbt``  2 n for unbounded B                            n + 1 for unbounded B
``sbnt``   2 n - 1 for unbounded B                        sum(ceil(sum(C(n, j), j = i to n) M / nB),
                                                          i = 1 to n)
``tcbt``                                                  n for unbounded B
=========  =============================================  ========================================

The order is postorder: all that is for a subtree goes there together; a link of dimension d carries
s_ld words for each word of M in cycle l (Theorem 7.3; :mod:`.cube_measures`). Reverse breadth first
takes as many steps (Theorem 7.4). nRSBT with n ports is the variation of section 7.1, where tree j
uses dimension (j + i) mod n in cycle i and all links carry the same, N M / 2n words.
"""

from __future__ import annotations

import numpy as np

from .cube_cycles import (
    ONE_DIMENSION_A_CYCLE,
    dimension_cycles,
    level_cycles,
    one_port_cycles,
)
from .cube_graphs import spanning_graph
from .cube_routing import from_all, pack, require_cube, require_no_source, require_served, to_each
from .schedule import Blocks, Schedule
from .schedule_builder import build_schedule
from .topology import Topology

ONE_PORT_ALL_TO_ALL = ONE_DIMENSION_A_CYCLE
ALL_PORT_ALL_TO_ALL = ("nrbrg", "sbt", "tcbt", "nrsbt", "nesbt", "sbnt")


def cube_all_to_all(
    topology: Topology,
    source: int | None,
    words: int,
    *,
    graph: str,
    all_port: bool,
    packet: int | None = None,
) -> Schedule:
    """Send ``words`` words from every node to every node, at most ``packet`` in a send.

    Block s * N + d is what node s has for node d (with k pieces for each pair: k blocks from
    (s * N + d) * k on); what a node has for itself stays where it is. Without ``packet`` all that
    crosses a link in one routing cycle is one packet. One port is the port model "exchange".

    Raises :class:`InvalidInput` for a topology that is no hypercube without faults, for a graph
    that is not of :data:`ONE_PORT_ALL_TO_ALL` or :data:`ALL_PORT_ALL_TO_ALL`, for a ``source`` (all
    nodes are) and for no words.
    """
    dimension = require_cube(topology, graph, words, packet)
    served = ALL_PORT_ALL_TO_ALL if all_port else ONE_PORT_ALL_TO_ALL
    require_served("all-to-all", graph, all_port, served)
    require_no_source("all-to-all", source)
    trees = spanning_graph(graph, dimension)
    if not all_port:
        cycles = one_port_cycles(trees)
    else:
        cycles = dimension_cycles(trees) if graph == "nrsbt" else level_cycles(trees)
    nodes = topology.nodes
    crossings = from_all(to_each(trees, cycles), nodes, to_every=False)
    pieces, rows = pack(crossings, topology, words, len(trees.trees), packet)
    pairs = np.arange(nodes * nodes)
    blocks = Blocks(
        np.repeat(pairs // nodes, len(pieces)),
        tuple((node,) for node in np.repeat(pairs % nodes, len(pieces)).tolist()),
        np.tile(pieces.words, nodes * nodes),
    )
    ports = "all-port" if all_port else "exchange"
    return build_schedule(topology, "all-to-all", graph, ports, None, blocks, rows)
