"""``make mutants``: change one line at a time, and ask whether a default test notices.

    python bench/mutants.py [--mutants 600] [--minutes 60] [--state build/mutants/state.json]
    python bench/mutants.py --mutant 17        run one mutant alone, and print its tests' output
    python bench/mutants.py --list             print all mutants, with the kept results

A mutant is one changed place in a copy of the tree: an exchanged comparison or operator, a constant
one greater, a removed ``not``, or a removed statement. The places are drawn by a kept seed, equally
many from each folder of :data:`NEAREST`. The nearest tests run first and then those of further
folders, until one fails. A mutant that no test notices *survives*. Survivors that change nothing
that can be observed are in :data:`EQUIVALENT`, each with its reason.
"""

from __future__ import annotations

import ast
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track

from eyecast.model.base.files import write_atomically

ROOT = Path(__file__).resolve().parents[1]
SEED = 34
LIMIT = 600
"""Seconds of CPU time for the tests of a folder; a mutant that takes longer never ends."""
ENDLESS = "never ends"
NEAREST = {
    "rtl": ("tests/rtl", "tests/sim", "tests/verilog", "tests/buses", "tests/ip"),
    "model/cycle": ("tests/model/cycle", "tests/model/run", "tests/sim", "tests/rtl"),
    "model/exact": ("tests/model/exact", "tests/model/program", "tests/model/compare"),
    "model/program": ("tests/model/program", "tests/model/image", "tests/cli", "tests/sim"),
    "model/schedule": ("tests/model/schedule", "tests/model/collectives", "tests/cli"),
    "model/run": ("tests/model/run", "tests/model/cycle", "tests/cli", "tests/sim"),
    "model/bounds": ("tests/model/bounds", "tests/model/collectives", "tests/cli"),
    "model/compare": ("tests/model/compare", "tests/cli", "tests/sim"),
    "verilog": ("tests/verilog", "tests/sim", "tests/ip"),
    "formats": ("tests/formats", "tests/cli"),
}
"""Folders that are changed, and their tests, the nearest first."""
EXCHANGED = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Add: "-",
    ast.Sub: "+",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.And: "or",
    ast.Or: "and",
}
WRITTEN = {
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="},
    **{ast.Add: "+", ast.Sub: "-", ast.BitAnd: "&", ast.BitOr: "|", ast.And: "and", ast.Or: "or"},
}
"""Operators as they are written, and what takes their places."""
EQUIVALENT: dict[str, str] = {}
"""Survivors by ``file:line:column: before -> after``, and why no test can notice each."""


@dataclass(frozen=True)
class Mutant:
    """A changed place: the characters ``begin`` to ``end`` of a file become ``text``."""

    file: str
    line: int
    column: int
    begin: int
    end: int
    text: str
    before: str

    @property
    def name(self) -> str:
        """Return file, line, column and change, as :data:`EQUIVALENT` names a mutant."""
        change = f"{self.before} -> {self.text or 'nothing'}"
        return f"{self.file}:{self.line}:{self.column}: {change}"


def mutants_of(file: str) -> Iterator[Mutant]:
    """Yield every mutant of a Python file of the tree."""
    source = (ROOT / file).read_text()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    octets = source.encode()

    def place(line: int, column: int) -> int:
        return starts[line - 1] + column

    def mutant(line: int, begin: int, end: int, text: str) -> Mutant:
        column = begin - starts[line - 1] + 1
        return Mutant(file, line, column, begin, end, text, octets[begin:end].decode())

    for node in ast.walk(ast.parse(source)):
        operators: list[tuple[ast.expr, ast.AST, ast.expr]] = []
        match node:
            case ast.Compare():
                sides = [node.left, *node.comparators]
                operators = list(zip(sides, node.ops, sides[1:], strict=False))
            case ast.BinOp():
                operators = [(node.left, node.op, node.right)]
            case ast.BoolOp():
                operators = [(node.values[0], node.op, node.values[1])]
            case ast.UnaryOp(op=ast.Not()):
                begin = place(node.lineno, node.col_offset)
                yield mutant(node.lineno, begin, begin + len("not "), "")
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                begin = place(node.lineno, node.col_offset)
                end = place(node.end_lineno or 0, node.end_col_offset or 0)
                yield mutant(node.lineno, begin, end, str(value + 1))
            case ast.AugAssign() | ast.Raise() | ast.Continue():
                begin = place(node.lineno, node.col_offset)
                end = place(node.end_lineno or 0, node.end_col_offset or 0)
                yield mutant(node.lineno, begin, end, "pass")
        for left, operator, right in operators:
            if type(operator) in EXCHANGED:
                written = WRITTEN[type(operator)].encode()
                after = place(left.end_lineno or 0, left.end_col_offset or 0)
                begin = octets.find(written, after, place(right.lineno, right.col_offset))
                if begin >= 0:
                    line = octets.count(b"\n", 0, begin) + 1
                    end = begin + len(written)
                    yield mutant(line, begin, end, EXCHANGED[type(operator)])


def drawn_mutants(number: int) -> list[Mutant]:
    """Draw mutants by the kept seed: equally many from each folder of :data:`NEAREST`."""
    draw = random.Random(SEED)
    pools = []
    for folder in NEAREST:
        files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py"))
        pool = [mutant for file in files for mutant in mutants_of(file)]
        draw.shuffle(pool)
        pools.append(pool)
    return [pools[place % len(pools)][place // len(pools)] for place in range(number)]


def copy_tree(home: Path) -> Path:
    """Copy the tree to ``home/eyecast``, with the compiled loops; return the copy."""
    tree = home / "eyecast"
    shutil.rmtree(tree, ignore_errors=True)
    left_out = shutil.ignore_patterns(".git", ".venv", "build", ".pytest_cache", ".mypy_cache")
    shutil.copytree(ROOT, tree, ignore=left_out)
    return tree


def survives(mutant: Mutant, tree: Path, *, shown: bool = False) -> str | None:
    """Return the test folder that notices a mutant, or None if it survives.

    Return :data:`ENDLESS` if the tests of a folder exceed :data:`LIMIT`.
    """
    path = tree / mutant.file
    octets = path.read_bytes()
    path.write_bytes(octets[: mutant.begin] + mutant.text.encode() + octets[mutant.end :])
    folder = next(each for each in NEAREST if mutant.file.startswith(f"{each}/"))
    try:
        for tests in [each for each in NEAREST[folder] if (tree / each).exists()]:
            status = _status(tree, [*_named_alike(tree, mutant, tests), tests], shown=shown)
            if status:
                return ENDLESS if status == -signal.SIGXCPU else tests
        return None
    finally:
        path.write_bytes(octets)


def _named_alike(tree: Path, mutant: Mutant, tests: str) -> list[str]:
    """Return the test files of a folder that are named like the changed file: they run first."""
    found = (tree / tests).rglob(f"test_{Path(mutant.file).stem}*.py")
    return sorted(str(each.relative_to(tree)) for each in found)


def _status(tree: Path, tests: list[str], *, shown: bool) -> int:
    """Run default tests in the copy; return the exit status."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    # The tests of names and examples compare the copy with its own files.
    environment = os.environ | {"PYTHONPATH": str(tree.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command,
        cwd=tree,
        env=environment,
        capture_output=not shown,
        check=False,
        # A busy machine must not make a mutant look endless, so the limit is on CPU time.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 1)),
    ).returncode


@click.command()
@click.option("--mutants", "number", default=600, show_default=True, help="How many are drawn.")
@click.option("--minutes", type=float, help="Begin no mutant after so many minutes.")
@click.option("--state", type=click.Path(path_type=Path), default=Path("build/mutants/state.json"))
@click.option("--mutant", "one", type=int, help="Run this mutant alone, and show its tests.")
@click.option("--list", "listed", is_flag=True, help="Print the mutants, and run none.")
def main(number: int, minutes: float | None, state: Path, one: int | None, listed: bool) -> None:
    """Run the mutants that have no kept result."""
    drawn = drawn_mutants(number)
    noticed: dict[str, str | None] = json.loads(state.read_text()) if state.exists() else {}
    if listed:
        for place, mutant in enumerate(drawn):
            click.echo(f"{place:4} {mutant.name}  {noticed.get(mutant.name, 'not run')}")
        return
    tree = copy_tree(state.parent)
    if one is not None:
        click.echo(f"{drawn[one].name}: {survives(drawn[one], tree, shown=True) or 'survives'}")
        return
    begun, console = time.monotonic(), Console(stderr=True)
    left = [each for each in drawn if each.name not in noticed]
    for mutant in track(left, "mutants", console=console, disable=not console.is_terminal):
        if minutes is not None and time.monotonic() - begun > 60 * minutes:
            break
        noticed[mutant.name] = survives(mutant, tree)
        write_atomically(state, json.dumps(noticed, indent=1) + "\n")
        if noticed[mutant.name] is None and mutant.name not in EQUIVALENT:
            click.echo(f"survives: {mutant.name}")
    here = {each.name: noticed[each.name] for each in drawn if each.name in noticed}
    left_alive = [name for name, by in here.items() if by is None]
    endless = list(here.values()).count(ENDLESS)
    equivalent = len(EQUIVALENT.keys() & set(left_alive))
    click.echo(
        f"{len(here)} mutants: {len(here) - len(left_alive) - endless} noticed, {endless} never "
        f"end, {equivalent} equivalent, {len(left_alive) - equivalent} survive"
    )
    sys.exit(len(left_alive) > equivalent)


if __name__ == "__main__":
    main()
