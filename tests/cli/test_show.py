"""``eyecast show``: its options draw what the functions of pictures draw, or are refused."""

from pathlib import Path

import numpy as np
import pytest
from helpers.command import Command, refusal
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import eyecast as package
from eyecast.model.collectives.notes import landmarks
from eyecast.model.network.topology import hypercube, mesh
from eyecast.picture import file
from eyecast.picture.file import save_picture
from eyecast.picture.lanes import draw_lanes
from eyecast.picture.places import Places
from eyecast.picture.schedule import draw_schedule
from eyecast.picture.tree import draw_trees

FAULTY = ("--mesh", "3x3", "--source", "0,0", "--algorithm", "jiang-wu", "--faulty-node", "1,1")
CUBE = ("--hypercube", "3", "--source", "0", "--algorithm", "sbt")


def test_layers_are_drawn_under_the_schedule(eyecast: Command, here: Path) -> None:
    layers = ("channels", "blocks")
    asked = [word for name in layers for word in ("--layer", name)]
    assert eyecast("show", *FAULTY, *asked, "-o", "shown.svg").status == 0
    network = package.with_faults(mesh((3, 3)), faulty_nodes=[(1, 1)])
    made = package.schedule(network, "jiang-wu", source=(0, 0))
    save_picture(draw_schedule(made, marked=landmarks(made), layers=layers), "drawn.svg")
    save_picture(draw_schedule(made, marked=landmarks(made)), "plain.svg")
    shown, drawn, plain = (Path(f"{name}.svg").read_bytes() for name in ("shown", "drawn", "plain"))
    assert shown == drawn != plain


def test_the_regions_of_a_source_are_those_of_the_paper(
    eyecast: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Fig. 6 with k = 3, no node is between an eye and the middle: (iii) and (iv) are empty."""
    drawn: list[Figure] = []
    monkeypatch.setattr(file, "save_picture", lambda figure, _path: drawn.append(figure))
    asked = ("--mesh", "8x8", "--source", "0,0", "--layer", "eye-regions")
    assert eyecast("show", *asked, "-o", "shown.svg").status == 0
    (figure,) = drawn
    axes = figure.axes[0]
    boxes = [each.get_xy() for each in axes.patches if isinstance(each, Rectangle)]
    texts = [each.get_text() for each in axes.texts if set(each.get_text()) <= set("iv")]
    assert len(boxes) == len(texts) == 64
    regions = {(x + 0.5, y + 0.5): text for (x, y), text in zip(boxes, texts, strict=True)}
    quarter = [" ".join(regions[x, y] for x in range(4)) for y in range(4)]
    assert quarter == ["vi vi ii ii", "vi vi ii ii", "v v i i", "v v i i"]
    assert all(regions[x, y] == regions[7 - x, y] == regions[x, 7 - y] for x, y in regions)


@pytest.mark.slow
def test_the_regions_of_a_3d_source_are_drawn_in_every_plane() -> None:
    """Fig. 7 of the 3-D paper: a third of the nine regions for each range of u, and so of v.

    With k = 3 the eye is at 2 and a_2 is 1: no node is between an eye and half of a_2.
    """
    made = package.schedule(mesh((8, 8, 8)), "eye", source=(0, 0, 0), words=1)
    figure = draw_schedule(made, layers=("eye-regions",))
    shades = [each for each in figure.axes[0].patches if isinstance(each, Rectangle)]
    texts = [
        each.get_text()
        for each in figure.axes[0].texts
        if "i" in each.get_text() or each.get_text() == "v"
    ]
    points = Places.of(made.topology).points
    assert [(*each.get_xy(),) for each in shades] == [(x - 0.5, y - 0.5) for x, y in points]
    row = "ix ix iii iii iii iii ix ix", "vii vii i i i i vii vii"
    plane = [row[2 <= y <= 5].split() for y in range(8)]
    assert texts == [text for _z in range(8) for line in plane for text in line]
    legend = [each.get_text() for each in figure.legends[0].get_texts()]
    assert legend[:4] == [f"source in region ({name})" for name in ("i", "iii", "vii", "ix")]
    box = figure.legends[0].get_window_extent()
    assert box.x1 <= figure.bbox.x1 and box.y0 >= 0


def test_a_cube_s_broadcast_is_drawn_as_a_tree(eyecast: Command, here: Path) -> None:
    assert eyecast("show", *CUBE, "--as-tree", "-o", "shown.svg").status == 0
    save_picture(draw_trees(package.schedule(hypercube(3), "sbt", source=0)), "drawn.svg")
    assert Path("shown.svg").read_bytes() == Path("drawn.svg").read_bytes()


@pytest.mark.parametrize("circuits", [False, True])
def test_lanes_have_each_link_of_a_run_and_its_flits(
    eyecast: Command, here: Path, circuits: bool
) -> None:
    options = ("--circuits",) if circuits else ()
    asked = ("--mesh", "4x2", "--collective", "all-reduce", "--algorithm", "recursive-halving")
    assert eyecast("show", *asked, *options, "--as", "lanes", "-o", "shown.svg").status == 0
    made = package.schedule(mesh((4, 2)), "recursive-halving", collective="all-reduce")
    program = package.compile(made, circuits=circuits)
    run = package.predict(made, circuits=circuits)
    figure = draw_lanes(made, program, run)
    save_picture(figure, "drawn.svg")
    assert Path("shown.svg").read_bytes() == Path("drawn.svg").read_bytes()
    (axes,) = figure.axes
    packets, _waiting, held = axes.collections
    covered = {
        (int(y), cycle)
        for (begin, y), (end, _) in packets.get_segments()
        for cycle in range(int(begin), int(end))
    }
    crossed = run.trace.port != 0
    links = {*zip(run.trace.node[crossed], run.trace.port[crossed], strict=True)}
    assert len(axes.get_yticks()) == len({lane for lane, _ in covered}) == len(links)
    assert len(covered) == np.count_nonzero(crossed)
    assert any(segment.size for segment in held.get_segments()) == (not circuits)
    assert run.stalled_flits.any() == (not circuits)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            (*CUBE, "--as-tree", "--layer", "blocks"),
            "--layer must be left out with --as tree: it is about a mesh",
        ),
        (
            (*CUBE, "--as", "lanes", "--circuits", "--layer", "blocks"),
            "--layer must be left out with --as lanes: it is about a mesh",
        ),
        (
            ("--mesh", "32x32", "--source", "0,0", "--words", "1", "--as", "lanes"),
            "links in a picture must be at most 1024, not 1136 (predict --report shows more)",
        ),
        (
            ("--mesh", "2x2", "--collective", "all-reduce", "--algorithm", "ring", "--as-tree"),
            "--collective must be one with a root, such as a broadcast, to be drawn as trees, "
            "not all-reduce",
        ),
        (
            ("--mesh", "5x5", "--source", "0,0", "--algorithm", "tree", "--layer", "eye-regions"),
            "network for eye-regions must be a mesh of 4x4, 4x4x4 or more nodes, with sides of 2^k "
            "and without faults, not 5x5 mesh",
        ),
        ((*CUBE, "--layer", "blocks"), "network for layers must be a 2-D mesh, not 3-cube"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    eyecast: Command, here: Path, words: tuple[str, ...], said: str
) -> None:
    assert eyecast("show", *words, "-o", "shown.svg") == refusal(said)
    assert not list(here.iterdir())
