"""Run tables: entries as the words of docs/router.md, section 23."""

from collections.abc import Callable
from dataclasses import astuple, replace
from typing import Any

import numpy.typing as npt
import pytest
from helpers.circuits import circuit_program, example
from helpers.refusals import refusal_of
from numpy import int8

import eyecast as package
from eyecast.model.base.arrays import Numbers
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line
from eyecast.model.program.circuits.program import CircuitProgram, entry_fields, run_table_words
from eyecast.model.program.circuits.run_table import run_table

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
