"""Formats by name, by content and by suffix."""

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


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("x.mtx", b"%MatrixMarket matrix\n4 4 2\n1 2\n4 1\n", "matrix-market"),
        ("x.edgelist", b"a b\nb c\n", "edge-list"),
        ("x", b"a b\nb c\n", None),
        ("x", b"1 2\n2 3\n", "edge-list"),
        ("x.edges", b"%%MatrixMarket matrix\n", "matrix-market"),
        ("x.json", b'{"graph": "%s", "nodes": []}' % (b"long" * 2000), "node-link"),
        ("x.json", b'{"nodes": [{"id": 0, "kind": 1}], "edges": []}', "node-link"),
    ],
)
def test_content_and_suffix_name_the_format(name: str, content: bytes, found: str | None) -> None:
    form = format_of(InputFile(name, content), Content.NETWORK)
    assert (None if form is None else form.name) == found


def test_own_files_are_recognised_by_their_content() -> None:
    assert looked_at("x", b'{"format": "eyecast-schedule", "version": 1') == "schedule"
    assert looked_at("x", b' {"kind": "mesh", "dims": [2, 2]}') == "network"
    assert looked_at("x.json", b'{"format": "eyecast-program", "nodes": []}') is None
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
