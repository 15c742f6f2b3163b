"""Programs that tests run in processes of their own."""

import subprocess
from collections.abc import Sequence
from os import PathLike
from typing import Any


def run_program(
    command: Sequence[str | PathLike[str]], *, check: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program; return its status and what it printed, as text."""
    return subprocess.run(command, capture_output=True, text=True, check=check, **options)
