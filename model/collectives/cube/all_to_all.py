"""All-to-all personalized communication on a hypercube: every node has words for every other.

Each node is the root of one graph, translated by exclusive or (Johnsson & Ho, section 7). Steps for
M words for each pair of nodes, N = 2^n nodes, n > 1, and packets of B words:

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

With n ports there are two orders. *Postorder*: all words for a subtree go there together. A link of
dimension d carries s_ld words for each word of M in cycle l (Theorem 7.3). *Reverse breadth first*:
messages for the deepest nodes leave first. A link of dimension d carries r_ld words in cycle
h - 1 - l of h (Theorem 7.4; :mod:`.link_measures` counts both). Both orders take the table's steps,
except with nRSBT. Its row uses the variation of section 7.1: tree j uses dimension (j + i) mod n in
cycle i, and all links carry N M / 2n words. With one port the order is postorder.
"""

import numpy as np

from ...base.errors import InvalidInput, one_of
from ...network.port_model import PortModel
from ...schedule.blocks import Blocks
from ...schedule.builder import build_schedule
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.request import Request
from .packing import (
    Crossings,
    from_all,
    pack,
    require_cube,
    require_no_source,
    require_served,
    to_each,
)
from .routing_cycles import ONE_DIMENSION_A_CYCLE, dimension_cycles, level_cycles, one_port_cycles
from .spanning_graphs import SpanningGraph, spanning_graph

ONE_PORT_ALL_TO_ALL = ONE_DIMENSION_A_CYCLE
ALL_PORT_ALL_TO_ALL = ("nrbrg", "sbt", "tcbt", "nrsbt", "nesbt", "sbnt")
ORDERS = ("postorder", "reverse-breadth-first")


def cube_all_to_all(asked: Request, graph: str) -> Schedule:
    """Send words from every node to every node, at most ``packet`` of the request in a send.

    Block s * N + d goes from node s to node d; if blocks are cut into k pieces, these are the k
    blocks from (s * N + d) * k on. A node's block for itself stays. Without a ``packet`` all words
    that cross a link in one routing cycle are one packet. One port is the port model "exchange".
    ``order``, only for n ports, is one of :data:`ORDERS`; None gives the schedule of the table.

    Raises :class:`InvalidInput` unless the topology is a hypercube without faults, for a graph not
    in :data:`ONE_PORT_ALL_TO_ALL` or :data:`ALL_PORT_ALL_TO_ALL`, for a ``source`` other than None,
    for no words and for an unknown order.
    """
    topology, words, packet, all_port = asked.topology, asked.words, asked.packet, asked.all_port
    order = asked.order
    dimension = require_cube(topology, graph, words, packet)
    served = ALL_PORT_ALL_TO_ALL if all_port else ONE_PORT_ALL_TO_ALL
    require_served(Collective.ALL_TO_ALL, graph, all_port, served)
    require_no_source(Collective.ALL_TO_ALL, asked.source)
    if order is not None and (not all_port or order not in ORDERS):
        allowed = one_of(ORDERS) if all_port else "none with one port"
        raise InvalidInput.of("order of all-to-all", allowed, order)
    trees = spanning_graph(graph, dimension)
    nodes = topology.nodes
    crossings = from_all(_from_root(trees, all_port, order), nodes, to_every=False)
    pieces, rows = pack(crossings, topology, words, len(trees.trees), packet)
    pairs = np.arange(nodes * nodes)
    blocks = Blocks(
        np.repeat(pairs // nodes, len(pieces)),
        tuple((node,) for node in np.repeat(pairs % nodes, len(pieces)).tolist()),
        np.tile(pieces.words, nodes * nodes),
    )
    ports = PortModel.ALL_PORT if all_port else PortModel.EXCHANGE
    return build_schedule(topology, Collective.ALL_TO_ALL, graph, ports, None, blocks, rows)


def _from_root(graph: SpanningGraph, all_port: bool, order: str | None) -> Crossings:
    """Return the crossings of the blocks that node 0 sends."""
    if order == "reverse-breadth-first":
        return to_each(graph, None)
    if not all_port:
        return to_each(graph, one_port_cycles(graph))
    even = graph.name == "nrsbt" and order is None
    return to_each(graph, dimension_cycles(graph) if even else level_cycles(graph))
