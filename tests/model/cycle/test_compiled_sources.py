"""The key of the compiled cycle model covers every file of the compiled code."""

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from types import CodeType, ModuleType

from numba.core.dispatcher import Dispatcher

from eyecast.model.cycle import loop


@cache
def imports_of(module: ModuleType) -> dict[str, ModuleType]:
    """Return the names that a module imports from the package, with the modules they come from."""
    package = module.__name__.split(".")[:-1]
    found = {}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and node.level:
            home = [*package[: len(package) - node.level + 1], node.module or ""]
            origin = sys.modules[".".join(home)]
            found.update({alias.asname or alias.name: origin for alias in node.names})
    return found


def origin_of(module: ModuleType, name: str) -> ModuleType:
    """Return the module of the package that defines a name of ``module``."""
    while name in imports_of(module):
        module = imports_of(module)[name]
    return module


def names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_of(constant)


def compiled_in() -> set[str]:
    """Return the files of all functions and values in the compiled :data:`.simulate`."""
    found: set[ModuleType] = set()
    waiting, seen = [loop.simulate, loop.run_cycles], set()
    while waiting:
        function = waiting.pop().py_func  # type: ignore[attr-defined]
        module = sys.modules[function.__module__]
        seen.add(function)
        found.add(module)
        for name in names_of(function.__code__):
            value = function.__globals__.get(name)
            if name in function.__globals__ and module.__name__.startswith("eyecast."):
                found.add(origin_of(module, name))
            if isinstance(value, Dispatcher) and value.py_func not in seen:
                waiting.append(value)
    return {module.__name__.removeprefix("eyecast.model.").replace(".", "/") for module in found}


def test_every_file_that_is_compiled_in_is_in_the_key() -> None:
    # The compiling module is not itself compiled, but it determines the compiled code.
    assert compiled_in() | {"base/compiled"} == {*loop._PARTS, "cycle/loop"}
