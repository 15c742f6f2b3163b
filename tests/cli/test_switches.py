"""Networks with switches on the command line: supported uses, and one-line refusals."""

import json
from pathlib import Path

import pytest
from helpers.command import Command, envelope, refusal, result
from helpers.switch_networks import switch_mesh, switch_star, switch_tree

from eyecast.model.network.topology_file import topology_to_json

SERVED = ("--graph", "tree.json", "--algorithm", "tree")


@pytest.fixture
def nets(here: Path) -> Path:
    """Return a folder with a star, a tree and a mesh of switches."""
    for name, topology in (
        ("star", switch_star(4)),
        ("tree", switch_tree()),
        ("mesh", switch_mesh(2, 2)),
    ):
        (here / f"{name}.json").write_text(json.dumps(topology_to_json(topology)))
    return here


def test_a_schedule_there_and_back(eyecast: Command, nets: Path) -> None:
    printed = envelope(eyecast("schedule", *SERVED, "--source", "3", "-o", "s.json", "--json"))
    found = printed["result"]
    assert (found["steps"], found["tcd"]) == (2, 8)
    assert found["least"] == {"steps": 2, "tcd": 8, "cycles": 20}
    assert printed["network"] == "graph of 7 with 3 switches"
    file = json.loads((nets / "s.json").read_text())
    assert file["topology"]["switches"] == [0, 1, 2]
    assert file["blocks"] == [{"owner": 3, "owed": None, "words": 16}]
    made = result(eyecast("predict", *SERVED, "--source", "3", "--json"))
    read = result(eyecast("predict", "--schedule", "s.json", "--json"))
    assert read["cycles"] == made["cycles"] == 1 + (4 + 16 + 4) + (2 + 16 + 4) - 2
    assert eyecast("program", "--schedule", "s.json", "-o", "p.json").status == 0
    program = json.loads((nets / "p.json").read_text())
    assert program["network"]["topology"]["switches"] == [0, 1, 2]
    assert program["nodes"][:3] == [{"rows": [], "receives": []}] * 3


def test_multicasts(eyecast: Command, nets: Path) -> None:
    multicast = ("schedule", *SERVED, "--collective", "multicast", "--source", "3")
    found = result(eyecast(*multicast, "--target", "5", "--target", "6", "--json"))
    assert (found["steps"], found["tcd"]) == (2, 6)


def test_compare_says_why_grids_are_needed(eyecast: Command, nets: Path) -> None:
    found = result(eyecast("compare", "--graph", "mesh.json", "--source", "4", "--json"))
    assert [entry["algorithm"] for entry in found["algorithms"]] == ["tree", "chain"]
    assert all(
        "not a graph of 8 with 4 switches" in why or "--ports" in why
        for why in found["not_serving"].values()
    )


def test_pictures_have_hollow_squares(eyecast: Command, nets: Path) -> None:
    assert eyecast("show", *SERVED, "--source", "3", "-o", "s.svg").status == 0
    assert "switch, without an interface" in (nets / "s.svg").read_text()


def test_traffic_between_the_others(eyecast: Command, nets: Path) -> None:
    """Throughput counts nodes with an interface: four nodes, half a flit per node and cycle."""
    traffic = ("traffic", "--graph", "star.json", "--rate", "0.5", "--on", "model", "-o", "out")
    found = result(eyecast(*traffic, "--json"))["measures"]
    assert 0.45 < found["offered_throughput"] < 0.55
    rows = [line.split(",") for line in (nets / "out" / "traffic.csv").read_text().splitlines()[1:]]
    assert {row[1] for row in rows} == {row[2] for row in rows} == {"1", "2", "3", "4"}


def test_complement_is_among_the_others(eyecast: Command, nets: Path) -> None:
    traffic = ("traffic", "--graph", "star.json", "--pattern", "complement", "--on", "model")
    assert eyecast(*traffic, "-o", "out").status == 0
    rows = [line.split(",") for line in (nets / "out" / "traffic.csv").read_text().splitlines()[1:]]
    assert {(row[1], row[2]) for row in rows} == {("1", "4"), ("2", "3"), ("3", "2"), ("4", "1")}


WANTED = "a node with a network interface, not switch 0"
REFUSED = {
    "schedule --graph tree.json --algorithm tree --source 0": f"--source must be {WANTED}",
    "predict --graph tree.json --algorithm tree --source 0": f"--source must be {WANTED}",
    "compare --graph tree.json --source 0": f"--source must be {WANTED}",
    "schedule --graph tree.json --algorithm tree --source 3 --collective multicast --target 4 "
    "--target 0": f"--target must be {WANTED}",
    "schedule --graph tree.json --collective scatter --source 3 --algorithm ring": (
        "network for ring must be a mesh, torus or hypercube without faults, "
        "not a graph of 7 with 3 switches"
    ),
    "transmit --graph tree.json": (
        "network to transmit on must be one without switches, as every node passes the message on, "
        "not a graph of 7 with 3 switches"
    ),
}


@pytest.mark.parametrize(("line", "message"), REFUSED.items(), ids=REFUSED)
def test_what_is_refused(eyecast: Command, nets: Path, line: str, message: str) -> None:
    before = sorted(nets.iterdir())
    assert eyecast(*line.split()) == refusal(message)
    assert sorted(nets.iterdir()) == before


def test_a_traffic_file_that_names_a_switch(eyecast: Command, nets: Path) -> None:
    for row, end in (("4,0,2,4", "source"), ("4,2,0,4", "target")):
        (nets / "t.csv").write_text(f"cycle,source,target,flits\n1,2,3,4\n{row}\n")
        traffic = ("traffic", "--graph", "star.json", "--traffic-file", "t.csv", "--on", "model")
        wanted = "a node with a network interface (no switch)"
        assert eyecast(*traffic) == refusal(f"t.csv, line 3: {end} must be {wanted}, not 0")


def test_schedule_files_that_send_to_a_switch(eyecast: Command, nets: Path) -> None:
    assert eyecast("schedule", *SERVED, "--source", "3", "-o", "s.json").status == 0
    file = json.loads((nets / "s.json").read_text())
    send = file["sends"][0]
    del file["steps"], file["tcd"]
    send["target"], send["path"], send["vcs"] = 1, send["path"][:2], [0]
    (nets / "s.json").write_text(json.dumps(file))
    wanted = "send 0 (step 1, 3 -> 1): its target 1 is a switch, which has no network interface"
    assert eyecast("predict", "--schedule", "s.json") == refusal(f"s.json: {wanted}")


def test_switches_can_be_drawn_faulty_and_kept(eyecast: Command, nets: Path) -> None:
    drawn = ("schedule", *SERVED, "--source", "3", "--random-faults", "0.3", "--json", "--partial")
    found = envelope(eyecast(*drawn, "--seed", "3", "--keep", "3", "--keep", "0"))
    assert found["network"] == "graph of 7 with 3 switches and 2 faulty nodes"
