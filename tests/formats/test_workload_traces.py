"""Workloads from Chakra traces and GOAL, and what is refused in them."""

import json
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


def read(path: Path, **settings: Any) -> Workload:
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
    found = read(trace(tmp_path, [npu(rank) for rank in range(4)], groups), clock=0.5, rate=2048)
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
    found = read(path, clock=2)
    assert found.calls == (Call("message", (0, 1), 16, "send, line 4"),)
    assert found.cycles.tolist() == [200, 0, 14, 0, 60]
    assert found.after.tolist() == [0, 0, 1, 3]


WRONG: dict[str, tuple[list[list[Node]], object]] = {
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


@pytest.mark.parametrize("words", WRONG)
def test_wrong_traces_are_refused_in_one_line(tmp_path: Path, words: str) -> None:
    files, groups = WRONG[words]
    with pytest.raises(InvalidInput) as refused:
        read(trace(tmp_path, files, groups))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_truncated_trace_is_refused(tmp_path: Path) -> None:
    path = trace(tmp_path, [[(1, COMPUTATION, [], {"num_ops": 5})]])
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InvalidInput, match="message 1, before byte"):
        read(path)
