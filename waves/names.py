"""Names in waveforms: a scope for the network, in it one for each node, and in that its links.

::

    network.cycle
    network.node_3,4.interface.step              registers of the network interface
    network.node_3,4.interface.delivered.VC_0    what port 0 delivers
    network.node_3,4.out_east.VC_0               the link that leaves by the east port
    network.node_3,4.in_east.VC_0                the link that comes in by it
    network.switch_12.out_port_2.VC_0            a switch has links alone

A link has both of its ends' names, for the same signals.
"""

from __future__ import annotations

from ..model.network.place import place_numbers, port_name
from ..model.network.topology import Topology

NETWORK = "network"
INTERFACE = "interface"

Scope = tuple[str, ...]


def node_scope(topology: Topology, node: int) -> Scope:
    """Name the scope of a node by its coordinates: "node_3,4"; "switch_12", or "host"."""
    place = place_numbers(topology, node)
    kind = "switch" if node in topology.switches else "node"
    name = place if isinstance(place, str) else f"{kind}_{','.join(map(str, place or ()))}"
    return NETWORK, name


def has_interface(topology: Topology, node: int) -> bool:
    """Tell whether a node has a network interface, which a switch has not."""
    return node not in topology.switches


def interface_scope(topology: Topology, node: int) -> Scope:
    """Name the scope of a node's network interface."""
    return *node_scope(topology, node), INTERFACE


def link_scopes(topology: Topology, node: int, port: int) -> tuple[Scope, Scope]:
    """Name the scopes of the link that leaves ``node`` by ``port``: where it begins, and ends."""
    neighbor, peer = int(topology.neighbor[node, port]), int(topology.peer[node, port])
    begin = (*node_scope(topology, node), f"out_{port_name(topology, port)}")
    return begin, (*node_scope(topology, neighbor), f"in_{port_name(topology, peer)}")


def delivery_scope(topology: Topology, node: int, place: int, places: int) -> Scope:
    """Name the scope of what port 0 delivers; of ``places`` flits of one cycle number ``place``."""
    number = f"_{place + 1}" if places > 1 else ""
    return *interface_scope(topology, node), f"delivered{number}"


def vc_scope(scope: Scope, vc: int) -> Scope:
    """Name the scope of one VC of a link, or of a delivery."""
    return *scope, f"VC_{vc}"
