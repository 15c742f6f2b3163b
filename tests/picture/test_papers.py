"""Pictures of items: maps, lines and trees have the numbers of their data."""

import numpy as np
import pytest

from eyecast.model.collectives.cube.spanning_graphs import spanning_graph
from eyecast.model.papers.items.item import Lines, Maps, Setting, Trees
from eyecast.model.papers.items.papers import PAPERS
from eyecast.picture.papers import draw_picture
from eyecast.picture.style import EYE


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
