"""Routes against walks of single hops that know only neighbors and division."""

import itertools
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers.refusals import refusal_of

from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.route_layers import layered_vcs, safe_routes
from eyecast.model.network.routes import (
    balanced_vcs,
    dateline_vcs,
    dimension_order,
    route,
    segments_of_paths,
    shortest_paths,
)
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus

GRIDS = [
    *map(mesh, [(5,), (4, 4), (3, 5), (1, 6), (2, 3, 4), (2, 2, 2, 2)]),
    *map(torus, [(1,), (2,), (4, 4), (5, 3), (2, 6), (1, 7), (3, 2, 4), (2, 2, 2, 2)]),
    *(hypercube(4), line(6), ring(2), ring(7), ring(8)),
]
GRAPHS = [
    graph([[-1, 1, 2, -1], [-1, 0, 2, -1], [-1, 1, 0, 3], [-1, 2, -1, -1]]),
    graph([[-1, 1, 1, -1], [-1, -1, 0, 0]]),
    with_faults(mesh((4, 4)), [5], [(1, 2), (9, 8)]),
    with_faults(torus((4, 5)), [], [(0, 1), (6, 10), (3, 0)]),
]


def all_pairs(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    sources, targets = np.indices((topology.nodes, topology.nodes)).reshape(2, -1)
    return sources, targets


def searched(topology: Topology, sources: np.ndarray, targets: np.ndarray) -> Any:
    return shortest_paths(topology.neighbor, sources, targets)


def cut(offsets: np.ndarray, nodes: np.ndarray) -> list[list[int]]:
    return [nodes[begin:end].tolist() for begin, end in pairwise(offsets.tolist())]


def routed(topology: Topology, source: int, target: int, vcs: int) -> tuple[list[int], list[int]]:
    """Return the nodes and VCs of one route."""
    _, nodes, path_vcs = route(topology, np.array([source]), np.array([target]), vcs)
    return nodes.tolist(), path_vcs.tolist()


def walk(topology: Topology, source: int, target: int, *, ties_up: bool) -> list[int]:
    """Return the nodes of a walk: one axis after another, a hop at a time, the shorter direction.

    If both directions are equally long, it goes up with ``ties_up`` or from an even coordinate,
    otherwise down.
    """
    path, stride = [source], 1
    for axis, side in enumerate(topology.dims):
        start, ahead = source // stride % side, target // stride % side
        up = start < ahead
        if axis in topology.wrapped:
            around = (ahead - start) % side
            tie = around == side - around
            up = (ties_up or start in range(0, side, 2)) if tie else around < side - around
        while (here := path[-1] // stride % side) != ahead:
            there = (here + (1 if up else -1)) % side
            path.append(path[-1] + (there - here) * stride)
        stride *= side
    return path


def distances_to(topology: Topology, target: int) -> dict[int, int]:
    """Return the hops to ``target`` from each node that can reach it, by rounds over all links."""
    found, distance = {target: 0}, 0
    while distance in found.values():
        distance += 1
        for node in range(topology.nodes):
            ends = topology.neighbor[node].tolist()
            if node not in found and any(found.get(end) == distance - 1 for end in ends):
                found[node] = distance
    return found


# ---- Paths ----------------------------------------------------------------------------------


@pytest.mark.parametrize("topology", GRIDS, ids=lambda t: t.label)
@pytest.mark.parametrize(("find", "ties_up"), [(dimension_order, False), (searched, True)])
def test_every_pair_of_a_grid_as_walked(
    topology: Topology, find: Callable[..., Any], ties_up: bool
) -> None:
    sources, targets = all_pairs(topology)
    paths = cut(*find(topology, sources, targets))
    assert paths == [
        walk(topology, source, target, ties_up=ties_up)
        for source, target in zip(sources.tolist(), targets.tolist(), strict=True)
    ]


@pytest.mark.parametrize("topology", GRAPHS, ids=lambda t: t.label)
def test_every_hop_takes_the_lowest_port_that_leads_closer(topology: Topology) -> None:
    for target in range(topology.nodes):
        distance = distances_to(topology, target)
        sources = np.array(sorted(distance))
        offsets, nodes, vcs = route(topology, sources, np.full_like(sources, target), 1)
        for source, path in zip(sources.tolist(), cut(offsets, nodes), strict=True):
            assert (path[0], path[-1]) == (source, target)
            for node, following in pairwise(path):
                ends = topology.neighbor[node].tolist()
                closer = [end for end in ends if distance.get(end) == distance[node] - 1]
                assert following == closer[0]
        assert not vcs.any()


def loads(topology: Topology) -> dict[tuple[int, bool], list[int]]:
    """Return the number of routes of all pairs over each link, by axis and direction."""
    offsets, nodes, _ = route(topology, *all_pairs(topology), 1)
    crossed = Counter(link for path in cut(offsets, nodes) for link in pairwise(path))
    found: dict[tuple[int, bool], list[int]] = {}
    for node in range(topology.nodes):
        for port, end in enumerate(topology.neighbor[node].tolist()):
            if end >= 0:
                found.setdefault(((port - 1) // 2, port % 2 == 1), []).append(crossed[node, end])
    return found


@pytest.mark.parametrize(
    "dims", [(4,), (6,), (8,), (10,), (4, 4), (8, 8), (4, 6), (5, 8), (4, 3, 6)]
)
def test_all_pairs_load_a_torus_as_much_up_as_down(dims: tuple[int, ...]) -> None:
    found = loads(torus(dims))
    for axis, side in enumerate(dims):
        up, down = found[axis, True], found[axis, False]
        assert sum(up) == sum(down)
        # On sides of 6 and 10 half a ring has an odd number of links. So every other link has one
        # more route for each node with the same coordinates on the other axes.
        spread = max(up + down) - min(up + down)
        assert spread == (len(up) // side if side % 4 == 2 else 0)


def test_around_a_fault() -> None:
    """A route takes y down while no link along x is closer, and returns to x as soon as one is.

    ::

        0 -x> 1 --- 2          0     1     2
        |     |     |          |     ^     ^
        3 --- 4 --- 5          3 --> 4 --> 5
    """
    broken = with_faults(mesh((3, 2)), [], [(0, 1)])
    assert routed(broken, 0, 1, 1)[0] == [0, 3, 4, 1]
    assert routed(broken, 0, 2, 1)[0] == [0, 3, 4, 5, 2]
    assert routed(broken, 2, 0, 1)[0] == [2, 1, 0]
    assert routed(with_faults(mesh((3, 2)), [1]), 2, 0, 1)[0] == [2, 5, 4, 3, 0]


@pytest.mark.parametrize("topology", [mesh((1, 1)), torus((3, 3)), graph([[-1]])])
def test_nothing_to_route(topology: Topology) -> None:
    none = np.empty(0, np.int32)
    offsets, nodes, vcs = route(topology, none, none, 2)
    assert (offsets.tolist(), nodes.size, vcs.size) == ([0], 0, 0)
    assert len(segments_of_paths(topology, offsets, nodes, vcs)) == 0
    assert routed(topology, 0, 0, 2) == ([0], [])
    assert segments_of(topology, [0], []) == ()


# ---- Dateline classes -----------------------------------------------------------------------


def test_vc_1_after_the_dateline() -> None:
    """In a ring of eight, the dateline is the link between 7 and 0."""
    assert routed(ring(8), 6, 2, 2) == ([6, 7, 0, 1, 2], [0, 0, 1, 1])
    assert routed(ring(8), 6, 2, 1) == ([6, 7, 0, 1, 2], [0, 0, 0, 0])
    assert routed(ring(8), 6, 2, 8) == routed(ring(8), 6, 2, 2)


@pytest.mark.parametrize(
    "topology", [t for t in GRIDS + GRAPHS if t.wrapped], ids=lambda t: t.label
)
def test_classes_as_walked(topology: Topology) -> None:
    sources, targets = all_pairs(topology)
    offsets, nodes, vcs = route(topology, sources, targets, 2)
    expected = []
    for path in cut(offsets, nodes):
        axis, vc = -1, 0
        for node, following in pairwise(path):
            ports = topology.neighbor[node].tolist()
            port = ports.index(following)
            here, there = topology.coordinates([node, following])[:, (port - 1) // 2].tolist()
            vc = vc if axis == (port - 1) // 2 else 0
            axis = (port - 1) // 2
            expected.append(vc)
            # Only between the ends, up leads to a lower number, and down to a higher one.
            vc |= (there < here) if port % 2 else (there > here)
    assert vcs.tolist() == expected


@pytest.mark.parametrize("topology", [mesh((4, 4)), hypercube(3), line(5), GRAPHS[0]])
def test_without_wrapped_axes_all_is_vc_0(topology: Topology) -> None:
    assert not route(topology, *all_pairs(topology), 8)[2].any()


def test_classes_of_any_path() -> None:
    # Around the whole ring, from 2 down to 3; then from 3 to itself.
    offsets = np.array([0, 4, 5])
    assert dateline_vcs(ring(4), offsets, np.array([2, 1, 0, 3, 3])).tolist() == [0, 0, 0]
    offsets = np.array([0, 1, 5])
    assert dateline_vcs(ring(4), offsets, np.array([3, 1, 0, 3, 2])).tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    "topology", [t for t in GRIDS if t.wrapped] + [torus((8, 8))], ids=lambda t: t.label
)
def test_drawn_classes_keep_a_run_together_and_off_the_dateline(topology: Topology) -> None:
    sources, targets = all_pairs(topology)
    offsets, nodes, strict = route(topology, sources, targets, 2)
    vcs = balanced_vcs(topology, offsets, nodes, np.random.default_rng(1))
    assert set(vcs.tolist()) <= {0, 1}
    runs: dict[tuple[int, int], list[tuple[int, int, bool]]] = {}
    link = 0
    for number, path in enumerate(cut(offsets, nodes)):
        for node, following in pairwise(path):
            port = topology.neighbor[node].tolist().index(following)
            axis = (port - 1) // 2
            here, there = topology.coordinates([node, following])[:, axis].tolist()
            wraps = (there < here) if port % 2 else (there > here)
            runs.setdefault((number, axis), []).append((int(vcs[link]), int(strict[link]), wraps))
            link += 1
    drawn = []
    for run in runs.values():
        drawn_vcs, dateline_vcs_of_run, wraps_of_run = zip(*run, strict=True)
        if any(wraps_of_run):
            assert drawn_vcs == dateline_vcs_of_run
        else:
            assert len(set(drawn_vcs)) == 1
            drawn.append(drawn_vcs[0])
    if len(drawn) > 1000:
        assert 0.45 < np.mean(drawn) < 0.55


# ---- Segments -------------------------------------------------------------------------------


def segments_of(topology: Topology, path: list[int], vcs: list[int]) -> tuple[Segment, ...]:
    """Return one path as segments."""
    columns = np.array([0, len(path)]), np.array(path), np.array(vcs, dtype=int)
    return segments_of_paths(topology, *columns)[0]


@pytest.mark.parametrize("topology", GRIDS + GRAPHS[:2], ids=lambda t: t.label)
def test_segments_lead_where_the_path_leads(topology: Topology) -> None:
    sources, targets = all_pairs(topology)
    offsets, nodes, vcs = route(topology, sources, targets, 2)
    every = segments_of_paths(topology, offsets, nodes, vcs)
    for i, (path, segments) in enumerate(zip(cut(offsets, nodes), every, strict=True)):
        followed, used = [path[0]], []
        for port, hops, vc in segments:
            for _ in range(hops):
                followed.append(int(topology.neighbor[followed[-1], port]))
                used.append(vc)
        assert followed == path
        assert used == vcs[offsets[i] - i : offsets[i + 1] - i - 1].tolist()
        assert all((a.port, a.vc) != (b.port, b.vc) for a, b in pairwise(segments))


def test_on_an_axis_of_two_nodes_both_directions_leave_by_the_lower_port() -> None:
    assert segments_of(ring(2), [1, 0], [0]) == (Segment(1, 1, 0),)


# ---- Refusals -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("topology", "source", "target", "vcs", "message"),
    [
        (mesh((4, 4)), 16, 0, 1, "source must be 0 to 15, not 16"),
        (torus((4, 4)), 0, -1, 1, "target must be 0 to 15, not -1"),
        (ring(4), 0, 1, 0, "vcs must be at least 1, not 0"),
        (
            with_faults(mesh((4, 4)), [5]),
            *(0, 5, 1, "target of a route from node 0 must be a node that it can reach, not 5"),
        ),
        (
            with_faults(line(3), [], [(1, 2)]),
            *(0, 2, 1, "target of a route from node 0 must be a node that it can reach, not 2"),
        ),
    ],
)
def test_what_is_not_routed(
    topology: Topology, source: int, target: int, vcs: int, message: str
) -> None:
    assert refusal_of(routed, topology, source, target, vcs) == message


def test_a_path_with_a_gap() -> None:
    assert (
        refusal_of(segments_of, mesh((4, 4)), [0, 1, 6], [0, 0])
        == "path must be along links, not 1 -> 6"
    )


def test_a_hundred_thousand_routes() -> None:
    topology = torus((32, 32))
    sources, targets = np.random.default_rng(1).integers(0, 1024, (2, 100_000))
    offsets, nodes, vcs = route(topology, sources, targets, 2)
    assert (nodes[offsets[:-1]] == sources).all()
    assert (nodes[offsets[1:] - 1] == targets).all()
    around = (topology.coordinates(targets) - topology.coordinates(sources)) % 32
    assert (np.diff(offsets) - 1 == np.minimum(around, 32 - around).sum(axis=1)).all()
    assert len(segments_of_paths(topology, offsets, nodes, vcs)) == sources.size


# ---- Layers of routes ----------------------------------------------------------------------------


CHORDS = graph([[-1, (i + 1) % 9, (i - 1) % 9, (i + 3) % 9, (i - 3) % 9] for i in range(9)])
ROUND = graph([[-1, (i + 1) % 8, (i - 1) % 8] for i in range(8)])
NETWORKS = {
    "mesh": mesh((4, 3)),
    "torus": torus((4, 3)),
    "ring": ring(7),
    "hypercube": hypercube(3),
    "faulty torus": with_faults(torus((4, 4)), [5], []),
    "faulty mesh": with_faults(mesh((4, 4)), [5, 10], [(2, 3)]),
    "chords": CHORDS,
    "round": ROUND,
}


def all_routes(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    nodes = topology.working_nodes
    return np.repeat(nodes, nodes.size), np.tile(nodes, nodes.size)


def waits_in_a_circle(offsets: np.ndarray, nodes: np.ndarray, vcs: np.ndarray) -> bool:
    """Tell whether channels wait in a circle, by removing those that wait for no other."""
    edges = set()
    for i, begin in enumerate(offsets[:-1]):
        path = nodes[begin : offsets[i + 1]].tolist()
        on = vcs[begin - i :].tolist()
        channels = [(path[k], path[k + 1], on[k]) for k in range(len(path) - 1)]
        edges |= set(itertools.pairwise(channels))
    while edges:
        waiting = {held for held, _ in edges}
        left = {(held, wanted) for held, wanted in edges if wanted in waiting}
        if left == edges:
            return True
        edges = left
    return False


@pytest.mark.parametrize("name", NETWORKS)
def test_no_routes_wait_in_a_circle(name: str) -> None:
    topology = NETWORKS[name]
    offsets, nodes, vcs = safe_routes(topology, *all_routes(topology))
    assert not waits_in_a_circle(offsets, nodes, vcs)


def test_on_one_vc_routes_around_a_graph_would() -> None:
    offsets, nodes, vcs = route(ROUND, *all_routes(ROUND), 1)
    assert waits_in_a_circle(offsets, nodes, vcs)


def test_a_mesh_needs_one_vc_and_a_circle_of_two_links_two() -> None:
    assert safe_routes(mesh((4, 4)), *all_routes(mesh((4, 4))))[2].max() == 0
    paths = [0, 1, 2, 1, 2, 3, 2, 3, 0, 3, 0, 1]
    assert layered_vcs(np.arange(0, 13, 3), np.array(paths)).tolist() == [0] * 6 + [1] * 2
