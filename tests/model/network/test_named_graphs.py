"""Trees, diagonal meshes, de Bruijn graphs, hosts and node-link files: definitions and drawings."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.topologies import assert_same, distances, links, neighbors
from helpers.transmit import node_link

from eyecast.model.network.attached_host import with_host
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import (
    binary_tree,
    de_bruijn,
    de_bruijn_size,
    diagonal_mesh,
    star_tree,
    star_tree_size,
)
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import Topology, hypercube, line, mesh, torus
from eyecast.model.network.topology_file import read_network, topology_from_json, topology_to_json

TWO_WAY = [
    *map(binary_tree, (1, 6, 15)),
    *(star_tree(arms, length) for arms, length in ((1, 4), (3, 2))),
    *map(diagonal_mesh, (1, 2, 6)),
    with_host(line(4), (3, 1)),
    with_host(diagonal_mesh(3), range(9)),
    node_link(4, [(0, 1), (1, 2), (2, 0), (0, 3)]),
]
DE_BRUIJN = [(1, 1), (1, 4), (2, 1), (2, 2), (3, 3), (5, 2)]


@pytest.mark.parametrize("topology", TWO_WAY, ids=lambda t: t.label)
def test_links_come_in_pairs(topology: Topology) -> None:
    every = list(links(topology))
    assert {(m, q, n, p) for n, p, m, q in every} == set(every)
    assert all(n != m and p > 0 and q > 0 for n, p, m, q in every)
    assert graph(topology.neighbor.tolist()).peer.tolist() == topology.peer.tolist()


@pytest.mark.parametrize("nodes", [1, 2, 6, 7, 12, 31])
def test_binary_trees_as_the_paper_numbers_them(nodes: int) -> None:
    edges = {(i, j) for i, j in product(range(1, nodes + 1), repeat=2) if j // 2 == i}
    both = {(i - 1, j - 1) for i, j in edges | {edge[::-1] for edge in edges}}
    assert {(n, m) for n, _, m, _ in links(binary_tree(nodes))} == both


def test_complete_binary_tree() -> None:
    assert binary_tree(15).label == "binary tree of 15"
    away = distances(neighbors(binary_tree(15)), 0)
    assert sorted(away.values()) == [0, *[1] * 2, *[2] * 4, *[3] * 8]


@pytest.mark.parametrize(("arms", "length"), [(1, 3), (2, 3), (3, 1), (4, 5)])
def test_star_trees(arms: int, length: int) -> None:
    topology = star_tree(arms, length)
    away = distances(neighbors(topology), 0)
    assert sorted(away.values()) == [0, *sorted([*range(1, length + 1)] * arms)]
    for arm, place in product(range(arms), range(length)):
        assert away[1 + arm * length + place] == place + 1
    assert star_tree_size(topology) == star_tree_size(with_faults(topology, [0])) == (arms, length)


@pytest.mark.parametrize("side", [1, 2, 5])
def test_diagonal_meshes(side: int) -> None:
    topology = diagonal_mesh(side)
    places = topology.coordinates(range(side * side)).tolist()
    expected = {
        (n, m)
        for (n, (x, y)), (m, (v, w)) in product(enumerate(places), repeat=2)
        if n != m and abs(x - v) <= 1 and abs(y - w) <= 1
    }
    assert {(n, m) for n, _, m, _ in links(topology)} == expected
    assert topology.neighbor[:, :5].tolist() == mesh((side, side)).neighbor.tolist()
    assert topology.longest_run == max(1, side - 1)


@pytest.mark.parametrize(("base", "length"), DE_BRUIJN)
def test_de_bruijn_graphs(base: int, length: int) -> None:
    topology = de_bruijn(base, length)
    digits = list(product(range(base), repeat=length))
    assert topology.nodes == len(digits)
    expected = {
        (n, digits.index((*label[1:], digit)))
        for n, label in enumerate(digits)
        for digit in range(base)
    }
    every = list(links(topology))
    assert {(n, m) for n, _, m, _ in every} == {(n, m) for n, m in expected if n != m}
    # A port is one wire: if both directions exist, they join the same two ports.
    ways = {(n, p): (m, q) for n, p, m, q in every}
    assert len(ways) == len(every) == len({(m, q) for _, _, m, q in every})
    assert all(ways.get(end, start) == start for start, end in ways.items())
    assert de_bruijn_size(topology) == ((base, length) if base > 1 else (1, 1))


SIZES = [
    (binary_tree, (0,), "nodes of binary tree must be 1 to 16777216, not 0"),
    (star_tree, (0, 3), "arms of star tree 0x3 must be at least 1, not 0"),
    (star_tree, (3, 0), "length of star tree 3x0 must be at least 1, not 0"),
    (
        star_tree,
        (70000, 1),
        "ports of star tree 70000x1 must be at most 268435456 in all nodes together, not "
        "4900140001",
    ),
    (diagonal_mesh, (0,), "side of diagonal mesh must be 1 to 4096, not 0"),
    (de_bruijn, (0, 3), "base of de Bruijn graph 0,3 must be at least 1, not 0"),
    (de_bruijn, (2, 0), "length of de Bruijn graph 2,0 must be at least 1, not 0"),
    (
        de_bruijn,
        (2, 10**9),
        "nodes of de Bruijn graph 2,1000000000 must be at most 16777216, not more",
    ),
    (
        de_bruijn,
        (4096, 2),
        "ports of de Bruijn graph 4096,2 must be at most 268435456 in all nodes together, not "
        "137455730688",
    ),
    (
        star_tree,
        (4, 1 << 22),
        "nodes of star tree 4x4194304 must be at most 16777216, not 16777217",
    ),
]


@pytest.mark.parametrize(("make", "size", "line"), SIZES)
def test_sizes_that_cannot_be(make: Any, size: tuple[int, ...], line: str) -> None:
    assert refusal_of(make, *size) == line


# ---- Hosts ----------------------------------------------------------------------------------


def test_a_host_is_linked_to_its_targets_alone() -> None:
    """Make the module's drawing: a line of 4, with the host at nodes 1 and 3."""
    hosted = with_host(line(4), [3, 1, 3])
    assert (hosted.host, hosted.host_links, hosted.dims) == (4, (1, 3), ())
    assert hosted.label == "line of 4 and host"
    assert hosted.neighbor.tolist() == [
        [-1, 1, -1, -1],
        [-1, 2, 0, 4],
        [-1, 3, 1, -1],
        [-1, -1, 2, 4],
        [-1, 1, 3, -1],
    ]


def test_a_host_keeps_faults() -> None:
    hosted = with_host(with_faults(mesh((3, 1)), [1], []), [0, 2])
    assert hosted.label == "3x1 mesh and host with 1 faulty node"
    assert {(n, m) for n, _, m, _ in links(hosted)} == {(3, 0), (0, 3), (3, 2), (2, 3)}
    assert with_faults(hosted, [], [(0, 3)]).faulty_links == ((0, 3),)


def test_hosts_that_cannot_be() -> None:
    assert refusal_of(with_host, line(4), []) == "host links must be at least one node, not none"
    assert refusal_of(with_host, line(4), [4]) == "node of host links must be 0 to 3, not 4"


# ---- Files ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "topology",
    [
        with_host(line(4), [1, 3]),
        with_host(torus((4, 3)), [0]),
        with_host(hypercube(3), range(8)),
        with_host(with_faults(star_tree(3, 2), [4], [(0, 1)]), [0]),
        with_host(de_bruijn(2, 3), [1, 0]),
        with_host(graph([[-1, 1], [-1, 0]]), [1]),
    ],
    ids=lambda topology: topology.label,
)
def test_hosted_networks_there_and_back(topology: Topology) -> None:
    fields = topology_to_json(topology)
    assert fields["host"] is True
    assert_same(topology_from_json(json.loads(json.dumps(fields))), topology)


def test_host_links_without_a_host() -> None:
    fields = {"kind": "line", "nodes": 4, "host_links": [1]}
    assert refusal_of(topology_from_json, fields) == (
        "topology.host_links must be left out without a host, not [1]"
    )


def test_node_link_files_of_old_and_new_networkx(tmp_path: Path) -> None:
    """Read networkx's file of a square with a diagonal, with pairs of numbers as node names."""
    nodes = [{"id": [0, 0]}, {"id": [0, 1], "color": "red"}, {"id": [1, 1]}, {"id": [1, 0]}]
    ends = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    edges = [{"source": nodes[a]["id"], "target": nodes[b]["id"], "weight": 1.5} for a, b in ends]
    head: dict[str, Any] = {"directed": False, "multigraph": False, "graph": {}, "nodes": nodes}
    for name in ("edges", "links"):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({**head, name: edges}))
        topology = read_network(path)
        assert topology.label == "graph of 4"
        assert topology.neighbor.tolist() == [
            [-1, 1, 2, 3],
            [-1, 0, 2, -1],
            [-1, 0, 1, 3],
            [-1, 0, 2, -1],
        ]
        assert_same(topology, graph(topology.neighbor.tolist()))


def test_loops_and_repeated_edges_count_for_nothing_and_for_one() -> None:
    plain = node_link(3, [(0, 1), (1, 2)])
    assert_same(node_link(3, [(0, 0), (0, 1), (1, 0), (2, 1), (2, 1), (2, 2)]), plain)


def test_directed_edges_are_links_that_work_one_way() -> None:
    topology = node_link(3, [(0, 1), (1, 2), (2, 1), (2, 2)], directed=True)
    assert {(n, m) for n, _, m, _ in links(topology)} == {(0, 1), (1, 2), (2, 1)}
    assert topology.faulty_links == ((1, 0),)
    assert_same(topology_from_json(json.loads(json.dumps(topology_to_json(topology)))), topology)


NODES = [{"id": "a"}, {"id": "b"}]
BAD_FILES: list[tuple[dict[str, Any], str]] = [
    ({"nodes": NODES}, "a graph with nodes must have edges (or links) too"),
    ({"nodes": [], "edges": []}, "nodes must be 1 to 16777216, not 0"),
    (
        {"nodes": NODES, "edges": [{"source": "a", "target": "c"}]},
        'edges[0].target must be the id of a node, not "c"',
    ),
    (
        {"nodes": NODES, "links": [{"source": "a", "target": "b"}, {"source": 0, "target": "b"}]},
        "links[1].source must be the id of a node, not 0",
    ),
    (
        {"nodes": [*NODES, NODES[0]], "edges": []},
        'nodes[2].id must be another than before, not "a"',
    ),
    ({"nodes": [{"name": "a"}], "edges": []}, "nodes[0]: Object missing required field id"),
    ({"nodes": NODES, "edges": [{}]}, "edges[0]: Object missing required field source"),
    ({"nodes": 3, "edges": []}, "nodes: Expected array, got int"),
    ({"nodes": NODES, "edges": [], "directed": 1}, "directed: Expected bool, got int"),
]


@pytest.mark.parametrize(("fields", "message"), BAD_FILES, ids=lambda value: str(value)[:50])
def test_node_link_files_that_are_wrong(
    fields: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "g.json"
    path.write_text(json.dumps(fields))
    assert refusal_of(read_network, path) == f"{path}: {message}"


def test_a_faulty_node_has_no_links_into_it_where_links_are_one_way() -> None:
    whole = de_bruijn(2, 4)
    broken = with_faults(whole, [5])
    assert (whole.neighbor == 5).sum() == 2
    assert not (broken.neighbor == 5).any()
    assert (broken.neighbor[5] == -1).all()
    kept = broken.neighbor != whole.neighbor
    assert ((whole.neighbor[kept] == 5) | (np.nonzero(kept)[0] == 5)).all()
