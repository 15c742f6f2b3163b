"""Help: options in groups, examples that can be typed, and a near name for a mistyped one."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import fields

import pytest
from helpers.command import Command as Run

from eyecast.cli.command import Command
from eyecast.cli.main import COMMANDS, cli
from eyecast.cli.options.values import OPTIONS
from eyecast.model.collectives.task import Task


def command_of(name: str) -> Command:
    context = cli.make_context("eyecast", [name], resilient_parsing=True)
    command = cli.get_command(context, name)
    assert isinstance(command, Command)
    return command


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_a_command_can_be_typed(name: str) -> None:
    command = command_of(name)
    assert len(command.examples) == 2
    for example in command.examples:
        line = example.removeprefix('eval "$(').removesuffix(')"').partition(" | ")[0]
        eyecast, called, *words = shlex.split(line)
        assert (eyecast, called) == ("eyecast", name)
        command.make_context(name, words)


def test_help_shows_options_in_groups(eyecast: Run) -> None:
    sections = [
        line.removesuffix(":")
        for line in eyecast("predict", "--help").output.splitlines()
        if line.endswith(":") and not line.startswith(" ")
    ]
    assert sections == [
        *("Network", "Collective", "Hardware", "Run", "Output", "Options", "Examples")
    ]


def test_a_mistyped_command_is_answered_with_the_one_meant(eyecast: Run) -> None:
    answer = eyecast("predikt", "--mesh", "2x2")
    assert answer.status == 2
    assert "not predikt (did you mean predict?)" in answer.errors


def test_refusals_name_the_options_of_every_parameter_of_a_task() -> None:
    """The network and the collective are refused by names of their own."""
    named = {field.name for field in fields(Task)} - {"topology", "collective"}
    assert OPTIONS.keys() == {*named, "message_words"}


def test_a_refusal_loads_no_algorithm() -> None:
    """Algorithms and NumPy take three times as long to load as the rest of the command."""
    refused = """
import sys
from eyecast.cli.main import main
sys.argv[1:] = ["predikt"]
try:
    main()
finally:
    print(*sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", refused], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    loaded = {*done.stdout.split()}
    assert "eyecast.cli.main" in loaded
    assert not {"numpy", "eyecast.model.collectives.registry"} & loaded
