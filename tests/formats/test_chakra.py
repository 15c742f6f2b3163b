"""Chakra's execution traces: sets of files written, read, and read by Chakra's own schema."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.command import Command, refusal
from helpers.foreign import said
from helpers.generated import generated
from helpers.operations import carried_out, message_rows, order_kept
from helpers.refusals import refusal_of

from eyecast.formats.chakra import read_chakra, write_chakra
from eyecast.formats.chakra_schema import COLLECTIVE, COMPUTATION, RECEIVE, SEND, Protobuf
from eyecast.formats.format import Setting
from eyecast.formats.registry import format_of
from eyecast.model.base.files import InputFile
from eyecast.model.network.topology import mesh, ring
from eyecast.model.schedule.file import read_schedule
from eyecast.model.schedule.schedule import Schedule

RING = Setting(topology=ring(4))


def eye() -> Schedule:
    return generated("broadcast", "eye", mesh((4, 4)), words=6, source=0)


def all_gather() -> Schedule:
    return generated("all-gather", "ring", ring(4), words=3)


def node(number: int, kind: int, after: tuple[int, ...] = (), **values: int) -> dict[str, Any]:
    return {"id": number, "type": kind, "after": after, "values": values}


def trace(*nodes: dict[str, Any], field: str = "int32_val") -> bytes:
    """Return a file of nodes as another program may write it."""
    protobuf = Protobuf()
    messages = [protobuf.metadata()]
    for each in nodes:
        attributes = [
            protobuf.attribute(name=name, **{field: value})
            for name, value in each["values"].items()
        ]
        messages.append(
            protobuf.node(
                id=each["id"], type=each["type"], ctrl_deps=each["after"], attr=attributes
            )
        )
    return protobuf.content(messages)


def files(folder: Path, *contents: bytes) -> InputFile:
    for npu, content in enumerate(contents):
        (folder / f"t.{npu}.et").write_bytes(content)
    return InputFile.read(folder / "t.0.et")


SENDER = node(7, SEND, comm_size=10, comm_dst=1, comm_tag=3)
RECEIVER = node(1, RECEIVE, comm_size=10, comm_src=0, comm_tag=3)


@pytest.mark.parametrize("made", [eye, all_gather])
def test_there_and_back(
    made: Callable[[], Schedule], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    schedule = made()
    first = tmp_path / "a.0.et"
    write_chakra(schedule, first)
    nodes = schedule.topology.nodes
    assert said(caplog)[0] == f"{first}: is one of {nodes} files, a.0.et to a.{nodes - 1}.et"
    assert len(list(tmp_path.iterdir())) == nodes
    file = InputFile.read(tmp_path / f"a.{nodes - 1}.et")
    form = format_of(file)
    assert form is not None and form.name == "chakra"
    setting = Setting(topology=schedule.topology, ports=schedule.port_model)
    back = read_chakra(file, setting)
    back.check()
    assert said(caplog) == []
    assert order_kept(schedule, back)
    assert message_rows(back) == message_rows(schedule)


def test_others_nodes_and_sizes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = trace(
        node(2, COMPUTATION, (7,)),
        SENDER,
        node(9, SEND, (2,), comm_size=8, comm_dst=2, priority=1),
        field="uint64_val",
    )
    last = trace(node(0, RECEIVE, comm_src=0, comm_size=8), field="sint32_val")
    file = files(tmp_path, first, trace(RECEIVER), last)
    assert message_rows(read_chakra(file, RING)) == [(1, 0, 1, 3), (2, 0, 2, 2)]
    name = tmp_path / "t.0.et"
    assert said(caplog) == [
        f"{name}: passed over, as they take no time on a network: "
        "1 computations (COMP_NODE), so that nothing is combined",
        f"{name}: 1 messages are rounded up to whole words of 4 bytes, at least one",
        f"{name}: passed over, as a schedule has no place for them: attributes priority",
    ]


def test_fields_have_the_numbers_of_chakras_schema() -> None:
    """In MLCommons' et_def.proto; a field begins with eight times its number and its wire type."""
    made = Protobuf().node(id=1, name="n", type=SEND, ctrl_deps=[2], data_deps=[3])
    made.attr.add(name="a", int64_val=4)
    node = b"\x08\x01\x12\x01n\x18\x05\x22\x01\x02\x2a\x01\x03"
    assert made.SerializeToString() == node + b"\x52\x05\x0a\x01a\x48\x04"


def test_sizes_that_are_left_to_a_simulator(tmp_path: Path) -> None:
    file = files(
        tmp_path,
        trace(node(0, SEND, comm_dst=1, msg_chunk_cnt=3)),
        trace(node(0, RECEIVE, comm_src=0, msg_chunk_cnt=3)),
    )
    assert message_rows(read_chakra(file, Setting(topology=ring(4), words=5))) == [(1, 0, 1, 15)]


GROUP = node(7, SEND, comm_dst=1, pg_name=1)
REFUSED: list[tuple[bytes, str]] = [
    (trace(SENDER)[:-3], "message 1, before byte 46: must be a whole message of Chakra's"),
    (b"\xff" * 12, "message 0, before byte 10: must be a whole message of Chakra's"),
    (
        b"\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x08",
        "message 1, before byte 11: must be a whole message of Chakra's",
    ),
    (b"\x00\x02\x08\xff", "message 1, before byte 4: must be a whole message of Chakra's"),
    (b"\x00" + b"\x7f" + b"\x53" * 127, "message 1, before byte 129: must be a whole message of"),
    (
        trace(node(3, COLLECTIVE)),
        "node 3: must be a send or a receive, not a whole collective (COMM_COLL_NODE), of which "
        "nothing says who sends what",
    ),
    (trace(node(3, 0)), "node 3: type must be 1 to 7, not 0"),
    (trace(SENDER, SENDER), "node 7: id must be another than before"),
    (trace({**SENDER, "after": (5,)}), "node 7: node 5, on which it depends, is missing"),
    (trace({**SENDER, "after": (7,)}), "node 7: waits for itself"),
    (
        trace(GROUP),
        "node 7: pg_name must be left out: NPUs of a group are not numbered as the files are",
    ),
    (trace(node(1, SEND, comm_size=4)), "node 1: must have an attribute comm_dst"),
    (trace(node(1, SEND, comm_dst=2)), "node 1: comm_dst must be 0 to 1, not 2"),
    (trace(node(1, SEND, comm_dst=0)), "node 1: comm_dst must be another NPU, not 0 itself"),
    (trace(node(1, SEND, comm_dst=1, comm_src=1)), "node 1: comm_src must be 0, not 1"),
    (
        trace(node(1, SEND, comm_dst=1, comm_size=1 << 40), field="int64_val"),
        "node 1: comm_size must be 0 to 8589934588, not 1099511627776",
    ),
    *(
        (
            trace(node(1, SEND, comm_dst=1, comm_tag=tag), field="int64_val"),
            f"node 1: comm_tag must be -2147483648 to 4294967295, not {tag}",
        )
        for tag in (-(1 << 31) - 1, 1 << 32)
    ),
    (trace(node(1, SEND, comm_dst=1), field="bool_val"), "node 1: comm_dst must be an integer"),
    (trace(SENDER), "node 7: message 0 -> 1 of tag 3 has no receive"),
]


@pytest.mark.parametrize(("content", "line"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_read_is_one_line(content: bytes, line: str, tmp_path: Path) -> None:
    file = files(tmp_path, content, trace())
    place = tmp_path / "t.0.et"
    assert refusal_of(read_chakra, file, RING).startswith(f"{place}, {line}")


def test_sets_that_are_not_whole_are_refused(eyecast: Command, here: Path) -> None:
    file = files(here, trace(SENDER), trace(RECEIVER), trace(), trace(), trace())
    first = here / "t.0.et"
    assert refusal_of(read_chakra, file, RING) == (
        f"ranks of {first} must be at most 4, the working nodes of the ring of 4, not 5"
    )
    (here / "t.2.et").unlink()
    assert refusal_of(read_chakra, file, RING) == f"{here / 't.2.et'}: is missing, of NPUs 0 to 4"
    (here / "x").write_bytes(trace(SENDER))
    assert eyecast("predict", "--schedule", "x", "--ring", "4") == refusal(
        "file of a Chakra trace must be NAME.N.et, one of a file for each NPU, not x"
    )
    (here / "s.json").write_text("")
    write_chakra(all_gather(), here / "g.0.et")
    (here / "g.7.et").write_bytes(b"")
    assert refusal_of(write_chakra, all_gather(), here / "g.0.et") == (
        f"output file {here / 'g.7.et'} must be removed: it would be part of the trace"
    )
    assert refusal_of(write_chakra, all_gather(), here / "g.et") == (
        f"output file {here / 'g.et'} must be called NAME.0.et, as there is a file for each NPU, "
        "not otherwise"
    )


def test_without_protobuf_a_line_says_how_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    assert refusal_of(write_chakra, all_gather(), tmp_path / "x.0.et") == (
        "protobuf, for Chakra traces, must be installed (pip install 'eyecast[chakra]'), "
        "not missing"
    )


def test_commands_take_it(eyecast: Command, here: Path) -> None:
    assert eyecast("schedule", "--mesh", "4x4", "--source", "0,0", "-o", "s.json").status == 0
    answer = eyecast("convert", "s.json", "s.0.et")
    assert answer.status == 0 and answer.output.endswith("wrote s.0.et\n")
    network = ("--mesh", "4x4", "--ports", "half-duplex")
    assert eyecast("convert", "s.3.et", "b.json", *network).status == 0
    sent, back = (read_schedule(here / name) for name in ("s.json", "b.json"))
    assert message_rows(back) == message_rows(sent)


def owners_module(name: str, path: Path) -> Any:
    """Return a module of Chakra, from a file outside Python's path."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def owners(tmp_path: Path) -> tuple[Any, Any]:
    """Return Chakra's compiled schema and its reader and writer of files; skip without them."""
    source = os.environ.get("EYECAST_CHAKRA")
    if source is None:
        pytest.skip("EYECAST_CHAKRA does not say where Chakra's source is")
    pytest.importorskip("grpc_tools", reason="grpcio-tools, which compiles schemas, is not there")
    schema = Path(source) / "schema" / "protobuf"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{schema}", f"--python_out={tmp_path}"]
    subprocess.run([*command, "et_def.proto"], check=True)
    files = Path(source) / "src" / "third_party" / "utils" / "protolib.py"
    compiled = owners_module("et_def_pb2", tmp_path / "et_def_pb2.py")
    return compiled, owners_module("protolib", files)


@pytest.mark.slow
@pytest.mark.parametrize("made", [eye, all_gather])
def test_chakras_own_reader_reads_it(
    made: Callable[[], Schedule], owners: tuple[Any, Any], tmp_path: Path
) -> None:
    schema, reader = owners
    schedule = made()
    write_chakra(schedule, tmp_path / "a.0.et")
    ranks = []
    for npu in range(schedule.topology.nodes):
        content = reader.openFileRd(tmp_path / f"a.{npu}.et")
        metadata, node = schema.GlobalMetadata(), schema.Node()
        assert reader.decodeMessage(content, metadata)
        assert metadata.attr[0].string_val == "1.0.2-chakra.0.0.4"
        operations: list[tuple[str, int, int, list[int]]] = []
        while reader.decodeMessage(content, node):
            values = {each.name: each for each in node.attr}
            verb, other = {
                schema.COMM_SEND_NODE: ("send", "comm_dst"),
                schema.COMM_RECV_NODE: ("recv", "comm_src"),
            }[node.type]
            assert values["comm_size"].int64_val % 4 == 0
            ends = values[other].int32_val, values["comm_tag"].int32_val
            operations.append((verb, *ends, list(node.data_deps)))
        ranks.append(operations)
    assert carried_out(ranks) == 2 * schedule.sends


@pytest.mark.slow
def test_a_trace_of_chakras_own_writer_is_read(owners: tuple[Any, Any], tmp_path: Path) -> None:
    schema, writer = owners
    attribute = schema.AttributeProto
    for npu, kind in enumerate((schema.COMM_SEND_NODE, schema.COMM_RECV_NODE)):
        node = schema.Node(id=0, type=kind)
        node.attr.append(attribute(name="comm_size", int64_val=64))
        node.attr.append(attribute(name="comm_src", int32_val=0))
        node.attr.append(attribute(name="comm_dst", int32_val=1))
        node.attr.append(attribute(name="dims", bool_list=schema.BoolList(values=[True])))
        with (tmp_path / f"t.{npu}.et").open("wb") as file:
            writer.encodeMessage(file, schema.GlobalMetadata(version="0.0.4"))
            writer.encodeMessage(file, node)
    read = read_chakra(InputFile.read(tmp_path / "t.0.et"), RING)
    assert message_rows(read) == [(1, 0, 1, 16)]


@pytest.mark.slow
def test_astra_sims_ring_all_reduce_is_read(caplog: pytest.LogCaptureFixture) -> None:
    source = os.environ.get("EYECAST_ASTRA_SIM")
    if source is None:
        pytest.skip("EYECAST_ASTRA_SIM does not say where ASTRA-sim's source is")
    folder = Path(source) / "examples/system/custom_collectives/custom_ring_allreduce_8npus_1MB"
    setting = Setting(topology=ring(8))
    schedule = read_chakra(InputFile.read(folder / "custom_allreduce.0.et"), setting)
    schedule.check()
    # Each NPU sends an eighth to the next seven times to reduce, and seven times to gather.
    steps = sorted((step, node, (node + 1) % 8) for step in range(1, 15) for node in range(8))
    assert [row[:3] for row in message_rows(schedule)] == steps
    assert {row[3] for row in message_rows(schedule)} == {1048576 // 8 // 4}
    assert "56 computations (COMP_NODE)" in said(caplog)[0]
