"""Names of nodes and ports, as people read and write them."""

from .attached_host import HostedTopology
from .topology import Topology


def node_coordinates(topology: Topology, node: int | None) -> list[int] | str | None:
    """Return a node as JSON values: its coordinates, or "host"; None for None."""
    if node is None:
        return None
    if isinstance(topology, HostedTopology) and node == topology.host:
        return "host"
    coordinates: list[int] = topology.coordinates(node).tolist()
    return coordinates


def node_name(topology: Topology, node: int) -> str:
    """Return the name of a node: "(1,0)", "3", of a cube "01" with bit 0 last, or "host"."""
    if topology.kind == "hypercube":
        return f"{node:0{len(topology.dims)}b}"
    numbers = node_coordinates(topology, node)
    if isinstance(numbers, list) and len(numbers) > 1:
        return f"({','.join(map(str, numbers))})"
    return numbers if isinstance(numbers, str) else str(node)


_COMPASS = ("east", "west", "south", "north")
"""The ports of the first two axes of a grid: up and down axis 0, up and down axis 1.

They match the pictures, which have row 0 at the top.
"""


def port_name(topology: Topology, port: int) -> str:
    """Return the name of a link port: "east", "axis_2_up", in a hypercube "axis_3", or "port_5".

    The name is one word, so it can be part of a longer name.
    """
    if topology.kind == "hypercube":
        return f"axis_{port - 1}"
    if not topology.dims or topology.ports != 1 + 2 * len(topology.dims):
        return f"port_{port}"
    if port <= len(_COMPASS):
        return _COMPASS[port - 1]
    axis, down = divmod(port - 1, 2)
    return f"axis_{axis}_{'down' if down else 'up'}"
