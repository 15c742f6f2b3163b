"""Foreign files in tests: named contents, the notices about them, and their owners' tools."""

import os
import shutil
from pathlib import Path

import pytest

from eyecast.model.base.files import InputFile


def file(text: str | bytes, name: str = "x") -> InputFile:
    return InputFile(name, text.encode() if isinstance(text, str) else text)


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the notices since the last call."""
    lines = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return lines


def owners_tool(name: str, variable: str) -> Path:
    """Return a tool on the path, or in an environment variable's folder; skip without one."""
    found = shutil.which(name, path=os.environ.get(variable) or os.environ.get("PATH"))
    if found is None:
        pytest.skip(f"{name} is not there: on the path, or in the folder of {variable}")
    return Path(found)
