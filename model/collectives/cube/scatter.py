"""One-to-all personalized communication (scatter) on a hypercube, and its reverse (gather).

(Johnsson & Ho, section 5.) For M words for each node, N = 2^n nodes, n > 1, packets of B words:

=========  =====================================================  =================================
graph      steps with one port (Table 7)                          steps with n ports (Table 7)
=========  =====================================================  =================================
``brg``    2 ceil((N - 1) M / B) - floor(M / B); 2 N - 3 for
           B >= M
``nrbrg``                                                         sum(ceil(i M / nB), i < N)
``sbt``    sum(ceil(2^i M / B), i < n)                            sum(ceil(C(n-1, i) M / B), i < n)
``tcbt``   ceil(N M / 2B) + ceil((N/2 - 1) M / B)                 ceil(N M / 4B)
           + 2 sum(ceil((2^i - 1) M / B), i = 1 to n - 2)         + sum(ceil(N M / 2^i B), i = 2..n)
``nrsbt``  sum(ceil(M (N - 2^i) / nB), i = 1 to n - 1)            sum(ceil(C(n, i) M / nB), i < n)
           + sum(ceil(M (2^i - 1) / nB), i = 1 to n)
``sbnt``   2 n - 2 for unbounded B                                sum(ceil(C(n, i) M / nB), i < n)
=========  =====================================================  =================================

With one port the order is postorder: all words for a subtree go there in one routing cycle, larger
subtrees first (:func:`gray_code_scatter` overlaps these cycles). Only BRG is pipelined, in packets
of at most M words: a node sends every other step, the farthest node's words first. Larger packets,
which the paper does not use, would need fewer steps, down to N - 1, but more words in each. (For B
just above M its formula gives one step more than 2 N - 3.) ``sbnt`` with one port has one path to
every node, as Table 8 with its 2 n - 2 start-ups; with several paths to cyclic nodes it would take
2 n - 1 (section 5.1.5). The paper only approximates TCBT and SBnT with one port. The sum above is
exact for TCBT: one of its two largest subtrees has N/2 nodes, not N/2 - 1.

With n ports the order is reverse breadth first: messages for the deepest nodes leave first and all
arrive in the last cycle. nRBRG, whose trees share links, uses postorder, as in the paper.
"""

from dataclasses import replace
from math import gcd

import numpy as np

from ...base.arrays import Numbers
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.builder import Rows, build_schedule
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared
from ..declared.request import Request
from .link_measures import ancestors_of_nodes
from .packing import (
    Crossings,
    even_pieces,
    pack,
    require_cube,
    require_rows,
    require_served,
    require_source,
    to_each,
)
from .routing_cycles import level_cycles, one_port_cycles, tallest_first_cycles
from .spanning_graphs import SpanningGraph, SpanningTree, spanning_graph

ONE_PORT_SCATTER = ("brg", "sbt", "tcbt", "nrsbt", "sbnt")
ALL_PORT_SCATTER = ("nrbrg", "sbt", "tcbt", "nrsbt", "sbnt")


def cube_scatter(asked: Request, graph: str) -> Schedule:
    """Send each node words of its own from the source, at most ``packet`` of the request in a send.

    Block v is for node v; if blocks are cut into k pieces, blocks v * k to v * k + k - 1 are. The
    source has its own from the start. Without a ``packet`` all words that cross a link in one
    routing cycle are one packet, on BRG those of one node. One port is the port model "exchange".

    Raises :class:`.InvalidInput` unless the topology is a hypercube without faults, for a graph not
    in :data:`ONE_PORT_SCATTER` or :data:`ALL_PORT_SCATTER`, for a source outside the cube and for
    no words.
    """
    return _personal(asked, graph, to_root=False)


def cube_gather(asked: Request, graph: str) -> Schedule:
    """Bring the words of each node to the source: :func:`cube_scatter` run backwards."""
    return _personal(asked, graph, to_root=True)


def full_duplex_path_scatter(
    topology: Topology, source: int | None, words: int, *, packet: int | None = None
) -> Schedule:
    """Scatter on BRG with a send and a receive in each step, with any partners (section 5.1.1).

    Takes ceil((N - 1) M / B) steps, N - 1 for B >= M. The rest is as in :func:`cube_scatter`.
    """
    dimension = require_cube(topology, "brg", words, packet)
    root = require_source(topology, source)
    path = spanning_graph("brg", dimension, root).trees[0]
    lengths, rows = _along_path(path, words, packet, apart=1)
    blocks = _blocks(topology.nodes, root, lengths, to_root=False)
    return build_schedule(
        topology, Collective.SCATTER, "brg", PortModel.FULL_DUPLEX, root, blocks, rows
    )


def gray_code_scatter(
    topology: Topology, source: int | None, words: int, *, packet: int | None = None
) -> Schedule:
    """Scatter on SBT with one port, the source's ports in the order of the Gray code.

    The paper's schedule for B = M (sections 5.1 and 8.3). The source serves the relative addresses
    N - 1, N - 2 ... 1. This is postorder within each subtree, and the source's ports alternate:
    dimensions 0, 1, 0, 2, 0, 1, 0, 3 ... A node passes a message on in the next step. It takes
    (N - 1) ceil(M / B) steps, as many as :func:`cube_scatter` if B divides M. But the source uses
    dimension d for every 2^(d+1)-th message, not for all messages of a subtree in a row.

    Blocks, port model and errors are those of :func:`cube_scatter`.
    """
    dimension = require_cube(topology, "sbt", words, packet)
    root = require_source(topology, source)
    tree = spanning_graph("sbt", dimension, root).trees[0]
    lengths = even_pieces(np.array([words]), packet or words).words
    require_rows(lengths.size * int(tree.level.sum()))
    ancestors, nodes = (
        np.concatenate(side) for side in zip(*ancestors_of_nodes(tree), strict=True)
    )
    turn = topology.nodes - 1 - (nodes ^ root) + tree.level[ancestors] - 1
    piece = np.arange(lengths.size)
    rows = Rows(
        (turn[:, None] * piece.size + piece + 1).ravel(),
        np.repeat(tree.parent[ancestors], piece.size),
        np.repeat(ancestors, piece.size),
        (nodes[:, None] * piece.size + piece).ravel(),
    )
    blocks = _blocks(topology.nodes, root, lengths, to_root=False)
    return build_schedule(
        topology, Collective.SCATTER, "sbt-gray", PortModel.EXCHANGE, root, blocks, rows
    )


def _personal(asked: Request, graph: str, *, to_root: bool) -> Schedule:
    topology, words, packet, all_port = asked.topology, asked.words, asked.packet, asked.all_port
    collective = Collective.GATHER if to_root else Collective.SCATTER
    dimension = require_cube(topology, graph, words, packet)
    served = ALL_PORT_SCATTER if all_port else ONE_PORT_SCATTER
    require_served(collective, graph, all_port, served)
    root = require_source(topology, asked.source)
    trees = spanning_graph(graph, dimension, root)
    if graph == "brg":
        lengths, rows = _along_path(trees.trees[0], words, packet, apart=2)
    else:
        crossings, count = _crossings(trees, all_port)
        pieces, rows = pack(crossings, topology, words, count, packet, spread=all_port)
        lengths = pieces.words
    blocks = _blocks(topology.nodes, root, lengths, to_root)
    ports = PortModel.ALL_PORT if all_port else PortModel.EXCHANGE
    rows = rows.reversed() if to_root else rows
    return build_schedule(topology, collective, graph, ports, root, blocks, rows)


def _blocks(nodes: int, root: int, lengths: Numbers, to_root: bool) -> Blocks:
    """Return blocks of ``lengths`` words for each node, from the root to it or the other way."""
    each = np.repeat(np.arange(nodes, dtype=np.int32), lengths.size)
    here = np.full_like(each, root)
    owner, owed = (each, here) if to_root else (here, each)
    sizes = np.tile(lengths, nodes).astype(np.int32)
    return Blocks(owner, tuple((node,) for node in owed.tolist()), sizes)


def _crossings(graph: SpanningGraph, all_port: bool) -> tuple[Crossings, int]:
    """Return the crossings from the root to each node, and the number of trees."""
    if all_port:
        cycles = level_cycles(graph) if graph.name == "nrbrg" else None
        return to_each(graph, cycles), len(graph.trees)
    if graph.name == "sbnt":
        graph = replace(graph, trees=graph.trees[:1])
    tallest = graph.name == "tcbt"
    cycles = [tallest_first_cycles(graph.trees[0])] if tallest else one_port_cycles(graph)
    return to_each(graph, cycles), len(graph.trees)


def _along_path(
    tree: SpanningTree, words: int, packet: int | None, apart: int
) -> tuple[Numbers, Rows]:
    """Return the words of each piece of a message, and the pipelined sends along a path.

    Packets are filled from the end of the stream, so only the first may be short, and the most
    packets hold only words of the path's first node. Such packets may follow in each step. Packets
    that the first node must pass on are ``apart`` steps apart.
    """
    size = words if packet is None else min(packet, words)
    unit = gcd(words, size)
    pieces = words // unit
    require_rows(pieces * tree.nodes * (tree.nodes - 1) // 2)
    path = np.argsort(tree.level)
    level = np.repeat(np.arange(tree.nodes - 1, 0, -1), pieces)
    block = path[level] * pieces + np.tile(np.arange(pieces), tree.nodes - 1)
    from_end = np.arange(level.size)[::-1] // (size // unit)
    number = from_end[0] - from_end
    passed_on = int((number[level > 1].max(initial=-1)) + 1)
    start = number + (apart - 1) * np.minimum(number, passed_on)
    row = np.repeat(np.arange(level.size), level)
    link = np.concatenate([np.arange(count) for count in level.tolist()])
    return np.full(pieces, unit), Rows(
        start[row] + link + 1, path[link], path[link + 1], block[row]
    )


GRAY_CODE = Declared(
    Collective.SCATTER,
    "sbt-gray",
    lambda asked: gray_code_scatter(asked.topology, asked.source, asked.words, packet=asked.packet),
    networks="hypercubes",
    steps="N − 1",
    paper="Johnsson & Ho, section 5",
    takes=("packet",),
)
