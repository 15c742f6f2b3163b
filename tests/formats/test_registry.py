"""Formats by name, by first bytes and by suffix."""

import pytest

from eyecast.formats.format import Content
from eyecast.formats.registry import FORMATS, format_for, format_named, format_of
from eyecast.model.base.errors import InvalidInput
from eyecast.model.base.files import InputFile


def looked_at(name: str, content: bytes) -> str | None:
    found = format_of(InputFile(name, content))
    return None if found is None else found.name


def test_every_format_reads_or_writes_something() -> None:
    for name, each in FORMATS.items():
        assert each.name == name and each.title and each.suffixes
        assert each.reads | each.writes


def test_own_files_are_recognised_by_their_first_bytes() -> None:
    assert looked_at("x", b'{"format": "eyecast-schedule", "version": 1') == "schedule"
    assert looked_at("x", b' {"kind": "mesh", "dims": [2, 2]}') == "network"
    assert looked_at("x.json", b"cycle,source,target,flits\n") == "traffic"
    assert looked_at("x.json", b"\x00\x01") is None


def test_an_unknown_name_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InvalidInput, match=r"--to must be schedule, network.* not 'visio'"):
        format_named("visio", "--to")


def test_a_file_is_written_as_its_suffix_says() -> None:
    assert format_for("a.json", Content.SCHEDULE).name == "schedule"
    assert format_for("a.json", Content.NETWORK).name == "network"
    with pytest.raises(InvalidInput, match=r"suffix of a\.vsd must be \.json"):
        format_for("a.vsd", Content.SCHEDULE)
