"""All-to-all broadcast (all-gather) on a hypercube: every node is the root of a graph of its own.

The graphs are translations of one graph by exclusive or. So each link of a dimension carries as
much as all links of that dimension in the one graph together (Johnsson & Ho, section 6). Steps for
M words from each node, N = 2^n nodes, n > 1, and packets of B words:

=========  ===========================================  ==========================================
graph      one port (Table 11)                          n ports (Table 13)
=========  ===========================================  ==========================================
``brg``    (N - 1) ceil(M / B)
``nrbrg``                                               (N - 1) ceil(M / nB)
``sbt``    sum(ceil(2^i M / B), i < n)                  sum(ceil(C(n-1, i) M / B), i < n)
``nrsbt``  sum(ceil((2^(i+1) - 1) M / nB), i < n) +     sum(ceil(C(n, i) M / nB), i = 1 to n)
           sum(ceil((N - 2^(i-n+1)) M / nB),
           i = n to 2n - 2)
``nesbt``  sum(ceil(2^i M / nB), i < n) +               sum(ceil(C(n, i) M / nB), i = 2 to n)
           sum(ceil((N - 1 - 2^(i-n)) M / nB),          + ceil(M / nB) + ceil((n - 1) M / nB)
           i = n to 2n - 1)
``sbnt``   2 n - 1 for unbounded B                      sum(ceil(C(n, i) M / nB), i = 1 to n)
``tcbt``                                                n for unbounded B
=========  ===========================================  ==========================================

With one port a routing cycle is an exchange across one dimension (:func:`.one_port_cycles`). For
TCBT with one port the paper has no schedule, only a bound: at least 2 n - 2 cycles.
"""

import numpy as np

from ...network.port_model import PortModel
from ...schedule.blocks import Blocks
from ...schedule.builder import build_schedule
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.request import Request
from .packing import from_all, pack, require_cube, require_no_source, require_served, to_all
from .routing_cycles import ONE_DIMENSION_A_CYCLE, level_cycles, one_port_cycles
from .spanning_graphs import spanning_graph

ONE_PORT_ALL_GATHER = ONE_DIMENSION_A_CYCLE
ALL_PORT_ALL_GATHER = ("nrbrg", "sbt", "tcbt", "nrsbt", "nesbt", "sbnt")


def cube_all_gather(asked: Request, graph: str) -> Schedule:
    """Bring the words of every node to all nodes, at most ``packet`` of the request in a send.

    Node v owns block v; if blocks are cut into k pieces, it owns blocks v * k to v * k + k - 1.
    Without a ``packet`` all words that cross a link in one routing cycle are one packet. One port
    is the port model "exchange".

    Raises :class:`.InvalidInput` unless the topology is a hypercube without faults, for a graph
    not in :data:`ONE_PORT_ALL_GATHER` or :data:`ALL_PORT_ALL_GATHER`, for a ``source`` other than
    None and for no words.
    """
    topology, words, packet, all_port = asked.topology, asked.words, asked.packet, asked.all_port
    dimension = require_cube(topology, graph, words, packet)
    served = ALL_PORT_ALL_GATHER if all_port else ONE_PORT_ALL_GATHER
    require_served(Collective.ALL_GATHER, graph, all_port, served)
    require_no_source(Collective.ALL_GATHER, asked.source)
    trees = spanning_graph(graph, dimension)
    cycles = level_cycles(trees) if all_port else one_port_cycles(trees)
    crossings = from_all(to_all(trees, cycles), topology.nodes, to_every=True)
    pieces, rows = pack(crossings, topology, words, len(trees.trees), packet)
    blocks = Blocks(
        np.repeat(np.arange(topology.nodes), len(pieces)),
        (None,) * (topology.nodes * len(pieces)),
        np.tile(pieces.words, topology.nodes),
    )
    ports = PortModel.ALL_PORT if all_port else PortModel.EXCHANGE
    return build_schedule(topology, Collective.ALL_GATHER, graph, ports, None, blocks, rows)
