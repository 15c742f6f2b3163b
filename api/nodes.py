"""Nodes as users of Python name them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..model.base.errors import require_range
from ..model.network.topology import Topology

Node = int | Sequence[int]
"""A node's number, or its coordinates."""


def node_number(network: Topology, node: Node, parameter: str) -> int:
    """Find the number of a node that was given by its number or its coordinates."""
    if isinstance(node, int | np.integer):
        require_range(parameter, int(node), 0, network.nodes - 1)
        return int(node)
    return network.node_at(tuple(node), parameter)


def node_numbers(
    network: Topology, nodes: Iterable[Node] | None, parameter: str
) -> tuple[int, ...] | None:
    """Find the numbers of nodes; None where there are none to be named."""
    if nodes is None:
        return None
    return tuple(node_number(network, node, parameter) for node in nodes)
