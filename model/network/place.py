"""Names of nodes and of their ports, as people read and write them."""

from __future__ import annotations

from .attached_host import HostedTopology
from .topology import Topology


def place_numbers(topology: Topology, node: int | None) -> list[int] | str | None:
    """Place of a node as JSON values: its coordinates, or "host"; None for none."""
    if node is None:
        return None
    if isinstance(topology, HostedTopology) and node == topology.host:
        return "host"
    coordinates: list[int] = topology.coordinates(node).tolist()
    return coordinates


def place_name(topology: Topology, node: int) -> str:
    """Name the place of a node: "(1,0)", or "host"."""
    numbers = place_numbers(topology, node)
    return numbers if isinstance(numbers, str) else f"({','.join(map(str, numbers or ()))})"


_COMPASS = ("east", "west", "south", "north")
"""The ports of the first two axes of a grid: up and down axis 0, up and down axis 1.

They are as in the pictures, which have row 0 at the top, as a page of text has.
"""


def port_name(topology: Topology, port: int) -> str:
    """Name the link port ``port``: "east", "axis_2_up", in a hypercube "axis_3", or "port_5".

    It is one word, which can be a part of a longer name.
    """
    if topology.kind == "hypercube":
        return f"axis_{port - 1}"
    if not topology.dims or topology.ports != 1 + 2 * len(topology.dims):
        return f"port_{port}"
    if port <= len(_COMPASS):
        return _COMPASS[port - 1]
    axis, down = divmod(port - 1, 2)
    return f"axis_{axis}_{'down' if down else 'up'}"
