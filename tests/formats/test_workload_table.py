"""Workloads as a table of our own and as traces of others, and what is refused in them."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from eyecast.formats.chakra_schema import (
    COLLECTIVE,
    COMPUTATION,
    MEMORY_LOAD,
    RECEIVE,
    SEND,
    Protobuf,
)
from eyecast.formats.format import WorkloadSetting
from eyecast.formats.workloads import read_workload
from eyecast.model.base.errors import InvalidInput
from eyecast.model.base.files import InputFile
from eyecast.model.network.topology import mesh
from eyecast.model.workload.workload import Call, Workload

HEAD = "id,rank,what,amount,after\n"
JSON = '{"format": "eyecast-workload", "version": 1, "operations": %s}'


def read(text: str, name: str = "w.csv") -> Workload:
    """Read a workload onto a 2x2 mesh, with 100 operations a cycle."""
    setting = WorkloadSetting(rate=100)
    return read_workload(InputFile(name, text.encode()), mesh((2, 2)), setting)


def test_csv_and_json_tell_the_same_workload() -> None:
    lines = """layer, all, compute, 20,
        sum, 0 1/2-3, all-reduce, 256, layer
        send, 0>3, message, 64, sum
        use, 3, operations, 1001, sum send
        cast, 3 0 1, broadcast, 8, layer
        most, 0 1, all-reduce max, 8, layer
        meet, all, barrier, , layer
    """
    found = read(HEAD + lines)
    keys = HEAD.strip().split(",")
    rows = [re.split(r"\s*,\s*", line.strip()) for line in lines.splitlines() if line.strip()]
    operations: list[dict[str, object]] = [dict(zip(keys, row, strict=True)) for row in rows]
    for each in operations:
        each |= {"amount": int(str(each["amount"] or 1)), "after": str(each["after"]).split()}
    same = read(JSON % json.dumps(operations), "w.json")
    for each in (found, same):
        assert each.calls == (
            Call("all-reduce", (0, 1), 256, "sum"),
            Call("all-reduce", (2, 3), 256, "sum"),
            Call("message", (0, 3), 64, "send"),
            Call("broadcast", (3, 0, 1), 8, "cast", 3),
            Call("all-reduce", (0, 1), 8, "most", operator="max"),
            Call("barrier", (0, 1, 2, 3), 1, "meet"),
        )
        assert each.cycles[each.names.index("use")] == 11
        # The row of the message's arrival is after its row at the source.
        assert each.after[each.after_offsets[9] :][0] == 8
        assert each.rank.tolist()[8:11] == [0, 3, 3]
        assert each.longest_path([10] * 6).max() == 20 + 10 + 10 + 11


WRONG = {
    "id,rank\n": "w.csv, line 1: must be id,rank,what,amount,after, not 'id,rank'",
    HEAD: "w.csv: must have at least one operation",
    HEAD + "a,0,compute\n": "w.csv, line 2: must have 5 columns, not 3",
    HEAD + "a,0,compute,1.5,\n": "w.csv, line 2: amount must be a whole number, not '1.5'",
    HEAD + "a,0,sum,1,\n": "w.csv, operation 'a': what must be compute, operations, broadcast",
    HEAD + "a,0,compute max,1,\n": "operation 'a': what must be compute, operations, broadcast",
    HEAD + "a,0 1,all-gather max,1,\n": "a: operator must be left out of all-gather",
    HEAD + "a,0 1,all-reduce most,1,\n": "a: operator must be add, ",
    HEAD + "a,4,compute,1,\n": "'a': rank must be all, or ranks from 0 to 3, not '4'",
    HEAD + "a,1 1,compute,1,\n": "rank must be all, or ranks such as 0 2 5-7, once each, not '1 1'",
    HEAD + "a,0,compute,1,\na,1,compute,1,\n": "id must be one word, and another than before",
    HEAD + "a,0,compute,1,b\n": "operation 'a': after must be ids of operations, not 'b'",
    HEAD + "a,0,compute,1,\nb,1,compute,1,a\n": "'b': after 'a' must be an operation of rank 1",
    HEAD + "a,0,compute,1,b\nb,0,compute,1,a\n": (
        "operations must not wait in a circle: a of rank 0 after b of rank 0 after a of rank 0"
    ),
    HEAD + "a,0 1,all-reduce,8,b\nb,1 0,all-gather,8,a\n": "circle: a (all-reduce) after b",
    HEAD + "a,0 1/1 2,all-reduce,8,\n": "rank must be in one group, not 1",
    HEAD + "a,0>0,message,8,\n": "rank must be at one end of one message, not 0",
    HEAD + "a,0>1/1>2,message,8,\n": "rank must be at one end of one message, not 1",
    HEAD + "a,0 1,message,8,\n": "rank must be source>target with message, not '0 1'",
    HEAD + "a,0 1,all-reduce,0,\n": "a: words must be 1 to 2147483647, not 0",
    HEAD + f"a,0,compute,{1 << 51},\n": f"a: cycles must be 0 to {1 << 50}, not {1 << 51}",
    JSON % '[{"id": "a"}]': "w.json: operations[0]: Object missing required field rank",
    JSON.replace("1", "2") % "[]": "w.json: version must be 1, not 2",
    '{"kind": "mesh"}': "w.json must be a workload, not a network",
}


@pytest.mark.parametrize("text", WRONG, ids=WRONG.values())
def test_wrong_tables_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(text, "w.json" if text.startswith("{") else "w.csv")
    assert WRONG[text] in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("wrong", [0, 9, 12, 65, 72])
def test_words_have_the_bytes_of_a_network_s_words(wrong: int) -> None:
    with pytest.raises(InvalidInput, match=f"1 to 8, or a multiple of 8 up to 64, not {wrong}$"):
        WorkloadSetting(word_bytes=wrong)
    (text,) = [text for text in WRONG if text.endswith("0 1,all-reduce,0,\n")]
    setting = WorkloadSetting(word_bytes=16)
    file = InputFile("w.csv", text.replace(",0,\n", ",9,\n").encode())
    assert read_workload(file, mesh((2, 2)), setting).flit_width == 128


# ---- Traces of Chakra and GOAL -------------------------------------------------------------------


ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER = 0, 2, 7

Node = tuple[int, int, list[int], dict[str, object]]
"""Id, type, dependencies and attributes of a node; a duration is an attribute here."""


def trace(folder: Path, files: Sequence[Sequence[Node]], groups: object = None) -> Path:
    """Write a trace and its groups; return its first file."""
    protobuf = Protobuf()
    for npu, nodes in enumerate(files):
        messages = [protobuf.metadata()]
        for number, kind, after, values in nodes:
            named = {name: value for name, value in values.items() if name != "duration_micros"}
            attributes = [
                protobuf.attribute(
                    name=name, **{"string_val" if isinstance(value, str) else "int64_val": value}
                )
                for name, value in named.items()
            ]
            messages.append(
                protobuf.node(
                    id=number,
                    name=f"n{number}",
                    type=kind,
                    data_deps=after,
                    duration_micros=values.get("duration_micros", 0),
                    attr=attributes,
                )
            )
        (folder / f"w.{npu}.et").write_bytes(protobuf.content(messages))
    if groups is not None:
        (folder / "w.json").write_text(json.dumps(groups))
    return folder / "w.0.et"


def read_trace(path: Path, **settings: Any) -> Workload:
    """Read a workload onto a 2x2 mesh."""
    return read_workload(InputFile.read(path), mesh((2, 2)), WorkloadSetting(**settings))


def collective(number: int, kind: int, size: int, **more: object) -> Node:
    """Return a collective after node 1."""
    return number, COLLECTIVE, [1], {"comm_type": kind, "comm_size": size, **more}


def test_a_trace_has_compute_memory_groups_and_messages(tmp_path: Path) -> None:
    def npu(rank: int) -> list[Node]:
        ends: list[Node] = [
            (7, SEND, [2], {"comm_dst": 3, "comm_size": 9}),
            (7, RECEIVE, [1], {"comm_src": 0, "comm_size": 9}),
        ]
        return [
            (1, COMPUTATION, [], {"num_ops": 4097}),
            collective(2, ALL_REDUCE, 400, pg_name="a" if rank < 2 else "b"),
            collective(3, REDUCE_SCATTER, 1600),
            collective(4, ALL_GATHER, 400),
            collective(5, ALL_GATHER, 400, pg_name=f"self{rank}"),
            (6, MEMORY_LOAD, [3], {"tensor_size": 80} if rank else {"duration_micros": 2}),
            *([ends[0]] if rank == 0 else [ends[1]] if rank == 3 else []),
        ]

    groups = {"a": [0, 1], "b": [3, 2], **{f"self{rank}": [rank] for rank in range(4)}}
    found = read_trace(
        trace(tmp_path, [npu(rank) for rank in range(4)], groups), clock=0.5, rate=2048
    )
    assert found.calls == (
        Call("all-reduce", (0, 1), 100, "n2"),
        Call("reduce-scatter", (0, 1, 2, 3), 100, "n3"),
        Call("all-gather", (0, 1, 2, 3), 100, "n4"),
        Call("message", (0, 3), 3, "n7"),
        Call("all-reduce", (3, 2), 100, "n2"),
    )
    # Each rank: compute, three calls, a group of itself, memory; and the message.
    assert found.cycles.tolist() == [3, 0, 0, 0, 0, 1000, 0, *[3, 0, 0, 0, 0, 20] * 3, 0]
    # The receive is after its own dependency and after the send.
    assert sorted(found.after[found.after_offsets[-2] :].tolist()) == [6, 19]


def test_goal_with_computations_is_a_workload(tmp_path: Path) -> None:
    path = tmp_path / "w.goal"
    path.write_text(
        "num_ranks 2\n"
        "rank 0 {\na: calc 100\nb: send 64b to 1 tag 5\nb requires a\nc: calc 7\nc irequires b\n}\n"
        "rank 1 {\na: recv 64b from 0 tag 5\nb: calc 30\nb requires a\n}\n"
    )
    found = read_trace(path, clock=2)
    assert found.calls == (Call("message", (0, 1), 16, "send, line 4"),)
    assert found.cycles.tolist() == [200, 0, 14, 0, 60]
    assert found.after.tolist() == [0, 0, 1, 3]


WRONG_TRACES: dict[str, tuple[list[list[Node]], object]] = {
    "w.0.et, node 2: pg_name must be a group of NPU 0 in the file of groups, not 'z'": (
        [[(1, COMPUTATION, [], {}), collective(2, 0, 4, pg_name="z")]],
        {"a": [0]},
    ),
    "w.json: group 'a' must be NPUs from 0 to 0, each once, not 0 1": (
        [[(1, COMPUTATION, [], {})]],
        {"a": [0, 1]},
    ),
    "n2 must be named once by each of its ranks: rank 1 has no operations": (
        [[(1, COMPUTATION, [], {}), collective(2, 0, 4)], [(1, COMPUTATION, [], {})]],
        None,
    ),
    "w.1.et, node 2: n2 must be one call, all-reduce of 1 words: rank 1 calls n2, all-gather": (
        [[(1, COMPUTATION, [], {}), collective(2, kind, 4)] for kind in (0, 2)],
        None,
    ),
    "operations must not wait in a circle: n2 (all-reduce) after n3 (all-reduce) after n2": (
        [
            [
                (2, COLLECTIVE, after, {"comm_type": 0, "comm_size": 4, "pg_name": "a"}),
                (3, COLLECTIVE, back, {"comm_type": 0, "comm_size": 4}),
            ]
            # In rank 0 the calls stand in one order, in rank 1 in the other.
            for after, back in (([3], []), ([], [2]))
        ],
        {"a": [0, 1]},
    ),
    "w.0.et, node 2: message 0 -> 1 of tag 0 has no receive": (
        [[(2, SEND, [], {"comm_dst": 1, "comm_size": 4})], [(1, COMPUTATION, [], {})]],
        None,
    ),
    "w.1.et, node 2: message 0 -> 1 of tag 0 must have the 1 words that are sent, not 2": (
        [
            [(2, SEND, [], {"comm_dst": 1, "comm_size": 4})],
            [(2, RECEIVE, [], {"comm_src": 0, "comm_size": 8})],
        ],
        None,
    ),
    "must be at most 4, the working nodes of the 2x2 mesh, not 5": (
        [[(1, COMPUTATION, [], {})]] * 5,
        None,
    ),
}


@pytest.mark.parametrize("words", WRONG_TRACES)
def test_wrong_traces_are_refused_in_one_line(tmp_path: Path, words: str) -> None:
    files, groups = WRONG_TRACES[words]
    with pytest.raises(InvalidInput) as refused:
        read_trace(trace(tmp_path, files, groups))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_truncated_trace_is_refused(tmp_path: Path) -> None:
    path = trace(tmp_path, [[(1, COMPUTATION, [], {"num_ops": 5})]])
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InvalidInput, match="message 1, before byte"):
        read_trace(path)
