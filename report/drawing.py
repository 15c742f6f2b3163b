"""The network of a page: positions of nodes and curves of links, from ``picture``."""

from functools import lru_cache
from typing import Any

import numpy as np

from ..model.network.attached_host import HostedTopology
from ..model.network.config import NetworkConfig
from ..model.network.node_names import node_name, port_name
from ..model.network.topology import NO_LINK, Topology
from ..picture.links import Lines
from ..picture.places import Places, Points
from .packing import Pack

_DECIMALS = 3


def pack_network(pack: Pack, config: NetworkConfig) -> dict[str, Any]:
    """Pack the nodes and links of a network, including faulty ones.

    Raises :class:`.InvalidInput` for a network that is too large to draw.
    """
    topology = config.topology
    whole = topology.without_faults or topology
    node, port = np.nonzero(whole.neighbor != NO_LINK)
    places, curves = _drawn(whole)
    straight = [len(curve) == 1 and len(curve[0]) == 2 for curve in curves]
    low, high = places.low.copy(), places.high.copy()
    for line in curves:
        for curve in line:
            low, high = np.minimum(low, curve.min(axis=0)), np.maximum(high, curve.max(axis=0))
    return {
        "label": topology.label,
        "nodes": topology.nodes,
        "ports": topology.ports,
        "vcs": config.vcs,
        "write_delay": config.write_delay,
        "points": _rounded(places.points),
        "low": _rounded(low),
        "high": _rounded(high),
        "names": [node_name(topology, each) for each in range(topology.nodes)],
        "written": {str(each): name for each, name in places.names.items()},
        "rulers": [
            {"across": ruler.direction == 0, "level": ruler.level, "name": ruler.name}
            | {"at": _rounded(np.array(ruler.at)), "texts": ruler.texts}
            for ruler in places.rulers
        ],
        "port_names": ["node", *(port_name(topology, port) for port in range(1, topology.ports))],
        "operators": [operator.name for operator in config.operators],
        "host": topology.host if isinstance(topology, HostedTopology) else None,
        "faulty_nodes": list(topology.faulty_nodes),
        "switches": list(topology.switches),
        "links": {
            "from": pack.column(node),
            "port": pack.column(port),
            "to": pack.column(whole.neighbor[node, port]),
            "peer": pack.column(whole.peer[node, port]),
            "registers": pack.column(whole.registers_of(config.link_registers)[node, port]),
            "rate": pack.column(whole.rates[node, port]),
            "faulty": pack.column(topology.neighbor[node, port] == NO_LINK),
            "curves": {
                str(number): [_rounded(curve) for curve in line]
                for number, line in enumerate(curves)
                if not straight[number]
            },
        },
    }


@lru_cache(maxsize=4)
def _drawn(whole: Topology) -> tuple[Places, list[tuple[Points, ...]]]:
    """Return the positions of the nodes, and the curves of each link, in order of its output."""
    places = Places.of(whole)
    lines = Lines(whole, places)
    outputs = np.argwhere(whole.neighbor != NO_LINK).tolist()
    return places, [lines.leaving(node, port).curves for node, port in outputs]


def _rounded(points: Points) -> Any:
    """Return numbers rounded for JSON."""
    return np.round(points, _DECIMALS).tolist()
