"""Graphs in the node-link form of JSON that networkx writes (``networkx.node_link_data``).

::

    {"directed": false, "multigraph": false, "graph": {},
     "nodes": [{"id": "a"}, {"id": "b", "switch": true}],
     "edges": [{"source": "a", "target": "b"}]}

Older versions of networkx call the edges ``links``. Nodes are numbered in the order of the file,
whatever their ids are. Nodes with the attribute ``switch`` true have no network interface
(:func:`.graph`). Edges from a node to itself are ignored, and repeated edges count once. All other
attributes are ignored.
"""

from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

import msgspec
import numpy as np

from ..base.errors import InvalidInput, require_range
from .edges import Edges
from .topology import LARGEST_NODE_COUNT, Topology


@runtime_checkable
class NetworkxGraph(Protocol):
    """A graph of networkx, or any object with these members of one."""

    def is_directed(self) -> bool:
        """Tell whether edges lead one way."""

    @property
    def nodes(self) -> Any:
        """The nodes: a mapping to their attributes."""

    @property
    def edges(self) -> Any:
        """The edges: an iterable of tuples that begin with the two ends."""


def from_networkx(graph: NetworkxGraph, switches: Iterable[int] = ()) -> Topology:
    """Return a graph of networkx as a network, as if it had been written as a file.

    ``switches`` are numbers of further switches. Raises :class:`InvalidInput` for a graph without
    nodes, and if all nodes are switches.
    """
    require_range("nodes of the graph", len(graph.nodes), 1, LARGEST_NODE_COUNT)
    numbers = {node: number for number, node in enumerate(graph.nodes)}
    ends = [[numbers[end] for end in edge[:2]] for edge in graph.edges]
    marked = {numbers[node] for node, given in graph.nodes.items() if given.get("switch")}
    marked |= {*switches}
    return Edges(
        len(numbers),
        np.array(ends, np.int64).reshape(-1, 2),
        np.full(len(ends), graph.is_directed()),
        tuple(sorted(marked)),
        tuple(map(str, numbers)),
    ).topology()


class _Node(msgspec.Struct):
    id: object
    switch: bool = False


class _Edge(msgspec.Struct):
    source: object
    target: object


class _File(msgspec.Struct):
    nodes: list[_Node]
    directed: bool = False
    edges: list[_Edge] | None = None
    links: list[_Edge] | None = None


def decode_node_link(text: bytes) -> Topology:
    """Return the graph that the text of a node-link file describes."""
    return decode_edges(text).topology()


def decode_edges(text: bytes) -> Edges:
    """Return the edges that a node-link file lists; a directed one is a link that works one way.

    Raises :class:`InvalidInput` for a file without nodes, for a repeated id, and for an edge to a
    node that does not exist, and ``msgspec.ValidationError`` for a file of another form.
    """
    return _edges(msgspec.json.decode(text, type=_File))


def _edges(file: _File) -> Edges:
    name = "edges" if file.edges is not None else "links"
    edges = file.edges if file.edges is not None else file.links
    if edges is None:
        raise InvalidInput("a graph with nodes must have edges (or links) too")
    numbers = _numbers(file.nodes)
    ends = np.zeros((len(edges), 2), np.int64)
    for place, edge in enumerate(edges):
        for column, end in enumerate(("source", "target")):
            given = msgspec.json.encode(getattr(edge, end))
            if given not in numbers:
                parameter = f"{name}[{place}].{end}"
                raise InvalidInput.of(parameter, "the id of a node", given.decode())
            ends[place, column] = numbers[given]
    switches = tuple(number for number, node in enumerate(file.nodes) if node.switch)
    one_way = np.full(len(edges), file.directed)
    return Edges(len(numbers), ends, one_way, switches, tuple(map(_name, numbers)))


def _name(identity: bytes) -> str:
    """Return the name in an id's JSON text: the string, otherwise the text itself."""
    value = msgspec.json.decode(identity)
    return value if isinstance(value, str) else identity.decode()


def _numbers(nodes: list[_Node]) -> dict[bytes, int]:
    """Number the ids; an id may be any JSON value, and its JSON text identifies it."""
    if not 1 <= len(nodes) <= LARGEST_NODE_COUNT:
        raise InvalidInput.of("nodes", f"1 to {LARGEST_NODE_COUNT}", len(nodes))
    numbers: dict[bytes, int] = {}
    for place, node in enumerate(nodes):
        given = msgspec.json.encode(node.id)
        if numbers.setdefault(given, place) != place:
            raise InvalidInput.of(f"nodes[{place}].id", "another than before", given.decode())
    return numbers
