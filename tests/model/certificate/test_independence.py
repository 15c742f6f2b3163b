"""The checkers of certificates share no code with the project, nor with each other."""

import ast
import sys
from pathlib import Path
from types import ModuleType

import pytest

from eyecast.model.certificate import circuit_checker, packet_checker


@pytest.mark.parametrize("checker", [circuit_checker, packet_checker], ids=lambda it: it.__name__)
def test_the_checker_shares_no_code_with_the_project(checker: ModuleType) -> None:
    tree = ast.parse(Path(checker.__file__).read_text())
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    plain = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    names = {node.module for node in froms} | {each.name for node in plain for each in node.names}
    assert all(node.level == 0 for node in froms)
    assert names <= {*sys.stdlib_module_names, "collections.abc"}
