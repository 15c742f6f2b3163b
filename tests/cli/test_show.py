"""``eyecast show``: its options draw what the functions of pictures draw, or are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.command import Command, refusal

import eyecast as package
from eyecast.model.collectives.notes import landmarks
from eyecast.model.network.topology import hypercube, mesh
from eyecast.picture.file import save_picture
from eyecast.picture.schedule import draw_schedule
from eyecast.picture.tree import draw_trees

FAULTY = ("--mesh", "8x8", "--source", "0,0", "--algorithm", "jiang-wu", "--faulty-node", "3,3")
CUBE = ("--hypercube", "3", "--source", "0", "--algorithm", "sbt")


def test_layers_are_drawn_under_the_schedule(eyecast: Command, here: Path) -> None:
    layers = ("channels", "blocks")
    asked = [word for name in layers for word in ("--layer", name)]
    assert eyecast("show", *FAULTY, *asked, "-o", "shown.svg").status == 0
    network = package.with_faults(mesh((8, 8)), faulty_nodes=[(3, 3)])
    made = package.schedule(network, "jiang-wu", source=(0, 0))
    save_picture(draw_schedule(made, marked=landmarks(made), layers=layers), "drawn.svg")
    save_picture(draw_schedule(made, marked=landmarks(made)), "plain.svg")
    shown, drawn, plain = (Path(f"{name}.svg").read_bytes() for name in ("shown", "drawn", "plain"))
    assert shown == drawn != plain


def test_a_cube_s_broadcast_is_drawn_as_a_tree(eyecast: Command, here: Path) -> None:
    assert eyecast("show", *CUBE, "--as-tree", "-o", "shown.svg").status == 0
    save_picture(draw_trees(package.schedule(hypercube(3), "sbt", source=0)), "drawn.svg")
    assert Path("shown.svg").read_bytes() == Path("drawn.svg").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            (*CUBE, "--as-tree", "--layer", "blocks"),
            "--layer must be left out with --as-tree: it is about a mesh",
        ),
        (
            ("--mesh", "2x2", "--collective", "all-reduce", "--algorithm", "ring", "--as-tree"),
            "schedule drawn as trees must be one with a root, not without",
        ),
        ((*CUBE, "--layer", "blocks"), "network for layers must be a 2-D mesh, not 3-cube"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    eyecast: Command, here: Path, words: tuple[str, ...], said: str
) -> None:
    assert eyecast("show", *words, "-o", "shown.svg") == refusal(said)
    assert not list(here.iterdir())
