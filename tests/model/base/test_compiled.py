"""Kept machine code."""

import logging
import os
import sys
from pathlib import Path

import numba
import pytest
from helpers.processes import run_program

from eyecast.model.base import compiled

PROGRAM = """
import sys
from eyecast.model.base.compiled import compiled

@compiled
def successor(number):
    return number + 1

print(successor(1), "numba.np.arraymath" in sys.modules)
"""


def test_numba_has_every_private_part_that_is_used() -> None:
    moved = ", ".join(compiled.moved_parts())
    assert not moved, f"Numba {numba.__version__} has moved {moved}: change model/base/compiled.py"


def test_kept_code_is_loaded_without_what_the_compiler_needs(tmp_path: Path) -> None:
    """An update of Numba may change how it looks for kept code (`model/base/compiled.py`)."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    runs = []
    before = os.umask(0)
    try:
        runs = [run_program([sys.executable, program], check=True) for _ in range(2)]
    finally:
        os.umask(before)
    assert [run.stdout.split() for run in runs] == [["2", "True"], ["2", "False"]]
    kept = tmp_path / "__pycache__"
    assert [oct(path.stat().st_mode & 0o022) for path in (kept, *kept.iterdir())] == ["0o0"] * 3
    kept.chmod(0o777)
    refused = run_program([sys.executable, program], check=True)
    assert refused.stdout.split() == ["2", "True"]
    assert f"machine code in {kept} is not used: other users can write there" in refused.stderr


def test_without_the_private_parts_numba_keeps_code_itself(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compiled, "PRIVATE", ("numba.core.caching:FunctionCache.gone", "no_such:x"))
    compiled._kept_code.cache_clear()
    try:
        successor = compiled.compiled(lambda number: number + 1)
        assert successor(1) == 2
        assert type(successor._cache).__name__ == "FunctionCache"
    finally:
        compiled._kept_code.cache_clear()
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert said == [
        f"Numba {numba.__version__} has moved numba.core.caching:FunctionCache.gone, no_such:x: "
        "its own cache is used, and commands start later"
    ]
