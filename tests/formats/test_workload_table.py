"""Workloads as a table of our own, and what is refused in them."""

import json
import re

import pytest

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
