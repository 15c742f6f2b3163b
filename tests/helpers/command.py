"""The command line for tests: typed lines, and the output on the terminal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

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
    done = subprocess.run([INSTALLED, *arguments], capture_output=True, text=True, check=False)
    return Answer(done.returncode, done.stdout, without_notices(done.stderr))


def without_notices(errors: str) -> str:
    """Leave out notices about waiting, which only a first run or a slow machine prints."""
    return re.sub(r"^eyecast: (?:building|compiling) .*\n", "", errors, flags=re.MULTILINE)


def result(answer: Answer) -> Any:
    """Return the result that ``--json`` printed."""
    assert (answer.status, answer.errors) == (0, "")
    return json.loads(answer.output)


def refusal(line: str) -> Answer:
    return Answer(2, "", f"eyecast: {line}\n")
