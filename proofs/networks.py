"""Small networks, one for each number of ports and VCs."""

from typing import Any

from ..model.network.config import NetworkConfig
from ..model.network.topology import line, mesh

TOPOLOGIES = {3: line(3), 5: mesh((3, 3)), 7: mesh((3, 3, 3))}
"""Meshes whose middle node has a link at every port, by the number of ports."""

WIDTH = 12
"""Bits of a flit: the smallest width in which the deliveries of all networks here fit."""


def network(ports: int = 3, vcs: int = 1, depth: int = 2, **more: Any) -> NetworkConfig:
    """Return the configuration of a network whose routers have so many ports."""
    parameters = {"flit_width": WIDTH, "message_words": 2, "table_words": 2, "steps": 1, **more}
    return NetworkConfig(topology=TOPOLOGIES[ports], vcs=vcs, depth=depth, **parameters)


def said(**parameters: int) -> str:
    """Return a configuration in words, such as ``3 ports, 1 VC, depth 2``."""
    words = {"ports": "ports", "vcs": "VCs", "depth": "depth"}
    parts = []
    for name, value in parameters.items():
        word = words.get(name, name)
        if name == "depth":
            parts.append(f"depth {value}")
        else:
            parts.append(f"{value} {word.removesuffix('s') if value == 1 else word}")
    return ", ".join(parts)
