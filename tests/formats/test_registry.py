"""Formats by name, by content and by suffix; and no writer loses a field."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eyecast.formats.format import Content, Format
from eyecast.formats.registry import FORMATS, format_for, format_named, format_of
from eyecast.model.base.errors import InvalidInput
from eyecast.model.base.files import InputFile
from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.network.attached_host import HostedTopology, with_host
from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import Topology, line, mesh, ring
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.requested import Requested
from eyecast.model.schedule.schedule import Schedule


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


# ---- Writers -------------------------------------------------------------------------------------


Writer = Callable[[Any, Path], None]

PATH = line(4)
LINES = [[-1, 1, -1], [-1, 2, 0], [-1, 3, 1], [-1, -1, 2]]
SLOW = np.array([[-1, 7, -1], *[[-1, -1, -1]] * 3])
NETWORKS: dict[str, tuple[Topology, Topology]] = {
    "kind": (graph(LINES), PATH),
    "name": (graph(LINES), PATH),
    "dims": (mesh((4, 1)), mesh((2, 2))),
    "wrapped": (PATH, ring(4)),
    "neighbor": (graph(LINES), graph([[-1, 1, -1], [-1, 0, 2], [-1, 1, 3], [-1, 2, -1]])),
    "peer": (graph(LINES), graph([[-1, 1, -1], [-1, 0, 2], [-1, 1, 3], [-1, 2, -1]])),
    "faulty_nodes": (PATH, with_faults(PATH, [0], [])),
    "faulty_links": (PATH, with_faults(PATH, [], [(0, 1)])),
    "without_faults": (PATH, with_faults(PATH, [], [(0, 1)])),
    "switches": (graph(LINES), graph(LINES, switches=[0])),
    "node_names": (graph(LINES), replace(graph(LINES), node_names=("a", "b", "c", "d"))),
    "link_registers_of": (PATH, replace(PATH, link_registers_of=SLOW)),
    "link_rate_of": (PATH, replace(PATH, link_rate_of=SLOW)),
    "network": (PATH, with_host(PATH, [1])),
    "host_links": (PATH, with_host(PATH, [1])),
}
"""Two networks that differ in a field."""

SENT = eye_broadcast(mesh((2, 2)), 0, 4)
SLOW_SQUARE = replace(SENT.topology, link_rate_of=np.full((4, 5), 2))


def of_blocks(schedule: Schedule, **changes: Any) -> Schedule:
    return replace(schedule, blocks=replace(schedule.blocks, **changes))


ONE = replace(
    SENT,
    **{"step": [1], "source": [0], "target": [3], "block_offsets": [0, 1], "block_ids": [0]},
    **{"path_nodes": [0, 1, 3], "path_offsets": [0, 3], "vcs": [0, 0]},
    **{"combine": np.zeros(0, np.bool_), "stream": np.zeros(0, np.bool_)},
    blocks=Blocks([0, 0], (None, None), [4, 4]),
)
REDUCED = replace(
    of_blocks(SENT, owner=[-1], contributors=(None,), operator=("add",)), collective="custom"
)
FROM_TWO = replace(ONE, source=[2], path_nodes=[2, 0, 3])
SCHEDULES: dict[str, tuple[Schedule, Schedule]] = {
    "topology": (SENT, replace(SENT, topology=SLOW_SQUARE)),
    "collective": (SENT, replace(SENT, collective="custom")),
    "algorithm": (SENT, replace(SENT, algorithm="other")),
    "port_model": (SENT, replace(SENT, port_model="all-port")),
    "root": (replace(SENT, root=None), SENT),
    "blocks.owner": (ONE, of_blocks(FROM_TWO, owner=[2, 2])),
    "blocks.owed": (SENT, of_blocks(SENT, owed=((0, 3),))),
    "blocks.words": (SENT, of_blocks(SENT, words=[5])),
    "blocks.contributors": (REDUCED, of_blocks(REDUCED, contributors=((0, 1),))),
    "blocks.operator": (REDUCED, of_blocks(REDUCED, operator=("max",))),
    "blocks.group": (SENT, of_blocks(replace(SENT, groups=((0, 1), (0, 2))), group=[1])),
    "blocks.prefix": (REDUCED, of_blocks(REDUCED, prefix=("inclusive",))),
    "step": (SENT, replace(SENT, step=SENT.step + 1)),
    "source": (ONE, of_blocks(FROM_TWO, owner=[2, 2])),
    "target": (ONE, replace(ONE, target=[2])),
    "path_nodes": (ONE, replace(ONE, path_nodes=[0, 2, 3])),
    "path_offsets": (ONE, replace(ONE, path_nodes=[0, 3], path_offsets=[0, 2], vcs=[0])),
    "vcs": (SENT, replace(SENT, vcs=SENT.vcs + 1)),
    "block_ids": (ONE, replace(ONE, block_ids=[1])),
    "block_offsets": (ONE, replace(ONE, block_offsets=[0, 2], block_ids=[0, 1])),
    "combine": (REDUCED, replace(REDUCED, combine=np.ones(SENT.sends, np.bool_))),
    "stream": (SENT, replace(SENT, stream=np.ones(SENT.sends, np.bool_))),
    "groups": (SENT, replace(SENT, groups=((0, 1), (2, 3)))),
    "timed": (SENT, replace(SENT, timed=True)),
    "circuits": (SENT, replace(SENT, circuits=True)),
    "requests": (
        replace(SENT, requests=()),
        replace(SENT, requests=(Requested(collective="broadcast", words=4, root=0),)),
    ),
}
"""Two schedules that differ in a field; they need not pass their check to be written."""


def writers() -> Iterator[Any]:
    """Yield each format, a writer of it, and each field of what it writes."""
    for form in FORMATS.values():
        for write, pairs in ((form.write_network, NETWORKS), (form.write_schedule, SCHEDULES)):
            for name in pairs if write else ():
                yield pytest.param(form, write, name, id=f"{form.name}-{name}")


def test_all_fields_are_here() -> None:
    """A new field needs two examples here; then each writer decides."""
    nested = {f"blocks.{each.name}" for each in fields(Blocks)}
    assert SCHEDULES.keys() == {each.name for each in fields(Schedule)} - {"blocks"} | nested
    assert NETWORKS.keys() == {each.name for each in fields(HostedTopology)}


def content(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.iterdir()}


def require_said(form: Format, write: Writer, name: str, tmp_path: Path) -> None:
    written = []
    for place, each in enumerate({**NETWORKS, **SCHEDULES}[name]):
        folder = tmp_path / str(place)
        folder.mkdir()
        try:
            write(each, folder / ("x.0.et" if form.name == "chakra" else "x"))
        except InvalidInput:
            assert not content(folder)
            assert place == 1, "the first of the two must be writable"
            return
        written.append(content(folder))
    assert written[0] != written[1] or {name, name.split(".", maxsplit=1)[0]} & form.omits.keys()


@pytest.mark.parametrize(("form", "write", "name"), list(writers()))
def test_no_field_is_lost(form: Format, write: Writer, name: str, tmp_path: Path) -> None:
    require_said(form, write, name, tmp_path)
