"""Topologies for the soak: switches, links that differ, and faulty nodes and links.

Faults are drawn last, because a file states the links of the network without its faults.
"""

from dataclasses import replace

import numpy as np

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.edges import Edges
from eyecast.model.network.faults import with_faults
from eyecast.model.network.routes import route
from eyecast.model.network.topology import NO_LINK, Topology

LONGEST_DRAWN_LINK, SLOWEST_DRAWN_LINK = 5, 3
"""Most registers of a link, and most cycles between two of its flits, where links differ."""
MOST_FAULTY_LINKS = 3
FEWEST_GRAPH_NODES, MOST_GRAPH_NODES = 4, 8
"""Fewest and most nodes of a drawn graph with switches, the switches included."""


def draw_links(draw: np.random.Generator, topology: Topology) -> Topology:
    """Draw for a quarter of the networks the registers, and for some the rates, of the links."""
    if draw.integers(4):
        return topology
    shape = topology.neighbor.shape
    registers = draw.integers(0, LONGEST_DRAWN_LINK + 1, shape)
    rates = draw.integers(1, SLOWEST_DRAWN_LINK + 1, shape) if draw.integers(2) else None
    return replace(topology, link_registers_of=registers, link_rate_of=rates)


def draw_broken(draw: np.random.Generator, topology: Topology) -> Topology:
    """Draw for a quarter of the networks a faulty node, and for a quarter some faulty links.

    Networks of up to three nodes stay whole.
    """
    if topology.nodes <= 3:
        return topology
    nodes = [int(draw.choice(topology.working_nodes))] if draw.integers(4) == 0 else []
    links: list[tuple[int, int]] = []
    if draw.integers(4) == 0:
        begins, ports = np.nonzero(topology.neighbor != NO_LINK)
        pairs = np.stack((begins, topology.neighbor[begins, ports]), axis=1)
        number = int(draw.integers(1, MOST_FAULTY_LINKS + 1))
        links = [(begin, end) for begin, end in draw.choice(pairs, number, replace=False).tolist()]
    return with_faults(topology, nodes, links)


def draw_connected(draw: np.random.Generator, topology: Topology) -> Topology:
    """Draw faults as :func:`draw_broken` until a path leads from each working node to each other.

    ``topology`` itself must be connected.
    """
    while True:
        broken = draw_broken(draw, topology)
        working = broken.working_nodes
        try:
            route(broken, np.repeat(working, len(working)), np.tile(working, len(working)), 1)
        except InvalidInput:
            continue
        return broken


def draw_graph(draw: np.random.Generator) -> Topology:
    """Draw a connected graph; at least one node is a switch, and at least three nodes are not.

    So two nodes can send if one is faulty.
    """
    nodes = int(draw.integers(FEWEST_GRAPH_NODES, MOST_GRAPH_NODES + 1))
    tree = [(int(draw.integers(node)), node) for node in range(1, nodes)]
    more = draw.integers(nodes, size=(int(draw.integers(nodes)), 2)).tolist()
    # Edges of a node to itself, and edges drawn twice, add no link.
    ends = np.array([*tree, *more], dtype=np.int64)
    number = int(draw.integers(1, nodes - 2))
    switches = draw.choice(nodes, number, replace=False).tolist()
    return Edges(nodes, ends, np.zeros(len(ends), np.bool_), tuple(switches)).topology()
