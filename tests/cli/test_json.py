"""The envelope of ``--json``, which every command prints and ``result.schema.json`` describes."""

import json
from pathlib import Path
from typing import Any

import click
import pytest
from helpers.command import CORNER_4X4, Command, envelope, schema_of_results

from eyecast import __version__
from eyecast.cli.main import COMMANDS, cli

LINES = {
    "algorithms": "--collective barrier",
    "boards": "",
    "cache": "",
    "certify": "c.json certificate.json",
    "check": "t.csv --schedule s.json",
    "compare": "--mesh 2x2 --source 0,0",
    "convert": "s.json s.xml",
    "image": "p.json -o i.csv",
    "paper": "jiang-wu table-1",
    "predict": "--program p.json",
    "program": "--mesh 2x2 --source 0,0 --all",
    "run": "w.csv --mesh 2x2",
    "schedule": "--mesh 4x4 --source 1,2 --algorithm tree --random-faults 0.1 --seed 7",
    "traffic": "--mesh 2x2 --on model --cycles 20",
    "transmit": "--line 4",
    "verify": "--mesh 2x2 --source 0,0",
}
"""Arguments for every command with ``--json``, except for those that :data:`ELSEWHERE` names."""

ELSEWHERE = ("asic", "bitstream", "board-run", "chip", "doctor")
"""Commands whose own tests check their output against the schema."""

_DRAWN = ("compare", "program", "run", "traffic", "transmit", "verify")
SEEDS = {"schedule": 7, **dict.fromkeys(_DRAWN, 1)}
NETWORKS = {
    **dict.fromkeys(("algorithms", "boards", "cache", "certify", "convert", "paper")),
    **{
        "check": "4x4 mesh",
        "schedule": "4x4 mesh with 2 faulty nodes",
        "transmit": "line of 4",
    },
}
"""Seeds that are not null, and networks other than a 2x2 mesh, by command."""


@pytest.fixture
def files(eyecast: Command, here: Path) -> Path:
    eyecast("schedule", *CORNER_4X4, "-o", "s.json")
    eyecast("predict", "--schedule", "s.json", "-o", "t.csv")
    eyecast("program", "--mesh", "2x2", "--source", "0,0", "--programs", "1", "-o", "p.json")
    circuits = ("program", "--mesh", "2x2", "--source", "0,0", "--circuits", "-o", "c.json")
    eyecast(*circuits, "--certificate", "certificate.json")
    Path("w.csv").write_text("id,rank,what,amount,after\na,all,compute,9,\nb,0>3,message,4,a\n")
    return here


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", LINES)
def test_every_command_prints_the_envelope(eyecast: Command, name: str) -> None:
    printed = envelope(eyecast(name, *LINES[name].split(), "--json"))
    assert (printed["version"], printed["command"]) == (__version__, name)
    assert printed["network"] == NETWORKS.get(name, "2x2 mesh")
    assert printed["seed"] == SEEDS.get(name)
    assert 0 < printed["seconds"] < 600


def test_the_schema_has_every_command_with_json() -> None:
    context = click.Context(cli)
    with_json = [
        name
        for name in COMMANDS
        if any("--json" in each.opts for each in cli.get_command(context, name).params)
    ]
    schema = schema_of_results().schema
    assert schema["properties"]["command"]["enum"] == with_json
    assert [each["if"]["properties"]["command"]["const"] for each in schema["allOf"]] == with_json
    assert {*LINES, *ELSEWHERE} == {*with_json}


def damaged(content: Any) -> list[Any]:
    """Return copies of an envelope, each without one of its keys, those of ``result`` too."""
    whole, result = content, content["result"]
    short = [{key: whole[key] for key in whole if key != left} for left in whole]
    optional = ("best",)
    return [
        *short,
        *(
            {**whole, "result": {key: result[key] for key in result if key != left}}
            for left in result
            if left not in optional
        ),
        {**whole, "more": 1},
        {**whole, "seed": "1"},
        {**whole, "command": "demo"},
        {**whole, "result": [result]},
        {**whole, "result": {**result, "source": 0}},
        {**whole, "result": {**result, "least": 22}},
    ]


@pytest.mark.parametrize("name", ["schedule", "predict"])
def test_the_schema_refuses_what_lacks_a_key(eyecast: Command, name: str) -> None:
    sound = envelope(eyecast(name, *CORNER_4X4, "--json"))
    assert not [json.dumps(each) for each in damaged(sound) if schema_of_results().is_valid(each)]
