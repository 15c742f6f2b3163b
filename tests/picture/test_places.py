"""Pictures of any network: all nodes visible and in place; refusals of large networks."""

from collections import Counter, defaultdict
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from helpers.refusals import refusal_of
from helpers.svg import numbers
from helpers.tree_networks import graph_of
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.path import Path as Curve
from matplotlib.text import Text

from eyecast.model.collectives.grid.collectives import ring as ring_collective
from eyecast.model.network.attached_host import with_host
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import binary_tree, de_bruijn, diagonal_mesh, star_tree
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.builder import path_columns
from eyecast.model.schedule.schedule import Schedule
from eyecast.picture.file import save_picture
from eyecast.picture.links import Lines
from eyecast.picture.places import Places
from eyecast.picture.schedule import draw_schedule

NODE = 0.2
"""Radius of a node, in cells."""

Path_ = list[int]


def drawn_graph(nodes: int, links: int) -> Topology:
    """Return a ring with random chords."""
    pairs = {(n, n + 1) for n in range(nodes - 1)} | {(0, nodes - 1)}
    draw = np.random.default_rng(7)
    while len(pairs) < links:
        a, b = sorted(draw.choice(nodes, 2, replace=False).tolist())
        pairs.add((a, b))
    return graph_of(nodes, sorted(pairs))


def closed_line() -> Topology:
    """Return a ring given only by the table of its links, without a wrapped axis."""
    straight = mesh((5,))
    neighbor, peer = straight.neighbor.copy(), straight.peer.copy()
    neighbor[4, 1], neighbor[0, 2], peer[4, 1], peer[0, 2] = 0, 4, 2, 1
    return Topology("ring", (5,), neighbor, peer)


NETWORKS = {
    "torus": torus((4, 3)),
    "two by two torus": torus((2, 2)),
    "ring": ring(8),
    "closed line": closed_line(),
    "3-D mesh": mesh((4, 3, 3)),
    "4-D torus": torus((3, 2, 3, 3)),
    "5-D mesh": mesh((2, 2, 3, 2, 3)),
    "6-cube": hypercube(6),
    "star tree": star_tree(5, 3),
    "diagonal mesh": diagonal_mesh(5),
    "de Bruijn graph": de_bruijn(2, 4),
    "two nodes": graph_of(2, [(0, 1)]),
    "graph": drawn_graph(20, 34),
    "large graph": drawn_graph(36, 54),
    "tree": graph_of(9, [(0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (5, 6), (5, 7), (5, 8)]),
    "torus with a host": with_host(torus((4, 4)), [0, 5, 15]),
    "line with a host": with_host(line(9), [0, 4, 8]),
    "tree with a host": with_host(binary_tree(15), [0, 3, 14]),
    "torus with faults": with_faults(torus((4, 4)), [5], [(0, 3)]),
}
MORE = {
    *("4-D torus", "5-D mesh", "6-cube", "large graph", "diagonal mesh", "ring", "two nodes"),
    *("tree", "tree with a host", "line with a host", "de Bruijn graph"),
}
"""Networks of slow tests; the others have each kind, too."""

every_network = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in MORE)) for name in NETWORKS]
)


def shortest_paths(topology: Topology, source: int) -> list[Path_]:
    """Return a shortest path to every other node in reach, by breadth-first search."""
    paths = {source: [source]}
    queue = [source]
    for node in queue:
        for end in topology.neighbor[node].tolist():
            if end >= 0 and end not in paths:
                paths[end] = [*paths[node], end]
                queue.append(end)
    return [paths[node] for node in queue[1:]]


def schedule_of(
    topology: Topology, paths: list[Path_], steps: list[int], root: int | None = 0
) -> Schedule:
    """Return sends along ``paths`` in ``steps``, which need not make a collective."""
    return Schedule(
        topology=topology,
        collective="broadcast" if root is not None else "all-gather",
        algorithm="by-hand",
        port_model="all-port",
        root=root,
        blocks=Blocks.of_broadcast(0, 1),
        step=np.array(steps),
        **path_columns(paths, [[0]] * len(paths)),
    )


def flood(topology: Topology) -> Schedule:
    """Return a flood: each node gets the message in the step of its distance from the last node."""
    root = topology.nodes - 1
    paths = shortest_paths(topology, root)
    hops, steps = [path[-2:] for path in paths], [len(path) - 1 for path in paths]
    return schedule_of(topology, hops, steps, root)


def long_sends(topology: Topology) -> Schedule:
    """Return sends from the root to one node after another, many of which share links."""
    root = topology.nodes - 1
    paths = shortest_paths(topology, root)
    return schedule_of(topology, paths, list(range(1, len(paths) + 1)), root)


@cache
def drawn_flood(name: str) -> Figure:
    """Return the picture of :func:`flood` on one of ``NETWORKS``."""
    return draw_schedule(flood(NETWORKS[name]))


def sampled(curve: Curve) -> npt.NDArray[np.float64]:
    """Return points all along a curve, without its gaps; shape (n, 2)."""
    points = []
    for vertices, code in curve.iter_segments(simplify=False):
        ends = vertices.reshape(-1, 2)
        t = np.linspace(0, 1, 40)[:, None]
        if code == Curve.LINETO:
            points.append((1 - t) * points[-1][-1] + t * ends[0])
        elif code == Curve.CURVE3:
            points.append(
                (1 - t) ** 2 * points[-1][-1] + 2 * t * (1 - t) * ends[0] + t**2 * ends[1]
            )
        else:
            points.append(ends)
    return np.vstack(points)


@pytest.mark.parametrize("name", ["torus", "torus with a host"])
def test_every_send_is_in_the_picture(name: str, tmp_path: Path) -> None:
    schedule = flood(NETWORKS[name])
    save_picture(drawn_flood(name), tmp_path / "a.svg")
    assert numbers(tmp_path / "a.svg", "send") == list(range(schedule.sends))


@every_network
def test_no_two_nodes_are_nearer_than_a_cell_and_all_are_inside(name: str) -> None:
    places = Places.of(NETWORKS[name])
    assert len(places.points) == NETWORKS[name].nodes
    apart = np.linalg.norm(places.points[:, None] - places.points, axis=2)
    np.fill_diagonal(apart, np.inf)
    assert apart.min() >= 1 - 1e-9
    assert (places.points - NODE >= places.low).all()
    assert (places.points + NODE <= places.high).all()


@every_network
def test_no_arrow_runs_under_a_node_that_it_does_not_visit(name: str) -> None:
    schedule = long_sends(NETWORKS[name])
    points = Places.of(schedule.topology).points
    axes = draw_schedule(schedule).axes[0]
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    for arrow in axes.patches:
        send = int(arrow.get_gid().removeprefix("send-"))
        curve = sampled(arrow._path_original)
        first, last = schedule.path_offsets[send : send + 2]
        others = np.delete(points, schedule.path_nodes[first:last], axis=0)
        away = np.linalg.norm(curve[:, None] - others, axis=2)
        assert away.min(initial=1) > NODE
        assert (curve > (left, top)).all()
        assert (curve < (right, bottom)).all()
        ends = points[[schedule.source[send], schedule.target[send]]]
        assert np.linalg.norm(curve[[0, -1]] - ends, axis=1) == pytest.approx(NODE, abs=0.06)


@every_network
def test_numbers_are_the_steps_in_which_nodes_are_first_reached(name: str) -> None:
    schedule = flood(NETWORKS[name])
    distances = {
        path[-1]: len(path) - 1 for path in shortest_paths(schedule.topology, schedule.root)
    }
    points = Places.of(schedule.topology).points
    written = {
        node: text.get_text()
        for text in drawn_flood(name).axes[0].texts
        if type(text) is Text
        for node in np.flatnonzero((points == text.get_position()).all(axis=1)).tolist()
    }
    numbers = {node: str(distances.get(node, "")) for node in range(len(points))}
    assert written == numbers | {schedule.root: "S"}


@pytest.mark.parametrize("dims", [(8,), (3, 3)])
def test_where_all_are_roots_nodes_have_no_numbers(dims: tuple[int, ...]) -> None:
    schedule = ring_collective("all-gather", torus(dims), None, 4)
    whole, *panels = draw_schedule(schedule).axes
    assert {text.get_text() for text in whole.texts} <= {"x", "y"}
    assert len(panels) == schedule.steps
    # A node's color is not the color of a step.
    for axes in (whole, *panels):
        nodes = {tuple(color) for color in axes.collections[-1].get_facecolor()}
        assert len(nodes) == 1
        assert nodes.isdisjoint({arrow.get_facecolor() for arrow in axes.patches})


def test_axes_0_and_1_lie_in_a_tile_and_2_and_3_from_tile_to_tile() -> None:
    topology = mesh((3, 2, 2, 3))
    points, coordinates = Places.of(topology).points, topology.coordinates(np.arange(36))
    step = [points[topology.node_at(tuple(row))] for row in np.eye(4, dtype=int).tolist()]
    assert step[0].tolist() == [1, 0]
    assert step[1].tolist() == [0, 1]
    assert step[2][0] > 3
    assert step[2][1] == 0
    assert step[3][0] == 0
    assert step[3][1] > 2
    assert points == pytest.approx(coordinates @ np.array(step))


def test_what_leaves_a_torus_on_one_side_comes_back_on_the_other() -> None:
    topology = torus((4, 3))
    places = Places.of(topology)
    lines = Lines(topology, places)
    (leave, enter) = lines.between(7, 4).curves
    assert leave.tolist() == [[3, 1], [leave[1, 0], 1]]
    assert enter.tolist() == [[enter[0, 0], 1], [0, 1]]
    assert 3.5 < leave[1, 0] < places.high[0]
    assert places.low[0] < enter[0, 0] < -0.5
    (up, down) = lines.between(1, 9).curves
    assert up[:, 0].tolist() == down[:, 0].tolist() == [1, 1]
    assert up[1, 1] < -0.5
    assert down[0, 1] > 2.5
    (straight,) = lines.between(5, 6).curves
    assert straight.tolist() == [[1, 1], [2, 1]]


def test_on_an_axis_of_two_the_way_back_goes_round() -> None:
    # A path takes the link by the lowest port, which leads up the axis, from the last node around.
    lines = Lines(torus((2, 2)), Places.of(torus((2, 2))))
    assert [len(lines.between(*ends).curves) for ends in ((0, 1), (1, 0), (0, 2), (2, 0))] == [
        *(1, 2, 1, 2)
    ]
    # Both links between each pair of nodes are drawn: one straight, one as two stubs.
    assert len(lines.all()) == 4 * 3


@pytest.mark.parametrize("name", ["6-cube", "4-D torus", "5-D mesh", "3-D mesh"])
def test_no_two_links_run_on_each_other(name: str) -> None:
    topology = NETWORKS[name]
    curves = Lines(topology, Places.of(topology)).all()
    for across in (0, 1):
        spans = defaultdict(list)
        for curve in curves:
            for begin, end in pairwise(curve):
                if abs(begin[1 - across] - end[1 - across]) < 1e-9:
                    height = round(float(begin[1 - across]), 6)
                    spans[height].append(sorted((begin[across], end[across])))
        assert spans
        for each in spans.values():
            for (a, b), (c, d) in combinations(each, 2):
                assert min(b, d) - max(a, c) < 1e-9


def test_trees_are_drawn_in_levels() -> None:
    points = Places.of(binary_tree(7)).points
    levels = [[0], [1, 2], [3, 4, 5, 6]]
    heights = [set(points[level, 1].tolist()) for level in levels]
    assert [len(each) for each in heights] == [1, 1, 1]
    assert sorted(heights, key=min) == heights
    for node in range(3):
        assert points[node, 0] == pytest.approx(points[[2 * node + 1, 2 * node + 2], 0].mean())
    # The root of a path graph is its middle.
    path = Places.of(graph_of(5, [(0, 1), (1, 2), (2, 3), (3, 4)])).points
    assert np.argsort(path[:, 1], kind="stable")[0] == 2


def test_a_large_grid_that_is_given_as_a_graph_looks_like_one() -> None:
    grid = mesh((6, 7))
    links = [(n, m) for n in range(42) for m in grid.neighbor[n].tolist() if m > n]
    points = Places.of(graph_of(42, links)).points
    away = points[[a for a, _ in links]] - points[[b for _, b in links]]
    assert Counter(np.linalg.norm(away, axis=1).round(6).tolist()) == {1.6: len(links)}


def test_faulty_links_are_not_drawn() -> None:
    whole, faulty = torus((4, 4)), with_faults(torus((4, 4)), [5], [(0, 3), (3, 0)])
    count = len(Lines(whole, Places.of(whole)).all())
    # The faulty node's four straight links, and its link around the end, which is two stubs.
    assert len(Lines(faulty, Places.of(faulty)).all()) == count - 4 - 2
    assert (Places.of(faulty).points == Places.of(whole).points).all()


@every_network
def test_words_and_drawings_keep_apart(name: str) -> None:
    figure = drawn_flood(name)
    figure.set_canvas(FigureCanvasAgg(figure))
    figure.draw_without_rendering()
    words: list[Artist] = [figure.texts[0], figure.legends[0]]
    for axes in figure.axes:
        ticks = [*axes.get_xticklabels(), *axes.get_yticklabels()]
        words += [
            text.get_bbox_patch() or text for text in (*axes.texts, *ticks) if text.get_text()
        ]
    boxes = [artist.get_window_extent() for artist in words]
    for box in boxes:
        assert figure.bbox.padded(1).containsx(box.x0)
        assert figure.bbox.padded(1).containsx(box.x1)
        assert figure.bbox.padded(1).containsy(box.y0)
        assert figure.bbox.padded(1).containsy(box.y1)
    drawings = [axes.bbox for axes in figure.axes]
    for these in (boxes, [*boxes[:2], *drawings]):
        for box, other in combinations(these, 2):
            across = min(box.x1, other.x1) - max(box.x0, other.x0)
            down = min(box.y1, other.y1) - max(box.y0, other.y0)
            assert min(across, down) < 1


def test_the_same_schedule_gives_the_same_bytes(tmp_path: Path) -> None:
    for file in ("a.svg", "b.svg"):
        save_picture(draw_schedule(flood(NETWORKS["graph"])), tmp_path / file)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_the_host_is_called_so() -> None:
    figure = draw_schedule(flood(with_host(ring(6), [0, 3])))
    title = figure.texts[0].get_text().replace("\n", " ")
    shown = "Broadcast from host on a ring of 6 and host, all ports, algorithm by-hand:"
    assert title.startswith(shown)
    assert "host" in [text.get_text() for text in figure.axes[0].texts]


@pytest.mark.parametrize(
    ("topology", "message"),
    [
        (torus((65, 2)), "sides of a drawn torus must be at most 64, not 65x2"),
        (ring(65), "sides of a drawn ring must be at most 64, not 65"),
        (diagonal_mesh(65), "sides of a drawn diagonal-mesh must be at most 64, not 65x65"),
        (hypercube(11), "nodes of a drawn network must be at most 1024, not 2048"),
        (mesh((11, 10, 10)), "nodes of a drawn network must be at most 1024, not 1100"),
        (star_tree(129, 2), "leaves and levels of a drawn tree must be at most 128x128, not 129x3"),
        (
            graph_of(182, list(combinations(range(182), 2))),
            "links of a drawn network must be at most 16384, not 16471",
        ),
        (with_host(ring(65), [0]), "sides of a drawn ring must be at most 64, not 65"),
    ],
)
def test_what_is_too_large_to_see(topology: Topology, message: str) -> None:
    schedule = schedule_of(topology, [[0, int(topology.neighbor[0].max())]], [1])
    assert refusal_of(draw_schedule, schedule) == message
