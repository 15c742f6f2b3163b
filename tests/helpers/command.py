"""The command line for tests: typed lines, and the output on the terminal."""

import json
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from helpers.processes import run_program
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

import eyecast

SCHEMA = Path(eyecast.__file__).with_name("cli") / "result.schema.json"
INSTALLED = Path(sys.executable).with_name("eyecast")
CORNER_4X4 = ("--mesh", "4x4", "--source", "0,0")
CORNER_8X8 = ("--mesh", "8x8", "--source", "0,0")


class Answer(NamedTuple):
    """A command's output on the terminal, and its exit status."""

    status: int
    output: str
    errors: str


Command = Callable[..., Answer]


def shell(*arguments: str) -> Answer:
    """Run the installed command in a process of its own."""
    done = run_program([INSTALLED, *arguments])
    return Answer(done.returncode, done.stdout, without_notices(done.stderr))


def without_notices(errors: str) -> str:
    """Leave out notices about waiting, which only a first run or a slow machine prints."""
    return re.sub(r"^eyecast: (?:building|compiling) .*\n", "", errors, flags=re.MULTILINE)


def result(answer: Answer) -> Any:
    """Return the result that ``--json`` printed, of a command without errors."""
    return envelope(answer)["result"]


def envelope(answer: Answer) -> Any:
    """Return the whole output of ``--json``, of a command without errors."""
    assert (answer.status, answer.errors) == (0, "")
    return printed_envelope(answer.output)


def printed_result(output: str) -> Any:
    """Return the result in the envelope that ``--json`` printed, which the schema describes."""
    return printed_envelope(output)["result"]


def printed_envelope(output: str) -> Any:
    """Return what ``--json`` printed, checked against the schema."""
    printed = json.loads(output)
    error = best_match(schema_of_results().iter_errors(printed))
    assert error is None, f"{error.json_path}: {error.message}"
    return printed


@cache
def schema_of_results() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA.read_text()))


def refusal(line: str) -> Answer:
    return Answer(2, "", f"eyecast: {line}\n")
