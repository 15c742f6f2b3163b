"""The compiled loop is compiled anew when one of its source files changes."""

import ast
from functools import cache
from pathlib import Path

from eyecast.model.cycle import loop

MODEL = Path(loop.__file__).parents[1]
COMPILED = {"inlined", "compiled_loop", "compiled", "intrinsic"}
"""Decorators of functions that Numba compiles."""


@cache
def origins(module: Path) -> dict[str, Path]:
    """Return, for each name that a module imports, the module of this package that defines it."""
    return {
        name.name: origin
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.ImportFrom) and node.level and node.module
        for name in node.names
        if (origin := origin_of(module, node.level, node.module, name.name))
    }


def origin_of(module: Path, level: int, source: str, name: str) -> Path | None:
    """Return the module that defines a name, found through modules that only import it."""
    there = module.parents[level - 1].joinpath(*source.split(".")).with_suffix(".py")
    return origins(there).get(name, there) if there.exists() else None


def names_compiled_in(module: Path) -> set[str]:
    """Return the names in a module's compiled functions, their decorators and its constants."""
    parts: list[ast.AST] = []
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            decorators = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
            if decorators & COMPILED or node.name in COMPILED:
                parts += [*node.decorator_list, *node.body]
        elif isinstance(node, ast.Assign):
            parts.append(node)
    return {each.id for part in parts for each in ast.walk(part) if isinstance(each, ast.Name)}


def test_the_checksum_is_of_all_that_is_compiled_in() -> None:
    """The checksum covers all files of the loop's code except its own file, which Numba checks."""
    itself = Path(loop.__file__)
    found, left = {itself}, [itself]
    while left:
        module = left.pop()
        known = origins(module)
        new = {known[name] for name in names_compiled_in(module) if name in known} - found
        found |= new
        left += new
    parts = {path.relative_to(MODEL).with_suffix("").as_posix() for path in found - {itself}}
    assert set(loop._PARTS) == parts
