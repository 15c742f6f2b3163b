"""One-to-all broadcast on the spanning graphs of a hypercube (Johnsson & Ho, section 4).

Steps for a message of M words in P = ceil(M / B) packets, N = 2^n nodes and n > 1:

=========  ====================================================  ==================================
graph      one port (Table 4)                                    n ports (Table 5)
=========  ====================================================  ==================================
``brg``    2 P + N - 3                                           P + N - 2
``nrbrg``                                                        ceil(M / nB) (N - 1)
``sbt``    P n                                                   P + n - 1
``tcbt``   3 P + 2 n - 5 (n > 2; see below)                      P + n - 1
``nrsbt``  2 sum(ceil(M i / nB), i = 1 to n - 1) + P             ceil(M / nB) n
``nesbt``  P + n                                                 ceil(M / nB) + n
=========  ====================================================  ==================================

The single trees and nESBT are pipelined: packets follow each other as closely as the ports allow.
With one port, each node of a single tree handles every packet once on each of its tree links. So
packets follow every k steps, where k is the most tree links of a node. (The two-rooted tree of the
2-cube is a path with k = 2 and takes 2 P steps; the paper's 3 P - 1 assumes k = 3. On the 1-cube
every tree is one link and takes P steps, one less than the table for BRG and nESBT.) In nESBT every
tree takes each n-th packet, by the labels f(i, j) of Theorem 4.1.

nRBRG and nRSBT are not pipelined: their trees share links, and in a cycle a link carries the words
of all trees that use it. Their formulas assume that n divides M; if not, the longest share counts.
"""

import numpy as np

from ...base.arrays import Numbers
from ...base.ragged import even_shares
from ...network.port_model import PortModel
from ...schedule.blocks import Blocks
from ...schedule.builder import Rows, build_schedule
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.request import Request
from .packing import (
    even_pieces,
    pack,
    pipeline,
    require_cube,
    require_served,
    require_source,
    to_all,
)
from .routing_cycles import (
    dimension_cycles,
    level_cycles,
    most_links_at_a_node,
    one_port_cycles,
    tallest_first_cycles,
)
from .spanning_graphs import SpanningGraph, spanning_graph

ONE_PORT_BROADCAST = ("brg", "sbt", "tcbt", "nrsbt", "nesbt")
ALL_PORT_BROADCAST = ("brg", "nrbrg", "sbt", "tcbt", "nrsbt", "nesbt")


def cube_broadcast(asked: Request, graph: str) -> Schedule:
    """Broadcast the words of a request from its source to all nodes.

    Without a ``packet`` the message is one packet; nRBRG, nRSBT and nESBT cut it into one share for
    each tree, so nESBT has packets of ceil(M / n) words. Each packet is a block. One port is the
    port model "exchange".

    Raises :class:`.InvalidInput` unless the topology is a hypercube without faults, for a graph
    not in :data:`ONE_PORT_BROADCAST` or :data:`ALL_PORT_BROADCAST`, for a source outside the cube
    and for no words.
    """
    topology, words, packet, all_port = asked.topology, asked.words, asked.packet, asked.all_port
    dimension = require_cube(topology, graph, words, packet)
    served = ALL_PORT_BROADCAST if all_port else ONE_PORT_BROADCAST
    require_served(Collective.BROADCAST, graph, all_port, served)
    root = require_source(topology, asked.source)
    trees = spanning_graph(graph, dimension, root)
    if graph in ("nrbrg", "nrsbt"):
        cycles = _shared_cycles(trees, all_port)
        pieces, rows = pack(to_all(trees, cycles), topology, words, len(trees.trees), packet)
        lengths = pieces.words
    else:
        lengths, rows = _pipelined(trees, words, all_port, packet)
    owner = np.full(lengths.size, root, np.int32)
    blocks = Blocks(owner, (None,) * lengths.size, lengths.astype(np.int32))
    ports = PortModel.ALL_PORT if all_port else PortModel.EXCHANGE
    return build_schedule(topology, Collective.BROADCAST, graph, ports, root, blocks, rows)


def _shared_cycles(graph: SpanningGraph, all_port: bool) -> list[Numbers]:
    """Return the routing cycles for nRBRG and nRSBT, whose trees share links."""
    if graph.name == "nrbrg":
        return level_cycles(graph)
    return dimension_cycles(graph) if all_port else one_port_cycles(graph)


def _pipelined(
    graph: SpanningGraph, words: int, all_port: bool, packet: int | None
) -> tuple[Numbers, Rows]:
    """Return the words of each packet, and the sends of all steps."""
    count = len(graph.trees)
    largest = -(-words // count) if packet is None else packet
    if all_port:
        pieces = even_pieces(even_shares(words, count), largest)
        lengths, tree = pieces.words, pieces.tree
        turn = np.arange(tree.size) - np.searchsorted(tree, tree)
        return lengths, pipeline(graph, level_cycles(graph), tree, turn)
    lengths = even_pieces(np.array([words]), largest).words
    turn, tree = np.divmod(np.arange(lengths.size), count)
    if count > 1:
        return lengths, pipeline(graph, one_port_cycles(graph), tree, count * turn)
    alone = graph.trees[0]
    cycles = [tallest_first_cycles(alone)]
    return lengths, pipeline(graph, cycles, tree, most_links_at_a_node(alone) * turn)
