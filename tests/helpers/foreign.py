"""Foreign files in tests: contents under a name, what was said of them, and their owners' tools."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from eyecast.model.base.files import InputFile


def file(text: str | bytes, name: str = "x") -> InputFile:
    return InputFile(name, text.encode() if isinstance(text, str) else text)


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines that were said since the last time."""
    lines = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return lines


def owners_tool(name: str, variable: str) -> Path:
    """A tool on the path, or in the folder that an environment variable names; else a skip."""
    found = shutil.which(name, path=os.environ.get(variable) or os.environ.get("PATH"))
    if found is None:
        pytest.skip(f"{name} is not there: on the path, or in the folder of {variable}")
    return Path(found)
