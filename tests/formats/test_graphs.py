"""Graphs in GraphML, node-link, Matrix Market and edge lists; notices and refusals."""

import json
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from helpers.command import Command, result
from helpers.foreign import file, said
from helpers.refusals import refusal_of
from helpers.topologies import assert_same, links
from hypothesis import given, settings
from hypothesis import strategies as st

from eyecast.formats.edge_list import read_edge_list
from eyecast.formats.graphml import read_graphml
from eyecast.formats.matrix_market import read_matrix_market
from eyecast.formats.node_link import read_node_link
from eyecast.formats.registry import format_of
from eyecast.model.base.files import InputFile
from eyecast.model.network.edges import Edges
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import Topology

Reader = Callable[[InputFile], Topology]

SQUARE = graph([[-1, 1, 2], [-1, 0, 3], [-1, 0, 3], [-1, 1, 2]])


def drawn(draw: st.DataObject, kind: type[nx.Graph]) -> nx.Graph:
    """Draw a networkx graph of a kind, with loops and parallel edges if the kind allows them."""
    nodes = draw.draw(st.integers(1, 6))
    ends = st.integers(0, nodes - 1)
    given_graph = kind()
    given_graph.add_nodes_from(range(nodes))
    given_graph.add_edges_from(draw.draw(st.lists(st.tuples(ends, ends), max_size=12)))
    return given_graph


def ways(topology: Topology) -> set[tuple[int, int]]:
    return {(node, end) for node, _, end, _ in links(topology)}


def expected(given_graph: nx.Graph) -> set[tuple[int, int]]:
    edges = {(a, b) for a, b in given_graph.edges() if a != b}
    return edges if given_graph.is_directed() else edges | {(b, a) for a, b in edges}


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]))
def test_what_networkx_writes_is_the_same_graph(draw: st.DataObject, kind: type[nx.Graph]) -> None:
    given_graph = drawn(draw, kind)
    graphml = "\n".join(nx.generate_graphml(given_graph))
    node_link = json.dumps(nx.node_link_data(given_graph, edges="edges"))
    for name, reader, text in (
        ("graphml", read_graphml, graphml),
        ("node-link", read_node_link, node_link),
    ):
        read = file(text)
        form = format_of(read)
        assert form is not None and form.name == name
        topology = reader(read)
        assert topology.nodes == len(given_graph)
        assert ways(topology) == expected(given_graph)


def test_edges_without_names_as_networkx_writes_them(caplog: pytest.LogCaptureFixture) -> None:
    cube = nx.hypercube_graph(3)
    named = nx.relabel_nodes(cube, {node: 4 * node[0] + 2 * node[1] + node[2] for node in cube})
    text = "\n".join(nx.generate_edgelist(named))
    assert ways(read_edge_list(file(text))) == expected(named)
    assert said(caplog) == []
    assert_same(read_edge_list(file("# a comment\n9 3\n9 5 0.5\n3 7\n7 5")), SQUARE_BY_NAMES)
    assert said(caplog) == [
        "x: passed over, as a network has no place for it: data of edges",
        "x: numbers of nodes: 0 is 3, 1 is 5, 2 is 7, 3 is 9",
    ]


SQUARE_BY_NAMES = graph([[-1, 2, 3], [-1, 2, 3], [-1, 0, 1], [-1, 0, 1]])

MATRIX = """%%MatrixMarket matrix coordinate real symmetric
% a square
4 4 5
2 1 0.0
3 1 1e3

4 2 -1
4 3 2
1 1 7
"""


def test_a_symmetric_matrix(caplog: pytest.LogCaptureFixture) -> None:
    assert_same(read_matrix_market(file(MATRIX)), SQUARE)
    assert said(caplog) == [
        "x: 1 edge from a node to itself: left out",
        "x: passed over, as a network has no place for it: values of entries",
    ]


def test_entries_of_a_general_matrix_are_links_of_one_way() -> None:
    text = "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 1\n2 3\n"
    assert ways(read_matrix_market(file(text))) == {(0, 1), (1, 0), (1, 2)}


def test_an_attribute_makes_a_switch() -> None:
    star = nx.star_graph(3)
    star.nodes[0]["switch"] = True
    for reader, text in (
        (read_graphml, "\n".join(nx.generate_graphml(star))),
        (read_node_link, json.dumps(nx.node_link_data(star, edges="links"))),
    ):
        assert reader(file(text)).switches == (0,)
    by_default = (
        '<graphml><key id="k" attr.name="switch"><default>true</default></key>'
        '<graph edgedefault="undirected"><edge source="a" target="b"/><node id="a"/>'
        '<node id="b"><data key="k">false</data></node></graph></graphml>'
    )
    topology = read_graphml(file(by_default))
    assert topology.switches == (0,) and ways(topology) == {(0, 1), (1, 0)}


def test_what_has_no_place_in_a_network_is_said(caplog: pytest.LogCaptureFixture) -> None:
    network = nx.MultiDiGraph(name="x")
    network.add_node("Rome", color="red")
    network.add_edge("Rome", "Oslo", weight=1.5)
    network.add_edge("Rome", "Oslo")
    network.add_edge("Oslo", "Oslo")
    common = [
        "x: 1 edge from a node to itself: left out",
        "x: 1 edge where there is one already: left out",
    ]
    names = "x: numbers of nodes: 0 is Rome, 1 is Oslo"
    passed = "x: passed over, as a network has no place for it: color of nodes"
    read_graphml(file("\n".join(nx.generate_graphml(network))))
    assert said(caplog) == [*common, f"{passed}, name of the graph, weight of edges", names]
    read_node_link(file(json.dumps(nx.node_link_data(network, edges="edges"))))
    assert said(caplog) == [*common, f"{passed}, weight of edges", names]
    read_edge_list(file("\n".join(f"a\x1b{n} b" for n in range(20))))
    assert said(caplog) == [
        "x: numbers of nodes: 0 is a\\x1b0, 1 is b, 2 is a\\x1b1, 3 is a\\x1b2, 4 is a\\x1b3, "
        "5 is a\\x1b4, 6 is a\\x1b5, 7 is a\\x1b6, 8 is a\\x1b7, 9 is a\\x1b8, 10 is a\\x1b9, "
        "11 is a\\x1b10, 12 is a\\x1b11, 13 is a\\x1b12, 14 is a\\x1b13, 15 is a\\x1b14 and so on, "
        "5 more"
    ]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=8))
def test_edges_that_add_nothing_are_counted(edges: list[tuple[int, int, bool]]) -> None:
    table = np.array([edge[:2] for edge in edges], np.int64).reshape(-1, 2)
    counted = Edges(4, table, np.array([edge[2] for edge in edges], np.bool_))
    there: set[tuple[int, int]] = set()
    repeated = 0
    for a, b, one_way in edges:
        new = ({(a, b)} if one_way else {(a, b), (b, a)}) - there
        repeated += a != b and not new
        there |= new
    assert counted.repeated == repeated
    assert counted.loops == sum(a == b for a, b, _ in edges)
    assert ways(counted.topology()) == {(a, b) for a, b in there if a != b}


def graphml(inner: str) -> str:
    return f'<graphml>\n<graph edgedefault="directed">\n{inner}\n</graph>\n</graphml>'


BANNER = "%%MatrixMarket matrix coordinate pattern general"
REFUSED: list[tuple[Reader, str | bytes, str]] = [
    (read_graphml, "<graphml>", "x, line 1: must be XML: Premature end of data in tag graphml"),
    (
        read_graphml,
        '<!DOCTYPE g [<!ENTITY a "b">]><graphml/>',
        "x, line 1: XML must be without a DOCTYPE",
    ),
    (read_graphml, "<graphml>" + "<graph>" * 3000, "x, line 1: must be XML: Excessive depth in"),
    (read_graphml, "<svg/>", "x, line 1: <svg>: must be a <graphml>"),
    (read_graphml, "<graphml/>", "x, line 1: <graphml>: must have a <graph>"),
    (read_graphml, graphml(""), "x, line 2: <graph>: must have a <node>"),
    (read_graphml, graphml("<node/>"), "x, line 3: <node>: must have id"),
    (
        read_graphml,
        graphml('<node id="a"/>\n<node id="a"/>'),
        "x, line 4: <node>: id must be another than before, not 'a'",
    ),
    (
        read_graphml,
        graphml('<node id="a"/><edge source="a" target="b"/>'),
        "x, line 3: <edge>: target must be the id of a node, not 'b'",
    ),
    (
        read_graphml,
        graphml('<node id="a"/><edge source="a" target="a" directed="perhaps"/>'),
        "x, line 3: <edge>: directed must be true or 1 or false or 0, not 'perhaps'",
    ),
    (
        read_graphml,
        graphml('<node id="a"><graph edgedefault="directed"/></node>'),
        "x, line 3: <graph>: is more in nodes than a network can say",
    ),
    (
        read_graphml,
        graphml('<node id="a"/><hyperedge/>'),
        "x, line 3: <hyperedge>: is more in the graph than a network can say",
    ),
    (
        read_graphml,
        graphml('<node id="a"/>') + "<graphml/>",
        "x, line 5: must be XML: Extra content at the end of the document",
    ),
    (read_node_link, '{"nodes": [{"id": 1}]}', "x: a graph with nodes must have edges (or links)"),
    (
        read_node_link,
        '{"nodes": [{"id": ' + "[" * 100_000,
        "x: must be JSON that nests less deeply",
    ),
    (
        read_node_link,
        '{"nodes": [{"id": 1, "switch": true}], "edges": []}',
        "x: switches must be fewer than all nodes, not all 1",
    ),
    (read_matrix_market, "", "x, line 1: must be %%MatrixMarket and four words, not ''"),
    (
        read_matrix_market,
        BANNER.replace("coordinate", "array"),
        "x, line 1: form of a graph must be coordinate, not 'array'",
    ),
    (
        read_matrix_market,
        BANNER.replace("pattern", "complex"),
        "x, line 1: field of a graph must be pattern, integer or real, not 'complex'",
    ),
    (
        read_matrix_market,
        BANNER.replace("general", "hermitian"),
        "x, line 1: symmetry of a graph must be general or symmetric, not 'hermitian'",
    ),
    (read_matrix_market, BANNER, "x, line 1: must be rows, columns and entries, not ''"),
    (
        read_matrix_market,
        f"{BANNER}\n3 4 0",
        "x, line 2: matrix of a graph must be square, not 3 x 4",
    ),
    (
        read_matrix_market,
        f"{BANNER}\n99999999999 99999999999 1",
        "x, line 2: rows must be 1 to 16777216, not 99999999999",
    ),
    (
        read_matrix_market,
        f"{BANNER}\n2 2 99999999999\n1 2",
        "x, line 3: entries must be 99999999999, as announced, not 1",
    ),
    (
        read_matrix_market,
        f"{BANNER}\n2 2 1\n1 2\n2 1",
        "x, line 4: entry must be one of the 1 announced, not more",
    ),
    (read_matrix_market, f"{BANNER}\n2 2 1\n1 3", "x, line 3: column must be 1 to 2, not 3"),
    (read_matrix_market, f"{BANNER}\n2 2 1\n1 2 5", "x, line 3: must be row, column, not '1 2 5'"),
    (
        read_matrix_market,
        f"{BANNER.replace('pattern', 'real')}\n2 2 1\n1 2 x",
        "x, line 3: value must be a number, not 'x'",
    ),
    (read_edge_list, "0 1\n\n# c\n17\n", "x, line 4: must be two names of nodes, not '17'"),
    (read_edge_list, "# c\n", "x: nodes must be 1 to 16777216, not 0"),
    (read_edge_list, b"0 1\n\xff 1", "x, line 2: must be UTF-8"),
]


@pytest.mark.parametrize(("reader", "text", "line"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_read_is_one_line(reader: Reader, text: str | bytes, line: str) -> None:
    given_line = refusal_of(reader, file(text))
    assert given_line.startswith(line) and "\n" not in given_line


def test_every_option_of_a_graph_takes_them(eyecast: Command, here: Path) -> None:
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 3))
    nx.write_graphml(grid, here / "g.graphml")
    (here / "g.json").write_text(json.dumps(nx.node_link_data(grid, edges="edges")))
    nx.write_edgelist(grid, here / "g.edges", data=False)
    entries = "\n".join(f"{max(edge) + 1} {min(edge) + 1}" for edge in grid.edges())
    head = BANNER.replace("general", "symmetric")
    (here / "g.mtx").write_text(f"{head}\n9 9 {grid.number_of_edges()}\n{entries}\n")
    asked = ("--source", "0", "--algorithm", "tree", "--json")
    files = ("g.graphml", "g.json", "g.edges", "g.mtx")
    answers = [result(eyecast("schedule", "--graph", name, *asked)) for name in files]
    assert answers[0]["sends"] == 8
    assert answers == answers[:1] * 4
    assert eyecast("convert", "g.mtx", "n.json").status == 0
    assert result(eyecast("schedule", "--graph", "n.json", *asked)) == answers[0]
