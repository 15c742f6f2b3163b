"""Schedule files of version 2: schedules that combine, stream or have groups; refusals."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.schedules import Send, build

from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.network.topology import mesh
from eyecast.model.schedule.blocks import NO_OWNER, Blocks
from eyecast.model.schedule.file import read_schedule, schedule_json
from eyecast.model.schedule.schedule import Schedule


def reduction() -> Schedule:
    """Return a schedule that combines and copies, streams, has two groups, and is timed."""
    blocks = Blocks(np.array([NO_OWNER, 2]), ((0,), (1,)), [4, 2], ((0, 1), ()), ("add", None))
    sends = [Send(1, [1, 0], [0]), Send(2, [2, 1], [1])]
    return replace(
        build((3, 1), sends, blocks, "custom"),
        root=None,
        combine=np.array([True, False]),
        stream=np.array([False, True]),
        groups=((0, 1), (1, 2)),
        timed=True,
    )


def file_of(schedule: Schedule) -> dict[str, Any]:
    file: dict[str, Any] = json.loads(schedule_json(schedule))
    return file


def refusal(file: dict[str, Any], path: Path) -> str:
    """Return the error about a file, without the file's name."""
    path.write_text(json.dumps(file))
    told = refusal_of(read_schedule, path)
    return told.removeprefix(f"{path}: ")


def test_the_file_is_as_the_format_says() -> None:
    file = file_of(reduction())
    assert (file["version"], file["timed"]) == (2, True)
    assert file["groups"] == [[0, 1], [1, 2]]
    assert file["blocks"] == [
        {"owner": None, "owed": [0], "words": 4, "contributors": [0, 1], "operator": "add"},
        {"owner": 2, "owed": [1], "words": 2},
    ]
    assert [(send.get("combine"), send.get("stream")) for send in file["sends"]] == [
        (True, None),
        (None, True),
    ]


def test_there_and_back(tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_text(schedule_json(reduction()))
    back = read_schedule(path)
    assert schedule_json(back) == path.read_text()
    assert back.combine.tolist() == [True, False]
    assert back.stream.tolist() == [False, True]
    assert back.groups == ((0, 1), (1, 2))
    assert back.timed
    assert back.blocks.contributors == ((0, 1), ())
    assert back.blocks.operator == ("add", None)


def test_what_needs_nothing_of_it_is_of_version_1() -> None:
    assert file_of(eye_broadcast(mesh((2, 2)), 0, 1))["version"] == 1


@pytest.mark.parametrize("part", ["blocks", "groups", "timed", "combine", "stream"])
def test_version_1_does_not_know_it(part: str, tmp_path: Path) -> None:
    more, file = file_of(reduction()), file_of(eye_broadcast(mesh((2, 2)), 0, 1))
    name = part
    if part == "blocks":
        file["blocks"], name = more["blocks"], "a block without an owner"
    elif part in ("groups", "timed"):
        file[part] = more[part]
    else:
        file["sends"][0][part] = True
    line = f"version must be 2, as the file has {name}, not 1"
    assert refusal(file, tmp_path / "schedule.json") == line


def test_a_block_that_is_half_reduced(tmp_path: Path) -> None:
    line = (
        "blocks[0] must be a block with an owner alone, or without one, but contributors and "
        "operator"
    )
    for change in ({"owner": 0}, {"contributors": "drop"}, {"operator": "drop"}):
        file = file_of(reduction())
        for key, value in change.items():
            file["blocks"][0][key] = value
            if value == "drop":
                del file["blocks"][0][key]
        assert refusal(file, tmp_path / "schedule.json") == line


@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        ("contributors", [3], "nodes of blocks[0] must be 0 to 2, not 3"),
        (
            "operator",
            "A B",
            "blocks[0].operator: Expected str matching regex '^[a-z][a-z0-9-]*(:(8|16|32|64))?$'",
        ),
        ("owner", -1, "blocks[0].owner: Expected int >= 0"),
    ],
)
def test_a_wrong_value_is_one_line(place: str, value: object, line: str, tmp_path: Path) -> None:
    file = file_of(reduction())
    file["blocks"][0][place] = value
    assert refusal(file, tmp_path / "schedule.json") == line


def test_a_group_of_no_node(tmp_path: Path) -> None:
    file = file_of(reduction())
    file["groups"] = [[0], [1, 7]]
    line = "nodes of groups[1] must be 0 to 2, not 7"
    assert refusal(file, tmp_path / "schedule.json") == line
