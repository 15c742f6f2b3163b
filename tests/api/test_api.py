"""The Python face: what a researcher gets by ``import eyecast``."""

import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command import result

import eyecast
from eyecast.model.collectives.registry import algorithms_for

EYE = eyecast.schedule(eyecast.mesh((4, 4)), "eye", source=(1, 1))


def test_each_documented_name_is_there_and_says_what_it_is():
    for name in eyecast.api.__all__:
        assert getattr(eyecast, name).__doc__, name
        assert name in dir(eyecast)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'eyecast' has no attribute 'shedule'"):
        _ = eyecast.shedule


def test_import_loads_nothing_until_a_name_is_asked_for():
    script = "import sys, eyecast; print(sorted({'numpy', 'numba'} & {*sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_it_says_what_the_command_says(request, here):
    command = request.getfixturevalue("eyecast")
    options = ("--mesh", "4x4", "--source", "1,1", "--json")
    said = result(command("schedule", *options))
    found = eyecast.measures(EYE)
    assert found["schedule"].items() >= {"steps": said["steps"], "tcd": said["tcd"]}.items()
    assert eyecast.predict(EYE).cycles == result(command("predict", *options))["cycles"]
    eyecast.write_schedule(EYE, here / "face.json")
    command("schedule", *options[:-1], "-o", here / "command.json")
    assert (here / "face.json").read_bytes() == (here / "command.json").read_bytes()


def test_nodes_are_numbers_or_coordinates():
    assert eyecast.schedule(eyecast.mesh((4, 4)), "eye", source=5).root == EYE.root
    with pytest.raises(eyecast.InvalidInput, match="source must be a node of the 4x4 mesh"):
        eyecast.schedule(eyecast.mesh((4, 4)), "eye", source=(4, 0))
    with pytest.raises(eyecast.InvalidInput, match="source must be 0 to 15, not 16"):
        eyecast.schedule(eyecast.mesh((4, 4)), "eye", source=16)


@pytest.mark.parametrize(
    ("collective", "source", "complaint"),
    [
        ("broadcast", None, "source of broadcast must be a node, not None"),
        ("all-gather", 0, "source of all-gather must be None, as every node is one, not 0"),
    ],
)
def test_a_source_is_given_where_there_is_one(collective, source, complaint):
    with pytest.raises(eyecast.InvalidInput, match=f"^{complaint}$"):
        eyecast.schedule(eyecast.ring(4), "ring", source=source, collective=collective)


def test_own_sends_are_proved():
    line = eyecast.line(4)
    own = eyecast.schedule_of_sends(line, [(1, [0, 1, 2]), (2, [0, 1]), (2, [2, 3])], flits=4)
    assert (own.root, own.steps, own.tcd, own.algorithm) == (0, 2, 4, "own")
    assert eyecast.predict(own).finished
    with pytest.raises(eyecast.ScheduleError, match="node 3"):
        eyecast.schedule_of_sends(line, [(1, [0, 1, 2]), (2, [0, 1])])
    assert eyecast.schedule_of_sends(line, [(1, [0, 1, 2])], targets=[2]).collective == "multicast"


@pytest.mark.parametrize(
    ("sends", "complaint"),
    [
        ([], "sends must be one or more, not none"),
        ([(1, [0])], "path of a send in step 1 must be two nodes or more, not 1"),
        ([(1, [0, 9])], "node of a path must be 0 to 3, not 9"),
    ],
)
def test_sends_that_are_none_are_refused(sends, complaint):
    with pytest.raises(eyecast.InvalidInput, match=f"^{complaint}$"):
        eyecast.schedule_of_sends(eyecast.line(4), sends)


def test_a_program_has_room_and_cannot_deadlock():
    assert eyecast.compile(EYE, flit_width=16).config.flit_width == 16
    ring = eyecast.schedule(eyecast.ring(8), "ring", collective="all-gather")
    with pytest.raises(eyecast.InvalidInput, match="vcs"):
        eyecast.compile(EYE, vcs=0)
    assert eyecast.compile(ring).config.topology.label == "ring of 8"


def test_all_algorithms_are_compared_or_those_named():
    network = eyecast.mesh((4, 4))
    entries = eyecast.compare(network, source=0, flits=4)
    served = {entry.name for entry in entries}
    assert {"eye", "minimum", "u-mesh"} <= served < {a.name for a in algorithms_for("broadcast")}
    (eye,) = eyecast.compare(network, source=0, flits=4, algorithms=["eye"])
    assert eye.cycles == next(entry.cycles for entry in entries if entry.name == "eye")
    assert eyecast.algorithms("gather")[:1] == ["ring"]


def test_the_hardware_agrees_and_the_picture_is_drawn(here):
    small = eyecast.schedule(eyecast.mesh((2, 2)), "eye", source=0, flits=4)
    compared = eyecast.verify(small)
    assert compared.agrees
    assert compared.measured.cycles == eyecast.predict(small).cycles
    eyecast.draw(small, here / "eye.svg", here / "eye.png")
    assert {path.name for path in Path(here).iterdir()} == {"eye.svg", "eye.png"}
    with pytest.raises(eyecast.InvalidInput, match="suffix"):
        eyecast.draw(small, here / "eye.gif")
