"""The floor plan: the folders that each folder may import; all folders are installed.

The tests read import statements and import nothing.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from helpers.syntax_trees import tree_of

import eyecast
from eyecast.boards.proof import proof
from eyecast.boards.synthesis import bitstream
from eyecast.sim import build
from eyecast.sim.cache import PACKAGE, source_digest

FLOORS: dict[str, set[str]] = {
    "model/base": set(),
    "model/network": {"model/base"},
    "model/schedule": {"model/base", "model/network"},
    # Hardware and golden model meet only here: neither reads how the other one does it.
    "rtl": {"model/network"},
    "model/bounds": {"model/base", "model/network", "model/schedule"},
    "model/collectives": {"model/base", "model/network", "model/schedule", "model/bounds"},
    "model/papers": {"model/base", "model/network", "model/schedule", "model/collectives"},
    "model/program": {"model/base", "model/network", "model/schedule"},
    "model/run": {"model/base", "model/network", "model/program"},
    "model/image": {"model/base", "model/network", "model/program", "model/run"},
    "model/cycle": {"model/base", "model/network", "model/program", "model/run"},
    "model/certificate": {"model/base", "model/network", "model/schedule", "model/program"},
    "model/exact": {
        *("model/base", "model/network", "model/program", "model/run", "model/cycle"),
    },
    "model/traffic": {"model/base", "model/network", "model/program", "model/run"},
    "model/compare": {
        "model/bounds",
        "model/papers",
        *("model/base", "model/network", "model/schedule", "model/collectives", "model/program"),
        *("model/run", "model/cycle", "model/exact", "model/traffic"),
    },
    "model/workload": {
        *("model/base", "model/network", "model/schedule", "model/collectives", "model/program"),
        *("model/bounds", "model/exact", "model/compare"),
    },
    "waves": {"model/base", "model/network", "model/program", "model/run"},
    "picture": {
        *("model/base", "model/network", "model/schedule", "model/collectives", "model/papers"),
        *("model/program", "model/run", "model/workload"),
    },
    "report": {
        "model/bounds",
        *("model/base", "model/network", "model/schedule", "model/collectives", "model/program"),
        *("model/run", "model/compare", "model/workload", "picture"),
    },
    "formats": {
        *("model/base", "model/network", "model/schedule", "model/collectives", "model/program"),
        *("model/run", "model/traffic", "model/workload"),
    },
    "verilog": set(),
    "proofs": {"model/base", "model/network", "rtl", "verilog"},
    "registers": {"model/base", "model/network", "model/image"},
    "testbench": {
        *("model/base", "model/network", "model/program", "model/run", "model/cycle"),
        *("model/image", "registers"),
    },
    "sim": {
        "model/bounds",
        *("model/base", "model/network", "model/schedule", "model/program", "model/run"),
        *("model/traffic", "model/compare", "model/cycle", "model/image", "rtl", "verilog"),
        *("testbench", "waves"),
    },
    "boards": {
        "model/bounds",
        *("model/base", "model/network", "model/schedule", "model/program", "model/run"),
        *("model/compare", "rtl", "sim"),
    },
    "asic": {
        *("model/base", "model/network", "model/compare", "boards", "sim", "waves"),
    },
    "sweeps": {
        "model/bounds",
        *("model/base", "model/network", "model/schedule", "model/collectives", "model/program"),
        *("model/run", "model/traffic", "model/compare", "model/workload", "formats", "sim"),
    },
    "ip": {
        *("model/base", "model/network", "model/schedule", "model/program", "model/run"),
        *("model/cycle", "model/image", "model/certificate", "model/collectives", "registers"),
        "sim",
    },
    "api": {
        "model/bounds",
        "model/papers",
        *("model/base", "model/network", "model/schedule", "model/collectives", "model/program"),
        *("model/run", "model/traffic", "model/compare", "model/workload"),
        *("picture", "report", "formats", "sim", "sweeps"),
    },
    "explore": {
        *("model/base", "model/network", "model/schedule", "model/collectives", "model/program"),
        *("model/run", "model/traffic", "model/compare", "report", "api"),
    },
    "chip": {
        *("model/base", "model/network", "model/schedule", "model/collectives", "model/program"),
        *("model/run", "model/cycle", "model/compare", "model/image", "model/workload"),
        *("rtl", "sim", "picture", "report", "api"),
    },
    "cli": {
        "model/bounds",
        "model/papers",
        *("model/base", "model/network", "model/schedule", "model/collectives", "model/program"),
        *("model/run", "model/cycle", "model/exact", "model/image", "model/traffic"),
        *("model/compare", "picture", "sim", "asic", "boards", "formats", "ip", "report", "rtl"),
        *("sweeps", "waves", "model/certificate", "model/workload", "chip", "explore"),
    },
}
"""For each floor, the lower floors that it may import in addition to itself and ``eyecast``."""


def sources() -> list[Path]:
    """Return every module of the package, as a path below its root."""
    folders = {floor.split("/")[0] for floor in FLOORS}
    return sorted(
        path.relative_to(PACKAGE) for folder in folders for path in (PACKAGE / folder).rglob("*.py")
    )


def statements(body: Sequence[Any]) -> Iterator[Any]:
    """Yield all statements of a body, those inside others too."""
    for node in body:
        yield node
        for part in ("body", "handlers", "cases", "orelse", "finalbody"):
            yield from statements(getattr(node, part, ()))


@cache
def imported(path: Path) -> frozenset[Path]:
    """Return the package's modules that a module imports, wherever and for whatever."""
    package = ("eyecast", *path.parent.parts)
    found = set()
    for node in statements(tree_of(PACKAGE / path).body):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = package[: len(package) - node.level + 1] if node.level else ()
        module = (*base, *(node.module.split(".") if node.module else ()))
        if module[:1] != ("eyecast",):
            continue
        home = Path(*module[1:])
        for alias in node.names:
            inner = home / f"{alias.name}.py"
            found.add(inner if (PACKAGE / inner).is_file() else Path(f"{home}.py"))
    return frozenset(name for name in found if (PACKAGE / name).is_file())


def third_party_names(path: Path) -> set[str]:
    """Return the top names of other packages that a module imports, wherever and for whatever."""
    names = set()
    for node in statements(tree_of(PACKAGE / path).body):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module).split(".")[0])
    return names - sys.stdlib_module_names - {"eyecast"}


def requirement_names(lines: Sequence[str]) -> set[str]:
    """Return the names of the packages in a list of requirements, as registries spell them."""
    return {re.split(r"[^\w.-]", line)[0].lower().replace("_", "-") for line in lines}


def floor_of(path: Path) -> str:
    """Return a module's floor: the longest floor name that its path begins with."""
    return max((floor for floor in FLOORS if path.is_relative_to(floor)), key=len, default="")


MODULES = sources()


def test_a_module_imports_only_from_its_floor_and_those_below() -> None:
    allowed = {path: FLOORS.get(floor_of(path), set()) | {floor_of(path)} for path in MODULES}
    wrong = {
        path: [other for other in imported(path) if floor_of(other) not in allowed[path]]
        for path in MODULES
    }
    assert {path: others for path, others in wrong.items() if others} == {}


def test_no_module_imports_itself_in_a_circle() -> None:
    TopologicalSorter({path: imported(path) for path in MODULES}).prepare()


def test_no_folder_imports_itself_in_a_circle() -> None:
    arrows: dict[Path, set[Path]] = {}
    for path in MODULES:
        arrows.setdefault(path.parent, set()).update(each.parent for each in imported(path))
    TopologicalSorter({home: others - {home} for home, others in arrows.items()}).prepare()


def test_the_package_lists_its_floors_from_the_lowest_up() -> None:
    listed = re.findall(r"^ {4}(\w+) {2,}\w", eyecast.__doc__ or "", re.MULTILINE)
    places = {name: place for place, name in enumerate(listed)}
    tops: dict[str, set[str]] = {floor.partition("/")[0]: set() for floor in FLOORS}
    for floor, below in FLOORS.items():
        tops[floor.partition("/")[0]] |= {each.partition("/")[0] for each in below}
    assert len(listed) == len(places)
    assert places.keys() == tops.keys()
    for name, below in tops.items():
        assert all(places[each] < places[name] for each in below - {name}), name


def test_the_page_for_contributors_names_every_floor_in_the_table_of_its_folder() -> None:
    text = (PACKAGE / "CONTRIBUTING.md").read_text()
    for heading, inner in (("| folder | content |", False), ("| folder of `model/` |", True)):
        table = text.partition(heading)[2].partition("\n\n")[0]
        listed = set(re.findall(r"^\| `([\w/]+)/` \|", table, re.MULTILINE))
        floors = {floor if inner else floor.partition("/")[0] for floor in FLOORS}
        assert {floor for floor in floors if floor.startswith("model/") == inner} <= listed
        assert all(each.startswith("model/") == inner for each in listed)


def test_every_folder_of_modules_is_a_package_that_is_installed() -> None:
    installed = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {path.parent for path in MODULES}
    names = {".".join(("eyecast", *folder.parts)) for folder in folders}
    assert names == set(installed["packages"]) - {"eyecast"}
    assert all((PACKAGE / folder / "__init__.py").is_file() for folder in folders)


def test_what_is_installed_beside_modules_is_there() -> None:
    installed = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["tool"]["setuptools"]
    for package, patterns in installed["package-data"].items():
        folder = PACKAGE / Path(*package.split(".")[1:])
        assert all(list(folder.glob(pattern)) for pattern in patterns), package


@pytest.mark.parametrize(
    "patterns",
    [build.BUILT_FROM, proof.BUILT_FROM, bitstream.BUILT_FROM],
    ids=["sim", "proof", "board"],
)
def test_every_pattern_of_a_digest_finds_sources(patterns: tuple[str, ...]) -> None:
    source_digest(*patterns)


def test_a_pattern_that_finds_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no source of eyecast matches rtl/nothing"):
        source_digest("rtl/**/*.py", "rtl/nothing*.py")


def test_the_root_holds_the_package_itself_alone() -> None:
    assert {path.name for path in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}


def spells_an_option(path: Path) -> bool:
    """Tell whether a text of a module, except a docstring, contains a command's option."""
    nodes = list(ast.walk(tree_of(PACKAGE / path)))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = (
        node for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings
    )
    return any(re.search("--[a-z]", str(text.value)) for text in texts)


def test_no_text_of_the_model_spells_an_option() -> None:
    """Options depend on the interface: ``--source`` for commands, ``source=`` for Python."""
    assert not [path for path in MODULES if path.parts[0] == "model" and spells_an_option(path)]
    assert spells_an_option(Path("cli/options/collective.py"))


def test_the_types_are_checked_without_what_only_an_extra_installs() -> None:
    # `make lint` runs in an environment with the extra `dev` alone.
    config = tomllib.loads((PACKAGE / "pyproject.toml").read_text())
    skipped = {
        module.removesuffix(".*")
        for override in config["tool"]["mypy"]["overrides"]
        if override.get("ignore_missing_imports")
        for module in override["module"]
    }
    extras = config["project"]["optional-dependencies"]
    there = requirement_names(config["project"]["dependencies"] + extras["dev"])
    absent = set[str]().union(*map(requirement_names, extras.values())) - there
    distributions = packages_distributions()
    for path in MODULES:
        for name in third_party_names(path) - skipped:
            owners = {owner.lower().replace("_", "-") for owner in distributions.get(name, [name])}
            assert not owners & absent, f"{path}: {name} has no line in pyproject's [tool.mypy]"
