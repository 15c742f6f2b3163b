"""The notebooks run from top to bottom, and print the results that their texts state.

**Bold** text is a result: the output of the cells above contains it literally.
"""

import ast
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from eyecast.sim.cache import PACKAGE

NOTEBOOKS = sorted((PACKAGE / "notebooks").glob("*.ipynb"))
LARGEST = 500_000
"""Most bytes of a notebook."""

OTHERS = {"itertools", "matplotlib.pyplot"}
"""Modules that notebooks may import in addition to ``eyecast``."""

a_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text())["cells"]
    return found


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def results(cell: dict[str, Any]) -> list[str]:
    """Return the results that a text states about the outputs above it."""
    return re.findall(r"\*\*(.+?)\*\*", source(cell)) if cell["cell_type"] == "markdown" else []


def printed(outputs: list[Any]) -> str:
    return "".join(output.get("text", "") for output in outputs)


def test_there_are_four() -> None:
    names = ["eye-broadcast", "full-torus", "own-all-reduce", "own-collective"]
    assert [path.stem for path in NOTEBOOKS] == names


@a_notebook
def test_they_are_kept_with_small_outputs_that_their_texts_state(path: Path) -> None:
    """The pages of the documentation show these outputs."""
    assert path.stat().st_size < LARGEST
    said = ""
    for cell in cells(path):
        if cell["cell_type"] == "code":
            assert cell["outputs"] or "def " in source(cell)
            assert cell["execution_count"] is None
            said += printed(
                [output | {"text": "".join(output.get("text", ""))} for output in cell["outputs"]]
            )
        elif said:
            assert not [claim for claim in results(cell) if claim not in said]


@a_notebook
def test_they_use_the_python_face_alone(path: Path) -> None:
    for cell in cells(path):
        if cell["cell_type"] == "code":
            for node in ast.walk(ast.parse(source(cell))):
                names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom):
                    names = [str(node.module)]
                assert set(names) <= OTHERS | {"eyecast"}


@pytest.mark.slow
@a_notebook
def test_they_print_what_their_texts_say(path: Path, tmp_path: Path) -> None:
    reason = "nbclient is not installed: pip install 'eyecast[notebooks]'"
    client = pytest.importorskip("nbclient", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    notebook = pytest.importorskip("nbformat", reason=reason).read(path, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    environment = {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    client.NotebookClient(notebook, timeout=1200, resources=resources).execute(env=environment)
    said, claims = "", 0
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs or cell.source.count("def "), cell.source
            said += printed(cell.outputs)
        elif said:
            for claim in results(cell):
                assert claim in said
                claims += 1
    assert claims >= 3
