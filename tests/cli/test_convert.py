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
    answer = eyecast("convert", ring, "s.json", "--mesh", "2x2", "--flits", "5")
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
    # Each block has as many words as --flits.
    longer = eyecast("predict", "--schedule", ring, "--mesh", "2x2", "--flits", "64", "--json")
    assert result(longer)["cycles"] > found["cycles"]


def test_networks_are_converted(eyecast: Command, here: Path) -> None:
    (here / "g.json").write_text('{"kind": "line", "nodes": 4}')
    answer = eyecast("convert", "g.json", "h.json")
    assert answer.output.startswith("a network of g.json, Eyecast network, as Eyecast network")
    assert json.loads((here / "h.json").read_text())["nodes"] == 4


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
    "convert s.json t.xml --mesh 4x4": "--mesh must be left out with FROM: the file says it",
    "convert ring.xml ring.xml --mesh 2x2": ("output file ring.xml must be another file than FROM"),
    "convert none.xml s.json": "none.xml: cannot be read: No such file or directory",
    "predict --schedule ring.xml": "ring.xml names no network: give one, such as --mesh 4x4",
    "predict --schedule ring.xml --mesh 2x2 --source 0,0": (
        "--source must be left out with --schedule: the file says it"
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
