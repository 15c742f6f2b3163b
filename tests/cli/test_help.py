"""Help: options in groups, examples that can be typed, and a near name for a mistyped one."""

from __future__ import annotations

import shlex

import pytest
from helpers.command import Command as Run

from eyecast.cli.command import Command
from eyecast.cli.main import COMMANDS, cli


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
