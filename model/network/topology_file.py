"""Topologies in JSON files: how each kind is written, and the topology that a file describes.

::

    {"kind": "mesh", "dims": [8, 8], "faulty_nodes": [], "faulty_links": []}
    {"kind": "torus", "dims": [8, 8], "faulty_nodes": [27], "faulty_links": [[0, 1]]}
    {"kind": "hypercube", "dimension": 7, ...}
    {"kind": "line", "nodes": 16, ...}              {"kind": "ring", "nodes": 16, ...}
    {"kind": "binary-tree", "nodes": 15, ...}       {"kind": "diagonal-mesh", "side": 45, ...}
    {"kind": "star-tree", "arms": 3, "length": 12, ...}
    {"kind": "de-bruijn", "base": 2, "length": 5, ...}
    {"kind": "graph", "neighbor": [[-1, 1], [-1, 0]], ...}
    {"kind": "line", "nodes": 4, "host": true, "host_links": [1, 3], ...}

``neighbor`` is the table of :func:`.graph`, column 0 included. It and the sizes describe the
network without faults; the faults stand beside them as in :func:`.with_faults`. They are
always written, and where a file leaves them out there are none. ``host_links`` are the nodes that a
host is linked to; the host itself is the node after the last.

A graph may also be in the form that networkx writes (:mod:`.node_link`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from ..base.errors import InvalidInput, one_of
from ..base.json_file import place_first, read_json
from .attached_host import HostedTopology, with_host
from .faults import with_faults
from .named_graphs import (
    binary_tree,
    de_bruijn,
    de_bruijn_size,
    diagonal_mesh,
    star_tree,
    star_tree_size,
)
from .neighbor_table import graph
from .node_link import decode_node_link
from .topology import Topology, hypercube, line, mesh, ring, torus

_LARGEST = (1 << 31) - 1
_Number = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)]
_Neighbor = Annotated[int, msgspec.Meta(ge=-1, le=_LARGEST)]


class _Faults(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    kind: str
    host: bool = False
    host_links: list[_Number] = []
    faulty_nodes: list[_Number] = []
    faulty_links: list[tuple[_Number, _Number]] = []


class _Grid(_Faults):
    dims: list[_Number]


class _Chain(_Faults):
    nodes: _Number


class _Hypercube(_Faults):
    dimension: _Number


class _StarTree(_Faults):
    arms: _Number
    length: _Number


class _DiagonalMesh(_Faults):
    side: _Number


class _DeBruijn(_Faults):
    base: _Number
    length: _Number


class _Graph(_Faults):
    neighbor: list[list[_Neighbor]]


class _Kind(NamedTuple):
    """Reader (``layout``, ``build``) and writer (``size``) of a kind of network."""

    layout: type[_Faults]
    build: Callable[[Any], Topology]
    size: Callable[[Topology], dict[str, object]]


_KINDS = {
    "mesh": _Kind(_Grid, lambda file: mesh(tuple(file.dims)), lambda t: {"dims": list(t.dims)}),
    "torus": _Kind(_Grid, lambda file: torus(tuple(file.dims)), lambda t: {"dims": list(t.dims)}),
    "hypercube": _Kind(
        _Hypercube, lambda file: hypercube(file.dimension), lambda t: {"dimension": len(t.dims)}
    ),
    "line": _Kind(_Chain, lambda file: line(file.nodes), lambda t: {"nodes": t.nodes}),
    "ring": _Kind(_Chain, lambda file: ring(file.nodes), lambda t: {"nodes": t.nodes}),
    "binary-tree": _Kind(
        _Chain, lambda file: binary_tree(file.nodes), lambda t: {"nodes": t.nodes}
    ),
    "star-tree": _Kind(
        _StarTree,
        lambda file: star_tree(file.arms, file.length),
        lambda t: dict(zip(("arms", "length"), star_tree_size(t), strict=True)),
    ),
    "diagonal-mesh": _Kind(
        _DiagonalMesh, lambda file: diagonal_mesh(file.side), lambda t: {"side": t.dims[0]}
    ),
    "de-bruijn": _Kind(
        _DeBruijn,
        lambda file: de_bruijn(file.base, file.length),
        lambda t: dict(zip(("base", "length"), de_bruijn_size(t), strict=True)),
    ),
    "graph": _Kind(
        _Graph,
        lambda file: graph(file.neighbor),
        lambda t: {"neighbor": (t.without_faults or t).neighbor.tolist()},
    ),
}


def topology_to_json(topology: Topology) -> dict[str, object]:
    """Describe ``topology``, made by a constructor, as schedule and program files do."""
    host: dict[str, object] = {}
    network = topology
    if isinstance(topology, HostedTopology):
        network = topology.network
        host = {"host": True, "host_links": list(topology.host_links)}
    return {
        "kind": network.kind,
        **_KINDS[network.kind].size(network),
        **host,
        "faulty_nodes": list(topology.faulty_nodes),
        "faulty_links": [list(link) for link in topology.faulty_links],
    }


def topology_from_json(fields: dict[str, object]) -> Topology:
    """Build the topology that a file describes.

    Raises :class:`InvalidInput` that names the place within ``topology`` or what is wrong with it.
    """
    kind = _known_kind(fields.get("kind"))
    return _topology(kind, lambda layout: msgspec.convert(fields, layout))


def read_topology(path: str | Path) -> Topology:
    """Read a topology from a JSON file that holds its description alone, ours or networkx's.

    Raises :class:`InvalidInput` with one line that names the file and what is wrong with it.
    """
    return read_json(path, _from_text)


class _Sketch(msgspec.Struct):
    """Keys that tell the two forms apart."""

    kind: object = msgspec.UNSET
    nodes: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def _from_text(text: bytes) -> Topology:
    sketch = msgspec.json.decode(text, type=_Sketch)
    if sketch.kind is msgspec.UNSET and sketch.nodes is not msgspec.UNSET:
        return decode_node_link(text)
    kind = _known_kind(None if sketch.kind is msgspec.UNSET else sketch.kind)
    return _topology(kind, lambda layout: msgspec.json.decode(text, type=layout))


def _known_kind(kind: object) -> str:
    if isinstance(kind, str) and kind in _KINDS:
        return kind
    raise InvalidInput.of("topology.kind", f"{one_of(_KINDS)} in this version", kind)


def _topology(kind: str, decode: Callable[[type[_Faults]], _Faults]) -> Topology:
    """The topology of a kind, whose description ``decode`` gives in a layout."""
    try:
        file = decode(_KINDS[kind].layout)
    except msgspec.ValidationError as error:
        raise InvalidInput(place_first(error, "topology")) from error
    topology = _KINDS[kind].build(file)
    if file.host:
        topology = with_host(topology, file.host_links)
    elif file.host_links:
        raise InvalidInput.of("topology.host_links", "left out without a host", file.host_links)
    return with_faults(topology, file.faulty_nodes, file.faulty_links)
