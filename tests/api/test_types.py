"""The types of the face: what annotations say, what type checkers refuse, what editors complete."""

import ast
import inspect
import json
import re
import sys
import venv
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from helpers.processes import run_program

import eyecast
import eyecast.api as face
from eyecast.api import annotations
from eyecast.model.collectives.declared.request import Ports
from eyecast.model.network.config import TIMINGS, NetworkConfig
from eyecast.model.network.operators import BUILT_IN
from eyecast.model.network.port_model import PORT_MODELS
from eyecast.model.schedule.collective import COLLECTIVES
from eyecast.model.traffic.patterns import PATTERNS
from eyecast.model.workload.timeline import Policy
from eyecast.sim.cache import PACKAGE

USES = Path(__file__).with_name("uses_of_types.py")
FUNCTIONS = [name for name in face.__all__ if inspect.isfunction(getattr(face, name))]
LATER = {"Entry", "Findings", "Plan", "Verification", "WorkloadRun"}
"""Classes of results, which are loaded when they are asked for."""


def hints(function: Any) -> dict[str, Any]:
    """Return the types of a function's parameters and of its result."""
    from matplotlib.figure import Figure

    inner = inspect.unwrap(function)
    known = {name: getattr(eyecast, name) for name in face.__all__}
    return get_type_hints(inner, localns={**known, "Figure": Figure})


def parts(annotation: Any) -> set[Any]:
    """Return a type, and the types and values in its brackets, except NumPy's generic types."""
    if get_origin(annotation) in (np.integer, np.ndarray):
        return set()
    return {annotation}.union(*map(parts, get_args(annotation)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_parameter_and_result_has_a_type(name):
    function = getattr(eyecast, name)
    parameters = inspect.signature(function).parameters.values()
    types = hints(function)
    assert {each.name for each in parameters} | {"return"} == {*types}
    if name != "sweep":  # A sweep file may hold anything, and each column has a type of its own.
        assert not [each for each in types if Any in parts(types[each])]
    for each in parameters:
        literals = [part for part in parts(types[each.name]) if isinstance(part, str)]
        if literals and isinstance(each.default, str):
            assert each.default in literals, each


@pytest.mark.parametrize(
    ("literal", "names"),
    [
        (annotations.CollectiveName, COLLECTIVES),
        (annotations.PortsName, tuple(Ports)),
        (annotations.TimingName, TIMINGS),
        (annotations.PatternName, PATTERNS),
        (annotations.OperatorName, BUILT_IN),
        (annotations.PolicyName, Policy),
        (
            annotations.PortModelName,
            [str(model).replace("all-port", "all") for model in PORT_MODELS],
        ),
    ],
)
def test_literals_are_the_names_that_the_model_knows(literal, names):
    assert get_args(literal) == tuple(names)


def test_parameters_of_a_network_are_its_fields():
    given = get_type_hints(NetworkConfig)
    typed = get_type_hints(annotations.NetworkParameters)
    assert [*typed] == [field.name for field in fields(NetworkConfig) if field.name != "topology"]
    different = {name for name in typed if typed[name] != given[name]}
    assert different == {"operators"}


def test_type_checkers_see_every_name():
    """``__all__`` has every imported name; only classes of results are loaded at first use."""
    tree = ast.parse((PACKAGE / "api/__init__.py").read_text())
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }
    assert imported == {*face.__all__}
    assert {*face.__all__} - {*vars(face)} == LATER
    assert eyecast.__all__ == face.__all__
    assert (PACKAGE / "py.typed").is_file()


def test_the_face_lists_its_names_and_nothing_else():
    given: dict[str, object] = {}
    exec("from eyecast import *", given)
    assert {*given} - {"__builtins__"} == {*eyecast.__all__}
    shown = {name for name in dir(eyecast) if not name.startswith("__")}
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    assert shown - folders == {*eyecast.__all__}


def refused_lines() -> list[int]:
    """Return the numbers of the lines that a type checker must refuse."""
    lines = USES.read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith("# refused")]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder in which the package has its name, with the file of uses beside it."""
    (tmp_path / "eyecast").symlink_to(PACKAGE, target_is_directory=True)
    (tmp_path / "uses.py").write_text(USES.read_text())
    return tmp_path


@pytest.mark.slow
def test_mypy_refuses_wrong_uses_alone(checkout):
    options = ("--strict", "--follow-imports=silent", "--explicit-package-bases", "--config-file=")
    cache = f"--cache-dir={checkout / 'kept'}"
    command = (sys.executable, "-m", "mypy", *options, cache, "uses.py")
    done = run_program(command, cwd=checkout)
    found = re.findall(r"^uses\.py:(\d+): error", done.stdout, re.MULTILINE)
    assert sorted({*map(int, found)}) == refused_lines(), done.stdout


@pytest.mark.slow
def test_an_editable_install_shows_its_types(tmp_path: Path) -> None:
    """The links of ``make types`` are enough, also in an environment without any package."""
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False)
    run_program(["make", "types", f"VENV={environment}"], cwd=PACKAGE, check=True)
    (tmp_path / "uses.py").write_text("import eyecast\n\nreveal_type(eyecast.mesh((2, 2)))\n")
    python = f"--python-executable={environment / 'bin' / 'python'}"
    command = (sys.executable, "-m", "mypy", "--config-file=", "--cache-dir=kept", python)
    done = run_program([*command, "uses.py"], cwd=tmp_path)
    assert '"eyecast.model.network.topology.Topology"' in done.stdout, done.stdout


@pytest.mark.slow
def test_pyright_refuses_wrong_uses_alone(checkout):
    pytest.importorskip("basedpyright", reason="basedpyright is not installed: '.[checks]'")
    settings = {"include": ["uses.py"], "extraPaths": ["."], "typeCheckingMode": "standard"}
    (checkout / "pyrightconfig.json").write_text(json.dumps(settings))
    command = (sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable)
    done = run_program([*command, "--outputjson"], cwd=checkout)
    errors = json.loads(done.stdout)["generalDiagnostics"]
    found = {error["range"]["start"]["line"] + 1 for error in errors}
    assert sorted(found) == refused_lines(), done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("eyecast.schedule_of", {"schedule_of_rounds", "schedule_of_sends"}),
        ("eyecast.Pred", {"Prediction"}),
        ("eyecast.schedule(network, 'eye', so", {"source="}),
        ("network.faulty_", {"faulty_links", "faulty_nodes"}),
    ],
)
def test_an_interactive_shell_completes_names(typed, completed):
    core = pytest.importorskip("IPython.core", reason="IPython is not installed: '.[notebooks]'")
    shell = core.interactiveshell.InteractiveShell.instance()
    shell.user_ns.update(eyecast=eyecast, network=eyecast.mesh((2, 2)))
    with core.completer.provisionalcompleter():
        found = [each.text for each in shell.Completer.completions(typed, len(typed))]
    assert {*found} == completed
