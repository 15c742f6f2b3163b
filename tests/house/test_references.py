"""References in docstrings: every role names a module, a class, a function or a value that exists.

A name with leading dots is looked up as in an import: one dot stands for the module's own package,
each further dot for the package around it. After one dot, the name of any object in the package is
valid too: ``.InvalidInput``. A name without a dot is a name of the module or of a class in it, a
built-in name, or a whole path: ``eyecast.api``. The tests import nothing.
"""

import ast
import builtins
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from helpers.syntax_trees import tree_of

from eyecast.sim.cache import PACKAGE

ROLE = re.compile(r":(mod|func|class|meth|data|attr|exc|obj):`~?(?:[^`<]*<)?([^`>]*)>?`")
DEFINED = re.compile(r"^(?:(?:async )?def|class) (\w+)|^(\w+)(?:: [^=\n]+)? = ", re.MULTILINE)
NO_SOURCES = ("build", "docs")
BESIDE_THE_PACKAGE = ("tests", "bench")
"""Folders whose modules import each other by plain names."""


def sources() -> list[Path]:
    folders = [path for path in PACKAGE.iterdir() if path.is_dir() and path.name[0] != "."]
    found = [file for path in folders if path.name not in NO_SOURCES for file in path.rglob("*.py")]
    return sorted([*found, *PACKAGE.glob("*.py")])


def package_of(path: Path) -> tuple[str, ...]:
    """Return a module's package; an ``__init__`` is its package."""
    folders = path.relative_to(PACKAGE).parent.parts
    return folders[1:] if folders[:1] in zip(BESIDE_THE_PACKAGE) else ("eyecast", *folders)


def bound_by(statement: ast.stmt) -> Iterator[str]:
    """Return the names that a statement binds, itself or within."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
        return
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt | ast.ExceptHandler):
            yield from bound_by(child)  # type: ignore[arg-type]
        elif isinstance(child, ast.alias):
            yield (child.asname or child.name).partition(".")[0]
        else:
            stored = (each for each in ast.walk(child) if isinstance(each, ast.Name))
            yield from (name.id for name in stored if isinstance(name.ctx, ast.Store))


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return the names of a module, including imported ones."""
    return frozenset(name for statement in tree_of(path).body for name in bound_by(statement))


@cache
def members_in(path: Path) -> frozenset[str]:
    """Return the members of a module's classes as "Class.member", including those of ``self``."""
    found = set()
    for made in ast.walk(tree_of(path)):
        if isinstance(made, ast.ClassDef):
            found.update(f"{made.name}.{name}" for each in made.body for name in bound_by(each))
            found.update(
                f"{made.name}.{each.attr}"
                for each in ast.walk(made)
                if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
            )
    return frozenset(found)


@cache
def defined() -> dict[str, list[Path]]:
    """Return the package's modules that define each name at their top, from their sources."""
    found: dict[str, list[Path]] = {}
    for path in sources():
        if package_of(path)[:1] == ("eyecast",):
            for names in DEFINED.findall(path.read_text()):
                found.setdefault("".join(names), []).append(path)
    return found


def is_object(name: str) -> bool:
    """Tell whether any module of the package defines a name, or a class with such a member."""
    owner, dot, _ = name.partition(".")
    return any(not dot or name in members_in(path) for path in defined().get(owner, []))


@cache
def modules() -> dict[tuple[str, ...], Path]:
    names = {(*package_of(path), path.stem): path for path in sources()}
    return names | {package_of(path): path for path in sources() if path.stem == "__init__"}


def is_there(parts: tuple[str, ...]) -> bool:
    """Tell whether a whole path names a module, or an object in one."""
    for size in range(len(parts), 0, -1):
        if parts[:size] in modules():
            path, rest = modules()[parts[:size]], ".".join(parts[size:])
            return not rest or rest in names_in(path) | members_in(path)
    return False


def resolves(role: str, name: str, path: Path) -> bool:
    """Tell whether a role in a docstring of the module at ``path`` names something that exists."""
    plain = name.lstrip(".")
    dots, parts, package = len(name) - len(plain), tuple(plain.split(".")), package_of(path)
    if dots:
        around = package[: len(package) - dots + 1]
        anywhere = dots == 1 and role != "mod" and is_object(plain)
        return anywhere or (dots <= len(package) and is_there((*around, *parts)))
    members = members_in(path)
    own = names_in(path) | members | {member.partition(".")[2] for member in members}
    return plain in own or hasattr(builtins, plain) or is_there(parts)


def test_every_reference_leads_somewhere() -> None:
    dead = [
        f"{path.relative_to(PACKAGE)}: :{role}:`{name}`"
        for path in sources()
        for role, name in ROLE.findall(path.read_text())
        if not resolves(role, name, path)
    ]
    assert not dead, "\n".join(dead)


@pytest.mark.parametrize(
    ("role", "name", "found"),
    [
        ("mod", ".cache", True),
        ("mod", ".gone", False),
        ("mod", ".together.network", True),
        ("mod", "..model.base.files", True),
        ("mod", ".model.base.files", False),
        ("mod", ".Job", False),
        ("mod", "......cache", False),
        ("class", ".Job", True),
        ("class", ".Gone", False),
        ("class", ".cache.CacheError", True),
        ("class", ".cache.Gone", False),
        ("class", "NetworkConfig", True),
        ("class", "Topology", False),
        ("class", "OSError", True),
        ("meth", ".Job.gone", False),
        ("meth", ".Job.FILE", True),
        ("attr", ".NetworkConfig.header", True),
        ("mod", "eyecast.sim.job", True),
        ("mod", "sim.job", False),
    ],
)
def test_what_leads_somewhere_from_a_module(role: str, name: str, found: bool) -> None:
    assert resolves(role, name, PACKAGE / "sim/build.py") == found
