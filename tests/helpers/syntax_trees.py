"""Syntax trees of modules."""

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the tree of a module, which several tests read and none changes."""
    return ast.parse(path.read_text())
