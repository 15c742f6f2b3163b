"""``eyecast convert``, and foreign files beside ``--schedule``."""

import json
from pathlib import Path

import pytest
from helpers.algorithms import relayed, ring_all_gather
from helpers.command import CORNER_4X4, Command, refusal, result

from eyecast.model.schedule.file import read_schedule


@pytest.fixture
def ring(here: Path) -> str:
    (here / "ring.xml").write_text(ring_all_gather(4))
    return "ring.xml"


def test_from_a_foreign_file_to_ours_and_back(eyecast: Command, here: Path, ring: str) -> None:
    answer = eyecast("convert", ring, "s.json", "--mesh", "2x2", "--words", "5")
    assert answer.output.splitlines() == [
        "a schedule of ring.xml, MSCCL XML, as Eyecast schedule",
        "wrote s.json",
    ]
    schedule = read_schedule("s.json")
    schedule.check()
    assert schedule.topology.label == "2x2 mesh"
    assert schedule.blocks.words.tolist() == [5] * 4
    found = result(eyecast("convert", "s.json", "back.xml", "--json"))
    assert found == {
        **{"from": "schedule", "to": "msccl", "content": "schedule"},
        "omits": "network, steps, routes, port model and words",
    }
    answer = eyecast("convert", "back.xml", "again.json", "--ring", "4", "--ports", "all")
    assert read_schedule("again.json").port_model == "all-port"
    answer = eyecast("convert", "s.json", "plan.json", "--to", "mscclpp")
    assert (
        "without network, steps, routes, port model and words, which an MSCCL++ plan"
        in answer.output
    )
    assert json.loads((here / "plan.json").read_text())["collective"] == "allgather"


def test_commands_take_foreign_schedules_as_they_are(eyecast: Command, ring: str) -> None:
    found = result(eyecast("predict", "--schedule", ring, "--mesh", "2x2", "--json"))
    assert (found["finished"], found["algorithm"]) == (True, "mine")
    # Each block has as many words as --words.
    longer = eyecast("predict", "--schedule", ring, "--mesh", "2x2", "--words", "64", "--json")
    assert result(longer)["cycles"] > found["cycles"]


def test_networks_are_converted(eyecast: Command, here: Path) -> None:
    (here / "g.json").write_text('{"kind": "line", "nodes": 4}')
    answer = eyecast("convert", "g.json", "h.json")
    assert answer.output.startswith("a network of g.json, Eyecast network, as Eyecast network")
    assert json.loads((here / "h.json").read_text())["nodes"] == 4


def test_names_of_nodes_last_through_files(eyecast: Command, here: Path) -> None:
    rows = [("r0", "r1"), ("r1", "r2"), ("r2", "r0"), ("r2", "r 3")]
    nodes = "".join(f'<node id="{name}"/>' for name in ("r0", "r1", "r2", "r 3"))
    edges = "".join(f'<edge source="{one}" target="{other}"/>' for one, other in rows)
    text = f'<graphml><graph edgedefault="undirected">{nodes}{edges}</graph></graphml>'
    (here / "kite.graphml").write_text(text)
    assert eyecast("convert", "kite.graphml", "kite.json").status == 0
    (here / "plain.json").write_text((here / "kite.json").read_text().replace('"r', '"s'))
    task = ("--collective", "multicast")
    made = ("program", *task, "-o", "p.json", "--image")
    named = ("--source", "r0", "--target", "r 3", "--faulty-link", "r0:r2")
    for graph in ("kite.graphml", "kite.json"):
        assert eyecast(*made, "named.csv", "--graph", graph, *named).status == 0
    assert eyecast("schedule", *task, "--graph", "kite.json", *named, "-o", "s.json").status == 0
    numbered = ("--source", "0", "--target", "3", "--faulty-link", "0:2")
    for place, read in enumerate((("--program", "p.json"), ("--schedule", "s.json"))):
        waves = ("predict", *read, "-o", f"run-{place}.csv", "--waves", "--waves-node")
        assert eyecast(*waves, "r 3").status == 0
    assert eyecast(*waves, "east") == refusal(
        "--waves-node must be a node of the graph of 4 with 1 faulty link, by its number or name, "
        "not 'east'"
    )
    # Names are no part of the hardware, and so of no image.
    assert eyecast(*made, "other.csv", "--graph", "plain.json", *numbered).status == 0
    assert "s 3" in (here / "p.json").read_text()
    for end in ("csv", "json"):
        assert (here / f"other.{end}").read_bytes() == (here / f"named.{end}").read_bytes()
    (here / "short.json").write_text((here / "kite.json").read_text().replace('"r0",', ""))
    assert eyecast("show", "--graph", "short.json", "-o", "x.svg") == refusal(
        "short.json: topology.node_names must be 4 names, as there are nodes, not 3"
    )


REFUSED = {
    "convert ring.xml s.json": "ring.xml names no network: give one, such as --mesh 4x4",
    "convert ring.xml s.json --mesh 3x1": (
        "ring.xml: ngpus must be at most 3, the working nodes of the 3x1 mesh, not 4"
    ),
    "convert ring.xml s.vsd --mesh 2x2": (
        "suffix of s.vsd must be .json, .xml, .goal or .et for a schedule (--to names another "
        "format), not '.vsd'"
    ),
    "convert ring.xml s.json --mesh 2x2 --to forestcoll": (
        "--to forestcoll must be left out with a schedule: it is read only"
    ),
    "convert ring.xml s.json --mesh 2x2 --from mscclpp": (
        "an MSCCL++ plan must be the format of TO: it is only written"
    ),
    "convert ring.xml s.json --mesh 2x2 --cycles 5": (
        "--cycles must be left out with FROM: it holds a schedule"
    ),
    "convert s.json t.xml --mesh 4x4": "--mesh must be left out with FROM: the file has it already",
    "convert ring.xml ring.xml --mesh 2x2": ("output file ring.xml must be another file than FROM"),
    "convert none.xml s.json": "none.xml: cannot be read: No such file or directory",
    "predict --schedule ring.xml": "ring.xml names no network: give one, such as --mesh 4x4",
    "predict --schedule ring.xml --mesh 2x2 --source 0,0": (
        "--source must be left out with --schedule: the file has it already"
    ),
    "predict --schedule broken.xml --mesh 3x1": (
        "broken.xml, line 4: <step>: srcoff must be 0 to 1, not '7'"
    ),
}


@pytest.mark.parametrize(("arguments", "line"), REFUSED.items(), ids=REFUSED)
def test_refusals(eyecast: Command, here: Path, ring: str, arguments: str, line: str) -> None:
    eyecast("schedule", *CORNER_4X4, "-o", "s.json")
    (here / "broken.xml").write_text(relayed().replace('srcoff="1"', 'srcoff="7"', 1))
    before = sorted(here.iterdir())
    assert eyecast(*arguments.split()) == refusal(line)
    assert sorted(here.iterdir()) == before


def test_a_file_of_no_known_format_is_refused(eyecast: Command, here: Path) -> None:
    (here / "x.bin").write_bytes(b"\x7fELF")
    said = eyecast("convert", "x.bin", "s.json").errors
    assert said.startswith("eyecast: x.bin: format must be schedule, network")
    assert said.endswith("and it looks like none (--from names it)\n")


def test_a_timetable_that_is_lost_is_named(eyecast: Command, here: Path) -> None:
    made = ("--mesh", "2x2", "--collective", "all-to-all", "--algorithm", "direct")
    assert eyecast("schedule", *made, "-o", "direct.json").status == 0
    for name, options in (("x.xml", ()), ("x.goal", ()), ("x.json", ("--to", "mscclpp"))):
        lines = eyecast("convert", "direct.json", name, *options).output.splitlines()
        assert any("timetable" in line for line in lines if line.startswith("without "))
    lines = eyecast("convert", "direct.json", "same.json").output.splitlines()
    assert not any(line.startswith("without") for line in lines)
