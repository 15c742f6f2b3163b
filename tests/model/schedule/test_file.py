"""Schedule files: written and read again; each kind of wrong file is refused by one line."""

import json
import re
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.schedules import Send, build

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.network.topology import mesh
from eyecast.model.schedule.blocks import NO_OWNER, Blocks
from eyecast.model.schedule.file import read_schedule, schedule_json, write_schedule
from eyecast.model.schedule.schedule import Schedule

Edit = Callable[[dict[str, Any]], object]


def same(one: Schedule, other: Schedule) -> bool:
    """Tell whether all fields of two schedules are equal."""
    names = {field.name for field in fields(Schedule)} - {"topology", "blocks"}
    return (
        all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
        and np.array_equal(one.topology.neighbor, other.topology.neighbor)
        and one.topology.dims == other.topology.dims
        and one.blocks.owed == other.blocks.owed
        and np.array_equal(one.blocks.owner, other.blocks.owner)
        and np.array_equal(one.blocks.words, other.blocks.words)
    )


@pytest.mark.parametrize("side", [1, 4])
def test_there_and_back(side: int, tmp_path: Path) -> None:
    schedule = eye_broadcast(mesh((side, side)), side * side // 2, 16)
    write_schedule(schedule, tmp_path / "schedule.json")
    back = read_schedule(tmp_path / "schedule.json")
    assert same(back, schedule)
    back.check()


def test_every_kind_of_value_there_and_back(tmp_path: Path) -> None:
    schedule = replace(
        eye_broadcast(mesh((2, 2)), 1, 1),
        collective="scatter",
        algorithm='a "name"\nwith ü',
        port_model="all-port",
        root=None,
        blocks=Blocks(np.array([0, 1, 3]), (None, (), (2, 3)), np.array([1, 7, 2**31 - 1])),
        vcs=np.array([0, 255, 3]),
        block_offsets=np.array([0, 2, 3, 4]),
        block_ids=np.array([0, 2, 1, 1]),
    )
    write_schedule(schedule, tmp_path / "schedule.json")
    assert same(read_schedule(tmp_path / "schedule.json"), schedule)


def test_the_file_is_as_the_format_says() -> None:
    file = json.loads(schedule_json(eye_broadcast(mesh((8, 8)), 0, 16)))
    sends = file.pop("sends")
    assert file == {
        "format": "eyecast-schedule",
        "version": 1,
        "topology": {"kind": "mesh", "dims": [8, 8], "faulty_nodes": [], "faulty_links": []},
        "collective": "broadcast",
        "algorithm": "eye",
        "port_model": "half-duplex",
        "root": 0,
        "steps": 6,
        "tcd": 79,
        "blocks": [{"owner": 0, "owed": None, "words": 16}],
    }
    assert len(sends) == 63
    assert sends[0] == {
        "step": 1,
        "source": 0,
        "target": 21,
        "path": [0, 1, 2, 3, 4, 5, 13, 21],
        "vcs": [0, 0, 0, 0, 0, 0, 0],
        "blocks": [0],
    }


def set_key(*keys: str | int, to: object) -> Edit:
    """Return an edit that sets a value deep in the file."""

    def edit(file: dict[str, Any]) -> None:
        place: Any = file
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = to

    return edit


def drop(*keys: str | int) -> Edit:
    """Return an edit that removes a value deep in the file."""

    def edit(file: dict[str, Any]) -> None:
        place: Any = file
        for key in keys[:-1]:
            place = place[key]
        del place[keys[-1]]

    return edit


WRONG = [
    (
        set_key("format", to="eyecast-program"),
        "format must be eyecast-schedule, not eyecast-program",
    ),
    (set_key("version", to=3), "version must be 1 or 2, not 3"),
    (set_key("version", to="1"), "version: Expected int, got str"),
    (drop("format"), "Object missing required field format"),
    (drop("blocks"), "Object missing required field blocks"),
    (drop("sends", 3, "vcs"), "sends[3]: Object missing required field vcs"),
    (set_key("colour", to=1), "Object contains unknown field colour"),
    (set_key("sends", 0, "colour", to=1), "sends[0]: Object contains unknown field colour"),
    (set_key("steps", to=5), "steps must be 4, as counted over the sends, not 5"),
    (set_key("tcd", to=19), "tcd must be 18, as counted over the sends, not 19"),
    (set_key("tcd", to=-1), "tcd: Expected int >= 0"),
    (set_key("tcd", to=1.5), "tcd: Expected int, got float"),
    (set_key("root", to=16), "root must be 0 to 15, not 16"),
    (set_key("root", to=True), "root: Expected int | null, got bool"),
    (
        set_key("port_model", to="duplex"),
        "port model must be half-duplex, exchange, full-duplex, all-port, not duplex",
    ),
    (set_key("blocks", 0, "owner", to=16), "nodes of blocks[0] must be 0 to 15, not 16"),
    (set_key("blocks", 0, "owed", to=[3, 16]), "nodes of blocks[0] must be 0 to 15, not 16"),
    (set_key("blocks", 0, "owed", to="all"), "blocks[0].owed: Expected array | null, got str"),
    (set_key("blocks", 0, "words", to=-1), "blocks[0].words: Expected int >= 0"),
    (
        set_key("blocks", 0, "words", to=0),
        "version must be 2, as the file has a block of no words, not 1",
    ),
    (set_key("blocks", to=[]), "blocks: Expected array of length >= 1"),
    (set_key("sends", 2, "step", to=0), "sends[2].step: Expected int >= 1"),
    (set_key("sends", 2, "step", to=2**20 + 1), "sends[2].step: Expected int <= 1048576"),
    (set_key("sends", 2, "source", to=16), "sends[2].source must be 0 to 15, not 16"),
    (set_key("sends", 2, "target", to=-1), "sends[2].target: Expected int >= 0"),
    (set_key("sends", 2, "target", to=10**30), "sends[2].target: Expected int <= 2147483647"),
    (set_key("sends", 2, "target", to=99), "sends[2].target must be 0 to 15, not 99"),
    (set_key("sends", 2, "path", 1, to=99), "sends[2].path must be 0 to 15, not 99"),
    (set_key("sends", 2, "path", 1, to="10"), "sends[2].path[1]: Expected int, got str"),
    (set_key("sends", 2, "path", to=[6]), "sends[2].path: Expected array of length >= 2"),
    (set_key("sends", 2, "vcs", to=[-1]), "sends[2].vcs[0]: Expected int >= 0"),
    (set_key("sends", 2, "vcs", to=[256]), "sends[2].vcs[0]: Expected int <= 255"),
    (
        set_key("sends", 2, "vcs", to=[0, 0]),
        "sends[2].vcs must be 1 long, a VC for each link of its path, not 2",
    ),
    (set_key("sends", 2, "blocks", to=[0, 1]), "sends[2].blocks must be 0 to 0, not 1"),
    (set_key("sends", 2, "blocks", to=[]), "sends[2].blocks: Expected array of length >= 1"),
    (set_key("topology", to=[4, 4]), "topology: Expected object, got array"),
    (set_key("topology", "dims", to=[4, 0]), "side of mesh 4x0 must be at least 1, not 0"),
]


@pytest.mark.parametrize(("edit", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_wrong_value_is_one_line(edit: Edit, message: str, tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    file = json.loads(schedule_json(eye_broadcast(mesh((4, 4)), 0, 16)))
    edit(file)
    path.write_text(json.dumps(file))
    assert refusal_of(read_schedule, path) == f"{path}: {message}"


@pytest.mark.parametrize("left_out", [("steps",), ("tcd",), ("steps", "tcd")])
def test_what_can_be_counted_may_be_left_out(left_out: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    schedule = eye_broadcast(mesh((4, 4)), 0, 16)
    file = json.loads(schedule_json(schedule))
    for key in left_out:
        del file[key]
    path.write_text(json.dumps(file))
    assert same(read_schedule(path), schedule)
    path.write_text(json.dumps({**file, left_out[0]: None}))
    with pytest.raises(InvalidInput, match=f": {left_out[0]}: Expected int, got null$"):
        read_schedule(path)


def test_a_mark_of_byte_order_is_read_over(tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    schedule = eye_broadcast(mesh((4, 4)), 0, 16)
    path.write_bytes(b"\xef\xbb\xbf" + schedule_json(schedule).encode())
    assert same(read_schedule(path), schedule)


@pytest.mark.parametrize("key", ["root", "step", "kind"])
def test_a_key_that_is_given_twice_is_refused(key: str, tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    text = schedule_json(eye_broadcast(mesh((4, 4)), 0, 16))
    once = re.search(rf'"{key}":("?\w+"?),', text)
    assert once is not None
    path.write_text(text.replace(once[0], once[0] * 2, 1))
    assert (
        refusal_of(read_schedule, path)
        == f"{path}: keys of an object must be different, not '{key}' twice"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "Input data was truncated"),
        (b'{"format": "eyecast-sched', "Input data was truncated"),
        (b"not JSON", "JSON is malformed: invalid character (byte 4)"),
        (b"\xff\xfe\x00", "must be UTF-8: invalid start byte"),
        (b'{"format": "eyecast-\xff", "version": 1}', "must be UTF-8: invalid start byte"),
        (b"[]", "Expected object, got array"),
        (b'{"sends": ' + b"[" * 100_000, "must be JSON that nests less deeply"),
    ],
)
def test_a_foreign_file_is_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_bytes(content)
    assert refusal_of(read_schedule, path) == f"{path}: {message}"


def test_every_truncation_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    whole = schedule_json(eye_broadcast(mesh((2, 2)), 0, 16))
    for length in range(len(whole) - 1):
        path.write_text(whole[:length])
        with pytest.raises(InvalidInput, match=r"truncated|malformed"):
            read_schedule(path)


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    assert (
        refusal_of(read_schedule, missing)
        == f"{missing}: cannot be read: No such file or directory"
    )
    assert refusal_of(read_schedule, tmp_path) == f"{tmp_path}: cannot be read: Is a directory"


@pytest.mark.slow
def test_a_million_nodes_there_and_back(tmp_path: Path) -> None:
    schedule = eye_broadcast(mesh((1024, 1024)), 0, 16)
    write_schedule(schedule, tmp_path / "schedule.json")
    assert same(read_schedule(tmp_path / "schedule.json"), schedule)


# ---- Version 2 -----------------------------------------------------------------------------------


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


def test_a_file_of_version_2_is_as_the_format_says() -> None:
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


def test_version_2_there_and_back(tmp_path: Path) -> None:
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
    ("edit", "line"),
    [
        (
            set_key("blocks", 0, "contributors", to=[3]),
            "nodes of blocks[0] must be 0 to 2, not 3",
        ),
        (
            set_key("blocks", 0, "operator", to="A B"),
            "blocks[0].operator: Expected str matching regex '^[a-z][a-z0-9-]*(:(8|16|32|64))?$'",
        ),
        (set_key("blocks", 0, "owner", to=-1), "blocks[0].owner: Expected int >= 0"),
        (set_key("groups", to=[[0], [1, 7]]), "nodes of groups[1] must be 0 to 2, not 7"),
        (
            set_key("blocks", 0, "group", to=1),
            "group must be given for all blocks or for none, beside groups",
        ),
    ],
)
def test_a_wrong_value_of_version_2_is_one_line(edit: Edit, line: str, tmp_path: Path) -> None:
    file = file_of(reduction())
    edit(file)
    assert refusal(file, tmp_path / "schedule.json") == line
