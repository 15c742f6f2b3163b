"""A node's table as text: the worked example of the contract, and all fields of a row."""

import pytest
from helpers.command import Command, printed_result, refusal
from helpers.programs import program, put

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.topology import line, mesh
from eyecast.model.program.node_table import TableLine

EAST, WEST, SOUTH = 1, 2, 3
EXAMPLE = program(
    {
        0: [put(1, (EAST, 2, 0), length=2)],
        2: [put(2, (WEST, 2, 1), (SOUTH, 1, 1), length=2, target=16)],
    },
    {2: [1], 3: [2]},
    mesh((3, 2)),
    vcs=2,
)


def test_the_worked_example_of_the_contract() -> None:
    assert EXAMPLE.table(0) == [TableLine(1, "0-1", "(2,0)", "0-1", "2 east", "0", "", "20011 1a9")]
    assert EXAMPLE.table(2) == [
        TableLine(2, "0-1", "(0,1)", "16-17", "2 west, 1 south", "1", "", "20012 20567a")
    ]
    assert EXAMPLE.table(1) == []
    with pytest.raises(InvalidInput, match=r"^node must be 0 to 5, not 6$"):
        EXAMPLE.table(6)


def test_everything_else_that_a_row_says() -> None:
    made = program(
        {
            0: [
                put(1, (EAST, 1), length=1, continued=True),
                put(1, (EAST, 1), length=0, source=1),
                put(2, (EAST, 2), length=4, operator=2, stream=1, lead=2, window=2),
            ]
        },
        {1: [1], 2: [2]},
        line(3),
        operators=("max",),
        streams=True,
    )
    assert [(each.words, each.remarks) for each in made.table(0)] == [
        ("0", "continued"),
        ("none", ""),
        ("0-3", "max across, streams 2 words behind, window of 4 words"),
    ]


def test_the_command(eyecast: Command) -> None:
    network = ("program", "--mesh", "2x2", "--source", "1,0", "--words", "3")
    assert "node (1,0), receives in steps: none" in eyecast(*network, "--node", "1,0").output
    found = printed_result(eyecast(*network, "--all", "--json").output)["tables"]
    assert [table["node"] for table in found] == [0, 1, 2, 3]
    assert [len(table["rows"]) for table in found] == [1, 2, 0, 0]
    line = "--node must be left out with --all"
    assert eyecast(*network, "--node", "1,0", "--all") == refusal(line)
    assert eyecast(*network, "--node", "5,0").status == 2
