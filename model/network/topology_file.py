"""Topologies in JSON files: the form of each kind, and the topology that a file describes.

::

    {"kind": "mesh", "dims": [8, 8], "faulty_nodes": [], "faulty_links": []}
    {"kind": "torus", "dims": [8, 8], "faulty_nodes": [27], "faulty_links": [[0, 1]]}
    {"kind": "hypercube", "dimension": 7, ...}
    {"kind": "line", "nodes": 16, ...}              {"kind": "ring", "nodes": 16, ...}
    {"kind": "binary-tree", "nodes": 15, ...}       {"kind": "diagonal-mesh", "side": 45, ...}
    {"kind": "star-tree", "arms": 3, "length": 12, ...}
    {"kind": "de-bruijn", "base": 2, "length": 5, ...}
    {"kind": "graph", "neighbor": [[-1, 1], [-1, 0]], ...}
    {"kind": "graph", "neighbor": [[-1, 1, -1], [-1, 0, 2], [-1, 1, -1]], "switches": [1], ...}
    {"kind": "graph", "neighbor": [[-1, 1], [-1, 0]], "node_names": ["east", "west"], ...}
    {"kind": "line", "nodes": 4, "host": true, "host_links": [1, 3], ...}
    {"kind": "line", "nodes": 3, "links": [[0, 1, 7, 4], [1, 2, 7, -1]], ...}

``neighbor`` is the table of :func:`.graph`, column 0 included. ``switches`` are a graph's nodes
without a network interface, and ``node_names`` are the names of its nodes, by number; they are
written only if there are any. Sizes, ``neighbor`` and ``switches`` describe the network without
faults; the faults are those of :func:`.with_faults`. They are always written; a file without them
has no faults. ``host_links`` are the nodes that a host is linked to; the host itself is the node
after the last. ``links`` are the links that differ, by node and port, with their registers and
rate, -1 for those of the network; they are written only if there are any.

A graph may also be in the form that networkx writes (:mod:`.node_link`).
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from ..base.errors import InvalidInput, one_of
from ..base.files import InputFile
from ..base.json_file import place_first, read_json
from .attached_host import HostedTopology, with_host
from .faults import with_faults
from .kinds import GRAPH, KINDS, Kind
from .neighbor_table import graph
from .node_link import decode_node_link
from .topology import NO_LINK, UNSAID, Topology

_LARGEST = (1 << 31) - 1
_Number = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)]
_Neighbor = Annotated[int, msgspec.Meta(ge=-1, le=_LARGEST)]


class _Faults(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    kind: str
    host: bool = False
    host_links: list[_Number] = []
    faulty_nodes: list[_Number] = []
    faulty_links: list[tuple[_Number, _Number]] = []
    links: list[tuple[_Number, _Number, _Neighbor, _Neighbor]] = []


class _Graph(_Faults):
    neighbor: list[list[_Neighbor]]
    switches: list[_Number] = []
    node_names: list[str] = []


def _layout_of(kind: Kind) -> type[msgspec.Struct]:
    """Return the layout of a kind: its numbers, or its list of sides, and the faults."""
    number = list[_Number] if kind.sides else _Number
    return msgspec.defstruct(
        kind.name,
        [(name, number) for name in kind.fields],
        bases=(_Faults,),
        forbid_unknown_fields=True,
        kw_only=True,
    )


_LAYOUTS: dict[str, Any] = {
    **{name: _layout_of(kind) for name, kind in KINDS.items()},
    GRAPH: _Graph,
}


def topology_to_json(topology: Topology) -> dict[str, object]:
    """Describe ``topology``, made by a constructor, in the form of schedule and program files."""
    host: dict[str, object] = {}
    network = topology
    if isinstance(topology, HostedTopology):
        network = topology.network
        host = {"host": True, "host_links": list(topology.host_links)}
    return {
        "kind": network.kind,
        **_size_to_json(network),
        **host,
        "faulty_nodes": list(topology.faulty_nodes),
        "faulty_links": [list(link) for link in topology.faulty_links],
        **_links_to_json(topology.without_faults or topology),
    }


def _links_to_json(topology: Topology) -> dict[str, object]:
    """Describe the links that differ, if there are any."""
    node, port = np.nonzero(topology.differing_links)
    if not len(node):
        return {}
    tables = (topology.link_registers_of, topology.link_rate_of)
    said = (np.full(len(node), UNSAID) if each is None else each[node, port] for each in tables)
    return {"links": np.stack((node, port, *said), axis=1).tolist()}


def _size_to_json(topology: Topology) -> dict[str, object]:
    """Describe the size of a topology of a named kind, or the table of neighbours of a graph."""
    if topology.kind not in KINDS:
        table = (topology.without_faults or topology).neighbor.tolist()
        told = {name: list(getattr(topology, name)) for name in ("switches", "node_names")}
        return {"neighbor": table, **{name: values for name, values in told.items() if values}}
    kind = KINDS[topology.kind]
    size = kind.size(topology)
    values = [list(size)] if kind.sides else size
    return dict(zip(kind.fields, values, strict=True))


def topology_from_json(fields: dict[str, object]) -> Topology:
    """Build the topology that a file describes.

    Raises :class:`InvalidInput` that names the place within ``topology``, or the fault in it.
    """
    kind = _known_kind(fields.get("kind"))
    return _topology(kind, lambda layout: msgspec.convert(fields, layout))


def read_network(path: str | Path | InputFile) -> Topology:
    """Read a network from a JSON file.

    Parameters
    ----------
    path
        A file with the network's description, or with a graph as networkx writes it (node-link).

    Returns
    -------
    Topology
        The network.

    Raises
    ------
    InvalidInput
        If the file cannot be read, or a key or value is wrong; the line names file and place.
    """
    return read_json(path, _from_text)


class _Sketch(msgspec.Struct):
    """Keys by which the two forms differ."""

    kind: object = msgspec.UNSET
    nodes: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def _from_text(text: bytes) -> Topology:
    sketch = msgspec.json.decode(text, type=_Sketch)
    if sketch.kind is msgspec.UNSET and sketch.nodes is not msgspec.UNSET:
        return decode_node_link(text)
    kind = _known_kind(None if sketch.kind is msgspec.UNSET else sketch.kind)
    return _topology(kind, lambda layout: msgspec.json.decode(text, type=layout))


def _known_kind(kind: object) -> str:
    if isinstance(kind, str) and kind in _LAYOUTS:
        return kind
    raise InvalidInput.of("topology.kind", f"{one_of(_LAYOUTS)} in this version", kind)


def _topology(kind: str, decode: Callable[[type[_Faults]], _Faults]) -> Topology:
    """Build the topology of a kind; ``decode`` decodes its description in a given layout."""
    try:
        file = decode(_LAYOUTS[kind])
    except msgspec.ValidationError as error:
        raise InvalidInput(place_first(error, "topology")) from error
    topology = _with_links(_whole_network(kind, file), file.links)
    if file.host:
        topology = with_host(topology, file.host_links)
    elif file.host_links:
        raise InvalidInput.of("topology.host_links", "left out without a host", file.host_links)
    return with_faults(topology, file.faulty_nodes, file.faulty_links)


def _with_links(topology: Topology, links: list[tuple[int, int, int, int]]) -> Topology:
    """Return ``topology`` with links that differ, by node and port; refuse others."""
    if not links:
        return topology
    tables = np.full((2, *topology.neighbor.shape), UNSAID)
    for node, port, *values in links:
        there = node < topology.nodes and 0 < port < topology.ports
        if not there or topology.neighbor[node, port] == NO_LINK:
            allowed = f"links of the {topology.label}, by node and port"
            raise InvalidInput.of("topology.links", allowed, f"node {node}, port {port}")
        tables[:, node, port] = values
    return replace(topology, link_registers_of=tables[0], link_rate_of=tables[1])


def _whole_network(name: str, file: Any) -> Topology:
    """Make the network that a file describes, without its faults and its host."""
    if name not in KINDS:
        topology = graph(file.neighbor, file.switches)
        if len(file.node_names) not in (0, topology.nodes):
            allowed = f"{topology.nodes} names, as there are nodes"
            raise InvalidInput.of("topology.node_names", allowed, len(file.node_names))
        return replace(topology, node_names=tuple(file.node_names))
    kind = KINDS[name]
    numbers = [getattr(file, field) for field in kind.fields]
    return kind.network(tuple(numbers[0]) if kind.sides else tuple(numbers))
