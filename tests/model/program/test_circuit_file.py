"""Programs of circuits: words of run tables, files read back, and refused in one line."""

import json
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.circuits import circuit_program, example
from helpers.refusals import refusal_of
from numpy import int8

import eyecast as package
from eyecast.model.base.arrays import Numbers
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.config_file import network_to_json
from eyecast.model.network.topology import line
from eyecast.model.program.circuits.program import CircuitProgram, entry_fields, run_table_words
from eyecast.model.program.circuits.run_table import run_table
from eyecast.model.program.file import program_json, read_program, write_program

COLUMNS = [
    *("first_entry", "duration", "codes", "first", "second", "operator"),
    *("send_address", "receive_address", "receive"),
]


@pytest.mark.parametrize(
    "request_of",
    [
        {"algorithm": "light-tree", "source": (0, 0)},
        {"algorithm": "joining-tree", "collective": "all-reduce"},
        {"algorithm": "chain", "source": (1, 1)},
        {"algorithm": "direct", "collective": "all-to-all"},
    ],
)
def test_a_program_is_read_back_as_written(request_of: dict[str, Any], tmp_path: Path) -> None:
    made = package.schedule(package.mesh((3, 3)), words=3, **request_of)
    operators = "add" if "reduce" in request_of.get("collective", "") else ""
    program = package.compile(made, circuits=True, operators=operators)
    assert isinstance(program, CircuitProgram)
    write_program(program, tmp_path / "p.json")
    back = read_program(tmp_path / "p.json")
    assert isinstance(back, CircuitProgram)
    assert network_to_json(back.config) == network_to_json(program.config)
    assert back.port_model == program.port_model
    for name in COLUMNS:
        assert np.array_equal(getattr(back, name), getattr(program, name)), name


def test_the_file_of_the_example_has_a_line_for_each_node() -> None:
    lines = program_json(example()).splitlines()
    assert json.loads("{" + lines[0].partition(",")[0][1:] + "}") == {"format": "eyecast-program"}
    assert '"version":2,' in lines[0]
    assert lines[1:] == [
        '{"runs":[{"duration":2,"codes":[0,1,0]}]},',
        '{"runs":[{"duration":1},{"duration":2,"codes":[3,3,0],"receive":1}]},',
        '{"runs":[{"duration":2},{"duration":2,"codes":[3,0,0],"receive":1}]}',
        "]}",
    ]


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("version", 3, "version must be 1 or 2, not 3"),
        ("version", 1, "Object contains unknown field runs"),
        ("network.circuits", False, "network.circuits must be true in version 2, not false"),
        ("nodes.2", None, "Expected object, got null"),
        ("nodes", [], "nodes must be 3 entries, not 0"),
        ("nodes.0.runs.0.codes", [0, 1], "nodes[0].runs[0].codes must be 3 codes, not 2"),
        ("nodes.0.runs.0.codes", [0, -1, 0], "nodes[0].runs[0].codes[1]: Expected int >= 0"),
        ("nodes.0.runs.0.length", 4, "nodes[0].runs[0]: Object contains unknown field length"),
        ("nodes.1.runs.1.duration", 0, "node 1, run 1: duration must be 1 to 1023, not 0"),
        ("nodes.1.runs.1.duration", 1024, "duration must be 1 to 1023, not 1024"),
        ("nodes.1.runs.1.codes", [4, 3, 0], "code of output 0 must be 0 to 3, not 4"),
        ("nodes.0.runs.0.codes", [0, 1, 1], "code of output 2 must be 0 at a port without a link"),
        ("nodes.0.runs.0.codes", [3, 1, 0], "code of output 0 must be that of an input with a"),
        ("nodes.1.runs.1.codes", [3, 2, 0], "code of output 1 must be no sum in a run that does"),
        ("nodes.0.runs.0.operator", 1, "node 0, run 0: operator must be 0 to 0, not 1"),
        ("nodes.1.runs.1.receive", 2, "node 1, run 1: receive must be 0 to 1, not 2"),
        ("nodes.0.runs.0.send_address", 8, "send address must be 0 to 7, not 8"),
        ("nodes.0.runs.0.send_address", 7, "send address + duration must be at most 8 (the"),
        ("nodes.1.runs.1.receive_address", 7, "receive address + duration must be at most 8 (the"),
        (
            "network.table_words",
            2,
            "entries of node 1 must be at most 2 (raise table_words), not 3",
        ),
    ],
)
def test_each_defect_is_one_line(path: str, value: Any, why: str, tmp_path: Path) -> None:
    described = json.loads(program_json(example()))
    *outer, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place = described
    for key in outer:
        place = place[key]
    place[last] = value
    file = tmp_path / "p.json"
    file.write_text(json.dumps(described))
    message = refusal_of(read_program, file)
    assert message.startswith(f"{file}: ")
    assert why in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"second": 0}, "second must be 1 or more in a run that joins, not 0"),
        ({"send_address": 255}, "send address + duration must be at most 256 (the message"),
    ],
)
def test_a_join_has_two_inputs_and_own_words_in_memory(
    change: dict[str, int], why: str, tmp_path: Path
) -> None:
    made = package.schedule(
        package.mesh((2, 2)), "joining-tree", collective="reduce", source=0, words=2
    )
    described = json.loads(program_json(package.compile(made, circuits=True, operators="add")))
    runs = (run for node in described["nodes"] for run in node["runs"] if "second" in run)
    own = next(run for run in runs if (run["first"] == 1) != (run["second"] == 1))
    own |= change
    (tmp_path / "p.json").write_text(json.dumps(described))
    assert why in refusal_of(read_program, tmp_path / "p.json")


# ---- Words of run tables -------------------------------------------------------------------------


TABLE = ["1002", "0", "1", "403c02", "0", "2", "400c02", "0"]
"""The words of all run tables of the page's example, node after node."""


def test_the_words_of_the_example_are_those_of_the_page() -> None:
    program = example()
    assert sum(width for _, width in entry_fields(program.config)) == 23
    first, words = run_table_words(program)
    assert first.tolist() == [0, 2, 5, 8]
    assert [f"{int(word):x}" for word in words[:, 0]] == TABLE


def test_a_run_table_says_what_each_entry_does() -> None:
    """Node 1 of the page's example waits a cycle, then keeps two words and sends them on."""
    waits, forks = (astuple(line)[:-1] for line in run_table(example(), 1))
    assert waits == ("2", "none", "", "", "")
    assert forks == ("3-4", "memory from west, east from west", "", "", "0-1")


def test_a_run_table_says_what_is_joined() -> None:
    """In a square node 1 adds its words to those of node 3, and node 0 its own to two sums."""
    made = package.schedule(
        package.mesh((2, 2)), "joining-tree", collective="reduce", source=0, words=2
    )
    program = package.compile(made, circuits=True, operators="add")
    root, side = (astuple(run_table(program, node)[-1])[:-1] for node in (0, 1))
    assert root == ("5-6", "memory from the sum", "east, south: add", "", "0-1: add")
    assert side == ("3-4", "west from the sum", "memory, south: add", "0-1", "")


def test_an_entry_goes_on_in_the_next_word_without_a_gap() -> None:
    config = NetworkConfig(topology=line(3), message_words=8, flit_width=16, circuits=True)
    columns = {name: getattr(example(), name) for name in example().__dataclass_fields__}
    _, words = run_table_words(CircuitProgram(**columns | {"config": config}))
    assert words.shape == (8, 2)
    assert [f"{low:x} {high:x}" for low, high in words.tolist()[3:4]] == ["3c02 40"]


def test_an_entry_of_all_ports_has_the_fields_of_every_lane_side_by_side() -> None:
    config = NetworkConfig(topology=line(3), message_words=8, circuits=True, all_port=True)
    entry = {
        "duration": 2,
        "codes": {1: 1, 2: 2},
        "ejections": {2: 1},
        "send_address": {1: 3, 2: 4},
        "receive_address": {1: 5, 2: 6},
        "receive": {1: 1},
    }
    assert [width for _, width in entry_fields(config)] == [10, 2, 2, 1, 1, 3, 3, 3, 3, 1, 1]
    _, words = run_table_words(circuit_program(config, [[entry], [], []]))
    word = 2 | 1 << 10 | 2 << 12 | 1 << 15 | 3 << 16 | 4 << 19 | 5 << 22 | 6 << 25 | 1 << 28
    assert words[:2, 0].tolist() == [word, 0]
    config = NetworkConfig(
        topology=line(3), message_words=8, circuits=True, all_port=True, operators="add"
    )
    assert [width for _, width in entry_fields(config)][3:8] == [2, 2, 2, 2, 1]


@pytest.mark.parametrize("name", ["operator", "codes", "receive", "first_entry"])
@pytest.mark.parametrize("change", [lambda column: column[:-1], lambda column: column.astype(int8)])
def test_columns_have_shapes_and_a_type(
    name: str, change: Callable[[Numbers], npt.NDArray[Any]]
) -> None:
    wrong = change(getattr(example(), name))
    told = refusal_of(replace, example(), **{name: wrong})
    assert told.startswith(f"program: {name} must be int64 of shape ")
    assert told.endswith(f", not {wrong.dtype} of shape {wrong.shape}")
