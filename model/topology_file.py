"""Topologies in JSON files: how each kind is written, and the topology that a file describes.

::

    {"kind": "mesh", "dims": [8, 8], "faulty_nodes": [], "faulty_links": []}
    {"kind": "torus", "dims": [8, 8], "faulty_nodes": [27], "faulty_links": [[0, 1]]}
    {"kind": "hypercube", "dimension": 7, ...}
    {"kind": "line", "nodes": 16, ...}                      {"kind": "ring", "nodes": 16, ...}
    {"kind": "graph", "neighbor": [[-1, 1], [-1, 0]], ...}

``neighbor`` is the table of :func:`.graphs.graph`, column 0 included. It and the sizes describe the
network without faults; the faults stand beside them as in :func:`.faults.with_faults`. They are
always written, and where a file leaves them out there are none.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from .errors import InvalidInput
from .faults import with_faults
from .graphs import graph
from .json_errors import place_first, reading_json
from .topology import Topology, hypercube, line, mesh, ring, torus

_LARGEST = (1 << 31) - 1
_Number = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)]
_Neighbor = Annotated[int, msgspec.Meta(ge=-1, le=_LARGEST)]


class _Faults(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    kind: str
    faulty_nodes: list[_Number] = []
    faulty_links: list[tuple[_Number, _Number]] = []


class _Grid(_Faults):
    dims: list[_Number]


class _Chain(_Faults):
    nodes: _Number


class _Hypercube(_Faults):
    dimension: _Number


class _Graph(_Faults):
    neighbor: list[list[_Neighbor]]


class _Kind(NamedTuple):
    """How a kind is read (``layout``, ``build``) and what it writes (``size``)."""

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
    "graph": _Kind(
        _Graph,
        lambda file: graph(file.neighbor),
        lambda t: {"neighbor": (t.without_faults or t).neighbor.tolist()},
    ),
}


def topology_to_json(topology: Topology) -> dict[str, object]:
    """Describe ``topology``, made by a constructor, as schedule and program files do."""
    return {
        "kind": topology.kind,
        **_KINDS[topology.kind].size(topology),
        "faulty_nodes": list(topology.faulty_nodes),
        "faulty_links": [list(link) for link in topology.faulty_links],
    }


def topology_from_json(fields: dict[str, object]) -> Topology:
    """Build the topology that a file describes.

    Raises :class:`InvalidInput` that names the place within ``topology`` or what is wrong with it.
    """
    kind = fields.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        *names, last = _KINDS
        allowed = f"{', '.join(names)} or {last} in this version"
        raise InvalidInput.of("topology.kind", allowed, kind)
    try:
        file = msgspec.convert(fields, _KINDS[kind].layout)
    except msgspec.ValidationError as error:
        raise InvalidInput(place_first(error, "topology")) from error
    return with_faults(_KINDS[kind].build(file), file.faulty_nodes, file.faulty_links)


def read_topology(path: str | Path) -> Topology:
    """Read a topology from a JSON file that holds its description alone.

    Raises :class:`InvalidInput` with one line that names the file and what is wrong with it.
    """
    with reading_json(path):
        fields = msgspec.json.decode(Path(path).read_bytes(), type=dict[str, object])
    try:
        return topology_from_json(fields)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error
