"""Programs that tests run in processes of their own."""

import shutil
import subprocess
from collections.abc import Sequence
from os import PathLike
from typing import Any

import pytest


def run_program(
    command: Sequence[str | PathLike[str]], *, check: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program; return its status and what it printed, as text."""
    return subprocess.run(command, capture_output=True, text=True, check=check, **options)


def needs(program: str) -> pytest.MarkDecorator:
    """Skip a test on machines without a program."""
    missing = shutil.which(program) is None
    return pytest.mark.skipif(missing, reason=f"{program} must be on PATH: install {program}")
