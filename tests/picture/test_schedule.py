"""Pictures of schedules: contents, reproducibility, and errors for bad input."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.svg import numbers
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

import eyecast
from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.cube.spanning_graphs import spanning_graph
from eyecast.model.collectives.halving.eye import eye_broadcast, eye_line
from eyecast.model.network.routes import dimension_order
from eyecast.model.network.topology import Topology, hypercube, mesh
from eyecast.model.papers.items.item import Lines, Maps, Setting, Trees
from eyecast.model.papers.items.papers import PAPERS
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.builder import one_block_schedule
from eyecast.model.schedule.schedule import Schedule
from eyecast.model.workload.workload import KINDS
from eyecast.picture.file import save_picture
from eyecast.picture.palette import COLOR_OF_KIND
from eyecast.picture.panel import Drawing
from eyecast.picture.papers import draw_picture
from eyecast.picture.schedule import draw_schedule
from eyecast.picture.style import DISABLED, EYE, FAULT
from eyecast.picture.tree import draw_trees


def one_after_another(dims: tuple[int, ...]) -> Schedule:
    """Return a schedule in which node 0 sends to every other node, one in each step."""
    topology = mesh(dims)
    targets = np.arange(1, topology.nodes)
    path_offsets, path_nodes = dimension_order(topology, 0 * targets, targets)
    return one_block_schedule(
        *("sequential", topology, Blocks.of_broadcast(0, 1), targets, path_offsets, path_nodes)
    )


def eyes(k: int) -> list[int]:
    return sorted({x + (y << k) for x in eye_line(k) for y in eye_line(k)})


@pytest.mark.parametrize("k", [0, 2])
def test_svg_has_an_arrow_for_each_send_and_an_eye_for_each_marked_node(
    k: int, tmp_path: Path
) -> None:
    schedule = eye_broadcast(mesh((1 << k, 1 << k)), 0, 16)
    save_picture(draw_schedule(schedule, marked=eyes(k)), tmp_path / "a.svg")
    assert numbers(tmp_path / "a.svg", "send") == list(range(4**k - 1))
    assert numbers(tmp_path / "a.svg", "eye") == eyes(k)


@pytest.mark.parametrize("dims", [(5,), (1, 4), (4, 3)])
def test_lines_and_meshes_that_are_not_square(dims: tuple[int, ...], tmp_path: Path) -> None:
    schedule = one_after_another(dims)
    save_picture(draw_schedule(schedule), tmp_path / "a.svg")
    assert numbers(tmp_path / "a.svg", "send") == list(range(schedule.sends))
    assert numbers(tmp_path / "a.svg", "eye") == []


def test_png_is_one_of_the_figure_s_size(tmp_path: Path) -> None:
    figure = draw_schedule(eye_broadcast(mesh((4, 4)), 0, 16))
    save_picture(figure, tmp_path / "a.PNG")
    content = (tmp_path / "a.PNG").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert content[12:16] == b"IHDR"
    size = [int.from_bytes(content[at : at + 4]) for at in (16, 20)]
    assert size == [int(150 * inches) for inches in figure.get_size_inches()]


def test_y_grows_down_and_panels_follow_the_steps() -> None:
    figure = draw_schedule(eye_broadcast(mesh((4, 4)), 1, 16))
    whole, *panels = figure.axes
    (title,) = figure.texts
    assert title.get_text() == (
        "Broadcast from (1,0) on a 4x4 mesh, algorithm eye: 4 steps, TCD 17"
    )
    assert whole.get_ylim() == (3.5, -0.5)
    assert [text.get_text() for panel in panels for text in panel.texts] == [
        *("step 1", "1 send", "step 2", "2 sends", "step 3", "4 sends", "step 4", "8 sends")
    ]


def test_arrows_start_and_end_at_their_nodes_and_keep_apart() -> None:
    schedule = eye_broadcast(mesh((4, 4)), 0, 16)
    axes = draw_schedule(schedule).axes[0]
    starts = set()
    for arrow in axes.patches:
        send = int(arrow.get_gid().removeprefix("send-"))
        curve = arrow._path_original.vertices
        ends = schedule.topology.coordinates([schedule.source[send], schedule.target[send]])
        assert np.linalg.norm(curve[[0, -1]] - ends, axis=1) == pytest.approx(0.2, abs=0.03)
        starts.add(tuple(curve[0].round(3)))
    assert len(starts) == schedule.sends


def test_the_same_schedule_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        figure = draw_schedule(eye_broadcast(mesh((2, 2)), 0, 16), marked=eyes(1))
        for suffix in ("svg", "png"):
            save_picture(figure, tmp_path / f"{name}.{suffix}")
    for suffix in ("svg", "png"):
        first, second = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in ("a", "b"))
        assert first == second


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    figure = draw_schedule(eye_broadcast(mesh((2, 2)), 0, 16))
    for name, message in (
        ("a.gif", "suffix of picture {}/a.gif must be .svg, .pdf or .png, not .gif"),
        ("a", "suffix of picture {}/a must be .svg, .pdf or .png, not missing"),
        ("no/a.svg", "output folder {}/no must be an existing folder, not missing"),
        ("folder.png", "output file {}/folder.png must be a file, not a folder"),
    ):
        assert refusal_of(save_picture, figure, tmp_path / name) == message.format(tmp_path)
        assert [path.name for path in tmp_path.rglob("*")] == ["folder.png"]


@pytest.mark.parametrize(
    ("topology", "marked", "message"),
    [
        (mesh((65, 2)), [], "sides of a drawn mesh must be at most 64, not 65x2"),
        (mesh((2, 2)), [4], "marked node must be 0 to 3, not 4"),
    ],
)
def test_what_is_not_drawn(topology: Topology, marked: list[int], message: str) -> None:
    schedule = replace(one_after_another((1,)), topology=topology)
    assert refusal_of(draw_schedule, schedule, marked=marked) == message


@pytest.mark.parametrize(
    ("algorithm", "asked"),
    [("light-tree", {"source": 0}), ("joining-tree", {"collective": "all-reduce"})],
)
def test_a_tree_has_an_arrow_for_each_link_that_it_crosses(
    algorithm: str, asked: dict[str, object], tmp_path: Path
) -> None:
    made = eyecast.schedule(mesh((4, 4)), algorithm, words=2, **asked)
    assert made.tcd < made.hops
    save_picture(draw_schedule(made), tmp_path / "tree.svg")
    assert numbers(tmp_path / "tree.svg", "send") == list(range(made.tcd))


def test_legends_of_many_steps_are_whole() -> None:
    """Eleven steps have a panel each; more than thirty have a legend, which is inside."""
    assert len(draw_schedule(one_after_another((4, 3))).axes) == 1 + 11
    figure = draw_schedule(one_after_another((32,)))
    assert len(figure.axes) == 1
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert legend.get_window_extent().x1 <= figure.bbox.x1


def schedule_around(*faulty: tuple[int, int]) -> Schedule:
    """Return the broadcast of Jiang & Wu on an 8x8 mesh around faulty nodes."""
    around = eyecast.with_faults(mesh((8, 8)), [x + 8 * y for x, y in faulty])
    return eyecast.schedule(around, "jiang-wu", source=0)


def test_faulty_and_disabled_nodes_look_different_below_a_wrapped_title() -> None:
    figure = draw_schedule(schedule_around((2, 2), (3, 3)))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"faulty", "disabled: works, gets nothing"} <= set(labels)
    places = {
        to_hex(each.get_facecolor()[0]): sorted(map(tuple, each.get_offsets().tolist()))
        for each in figure.axes[0].collections
        if each.get_offsets().size == 4
    }
    assert places[FAULT] == [(2, 2), (3, 3)] and places[DISABLED] == [(2, 3), (3, 2)]
    figure.draw_without_rendering()
    title = figure.texts[0]
    assert "\n" in title.get_text() and title.get_window_extent().x1 <= figure.bbox.x1


def test_no_name_of_an_axis_is_cut() -> None:
    """Without a legend below them, pictures of cubes had cut the name of their second axis."""
    figure = draw_schedule(eyecast.schedule(hypercube(3), "sbt", collective="all-to-all", words=1))
    figure.draw_without_rendering()
    names = [each for each in figure.axes[0].texts if each.get_text().startswith("bit")]
    boxes = [each.get_window_extent() for each in names]
    assert len(boxes) == 4
    assert all(box.y0 >= 0 and box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_layers_are_the_fault_blocks_and_what_is_between_them() -> None:
    """The one block has a region on each side of it, and a path from above it to row 0."""
    figure = draw_schedule(schedule_around((3, 3)), layers=("blocks", "regions", "channels"))
    axes = figure.axes[0]
    boxes = [each.get_bbox().bounds for each in axes.patches if isinstance(each, Rectangle)]
    assert boxes == [
        (2.5, 2.5, 1, 1),
        (-0.5, -0.5, 3, 8),
        (2.5, -0.5, 1, 3),
        (2.5, 3.5, 1, 4),
        (3.5, -0.5, 4, 8),
    ]
    (path,) = axes.lines
    assert path.get_xydata().tolist() == [[3, 4], [4, 4], [4, 3], [4, 2], [4, 1], [4, 0]]


def test_a_cube_s_broadcast_is_drawn_as_its_trees_with_names() -> None:
    """Of the n trees of the nESBT each has every node once, below its parent in the cube."""
    figure = draw_trees(eyecast.schedule(hypercube(3), "nesbt", source=5, words=6))
    assert len(figure.axes) == 3
    for axes in figure.axes:
        texts = {text.get_text(): text.get_position() for text in axes.texts}
        names = {name for name in texts if len(name) == 3}
        assert names == {f"{node:03b}" for node in range(8)}
        (lines,) = axes.collections
        at = {texts[name]: int(name, 2) for name in names}
        links = [[at[tuple(end)] for end in ends.tolist()] for ends in lines.get_segments()]
        assert sorted(child for _, child in links) == [0, 1, 2, 3, 4, 6, 7]
        assert all((parent ^ child).bit_count() == 1 for parent, child in links)


def test_a_schedule_without_a_root_is_no_tree() -> None:
    with pytest.raises(InvalidInput, match=r"^collective must be one with a root"):
        draw_trees(eyecast.schedule(mesh((2, 2)), "ring", collective="all-reduce"))


def test_links_that_differ_are_bands_with_latency_and_rate() -> None:
    slow = eyecast.chiplets((2, 2), (2, 2), latency=8, rate=4)
    made = eyecast.schedule(slow, "tree", source=0)
    # Both ways share a band.
    assert len(Drawing.of(made, ()).differing) == 8
    labels = [text.get_text() for text in draw_schedule(made).legends[0].get_texts()]
    assert "latency 8, rate 4" in labels
    assert not Drawing.of(eyecast.schedule(mesh((4, 4)), "tree", source=0), ()).differing


# ---- Pictures of items --------------------------------------------------------------------------


def test_maps_have_numbers_marks_and_squares() -> None:
    one, other = np.arange(12).reshape(3, 4), np.ones((3, 4), int)
    maps = {"one": one, "other": other}
    squares = [("send-1", 0, 1, 2)]
    picture = Maps("title", maps, {"one": [(3, 0)]}, {"other": [(1, 2)]}, squares)
    figure = draw_picture(picture)
    left, right = figure.axes[:2]
    assert [int(text.get_text()) for text in left.texts] == list(range(12))
    assert left.images[0].get_array().tolist() == one.tolist()
    shapes = [axes.collections[0].get_paths()[0] for axes in (left, right)]
    assert [len(shape) == len(EYE) for shape in shapes] == [True, False]
    assert right.collections[0].get_offsets().tolist() == [[1, 2]]
    box = left.patches[0].get_bbox()
    assert (box.x0, box.y0, box.width) == (-0.5, 0.5, 2)
    assert left.patches[0].get_gid() == "send-1"


def test_maps_without_a_zero_share_their_colours() -> None:
    maps = {"a": np.array([[1, 2]]), "b": np.array([[5, 9]]), "c": np.array([[0, 3]])}
    images = [axes.images[0] for axes in draw_picture(Maps("", maps)).axes[:3]]
    assert [image.get_clim() for image in images] == [(1, 9), (1, 9), (0, 3)]


def test_figure_17_has_the_points_of_its_table() -> None:
    """Section 8.2: the ratio is about n; for one packet it is n / (n + 1) (Table 6)."""
    item = PAPERS["johnsson-ho-1986"].items["figure-17"](Setting())
    lines = draw_picture(item.pictures[""]).axes[0].lines
    points = [(float(x), float(y)) for line in lines[1:] for x, y in line.get_xydata()]
    assert [f"{y:.3f}" for _, y in points] == [row.ours for row in item.rows]
    assert [y for _, y in points[:5]] == pytest.approx([n / (n + 1) for n in range(2, 7)])
    assert points[-1][1] == pytest.approx(6, rel=0.03)


def test_lines_have_ids_and_a_logarithmic_axis() -> None:
    axes = draw_picture(Lines("t", "x", "y", (32, 64), {"a": (1, 2), "b": (3, 4)}, log=2)).axes[0]
    assert [line.get_gid() for line in axes.lines] == ["line-0", "line-1"]
    assert (axes.get_xscale(), axes.get_xlabel(), axes.get_ylabel()) == ("log", "x", "y")


@pytest.mark.parametrize("name", ["brg", "tcbt", "nesbt"])
def test_trees_have_their_nodes_and_dimensions(name: str) -> None:
    graph = spanning_graph(name, 3)
    figure = draw_picture(Trees("title", graph))
    for number, tree in enumerate(graph.trees):
        texts = figure.axes[number].texts
        nodes = {text.get_gid(): text.get_text() for text in texts if text.get_gid()}
        assert nodes == {f"node-{number}-{node}": f"{node:03b}" for node in range(8)}
        places = {text.get_gid(): text.get_position() for text in texts if text.get_gid()}
        levels = [places[f"node-{number}-{node}"][0] for node in range(8)]
        assert levels == tree.level.tolist()
        labels = sorted(text.get_text() for text in texts if not text.get_gid())
        assert labels == sorted(map(str, tree.dimension[tree.dimension >= 0].tolist()))


def test_figure_13_has_the_labels_of_theorem_4_1() -> None:
    """Links into node 1 of tree 1: leaf, cycle j + n = 4; into node 2 of tree 1: cycle 1."""
    item = PAPERS["johnsson-ho-1986"].items["figure-13"](Setting())
    axes = draw_picture(item.pictures[""]).axes[1]
    labels = [text.get_text() for text in axes.texts if not text.get_gid()]
    assert sorted(labels) == ["1", "2", "3", "3", "4", "4", "4"]


def test_every_kind_of_a_workload_has_a_colour() -> None:
    assert COLOR_OF_KIND.keys() == {*KINDS}
