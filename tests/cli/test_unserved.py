"""Notices of the commands about unserved working nodes, and about shared links."""

import json
import re
from pathlib import Path

import pytest
from helpers.command import Command, refusal, result

BLOCK = ("--mesh", "4x4", "--source", "0,0", "--faulty-node", "1,1", "--faulty-node", "2,2")
JIANG_WU = (*BLOCK, "--algorithm", "jiang-wu")
WHY = "2 of 14 working nodes get nothing: disabled nodes of fault blocks"
SHARING = ("--mesh", "5x3", "--source", "2,0", "--faulty-node", "1,1", "--faulty-node", "3,1")


@pytest.mark.parametrize("command", ["schedule", "program", "predict"])
def test_tables_say_who_gets_nothing_and_why(eyecast: Command, command: str) -> None:
    answer = eyecast(command, *JIANG_WU)
    assert answer.status == 0
    assert WHY in " ".join(answer.output.split())


def test_pictures_say_it(eyecast: Command, here: Path) -> None:
    eyecast("show", *JIANG_WU, "-o", "show.svg")
    # A long title has several lines, each a text of its own.
    texts = re.findall(r"<!-- (.*?) -->", (here / "show.svg").read_text())
    assert WHY in " ".join(texts)


def test_bounds_are_of_the_nodes_served(eyecast: Command) -> None:
    """Bounds count the 12 served nodes, 11 without the source. The tree serves all 14."""
    found = result(eyecast("schedule", *JIANG_WU, "--json"))
    assert (found["unserved"], found["least"]) == ([6, 9], {"steps": 4, "tcd": 11, "cycles": 22})
    tree = result(eyecast("schedule", *BLOCK, "--algorithm", "tree", "--json"))
    assert (tree["unserved"], tree["least"]) == ([], {"steps": 4, "tcd": 13, "cycles": 22})


def test_compare_marks_what_serves_fewer(eyecast: Command, here: Path) -> None:
    answer = eyecast("compare", *BLOCK, "-o", "compare.svg")
    rows = [[cell.strip() for cell in line.split("│")[1:4]] for line in answer.output.splitlines()]
    assert ["lower bound", "1", "13"] in rows
    assert ["lower bound, 12 of 14 nodes", "4", "11"] in rows
    assert ["jiang-wu, 12 of 14 nodes", "5", "16"] in rows
    assert f"jiang-wu: {WHY}" in answer.output
    assert "jiang-wu, 12 of 14 nodes" in (here / "compare.svg").read_text()


def test_a_partial_tree_says_it_too(eyecast: Command) -> None:
    cut = ("--mesh", "5x1", "--source", "0,0", "--faulty-node", "3,0", "--algorithm", "tree")
    answer = eyecast("schedule", *cut, "--partial")
    assert "1 of 4 working nodes get nothing: no path leads to them" in " ".join(
        answer.output.split()
    )


def test_links_that_are_shared_are_said(eyecast: Command) -> None:
    shared = "links are shared in a step by 1 pair of sends on different VCs"
    assert shared in eyecast("schedule", *SHARING, "--algorithm", "jiang-wu").output
    assert "no link is shared in a step" in eyecast("schedule", *JIANG_WU).output


def test_a_broadcast_owed_to_nobody_is_refused(eyecast: Command, here: Path) -> None:
    """A mistyped name is refused too; as custom and without a request the schedule runs."""
    eyecast("schedule", "--mesh", "2x2", "--source", "0,0", "-o", "s.json")
    whole = json.loads((here / "s.json").read_text())
    nobody = whole | {"blocks": [{"owner": 0, "owed": [], "words": 16}]}
    for changed, line in (
        (nobody, "collective must be custom, not broadcast: block 0 is not owed to node 1"),
        (
            whole | {"collective": "Broadcast"},
            "collective must be broadcast, multicast, scatter, gather, all-gather, "
            "all-to-all, neighbor, halo, reduce, reduce-scatter, all-reduce, barrier, scan, "
            "exscan or custom, not 'Broadcast'",
        ),
        (
            nobody | {"collective": "custom"},
            "collective must be broadcast, as requested, not custom",
        ),
    ):
        (here / "s.json").write_text(json.dumps(changed))
        assert eyecast("predict", "--schedule", "s.json") == refusal(f"s.json: {line}")
    del nobody["requests"]
    (here / "s.json").write_text(json.dumps(nobody | {"collective": "custom"}))
    answer = eyecast("predict", "--schedule", "s.json")
    assert "Custom collective" in answer.output
    assert "3 of 4 working nodes get nothing: the schedule owes them nothing" in " ".join(
        answer.output.split()
    )


@pytest.mark.slow
def test_every_source_of_a_network_that_not_all_links_lead_back_from(eyecast: Command) -> None:
    """No link leads to node 0, so a broadcast from any of the other five leaves it out."""
    cut = ("--mesh", "3x2", "--faulty-link", "1,0:0,0", "--faulty-link", "0,1:0,0")
    answer = eyecast("verify", *cut, "--all-sources", "--algorithm", "tree", "--partial")
    assert answer.status == 0
    said = " ".join(answer.output.split())
    assert "from 5 of 6 sources, as in the first of these" in said
    assert "from (1,0) on a 3x2 mesh with 2 faulty links" in said
    assert "(1 of 6 working nodes get nothing: no path leads to them)" in said
