"""Topologies against drawings, closed forms and a search that does not know grids."""

from collections import Counter
from collections.abc import Callable
from itertools import product
from math import comb, prod
from typing import Any

import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.topologies import distances, links, neighbors

from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus

TRIANGLE_WITH_TAIL = [[-1, 1, 2, -1], [-1, 0, 2, -1], [-1, 1, 0, 3], [-1, 2, -1, -1]]
# Port 1 leads 0 -> 1 -> 2 -> 3 -> 1.
TAIL_INTO_CIRCLE = [[-1, 1, -1, -1], [-1, 2, 0, 3], [-1, 3, 1, -1], [-1, 1, 2, -1]]
SIDES = [(1,), (2,), (1, 5), (4, 3), (2, 1, 3), (3, 4, 5), (2, 3, 2, 4)]
EVERY_KIND = [
    *map(mesh, SIDES),
    *map(torus, SIDES),
    *map(hypercube, (1, 4)),
    *map(line, (1, 7)),
    *map(ring, (2, 3, 8)),
    graph(TRIANGLE_WITH_TAIL),
    graph(TAIL_INTO_CIRCLE),
    graph(ring(9).neighbor.tolist()),
    graph([[-1]]),
    graph([[-1, 1, 1, -1], [-1, -1, 0, 0]]),
]


def all_distances(topology: Topology) -> list[int]:
    ends = neighbors(topology)
    return [hops for source in ends for hops in distances(ends, source).values()]


# ---- Drawings -------------------------------------------------------------------------------


def test_torus_of_three_by_two() -> None:
    """The rows are rings of three; the two nodes of a column have two links in each direction.

    ::

        .- 0 --- 1 --- 2 -.      up x 1, down x 2
        '-----------------'
           3 --- 4 --- 5         up y 3, down y 4
    """
    topology = torus((3, 2))
    assert topology.neighbor.tolist() == [
        [-1, 1, 2, 3, 3],
        [-1, 2, 0, 4, 4],
        [-1, 0, 1, 5, 5],
        [-1, 4, 5, 0, 0],
        [-1, 5, 3, 1, 1],
        [-1, 3, 4, 2, 2],
    ]
    assert topology.peer.tolist() == [[-1, 2, 1, 4, 3]] * 6
    assert topology.wrapped == (0, 1)


def test_axes_of_length_one_and_two() -> None:
    assert torus((1, 2)).neighbor.tolist() == [[-1, -1, -1, 1, 1], [-1, -1, -1, 0, 0]]
    assert torus((1, 2)).wrapped == (1,)
    assert ring(1).neighbor.tolist() == [[-1, -1, -1]]
    assert ring(2).neighbor.tolist() == [[-1, 1, 1], [-1, 0, 0]]
    assert ring(2).peer.tolist() == [[-1, 2, 1], [-1, 2, 1]]
    assert line(2).neighbor.tolist() == [[-1, 1, -1], [-1, -1, 0]]


def test_cube() -> None:
    topology = hypercube(3)
    assert topology.neighbor[[0, 5]].tolist() == [[-1, 1, 2, 4], [-1, 4, 7, 1]]
    assert topology.peer.tolist() == [[-1, 1, 2, 3]] * 8
    assert topology.coordinates([5]).tolist() == [[1, 0, 1]]


def test_graph_pairs_parallel_links_in_order_of_ports() -> None:
    topology = graph([[-1, 1, 1, -1], [-1, -1, 0, 0]])
    assert list(links(topology)) == [(0, 1, 1, 2), (0, 2, 1, 3), (1, 2, 0, 1), (1, 3, 0, 2)]


def test_a_mesh_as_a_graph_has_the_same_peers() -> None:
    for topology in (mesh((3, 4)), torus((3, 4, 5)), hypercube(4)):
        assert graph(topology.neighbor.tolist()).peer.tolist() == topology.peer.tolist()


# ---- All kinds ------------------------------------------------------------------------------


@pytest.mark.parametrize("topology", EVERY_KIND, ids=lambda t: t.label)
def test_links_come_in_pairs_each_its_own_wire(topology: Topology) -> None:
    every = list(links(topology))
    assert {(m, q, n, p) for n, p, m, q in every} == set(every)
    assert len({(m, q) for _, _, m, q in every}) == len(every)
    assert all(n != m and p > 0 and q > 0 for n, p, m, q in every)
    for table in (topology.neighbor, topology.peer):
        assert table.dtype == np.int32
        assert table.shape == (topology.nodes, topology.ports)
        assert not table.flags.writeable
    assert ((topology.peer == -1) == (topology.neighbor == -1)).all()


@pytest.mark.parametrize("topology", EVERY_KIND, ids=lambda t: t.label)
def test_port_between_is_the_lowest(topology: Topology) -> None:
    pairs = np.indices((topology.nodes, topology.nodes)).reshape(2, -1)
    expected: dict[tuple[int, int], int] = {}
    for n, p, m, _ in links(topology):
        expected.setdefault((n, m), p)
    ports = topology.ports_between(*pairs).tolist()
    assert ports == [expected.get((n, m), -1) for n, m in pairs.T.tolist()]


@pytest.mark.parametrize("topology", EVERY_KIND, ids=lambda t: t.label)
def test_longest_run_is_the_longest_without_a_node_twice(topology: Topology) -> None:
    longest = 1
    for node, port in product(range(topology.nodes), range(1, topology.ports)):
        seen = [node]
        while (end := int(topology.neighbor[seen[-1], port])) >= 0 and end not in seen:
            seen.append(end)
        longest = max(longest, len(seen) - 1)
    assert topology.longest_run == longest


@pytest.mark.parametrize("topology", EVERY_KIND, ids=lambda t: t.label)
def test_node_at_its_coordinates(topology: Topology) -> None:
    for node in range(topology.nodes):
        (coordinates,) = topology.coordinates([node]).tolist()
        assert topology.node_at(tuple(coordinates)) == node


# ---- Closed forms ---------------------------------------------------------------------------


@pytest.mark.parametrize("dims", SIDES)
def test_mesh_in_numbers(dims: tuple[int, ...]) -> None:
    topology = mesh(dims)
    nodes = prod(dims)
    assert len(list(links(topology))) == 2 * sum(nodes - nodes // side for side in dims)
    every = all_distances(topology)
    assert max(every) == sum(side - 1 for side in dims)
    # Along an axis of length L: (L^2 - 1) / 3L on average.
    assert sum(every) / nodes**2 == pytest.approx(sum((s * s - 1) / (3 * s) for s in dims))


@pytest.mark.parametrize("dims", SIDES)
def test_torus_in_numbers(dims: tuple[int, ...]) -> None:
    topology = torus(dims)
    nodes = prod(dims)
    assert len(list(links(topology))) == 2 * nodes * sum(side > 1 for side in dims)
    every = all_distances(topology)
    assert max(every) == sum(side // 2 for side in dims)
    # Along an axis of length L: L / 4 on average if L is even, (L^2 - 1) / 4L if it is odd.
    assert sum(every) / nodes**2 == pytest.approx(sum((s * s // 4) / s for s in dims))


@pytest.mark.parametrize("dimension", range(1, 8))
def test_hypercube_in_numbers(dimension: int) -> None:
    topology = hypercube(dimension)
    assert (topology.nodes, topology.ports) == (2**dimension, 1 + dimension)
    assert len(list(links(topology))) == dimension * 2**dimension
    for source in (0, 2**dimension - 1):
        assert Counter(distances(neighbors(topology), source).values()) == {
            k: comb(dimension, k) for k in range(dimension + 1)
        }


@pytest.mark.parametrize("nodes", [1, 2, 3, 8, 9])
def test_line_is_a_mesh_and_ring_a_torus_of_one_axis(nodes: int) -> None:
    for one, other in ((line(nodes), mesh((nodes,))), (ring(nodes), torus((nodes,)))):
        assert one.neighbor.tolist() == other.neighbor.tolist()
        assert one.peer.tolist() == other.peer.tolist()
        assert (one.dims, one.wrapped) == (other.dims, other.wrapped)


def test_millions_of_nodes() -> None:
    topology = torus((1024, 1024, 2))
    assert topology.neighbor[0].tolist() == [-1, 1, 1023, 1024, 1023 * 1024, 1 << 20, 1 << 20]
    assert topology.longest_run == 1023


# ---- Faults ---------------------------------------------------------------------------------


@pytest.mark.parametrize("topology", EVERY_KIND, ids=lambda t: t.label)
def test_faults_take_away_what_they_name_and_nothing_else(topology: Topology) -> None:
    every = list(links(topology))
    nodes = [topology.nodes // 2]
    pairs = [(n, m) for n, _, m, _ in every[:: max(1, len(every) // 3)]]
    faulty = with_faults(topology, nodes, pairs)
    kept = [
        (n, p, m, q)
        for n, p, m, q in every
        if n not in nodes and m not in nodes and (n, m) not in pairs
    ]
    assert list(links(faulty)) == kept
    assert faulty.neighbor.shape == topology.neighbor.shape
    assert faulty.longest_run == topology.longest_run
    assert faulty.without_faults is topology
    assert (faulty.faulty_nodes, faulty.faulty_links) == (tuple(nodes), tuple(sorted({*pairs})))


def test_faults_add_up() -> None:
    once = with_faults(mesh((4, 4)), [5, 3], [(0, 1)])
    twice = with_faults(once, [5, 9], [(1, 0), (5, 6)])
    assert twice.faulty_nodes == (3, 5, 9)
    assert twice.faulty_links == ((0, 1), (1, 0), (5, 6))
    at_once = with_faults(mesh((4, 4)), [3, 5, 9], [(0, 1), (1, 0), (5, 6)])
    assert list(links(twice)) == list(links(at_once))
    assert with_faults(mesh((2, 2))).without_faults is None


# ---- Labels and refusals --------------------------------------------------------------------


def test_labels() -> None:
    for topology, label in (
        *((mesh((8, 4)), "8x4 mesh"), (torus((8, 8, 2)), "8x8x2 torus"), (hypercube(7), "7-cube")),
        *((line(16), "line of 16"), (ring(4), "ring of 4"), (graph([[-1]]), "graph of 1")),
        (with_faults(ring(4), [1]), "ring of 4 with 1 faulty node"),
        (
            with_faults(mesh((4, 4)), [1, 2], [(4, 5)]),
            "4x4 mesh with 2 faulty nodes and 1 faulty link",
        ),
    ):
        assert topology.label == label


@pytest.mark.parametrize(
    ("make", "argument", "message"),
    [
        (mesh, (), "mesh must be sides such as 8x8, not without sides"),
        (mesh, (4, 0), "side of mesh 4x0 must be at least 1, not 0"),
        (torus, (), "torus must be sides such as 8x8, not without sides"),
        (torus, (-1, 4), "side of torus -1x4 must be at least 1, not -1"),
        (torus, (2.0,), "side of torus 2.0 must be an integer, not 2.0"),
        (torus, (1,) * 32, "axes of torus must be at most 31, not 32"),
        (
            torus,
            (1 << 20, 1 << 20),
            "nodes of torus 1048576x1048576 must be at most 16777216, not 1099511627776",
        ),
        (
            mesh,
            (2,) * 23,
            f"ports of mesh {'x'.join(['2'] * 23)} must be at most 268435456 in all nodes "
            "together, not 394264576",
        ),
        (hypercube, 0, "dimension of hypercube must be 1 to 23, not 0"),
        (hypercube, 29, "dimension of hypercube must be 1 to 23, not 29"),
        (line, 0, "nodes of line must be 1 to 16777216, not 0"),
        (ring, 0, "nodes of ring must be 1 to 16777216, not 0"),
        (ring, True, "nodes of ring must be an integer, not True"),
        (graph, [], "neighbor must be 1 to 16777216 rows long, not 0"),
        (graph, [[]], "neighbor[0] must be one entry or more, for port 0 and the links, not 0"),
        (graph, [[-1, 1], [-1]], "neighbor[1] must be 2 long as neighbor[0] is, not 1"),
        (graph, [[-1, 1.0], [-1, 0]], "neighbor must be a table of integers, not one of float64"),
        (graph, [[-1, 1], [-1, 2]], "neighbor[1][1] must be -1 (no link) or 0 to 1, not 2"),
        (graph, [[-1, -2], [-1, 0]], "neighbor[0][1] must be -1 (no link) or 0 to 1, not -2"),
        (graph, [[1, 1], [-1, 0]], "neighbor[0][0] must be -1, as port 0 is the node's own, not 1"),
        (graph, [[-1, 1], [-1, 1]], "neighbor[1][1] must be another node or -1, not 1"),
        (graph, [[-1, 1], [-1, -1]], "links 0 -> 1 and 1 -> 0 must be equally many, not 1 and 0"),
        (
            graph,
            [[-1, 2, -1], [-1, 2, -1], [-1, 0, 0]],
            "links 0 -> 2 and 2 -> 0 must be equally many, not 1 and 2",
        ),
        (
            graph,
            [[-1, 1, -1], [-1, 0, -1], [-1, 1, -1]],
            "links 1 -> 2 and 2 -> 1 must be equally many, not 0 and 1",
        ),
    ],
)
def test_what_is_no_topology(make: Callable[..., Topology], argument: Any, message: str) -> None:
    assert refusal_of(make, argument) == message


@pytest.mark.parametrize(
    ("nodes", "pairs", "message"),
    [
        ([16], [], "faulty node must be 0 to 15, not 16"),
        ([-1], [], "faulty node must be 0 to 15, not -1"),
        ([], [(0, 16)], "node of a faulty link must be 0 to 15, not 16"),
        ([], [(0, 5)], "faulty link must be a link of the 4x4 mesh, not 0,0:1,1"),
        ([], [(0, 0)], "faulty link must be a link of the 4x4 mesh, not 0,0:0,0"),
    ],
)
def test_what_is_no_fault(nodes: list[int], pairs: list[tuple[int, int]], message: str) -> None:
    assert refusal_of(with_faults, mesh((4, 4)), nodes, pairs) == message


@pytest.mark.parametrize(
    ("topology", "coordinates", "message"),
    [
        (torus((8, 4)), (8, 0), "source must be a node of the 8x4 torus, 0,0 to 7,3, not 8,0"),
        (
            torus((8, 4)),
            (32,),
            "source must be a node of the 8x4 torus, 0,0 to 7,3, or 0 to 31, not 32",
        ),
        (ring(4), (-1,), "source must be a node of the ring of 4, 0 to 3, not -1"),
        (hypercube(2), (0, 2), "source must be a node of the 2-cube, 0,0 to 1,1, not 0,2"),
        (graph(TRIANGLE_WITH_TAIL), (4,), "source must be a node of the graph of 4, 0 to 3, not 4"),
        (graph([[-1]]), (), "source must be a node of the graph of 1, 0 to 0, not "),
    ],
)
def test_what_is_no_node(topology: Topology, coordinates: tuple[int, ...], message: str) -> None:
    assert refusal_of(topology.node_at, coordinates) == message
