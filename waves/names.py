"""Names in waveforms: a scope for the network, one for each node, and one for each link.

::

    network.cycle
    network.node_3,4.interface.step              registers of the network interface
    network.node_3,4.interface.delivered.VC_0    flits that port 0 delivers
    network.node_3,4.out_east.VC_0               the link that leaves by the east port
    network.node_3,4.in_east.VC_0                the link that enters by the east port
    network.switch_12.out_port_2.VC_0            a switch has only links

A link has a name at each end, for the same signals.
"""

from ..model.network.node_names import node_coordinates, port_name
from ..model.network.topology import Topology

NETWORK = "network"
INTERFACE = "interface"

Scope = tuple[str, ...]


def node_scope(topology: Topology, node: int) -> Scope:
    """Return the scope of a node: "node_3,4", "switch_12" or "host"."""
    place = node_coordinates(topology, node)
    kind = "switch" if node in topology.switches else "node"
    name = place if isinstance(place, str) else f"{kind}_{','.join(map(str, place or ()))}"
    return NETWORK, name


def has_interface(topology: Topology, node: int) -> bool:
    """Return whether a node has a network interface; a switch has none."""
    return node not in topology.switches


def interface_scope(topology: Topology, node: int) -> Scope:
    """Return the scope of a node's network interface."""
    return *node_scope(topology, node), INTERFACE


def link_scopes(topology: Topology, node: int, port: int) -> tuple[Scope, Scope]:
    """Return the scopes of the link that leaves ``node`` by ``port``: at its begin and its end."""
    neighbor, peer = int(topology.neighbor[node, port]), int(topology.peer[node, port])
    begin = (*node_scope(topology, node), f"out_{port_name(topology, port)}")
    return begin, (*node_scope(topology, neighbor), f"in_{port_name(topology, peer)}")


def delivery_scope(topology: Topology, node: int, place: int, places: int) -> Scope:
    """Return the scope of delivery number ``place`` of the ``places`` in a cycle."""
    number = f"_{place + 1}" if places > 1 else ""
    return *interface_scope(topology, node), f"delivered{number}"


def vc_scope(scope: Scope, vc: int) -> Scope:
    """Return the scope of one VC of a link, or of a delivery."""
    return *scope, f"VC_{vc}"
