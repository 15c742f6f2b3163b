"""Making networks from Python."""

from collections.abc import Iterable, Sequence

from ..model.network import chiplets as grids_of_chiplets
from ..model.network import faults, named_graphs, neighbor_table, topology_file
from ..model.network import topology as grids
from ..model.network.node_link import NetworkxGraph, from_networkx
from ..model.network.topology import Topology
from .annotations import Node
from .arguments import checked
from .task import node_number

mesh = checked(grids.mesh)
torus = checked(grids.torus)
chiplets = checked(grids_of_chiplets.chiplets)
hypercube = checked(grids.hypercube)
line = checked(grids.line)
ring = checked(grids.ring)
binary_tree = checked(named_graphs.binary_tree)
star_tree = checked(named_graphs.star_tree)
diagonal_mesh = checked(named_graphs.diagonal_mesh)
de_bruijn = checked(named_graphs.de_bruijn)
read_network = checked(topology_file.read_network)


@checked
def graph(
    neighbor: Sequence[Sequence[int]] | NetworkxGraph, switches: Iterable[int] = ()
) -> Topology:
    """Return any graph, given as a table of neighbours or by networkx.

    Parameters
    ----------
    neighbor
        One row for each node. Entry p of row n is the node to which port p of node n leads, or -1.
        Entry 0, the node's own port, is always -1. Links come in pairs, one each way. Or a graph of
        networkx: its nodes are numbered in their order, and a directed edge is a link that works
        one way. Nodes with a true attribute ``switch`` are switches.
    switches
        Numbers of further nodes that forward packets and have no network interface.

    Returns
    -------
    Topology
        The network.

    Raises
    ------
    InvalidInput
        If rows differ in length, an entry is not another node, a link has no way back, there are no
        nodes, or all nodes are switches.

    Examples
    --------
    >>> graph([[-1, 1, 1], [-1, 0, 0]]).peer.tolist()
    [[-1, 1, 2], [-1, 1, 2]]
    """
    if isinstance(neighbor, NetworkxGraph):
        return from_networkx(neighbor, switches)
    return neighbor_table.graph(neighbor, switches)


@checked
def with_faults(
    topology: Topology,
    faulty_nodes: Iterable[Node] = (),
    faulty_links: Iterable[tuple[Node, Node]] = (),
) -> Topology:
    """Return a network without the links of faulty nodes and without faulty links.

    Parameters
    ----------
    topology
        The network; its own faults stay.
    faulty_nodes
        Nodes that fail.
    faulty_links
        Directed pairs (from, to) of nodes; a pair removes all parallel links between the two.

    Returns
    -------
    Topology
        A new network with the same node numbers.

    Raises
    ------
    InvalidInput
        If a node does not exist or a pair has no link.
    """
    name = "node of a faulty link"
    return faults.with_faults(
        topology,
        [node_number(topology, node, "faulty node") for node in faulty_nodes],
        [
            (node_number(topology, begin, name), node_number(topology, end, name))
            for begin, end in faulty_links
        ],
    )


@checked
def with_random_faults(
    network: Topology, part: float, *, seed: int = 1, keep: Iterable[Node] = ()
) -> Topology:
    """Return a network in which randomly drawn nodes are faulty.

    Parameters
    ----------
    network
        The network; its own faults stay.
    part
        Share of faulty nodes, from 0 to below 1; their number is rounded.
    seed
        The same seed and number of nodes give the same faults.
    keep
        Nodes that never fail.

    Returns
    -------
    Topology
        A new network with the same node numbers.

    Raises
    ------
    InvalidInput
        If the part or a node is out of range.
    """
    kept = [node_number(network, node, "node to keep") for node in keep]
    return faults.with_faults(network, faults.draw_faults(network, part, seed=seed, keep=kept))
