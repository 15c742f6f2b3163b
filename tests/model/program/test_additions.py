"""Operators, streams and windows in a program's words, file and checks; tables of nodes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.command import Command, printed_result, refusal
from helpers.programs import UP, pack, program, put

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.config_file import network_to_json
from eyecast.model.network.topology import line, mesh
from eyecast.model.program.checks import require_held
from eyecast.model.program.file import program_json, read_program, write_program
from eyecast.model.program.memory_words import table_words
from eyecast.model.program.node_table import TableLine
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row

NETWORK: dict[str, Any] = {"operators": "add,max", "streams": True}


def with_row(row: Row, **limits: Any) -> Program:
    """Return a program for a line of four nodes, in which node 0 has ``row``."""
    return program({0: [row]}, {}, **{**NETWORK, **limits})


def test_deliveries_and_control_words_have_the_fields_of_sections_19_and_20() -> None:
    row = replace(
        put(2, (UP, 1), source=16, target=20, length=8), operator=3, stream=1, lead=5, window=4
    )
    made = with_row(row)
    config = made.config
    # 256 words: an address of 8 bits, a length of 9, a window 0 to 7. Two operators: 0 to 4.
    assert (config.operator_bits, config.window_bits, config.stream_bits) == (3, 3, 1)
    delivery = pack((3, 2), (2, 4), (20, 8), (3, 3), (4, 3))
    slot = pack((1, 2), (0, 2))
    assert made.deliveries.tolist() == [delivery]
    first, words = table_words(made)
    control = pack((2, 4), (1, 4), (16, 8), (8, 9), (1, 1))
    # The lead does not fit into this word; it stands in the next word with the window.
    behind = pack((5, 9), (4, 3))
    assert words[: first[1]].tolist() == [control, behind, delivery << 4 | slot, 0]


def test_a_program_file_has_what_is_not_0(tmp_path: Path) -> None:
    row = put(2, (UP, 1), length=4, target=16, operator=4, stream=1, lead=2, window=3)
    made = program({1: [row], 0: [put(2, (UP, 1), target=2, length=2)]}, {}, **NETWORK)
    text = program_json(made)
    assert '"operator":4,"stream":1,"lead":2,"window":3}' in text
    assert text.count('"operator"') == 1
    path = tmp_path / "program.json"
    write_program(made, path)
    assert read_program(path).rows == made.rows
    assert network_to_json(read_program(path).config) == network_to_json(made.config)
    path.write_text(text.replace('"window":3', '"window":-1'))
    with pytest.raises(InvalidInput, match="window"):
        read_program(path)


@pytest.mark.parametrize(
    ("name", "most"), [("operator", 7), ("stream", 1), ("lead", 511), ("window", 7)]
)
def test_a_table_holds_what_its_fields_have_bits_for(name: str, most: int) -> None:
    row = put(1, (UP, 1))
    require_held(with_row(replace(row, **{name: most})))
    with pytest.raises(InvalidInput, match=f"{name} must be 0 to {most}, not {most + 1}"):
        require_held(with_row(replace(row, **{name: most + 1})))


@pytest.mark.parametrize(
    ("changes", "limits", "refusal"),
    [
        ({"operator": 5}, {}, "operator must be 0 to 4, not 5"),
        ({"operator": 1}, {"operators": ()}, "operator must be 0 to 0, not 1"),
        ({"stream": 2}, {}, "stream must be 0 to 1, not 2"),
        ({"stream": 1}, {"streams": False}, "stream must be 0 to 0, not 1"),
        ({"lead": 1}, {}, "lead must be 0 in a row that streams nothing, not 1"),
        ({"lead": 512, "stream": 1}, {}, "lead must be 0 to 511, not 512"),
        ({"window": 8}, {}, "window must be 0 to 7, not 8"),
        ({"window": 1}, {"streams": False}, "window must be 0 to 0, not 1"),
        ({"window": 1, "length": 3}, {}, "length must be at most the words of the window, not 3"),
        (
            {"window": 4, "source_address": 96},
            {"message_words": 100},
            r"source address \+ length must be at most 100 \(the message memory\), not 112",
        ),
        ({"window": 4, "target_address": 100, "length": 5}, {"message_words": 105}, ""),
        (
            {"window": 4, "target_address": 100, "length": 5},
            {"message_words": 104},
            r"target address \+ length must be at most 104 .*, not 105",
        ),
        (
            {"window": 3, "target_address": 102, "length": 5},
            {"message_words": 103},
            r"target address \+ length must be at most 103 .*, not 104",
        ),
        ({"operator": 2, "target_address": 30, "length": 6}, {"message_words": 100}, ""),
        (
            {"operator": 2, "target_address": 30, "length": 7},
            {"message_words": 100},
            r"in the other half must be at most 100 .*, not 101",
        ),
    ],
)
def test_a_row_that_the_network_cannot_carry_out_is_refused(
    changes: dict[str, int], limits: dict[str, Any], refusal: str
) -> None:
    made = with_row(replace(put(1, (UP, 1)), **changes), **limits)
    if not refusal:
        made.check()
        return
    with pytest.raises(InvalidInput, match=f"node 0, row 0: .*{refusal}"):
        made.check()


# ---- Tables of nodes -----------------------------------------------------------------------------


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
