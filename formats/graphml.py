"""Graphs in GraphML, the XML of networkx, igraph, Gephi and yEd.

::

    <graphml xmlns="http://graphml.graphdrawing.org/xmlns">
      <key id="d0" for="node" attr.name="switch" attr.type="boolean"/>
      <graph edgedefault="undirected">
        <node id="a"/>
        <node id="s"><data key="d0">true</data></node>
        <edge source="a" target="s"/>
      </graph>
    </graphml>

Nodes are numbered in the order of the file. An undirected edge is a link both ways, a directed edge
one way. A node whose attribute ``switch`` is true has no network interface. Other attributes and
ports of nodes are skipped with a notice. Graphs within nodes and edges with more than two ends are
refused. Source of the format: http://graphml.graphdrawing.org/specification.html.
"""

from dataclasses import dataclass, field

import numpy as np

from ..model.base.files import InputFile
from ..model.network.edges import Edges
from ..model.network.topology import Topology
from .format import Format
from .graphs import network_of
from .xml_file import Element, XmlFile, root_name

_SWITCH = "switch"
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_WAYS = {"directed": True, "undirected": False}


def read_graphml(file: InputFile) -> Topology:
    """Read the graph of a GraphML file.

    Raises :class:`.InvalidInput` with the line and the element.
    """
    reader = _Reader(XmlFile(file))
    edges = reader.read()
    return network_of(file, edges, passed_over=reader.passed_over)


@dataclass
class _Reader:
    """The graph of one file, read element by element.

    ``nodes`` has the number of each node's id; ``passed_over`` has the names of skipped attributes.
    """

    xml: XmlFile
    nodes: dict[str, int] = field(default_factory=dict)
    passed_over: set[str] = field(default_factory=set)
    _names: dict[str, str] = field(default_factory=dict)
    _switch_by_default: bool = False
    _switches: list[int] = field(default_factory=list)

    def read(self) -> Edges:
        """Read the whole file."""
        root = self.xml.root
        for element in root.iter():
            # Drop the namespace: writers use several versions of it.
            element.tag = element.tag.rpartition("}")[2]
        if root.tag != "graphml":
            raise self.xml.refusal(root, "must be a <graphml>")
        graphs: list[Element] = []
        for child in root:
            if child.tag == "key":
                self._take_key(child)
            elif child.tag == "graph" and not graphs:
                graphs.append(child)
            else:
                self._pass_over(child, "the file")
        if not graphs:
            raise self.xml.refusal(root, "must have a <graph>")
        return self._take_graph(graphs[0])

    def _required(self, element: Element, name: str) -> str:
        """Return the attribute ``name`` of an element; refuse an element without it."""
        value: str | None = element.get(name)
        if value is None:
            raise self.xml.refusal(element, f"must have {name}")
        return value

    def _one_of(self, element: Element, name: str, value: str, allowed: dict[str, bool]) -> bool:
        if value.strip().lower() not in allowed:
            complaint = f"{name} must be {' or '.join(allowed)}, not {value[:60]!r}"
            raise self.xml.refusal(element, complaint)
        return allowed[value.strip().lower()]

    def _take_key(self, key: Element) -> None:
        """Store an attribute's name, and whether nodes are switches by default."""
        identity = self._required(key, "id")
        self._names[identity] = key.get("attr.name", identity)
        for child in key:
            if child.tag == "default" and self._names[identity] == _SWITCH:
                self._switch_by_default = self._one_of(child, _SWITCH, child.text or "", _TRUTH)

    def _take_graph(self, graph: Element) -> Edges:
        """Read the nodes, then the edges; edges may stand before their nodes."""
        way = self._required(graph, "edgedefault")
        one_way = self._one_of(graph, "edgedefault", way, _WAYS)
        edges = []
        for child in graph:
            if child.tag == "node":
                self._take_node(child)
            elif child.tag == "edge":
                edges.append(child)
            else:
                self._pass_over(child, "the graph")
        if not self.nodes:
            raise self.xml.refusal(graph, "must have a <node>")
        ends = [self._ends(edge) for edge in edges]
        ways = [self._one_way(edge, one_way) for edge in edges]
        return Edges(
            len(self.nodes),
            np.array(ends, dtype=np.int64).reshape(-1, 2),
            np.array(ways, dtype=np.bool_),
            tuple(self._switches),
            tuple(self.nodes),
        )

    def _take_node(self, node: Element) -> None:
        identity = self._required(node, "id")
        if identity in self.nodes:
            complaint = f"id must be another than before, not {identity[:60]!r}"
            raise self.xml.refusal(node, complaint)
        switch = self._switch_by_default
        for child in node:
            if child.tag == "data" and self._name(child) == _SWITCH:
                switch = self._one_of(child, _SWITCH, child.text or "", _TRUTH)
            else:
                self._pass_over(child, "nodes")
        self._switches += [len(self.nodes)] if switch else []
        self.nodes[identity] = len(self.nodes)

    def _ends(self, edge: Element) -> tuple[int, int]:
        """Return the numbers of an edge's two nodes."""
        for name in ("source", "target"):
            if self._required(edge, name) not in self.nodes:
                complaint = f"{name} must be the id of a node, not {edge.get(name)[:60]!r}"
                raise self.xml.refusal(edge, complaint)
        return self.nodes[edge.get("source")], self.nodes[edge.get("target")]

    def _one_way(self, edge: Element, by_default: bool) -> bool:
        """Return whether an edge is directed; skip its other content."""
        for child in edge:
            self._pass_over(child, "edges")
        for name in ("sourceport", "targetport"):
            if edge.get(name) is not None:
                self.passed_over.add("ports of edges")
        directed = edge.get("directed")
        return by_default if directed is None else self._one_of(edge, "directed", directed, _TRUTH)

    def _name(self, data: Element) -> str:
        """Return the name of the attribute of a value."""
        key = self._required(data, "key")
        return self._names.get(key, key)

    def _pass_over(self, element: Element, owner: str) -> None:
        """Skip an element that a network cannot hold; refuse one that would change the graph."""
        if element.tag == "data":
            self.passed_over.add(f"{self._name(element)} of {owner}")
        elif element.tag in ("desc", "port"):
            self.passed_over.add(f"{element.tag} of {owner}")
        else:
            raise self.xml.refusal(element, f"is more in {owner} than a network can say")


GRAPHML = Format(
    name="graphml",
    title="GraphML",
    suffixes=(".graphml",),
    looks=lambda content: root_name(content) == "graphml",
    read_network=read_graphml,
)
