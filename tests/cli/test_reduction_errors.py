"""Bad reductions, as a user might type them: one line, exit status 2, and no file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.command import Command, refusal

from eyecast import InvalidInput, Operator, mesh, predict, schedule, verify
from eyecast.formats.msccl_writer import write_msccl
from eyecast.model.collectives import task
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.network.edges import Edges
from eyecast.model.network.topology import Topology

NAMES = "add, min, max, min-signed, max-signed, and, or or xor"
CORNER_CUT = "--mesh 3x3 --faulty-link 0,0:1,0 --faulty-link 0,0:0,1"
UNREACHED = "contributors of a reduce to node {} must be nodes from which a path leads to it"
BARRIER = "--{} must be left out with barrier: it has 1 word"
BAD_OPTIONS = {
    # An operator that the network is not built with
    "predict --mesh 2x2 --collective all-reduce --operator max --operators add": (
        "--operator must be add, as --operators has no other, not max"
    ),
    "verify --mesh 2x2 --collective reduce --source 0,0 --operators max,xor": (
        "--operator must be max or xor, as --operators has no other, not add"
    ),
    "program --mesh 2x2 --collective barrier --operators add -o a.json": (
        "--operator must be add, as --operators has no other, not and"
    ),
    "compare --mesh 2x2 --collective reduce-scatter --operator or --operators=": (
        "--operator must be none, as --operators has no other, not or"
    ),
    "verify --mesh 2x2 --collective all-reduce --operators add,add": (
        "--operators must be different from each other, not twice add"
    ),
    # Contributors that cannot reach the root
    f"predict {CORNER_CUT} --collective reduce --source 2,2 --algorithm tree": (
        f"{UNREACHED.format(8)}, not node 0"
    ),
    f"verify {CORNER_CUT} --collective all-reduce --algorithm tree": (
        f"{UNREACHED.format(4)}, not node 0"
    ),
    f"schedule {CORNER_CUT} --collective barrier --algorithm tree -o a.json": (
        f"{UNREACHED.format(4)}, not node 0"
    ),
    f"predict {CORNER_CUT} --collective reduce-scatter --algorithm circulant": (
        "target of a route from node 1 must be a node that it can reach, not 0"
    ),
    f"predict {CORNER_CUT} --collective all-reduce --algorithm greedy --ports all": (
        "network for greedy must be one in which every node reaches all others, not a 3x3 mesh "
        "with 2 faulty links"
    ),
    # Collectives that do not reduce
    "predict --mesh 2x2 --source 0,0 --operator add": (
        "--operator must be left out with eye broadcast"
    ),
    "predict --mesh 2x2 --collective all-gather --operator add": (
        "--operator must be left out with best: no algorithm for all-gather on a 2x2 mesh heeds it"
    ),
    # The words of a barrier
    "predict --mesh 2x2 --collective barrier --words 4": BARRIER.format("words"),
    "verify --mesh 2x2 --collective barrier --group rows --words 16": BARRIER.format("words"),
    "compare --mesh 2x2 --collective barrier --lengths 1,4": BARRIER.format("lengths"),
    # A float
    "predict --mesh 2x2 --collective all-reduce --operator bfloat16-add": (
        f"--operator must be {NAMES}, not bfloat16-add"
    ),
    "verilog --mesh 2x2 --operators fadd -o n.v": (
        f"--operators must be {NAMES}, not fadd (did you mean add?)"
    ),
}


def dead_end() -> Topology:
    """Return 0 -> 1 -> 2 without links back."""
    return Edges(3, np.array([[0, 1], [1, 2]]), np.ones(2, np.bool_)).topology()


@pytest.mark.parametrize("line", BAD_OPTIONS)
def test_bad_options_are_one_line(eyecast: Command, here: Path, line: str) -> None:
    assert eyecast(*line.split()) == refusal(BAD_OPTIONS[line])
    assert not list(here.iterdir())


def test_no_schedule_is_made_for_an_operator_that_is_not_there(
    eyecast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal comes first: a schedule for a million nodes would take seconds."""
    monkeypatch.setattr(task, "find_algorithm", None)
    line = "predict --mesh 1024x1024 --collective all-reduce --algorithm eye --operators max"
    answer = eyecast(*line.split())
    assert answer == refusal("--operator must be max, as --operators has no other, not add")


def test_over_links_that_work_one_way_who_cannot_reach_the_root_is_named() -> None:
    algorithm = find_algorithm("reduce", "tree")
    there = algorithm.generate(Request(topology=dead_end(), words=1, source=2))
    there.check()
    with pytest.raises(InvalidInput, match=f"^{UNREACHED.format(0)}, not node 1$"):
        algorithm.generate(Request(topology=dead_end(), words=1, source=0))


def edited(eyecast: Command, command: str, **changes: Any) -> None:
    """Write an all-reduce to a.json with some values replaced."""
    line = f"{command} --mesh 2x2 --collective all-reduce --algorithm ring --words 2 -o a.json"
    eyecast(*line.split())
    content = json.loads(Path("a.json").read_text())
    for name, value in changes.items():
        whole = content["network"] if name == "operators" else content
        whole[name] = value
    Path("a.json").write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"collective": "broadcast", "root": 0}, "not broadcast: block 0 is reduced"),
        ({"collective": "all-gather"}, "not all-gather: block 0 is reduced"),
    ],
)
def test_a_file_of_what_cannot_reduce(
    eyecast: Command, changes: dict[str, Any], complaint: str
) -> None:
    edited(eyecast, "schedule", **changes)
    answer = eyecast("predict", "--schedule", "a.json")
    assert answer == refusal(f"a.json: collective must be custom, {complaint}")


def test_a_file_whose_blocks_are_summed_as_floats(eyecast: Command) -> None:
    edited(eyecast, "schedule")
    text = Path("a.json").read_text()
    Path("a.json").write_text(text.replace('"add"', '"float-add"'))
    for command in ("predict", "verify"):
        answer = eyecast(command, "--schedule", "a.json")
        assert answer == refusal(f"--operators must be {NAMES}, not float-add")
    Path("a.json").write_text(text.replace('"words": 1', '"words": 1.5'))
    answer = eyecast("predict", "--schedule", "a.json")
    assert answer.status == 2
    assert answer.errors.endswith("blocks[0].words: Expected int, got float\n")


def test_a_program_of_an_operator_of_which_only_the_name_is_known(eyecast: Command) -> None:
    edited(eyecast, "program", operators=[{"name": "float-add", "latency": 3}])
    answer = eyecast("predict", "--program", "a.json", "--waves", "-o", "t.csv")
    allowed = "given with its meaning, which no file has"
    assert answer == refusal(f"--operator must be {allowed}, not float-add")


def test_an_all_reduce_of_floats_in_a_foreign_file(eyecast: Command) -> None:
    made = schedule(mesh((2, 2)), "ring", collective="all-reduce", words=4)
    write_msccl(made, Path("a.xml"))
    text = Path("a.xml").read_text()
    Path("a.xml").write_text(text.replace("<algo ", '<algo redop="float-sum" '))
    answer = eyecast("verify", "--schedule", "a.xml", "--mesh", "2x2")
    assert answer == refusal(
        "a.xml, line 1: <algo>: redop must be sum, min, max or nop, not 'float-sum'"
    )


def half(there: Any, coming: Any, _bits: Any) -> Any:
    return (there + coming) * 0.5


def test_a_float_of_an_operator_of_ones_own() -> None:
    operator = Operator("half", meaning=half)
    made = schedule(mesh((2, 2)), "eye", collective="all-reduce", operator=operator, words=1)
    complaint = (
        "^meaning of operator half must be one that makes an integer, the bits of a word, "
        "not float64$"
    )
    for carry_out in (predict, verify):
        with pytest.raises(InvalidInput, match=complaint):
            carry_out(made, operators=[operator])
    assert isinstance(half(np.uint64(1), np.uint64(1), 32), np.float64)
