"""One-to-all broadcast on a hypercube under two further port models of Johnsson & Ho.

Their one port is an *exchange* with one neighbour. If a node may send to one node and receive from
another (full-duplex), packets follow closer on paths and on the two-rooted tree. If it may only
send or receive (half-duplex), each exchange of nESBT takes two steps. Steps for a message of M
words in P = ceil(M / B) packets, N = 2^n nodes, n > 1:

=========  =======================================  ==========================================
graph      half-duplex                              full-duplex
=========  =======================================  ==========================================
``brg``    2 P + N - 3 (as one-port)                P + N - 2 (section 4.1.1)
``sbt``    P n (as one-port)                        P n
``tcbt``   3 P + 2 n - 5, n > 2 (as one-port)       2 P + 2 n - 4 (section 4.1.3)
``nesbt``  2 P + n - 1 (Theorem 4.3)                P + n (as one-port)
=========  =======================================  ==========================================

In the one-port broadcasts of the single trees no node sends and receives in the same step, so they
are half-duplex already. (A scatter with full-duplex ports is in :mod:`.scatter`.)
"""

from dataclasses import replace

import numpy as np

from ...base.errors import InvalidInput
from ...network.port_model import PortModel
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.request import Request
from .broadcast import cube_broadcast
from .routing_cycles import most_links_at_a_node
from .scatter import full_duplex_path_scatter
from .spanning_graphs import spanning_graph

OTHER_PORTS_BROADCAST = ("brg", "sbt", "tcbt", "nesbt")
OTHER_PORTS = {
    (Collective.SCATTER, "brg"),
    *((Collective.BROADCAST, graph) for graph in OTHER_PORTS_BROADCAST),
}
"""Pairs of collective and graph that are served; the scatter only with full-duplex."""


def other_ports_schedule(
    collective: str, asked: Request, graph: str, duplex: PortModel
) -> Schedule:
    """Return the half-duplex or full-duplex schedule of one of :data:`OTHER_PORTS`.

    Raises :class:`InvalidInput` for any other pair, and as its generator does.
    """
    if (collective, graph) not in OTHER_PORTS or (collective, duplex) == (
        Collective.SCATTER,
        PortModel.HALF_DUPLEX,
    ):
        allowed = "one or full-duplex" if collective == Collective.SCATTER else "one or all"
        raise InvalidInput.of(f"ports for {graph} {collective}", allowed, duplex)
    if collective == Collective.SCATTER:
        return full_duplex_path_scatter(
            asked.topology, asked.source, asked.words, packet=asked.packet
        )
    broadcast = half_duplex_broadcast if duplex == PortModel.HALF_DUPLEX else full_duplex_broadcast
    return broadcast(asked, graph)


def half_duplex_broadcast(asked: Request, graph: str) -> Schedule:
    """Broadcast with one send or one receive at a node in each step.

    A step with exchanges becomes two: first the packets to the nodes with higher numbers. The rest
    is as in :func:`.cube_broadcast`, for the graphs :data:`OTHER_PORTS_BROADCAST`.
    """
    one_port = cube_broadcast(asked, graph)
    step, nodes = one_port.step.astype(np.int64), asked.topology.nodes
    there = (step * nodes + one_port.source) * nodes + one_port.target
    back = (step * nodes + one_port.target) * nodes + one_port.source
    exchanges = np.isin(there, back)
    double = np.zeros(one_port.steps + 1, np.int64)
    double[step[exchanges]] = 1
    second = exchanges & (one_port.source > one_port.target)
    later = (np.cumsum(double) - double)[step] + second
    return replace(one_port, step=(step + later).astype(np.int32), port_model=PortModel.HALF_DUPLEX)


def full_duplex_broadcast(asked: Request, graph: str) -> Schedule:
    """Broadcast with a send and a receive at a node in each step, with any partners.

    Packets follow every k steps, where k is the most children of a node of the tree; a one-port
    node needs one more, for its receive. The rest is as in :func:`.cube_broadcast`, for the graphs
    :data:`OTHER_PORTS_BROADCAST`.
    """
    one_port = cube_broadcast(asked, graph)
    trees = spanning_graph(graph, len(asked.topology.dims), one_port.root or 0).trees
    closer = 0
    if len(trees) == 1:
        children = int(np.bitwise_count(trees[0].children).max())
        closer = most_links_at_a_node(trees[0]) - children
    # In a broadcast each send carries one block, and block p is the p-th packet.
    step = one_port.step - closer * one_port.block_ids
    return replace(one_port, step=step.astype(np.int32), port_model=PortModel.FULL_DUPLEX)
