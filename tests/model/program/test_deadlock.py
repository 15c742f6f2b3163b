"""The certificate against deadlock: hand-drawn rings, closed routes, and a plain search."""

from itertools import pairwise

import numpy as np
import pytest
from helpers.refusals import refusal_of

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.routes import route, segments_of_paths
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.program.deadlock import Channel, DeadlockError, certify, find_cycle, other_routes
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row

UP, DOWN, NORTH, SOUTH = 1, 2, 3, 4


def program(
    topology: Topology, routes: list[tuple[int, tuple[Segment, ...]]], vcs: int = 1
) -> Program:
    """Return a program that sends a packet from each node along its route, all in step 1."""
    rows: list[list[Row]] = [[] for _ in range(topology.nodes)]
    for node, segments in routes:
        rows[node].append(Row(1, segments, 0, 0, 1))
    return Program.from_rows(
        NetworkConfig(topology=topology, vcs=vcs, flit_width=64),
        "all-port",
        tuple(map(tuple, rows)),
        ((),) * topology.nodes,
    )


def routed(topology: Topology, sources: np.ndarray, targets: np.ndarray, vcs: int) -> Program:
    apart = sources != targets
    sources, targets = sources[apart], targets[apart]
    segments = segments_of_paths(topology, *route(topology, sources, targets, vcs))
    return program(topology, list(zip(sources.tolist(), segments, strict=True)), vcs)


def test_a_segment_of_no_hops_is_refused() -> None:
    """On a ring, a route that is followed until its segment ends would never end."""
    made = program(ring(4), [(0, (Segment(UP, 0, 0), Segment(UP, 1, 0)))])
    with pytest.raises(InvalidInput, match="node 0, row 0: hops must be at least 1, not 0"):
        certify(made)


def all_to_all(topology: Topology, vcs: int) -> Program:
    return routed(topology, *np.indices((topology.nodes,) * 2).reshape(2, -1), vcs)


def channels(topology: Topology, node: int, segments: tuple[Segment, ...]) -> list[Channel]:
    """Return the channels of a route, hop by hop."""
    held = []
    for port, hops, vc in segments:
        for _ in range(hops):
            held.append(Channel(node, port, vc))
            node = int(topology.neighbor[node, port])
    return held


def dependencies(given: Program) -> dict[Channel, set[Channel]]:
    edges: dict[Channel, set[Channel]] = {}
    for node, rows in enumerate(given.rows):
        for row in rows:
            held = channels(given.config.topology, node, row.route)
            for before, after in pairwise(held):
                edges.setdefault(before, set()).add(after)
    return edges


def has_cycle(edges: dict[Channel, set[Channel]]) -> bool:
    """Tell whether some channel leads back to itself, by one search from each channel."""
    for start, first in edges.items():
        ahead, seen = [*first], set()
        while ahead:
            at = ahead.pop()
            if at == start:
                return True
            if at not in seen:
                seen.add(at)
                ahead += edges.get(at, ())
    return False


def assert_cycle(given: Program, cycle: list[Channel]) -> None:
    """Require that each channel depends on the next, none comes twice, and the lowest is first."""
    edges = dependencies(given)
    for before, after in pairwise([*cycle, cycle[0]]):
        assert after in edges[before]
    assert len(set(cycle)) == len(cycle)
    assert cycle[0] == min(cycle)


# ---- By hand --------------------------------------------------------------------------------


def test_ring_of_four_on_one_vc() -> None:
    around = program(ring(4), [(node, (Segment(UP, 2, 0),)) for node in range(4)])
    with pytest.raises(DeadlockError) as caught:
        certify(around)
    assert str(caught.value) == (
        "these routes can deadlock: 0 -> 1 -> 2 -> 3 -> 0 on VC 0; "
        "with 2 VCs (VC 1 behind each ring's dateline) these routes are free of deadlock"
    )
    assert caught.value.cycle == [Channel(node, UP, 0) for node in range(4)]
    assert caught.value.cycle == find_cycle(around)
    assert isinstance(caught.value, InvalidInput)


def test_no_remedy_is_named_where_two_vcs_are_none() -> None:
    """A route of one and a half rounds crosses the dateline twice, so VC 1 closes a circle."""
    around = program(ring(4), [(node, (Segment(UP, 6, 0),)) for node in range(4)])
    with pytest.raises(DeadlockError, match=r"3 -> 0 on VC 0$"):
        certify(around)


def test_other_routes_are_named_where_they_are_free() -> None:
    around = [(node, (Segment(UP, 2, 0),)) for node in range(5)]
    wrapped = "routes that cross no wrap link, though longer, are free of deadlock"
    assert other_routes(program(ring(5), around)) == wrapped
    turns = [(0, UP, NORTH), (1, NORTH, DOWN), (3, DOWN, SOUTH), (2, SOUTH, UP)]
    turning = [(node, (Segment(a, 1, 0), Segment(b, 1, 0))) for node, a, b in turns]
    shortest = "the shortest routes of the network are free of deadlock"
    assert other_routes(program(mesh((2, 2)), turning)) == shortest
    # The shortest routes of a ring without axes are the ones that wait.
    linked = graph([[-1, (node + 1) % 5, (node - 1) % 5] for node in range(5)])
    assert other_routes(program(linked, around)) == ""


@pytest.mark.parametrize("left_out", range(4))
def test_three_of_the_four_do_not_close_the_circle(left_out: int) -> None:
    nodes = [node for node in range(4) if node != left_out]
    certify(program(ring(4), [(node, (Segment(UP, 2, 0),)) for node in nodes]))
    certify(program(ring(4), []))


def test_four_turns_in_a_mesh() -> None:
    """Each packet turns left and waits for the next packet's first link, unless VCs differ.

    ::

        2 <--- 3
        |      ^
        v      |
        0 ---> 1
    """
    turns = [(0, UP, NORTH), (1, NORTH, DOWN), (3, DOWN, SOUTH), (2, SOUTH, UP)]
    routes = [(node, (Segment(a, 1, 0), Segment(b, 1, 0))) for node, a, b in turns]
    cycle = find_cycle(program(mesh((2, 2)), routes))
    assert cycle == [(0, UP, 0), (1, NORTH, 0), (3, DOWN, 0), (2, SOUTH, 0)]
    routes[3] = (2, (Segment(SOUTH, 1, 0), Segment(UP, 1, 1)))
    assert find_cycle(program(mesh((2, 2)), routes, vcs=2)) == []


def test_one_route_that_meets_itself() -> None:
    once_and_a_half = program(ring(4), [(0, (Segment(DOWN, 6, 0),))])
    assert find_cycle(once_and_a_half) == [(0, 2, 0), (3, 2, 0), (2, 2, 0), (1, 2, 0)]


def test_a_cycle_with_a_way_in_and_a_way_out() -> None:
    # A square of nodes 1 2 3 4, with node 0 before it and node 5 behind it.
    square = graph(
        [
            [-1, 1, -1, -1],
            [-1, 0, 2, 4],
            [-1, 1, 3, -1],
            [-1, 2, 4, 5],
            [-1, 3, 1, -1],
            [-1, 3, -1, -1],
        ]
    )
    around = [(1, 2, 2), (2, 2, 2), (3, 2, 2), (4, 2, 2)]
    routes = [(node, (Segment(a, 1, 0), Segment(b, 1, 0))) for node, a, b in around]
    routes.append((0, (Segment(1, 1, 0), Segment(2, 2, 0), Segment(3, 1, 0))))
    given = program(square, routes)
    assert find_cycle(given) == [(1, 2, 0), (2, 2, 0), (3, 2, 0), (4, 2, 0)]
    assert find_cycle(program(square, routes[1:])) == find_cycle(given)
    assert find_cycle(program(square, [*routes[:1], *routes[2:4]])) == []


def test_where_routes_meet_and_part_there_is_no_cycle() -> None:
    # Routes down and up a column of a 5x3 mesh: into the middle row, two links along it, and out.
    routes = [
        (1, (Segment(NORTH, 1, 0), Segment(UP, 2, 0), Segment(NORTH, 1, 0))),
        (11, (Segment(SOUTH, 1, 0), Segment(UP, 2, 0), Segment(SOUTH, 1, 0))),
    ]
    assert find_cycle(program(mesh((5, 3)), routes)) == []


def test_a_route_that_leaves_the_network() -> None:
    routes = [(0, (Segment(UP, 1, 0),)), (1, (Segment(UP, 1, 0),)), (1, (Segment(UP, 3, 0),))]
    assert refusal_of(certify, program(line(4), routes)) == (
        "node 1, row 1: route must be along links, not out of node 3 by port 1"
    )


# ---- Routes of every pair -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("topology", "vcs"),
    [
        *((torus(dims), 2) for dims in [(5, 7), (4, 4, 4), (2, 3, 2)]),
        *((torus((6, 1, 4)), 4), (ring(4), 2), (ring(9), 2), (ring(1), 1), (ring(3), 1)),
        *((mesh((4, 4, 4)), 1), (mesh((1, 9)), 1), (hypercube(5), 1), (line(16), 1)),
    ],
    ids=lambda value: getattr(value, "label", value),
)
def test_routes_of_a_grid_are_free_of_deadlock(topology: Topology, vcs: int) -> None:
    certify(all_to_all(topology, vcs))


@pytest.mark.parametrize("dims", [(5,), (8, 4), (1, 5), (4, 4, 5)])
def test_a_torus_on_one_vc_has_a_cycle(dims: tuple[int, ...]) -> None:
    given = all_to_all(torus(dims), 1)
    cycle = find_cycle(given)
    assert_cycle(given, cycle)
    assert len(cycle) in dims


def test_routes_around_faults_may_have_a_cycle() -> None:
    topology = with_faults(mesh((4, 4)), [5, 10])
    sources, targets = np.indices((16, 16)).reshape(2, -1)
    healthy = ~np.isin(sources, (5, 10)) & ~np.isin(targets, (5, 10))
    given = routed(topology, sources[healthy], targets[healthy], 1)
    assert_cycle(given, find_cycle(given))


# ---- Random programs ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_walks_drawn_by_lot(seed: int) -> None:
    draw = np.random.default_rng(seed)
    topology = [torus((3, 3)), mesh((3, 3)), ring(5), hypercube(3)][seed % 4]
    routes = []
    for _ in range(draw.integers(1, 7)):
        source = node = int(draw.integers(topology.nodes))
        segments = []
        for _ in range(draw.integers(1, 6)):
            ports = np.flatnonzero(topology.neighbor[node] >= 0)
            segments.append(Segment(int(draw.choice(ports)), 1, int(draw.integers(2))))
            node = int(topology.neighbor[node, segments[-1].port])
        routes.append((source, tuple(segments)))
    given = program(topology, routes, vcs=2)
    cycle = find_cycle(given)
    assert bool(cycle) == has_cycle(dependencies(given))
    if cycle:
        assert_cycle(given, cycle)


def test_one_of_thousands_of_rows_closes_the_circle() -> None:
    topology = torus((32, 32))
    sources, targets = np.random.default_rng(1).integers(0, topology.nodes, (2, 5_000))
    given = routed(topology, sources, targets, 2)
    certify(given)
    closing = Row(1, (Segment(UP, 33, 1),), 0, 0, 1)
    rows = ((*given.rows[0], closing), *given.rows[1:])
    cycle = find_cycle(Program.from_rows(given.config, "all-port", rows, given.receives))
    assert cycle == [Channel(node, UP, 1) for node in range(32)]
