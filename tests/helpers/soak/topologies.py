"""Topologies for the soak: switches, links that differ, and faulty nodes and links.

Faults are drawn last, because a file states the links of the network without its faults.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.edges import Edges
from eyecast.model.network.faults import with_faults
from eyecast.model.network.routes import route
from eyecast.model.network.topology import NO_LINK, Topology, hypercube, line, mesh, ring

LONGEST_DRAWN_LINK, SLOWEST_DRAWN_LINK = 5, 3
"""Most registers of a link, and most cycles between two of its flits, where links differ."""
MOST_FAULTY_LINKS = 3
SMALL_NETWORKS = (line(2), line(3), ring(3), mesh((2, 2)), hypercube(2), ring(5), mesh((3, 2)))
"""Networks whose simulators are built in seconds, with the widest words too."""
FEWEST_GRAPH_NODES, MOST_GRAPH_NODES = 4, 8
"""Fewest and most nodes of a drawn graph with switches, the switches included."""


def one_in(number: int) -> st.SearchStrategy[bool]:
    """Draw True in one of this many draws; False is the simpler value."""
    return st.integers(1, number).map(lambda drawn: drawn == number)


def integer_arrays(
    shape: int | tuple[int, ...], elements: st.SearchStrategy[int]
) -> st.SearchStrategy[npt.NDArray[np.int64]]:
    """Draw an array, each of its entries by itself."""
    return arrays(np.int64, shape, elements=elements, fill=st.nothing())


@st.composite
def with_links(draw: st.DrawFn, topology: Topology) -> Topology:
    """Draw for a quarter of the networks the registers, and for some the rates, of the links."""
    if not draw(one_in(4)):
        return topology
    shape = topology.neighbor.shape
    registers = draw(integer_arrays(shape, st.integers(0, LONGEST_DRAWN_LINK)))
    rates = draw(st.none() | integer_arrays(shape, st.integers(1, SLOWEST_DRAWN_LINK)))
    return replace(topology, link_registers_of=registers, link_rate_of=rates)


@st.composite
def broken(draw: st.DrawFn, topology: Topology) -> Topology:
    """Draw for a quarter of the networks a faulty node, and for a quarter some faulty links.

    Networks of up to three nodes stay whole.
    """
    if topology.nodes <= 3:
        return topology
    nodes = [draw(st.sampled_from(topology.working_nodes.tolist()))] if draw(one_in(4)) else []
    links: list[tuple[int, int]] = []
    if draw(one_in(4)):
        begins, ports = np.nonzero(topology.neighbor != NO_LINK)
        ends = topology.neighbor[begins, ports]
        pairs = st.sampled_from([*zip(begins.tolist(), ends.tolist(), strict=True)])
        links = draw(st.lists(pairs, min_size=1, max_size=MOST_FAULTY_LINKS, unique=True))
    return with_faults(topology, nodes, links)


def connected(topology: Topology) -> st.SearchStrategy[Topology]:
    """Draw faults as :func:`broken` that leave a path from each working node to each other."""
    return broken(topology).filter(_is_connected)


def _is_connected(topology: Topology) -> bool:
    working = topology.working_nodes
    try:
        route(topology, np.repeat(working, len(working)), np.tile(working, len(working)), 1)
    except InvalidInput:
        return False
    return True


@st.composite
def graphs(draw: st.DrawFn) -> Topology:
    """Draw a connected graph; at least one node is a switch, and at least three nodes are not.

    So two nodes can send if one is faulty.
    """
    nodes = draw(st.integers(FEWEST_GRAPH_NODES, MOST_GRAPH_NODES))
    each = st.integers(0, nodes - 1)
    tree = [(draw(st.integers(0, node - 1)), node) for node in range(1, nodes)]
    # Edges of a node to itself, and edges drawn twice, add no link.
    more = draw(st.lists(st.tuples(each, each), max_size=nodes - 1))
    switches = draw(st.lists(each, min_size=1, max_size=nodes - 3, unique=True))
    ends = np.array([*tree, *more], dtype=np.int64)
    return Edges(nodes, ends, np.zeros(len(ends), np.bool_), tuple(switches)).topology()
