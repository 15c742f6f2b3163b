"""``eyecast transmit``: its table against independent counts, its files, and bad input."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers.command import Command, envelope, refusal, result
from helpers.svg import numbers

from eyecast.model.network.named_graphs import de_bruijn, diagonal_mesh, star_tree
from eyecast.model.network.topology import Topology, line
from eyecast.model.papers.items.ho_hsu_sung import plan_picture
from eyecast.model.papers.transmit.plan import Plan, flood
from eyecast.model.schedule.file import read_schedule
from eyecast.picture.papers import draw_picture


def lines_of(output: str) -> list[list[str]]:
    """Return the cells of every row of the table."""
    rows = [line for line in output.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in row.split("│")[1:-1]] for row in rows]


def write_graph(path: Path, edges: list[tuple[str, str]], **more: Any) -> None:
    nodes = [{"id": name} for name in dict.fromkeys(end for edge in edges for end in edge)]
    fields = {"nodes": nodes, "edges": [{"source": a, "target": b} for a, b in edges]}
    path.write_text(json.dumps({**fields, **more}))


# ---- Its table ------------------------------------------------------------------------------


def test_a_star_tree_better_than_the_paper(eyecast: Command) -> None:
    answer = eyecast("transmit", "--star-tree", "3x12")
    assert (answer.status, answer.errors) == (0, "")
    assert lines_of(answer.output) == [
        ["lower bound", "6", "5", ""],
        ["Theorem 4", "7", "7", "6, 6"],
        ["intervals", "6", "5", ""],
    ]
    assert "t = 6, s = 5 is optimal: proved by cases, 1 and 26 of them, checked" in answer.output


@pytest.mark.parametrize(
    ("network", "cost", "last"),
    [
        ("--de-bruijn 2,5", [5, 2], "t = 5, s = 2 is optimal: proved by counting"),
        ("--line 8", [3, 2], "t = 3, s = 2 is optimal: proved by counting"),
        ("--ring 9", [3, 3], "t = 3, s = 3 is optimal: proved by counting"),
        ("--hypercube 5", [4, 2], "t = 4, s = 2 is optimal: proved by counting"),
        ("--binary-tree 15", [4, 1], "t = 4, s = 1 is optimal: proved by counting"),
        (
            "--binary-tree 1000",
            [9, 6],
            "t = 9, s = 6 is not proved to be optimal: t = 9 is the least, and s at least 5",
        ),
        (
            "--mesh 8x8 --seconds 0",
            [6, 5],
            "t = 6, s = 5 is not proved to be optimal: t is at least 5",
        ),
    ],
)
def test_other_networks(eyecast: Command, network: str, cost: list[int], last: str) -> None:
    answer = eyecast("transmit", *network.split())
    rows = lines_of(answer.output)
    assert answer.status == 0
    assert [int(cell) for cell in rows[-1][1:3]] == cost
    assert answer.output.splitlines()[-1] == last


def test_a_plan_that_is_missing_is_said(eyecast: Command) -> None:
    answer = eyecast("transmit", "--star-tree", "1x3")
    assert answer.output.splitlines()[-2:] == [
        "a plan is missing: arms of a star tree of the paper must be at least 2, not 1",
        "t = 2, s = 2 is optimal: proved by counting",
    ]


def test_a_plan_that_the_paper_does_not_have(eyecast: Command) -> None:
    assert eyecast("transmit", "--diagonal-mesh", "147", "--plan", "paper") == refusal(
        "--plan must be best, as the paper has no plan for this network: steps of Algorithm TA "
        "must be enough for the 51 x 51 nodes left, which have no m (step 5), not 4"
    )


def test_json_says_the_same(eyecast: Command) -> None:
    printed = envelope(eyecast("transmit", "--diagonal-mesh", "10", "--json"))
    assert printed["network"] == "diagonal mesh of side 10"
    found = printed["result"]
    assert (found["least"], found["proved"], found["refusals"]) == ({"t": 5, "s": 4}, True, [])
    (plan,) = found["plans"]
    assert (plan["scheme"], plan["t"], plan["s"]) == ("Algorithm TA", 5, 4)
    assert plan["claim"] == [5, None]
    sends = [(step, node) for step, node in plan["sends"]]
    assert Plan(diagonal_mesh(10), tuple(sends), "again").cost == (5, 4)
    assert [(proof["t"], proof["s"]) for proof in found["certificates"]] == [(4, 4), (5, 3)]


def test_graph_files(eyecast: Command, here: Path) -> None:
    write_graph(here / "g.json", [("a", "b"), ("b", "c"), ("c", "d")])
    found = result(eyecast("transmit", "--graph", "g.json", "--json"))
    assert found["plans"][-1]["t"] == 2
    write_graph(here / "one-way.json", [("a", "b"), ("c", "b"), ("c", "d")], directed=True)
    found = result(eyecast("transmit", "--graph", "one-way.json", "--json"))
    assert (found["least"], found["proved"]) == ({"t": 2, "s": 2}, True)
    table = {"kind": "graph", "neighbor": [[-1, 1, 2], [-1, 0, 2], [-1, 0, 1]]}
    (here / "own.json").write_text(json.dumps(table))
    found = result(eyecast("transmit", "--graph", "own.json", "--json"))
    assert (found["least"], found["proved"]) == ({"t": 2, "s": 1}, True)


# ---- Its files ------------------------------------------------------------------------------


def test_the_schedule_is_that_of_the_plan(eyecast: Command, here: Path) -> None:
    network = ("transmit", "--line", "8", "--words", "5")
    for which, sends in (("best", 2), ("paper", 3)):
        answer = eyecast(*network, "--plan", which, "-o", "s.json", "--picture", "p.svg")
        assert answer.output.splitlines()[-2:] == ["wrote s.json", "wrote p.svg"]
        schedule = read_schedule(here / "s.json")
        schedule.check()
        assert schedule.blocks.words.tolist() == [5]
        assert (schedule.source == 8).sum() == sends
        assert numbers(here / "p.svg", "send") == list(range(8))


@pytest.mark.parametrize("network", ["--diagonal-mesh 5", "--de-bruijn 2,4", "--star-tree 3x5"])
def test_the_schedule_is_compiled_for_a_network_with_a_host(eyecast: Command, network: str) -> None:
    eyecast("transmit", *network.split(), "-o", "s.json")
    schedule = read_schedule("s.json")
    found = result(eyecast("program", "--schedule", "s.json", "--json"))
    assert found["steps"] == schedule.steps
    assert 1 <= found["rows"] <= schedule.topology.ports - 1


@pytest.mark.parametrize(
    "topology", [line(1), line(20), star_tree(3, 4), de_bruijn(2, 3)], ids=lambda each: each.label
)
def test_pictures_say_when_each_node_has_it(topology: Topology) -> None:
    plan = Plan(topology, tuple((node + 1, node) for node in range(topology.nodes)), "all")
    figure = draw_picture(plan_picture(plan))
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert Counter(map(str, flood(topology, plan.sends).tolist())) <= Counter(texts)


def test_the_squares_of_a_covering() -> None:
    plan = Plan(diagonal_mesh(9), ((1, 20), (2, 60), (9, 0)), "three")
    axes = draw_picture(plan_picture(plan)).axes[0]
    squares = {patch.get_gid(): patch.get_bbox() for patch in axes.patches}
    assert {name: (box.x0, box.y0, box.width) for name, box in squares.items()} == {
        "send-1": (2 - 8.5, 2 - 8.5, 17),
        "send-2": (6 - 7.5, 6 - 7.5, 15),
        "send-9": (-0.5, -0.5, 1),
    }
    texts = [int(text.get_text()) for text in axes.texts]
    assert texts == flood(plan.topology, plan.sends).tolist()


# ---- Bad input ------------------------------------------------------------------------------

BAD = {
    "": "a network must be given, such as --mesh 8x8",
    "--line 4 --star-tree 3x3": "one network must be given, not --line and --star-tree",
    "--diagonal-mesh 4x4": "--diagonal-mesh must be a side such as 45, not '4x4'",
    "--diagonal-mesh 5000": (
        "nodes of the 5000 diagonal-mesh must be at most 16777216 for a schedule, not 25000000"
    ),
    "--star-tree 0x3": "arms of star tree 0x3 must be at least 1, not 0",
    "--star-tree 3": "--star-tree must be arms and their length such as 3x12, not '3'",
    "--de-bruijn 2,0": "length of de Bruijn graph 2,0 must be at least 1, not 0",
    "--de-bruijn 2x5": "--de-bruijn must be a base and a length such as 2,5, not '2x5'",
    "--line 4 --plan worst": "--plan must be best or paper, not worst",
    "--mesh 3x3 --plan paper": "--plan must be best, as the paper has no plan for this network",
    "--line 4 --seconds -1": "--seconds must be 0 to 1000000, not -1.0",
    "--line 4 --words 0": "--words must be 1 to 2147483647, not 0",
    "--line 4 --picture p.gif": "suffix of picture p.gif must be .svg, .pdf or .png, not .gif",
    "--graph apart.json": (
        "network to transmit on must be connected, not a graph of 4, where nothing links node 2 "
        "to node 0"
    ),
}


@pytest.mark.parametrize(("options", "line"), BAD.items(), ids=BAD)
def test_bad_input_is_one_line_and_no_file(
    eyecast: Command, here: Path, options: str, line: str
) -> None:
    write_graph(here / "apart.json", [("a", "b"), ("c", "d")])
    before = sorted(here.iterdir())
    assert eyecast("transmit", *options.split(), "-o", "s.json") == refusal(line)
    assert sorted(here.iterdir()) == before
