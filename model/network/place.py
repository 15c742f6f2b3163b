"""Names of nodes, as people read and write them."""

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
