"""Recording of the functions that each test enters, for ``bench/mutants.py``.

Each function of the tree gets a number, and a first statement that marks the number as entered. A
test file runs in a process of its own, so that no test uses what another file's tests have made.

Functions that Numba compiles are not marked, and processes that a test starts anew mark nothing.
"""

import ast
import builtins
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.machinery import SourceFileLoader
from mmap import mmap
from pathlib import Path
from types import CodeType
from typing import Any, TypeAlias, cast

import pytest

COMPILED = {"compiled", "compiled_loop", "inlined", "intrinsic", "njit", "overload"}
"""Decorators of functions that Numba compiles."""
BUILDS = "sim/cache.py::cached_folder"
"""The function that finds a finished build: a test that enters it may enter all of the hardware."""
Recorded: TypeAlias = dict[str, tuple[float, list[str]]]
"""Seconds of CPU time of each test of a file, and the functions that it enters."""


def is_compiled(function: ast.FunctionDef) -> bool:
    """Tell whether Numba compiles a function, by the names of its decorators."""
    nodes = [node for each in function.decorator_list for node in ast.walk(each)]
    return any(isinstance(node, ast.Name) and node.id in COMPILED for node in nodes)


def functions_of(
    tree: ast.AST, file: str, above: str = ""
) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the name and the node of each function of a file, except functions in compiled ones."""
    for node in ast.iter_child_nodes(tree):
        inner = above
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inner = f"{above}.{node.name}".lstrip(".")
        if isinstance(node, ast.FunctionDef):
            yield f"{file}::{inner}", node
            if is_compiled(node):
                continue
        yield from functions_of(node, file, inner)


@dataclass(frozen=True)
class Sources:
    """The Python files of a tree, apart from its tests."""

    root: Path

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        """Syntax trees by file."""
        files = sorted(self.root.rglob("*.py"))
        named = {str(path.relative_to(self.root)): path for path in files}
        # Numba compiles the meanings of operators, which the last two hold.
        tools = ("tests/", "bench/", "build/", ".venv/", "notebooks/")
        left_out = (*tools, "examples/", "chip/float_adder.py")
        return {
            name: ast.parse(path.read_text())
            for name, path in named.items()
            if not name.startswith(left_out)
        }

    @cached_property
    def functions(self) -> dict[str, list[tuple[str, ast.FunctionDef]]]:
        """Functions by file."""
        return {file: list(functions_of(tree, file)) for file, tree in self.trees.items()}

    @cached_property
    def names(self) -> list[str]:
        """Names of all functions; a function's number is its place here."""
        return [name for functions in self.functions.values() for name, _ in functions]

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """Files that import each file."""
        found: dict[str, set[str]] = {file: set() for file in self.trees}
        for file, tree in self.trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.level:
                    folder = Path(file).parents[node.level - 1]
                    module = folder.joinpath(*(node.module or "").split("."))
                    paths = [module, *(module / alias.name for alias in node.names)]
                    for path in paths:
                        for each in (f"{path}.py", f"{path}/__init__.py"):
                            if each in found:
                                found[each].add(file)
        return found

    def has_compiled(self, file: str) -> bool:
        """Tell whether Numba compiles functions of a file."""
        return any(is_compiled(node) for _, node in self.functions[file])

    def users(self, file: str) -> set[str]:
        """Return a file, its importers, and in turn the importers of compiled or package files."""
        found, left = {file}, [file]
        while left:
            for each in self.importers[left.pop()] - found:
                found.add(each)
                if self.has_compiled(each) or each.endswith("__init__.py"):
                    left.append(each)
        return found

    def function_at(self, file: str, line: int) -> str | None:
        """Return the innermost function whose body has a line, or None.

        None also for functions that Numba compiles.
        """
        found = None
        for name, node in self.functions[file]:
            if node.body[0].lineno <= line <= (node.end_lineno or 0):
                found = None if is_compiled(node) else name
        return found

    def entrances(self, file: str, line: int) -> set[str]:
        """Return functions such that a test that enters none of them cannot reach the line."""
        function = self.function_at(file, line)
        if function:
            return {function}
        return {name for each in self.users(file) for name, _ in self.functions[each]}


def marked_code(sources: Sources, tree: Path) -> dict[str, CodeType]:
    """Compile each file of a copy of the tree, with marks; return the code by the file's path.

    The syntax trees of ``sources`` are marked too, so use them for nothing else.
    """
    numbers = {name: number for number, name in enumerate(sources.names)}
    found = {}
    for file, syntax in sources.trees.items():
        for function, node in sources.functions[file]:
            if not is_compiled(node):
                mark = ast.parse(f"functions_entered[{numbers[function]}] = 1").body[0]
                for each in ast.walk(mark):
                    ast.copy_location(each, node.body[0])
                node.body.insert(1 if ast.get_docstring(node) else 0, mark)
        path = str(tree / file)
        found[path] = compile(syntax, path, "exec", dont_inherit=True)
    return found


def mark_functions(code: dict[str, CodeType], entered: mmap) -> None:
    """Let this process import marked code: a function that is entered marks its own number."""
    plain = SourceFileLoader.get_code
    cast(Any, builtins).functions_entered = entered

    def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        return code.get(loader.path) or plain(loader, name)

    cast(Any, SourceFileLoader).get_code = get_code


class Recorder:
    """A plugin that records the functions that each test enters, and the test's CPU time."""

    def __init__(self, names: list[str], entered: mmap) -> None:
        self.names, self.entered = names, entered
        self.found: Recorded = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Run a test between two looks at the marks."""
        self.entered[:] = bytes(len(self.entered))
        begun = sum(os.times()[:4])
        yield
        seconds = sum(os.times()[:4]) - begun
        marked = [name for name, mark in zip(self.names, self.entered[:], strict=True) if mark]
        self.found[item.nodeid] = round(seconds, 3), marked


class Chosen:
    """A plugin that runs only the chosen tests, in their order, and keeps the first that fails."""

    def __init__(self, order: dict[str, int], failed: Path) -> None:
        self.order, self.failed = order, failed

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the chosen tests."""
        items[:] = [item for item in items if item.nodeid in self.order]
        items.sort(key=lambda item: self.order[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the name of a test that fails."""
        if report.failed:
            self.failed.write_text(report.nodeid)
