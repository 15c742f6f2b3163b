"""``make mutants``: change one line at a time, and ask whether a default test notices.

    python bench/mutants.py [--mutants 600] [--minutes 60] [--state build/mutants/state.json]
    python bench/mutants.py --folders 1        try the nearest tests only
    python bench/mutants.py --of model/bounds  change lines of this folder only
    python bench/mutants.py --mutant 17        run one mutant alone, and print its tests' output
    python bench/mutants.py --list             print all mutants, with the kept results
    python bench/mutants.py --table            print the kept results as the table of docs/proofs.md

A mutant is one changed place in a copy of the tree: an exchanged comparison or operator, a constant
one greater, a removed ``not``, or a removed statement. The places are drawn by a kept seed, equally
many from each folder of :data:`NEAREST`. The nearest tests run first and then those of further
folders, until one fails. A mutant that no test notices *survives*. Survivors that change nothing
that can be observed are in ``bench/mutants.json``, each with its reason.

This process imports the libraries once, and forks for the tests of each mutant.
"""

import ast
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, NoReturn

import click
from rich.console import Console
from rich.progress import track

from eyecast.model.base.files import write_atomically

ROOT = Path(__file__).resolve().parents[1]
SEED = 34
LIMIT = 300
"""Seconds of CPU time for the tests of a folder; a mutant that takes longer never ends."""
WARM = ("numpy", "numba", "msgspec", "rich.table", "amaranth.back.rtlil", "pytest", "scipy")
"""Libraries that all tests need, and that are imported once."""
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
EXCHANGED: dict[type[ast.AST], str] = {
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
WRITTEN: dict[type[ast.AST], str] = {
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="},
    **{ast.Add: "+", ast.Sub: "-", ast.BitAnd: "&", ast.BitOr: "|", ast.And: "and", ast.Or: "or"},
}
"""Operators as they are written, and what takes their places."""
EQUIVALENT: dict[str, str] = json.loads(Path(__file__).with_suffix(".json").read_text())
"""Survivors by their names, and why no test can notice each."""


@dataclass(frozen=True)
class Mutant:
    """A changed place: the characters ``begin`` to ``end`` of a file become ``text``."""

    file: str
    column: int
    begin: int
    end: int
    text: str
    before: str
    source: str

    @property
    def name(self) -> str:
        """Return file, source, place in it and change: they stay when other lines change."""
        before = " ".join(self.before.split())
        return f"{self.file}: {self.source}: {self.column}: {before} -> {self.text or 'nothing'}"

    @property
    def order(self) -> str:
        """Return the mutant's place in its folder's draw, drawn by the kept seed."""
        return sha256(f"{SEED} {self.name}".encode()).hexdigest()


def mutants_of(file: str) -> Iterator[Mutant]:
    """Yield every mutant of a Python file of the tree."""
    source = (ROOT / file).read_text()
    lines, starts = source.splitlines(keepends=True), [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    octets = source.encode()

    def place(line: int, column: int) -> int:
        return starts[line - 1] + column

    def mutant(line: int, begin: int, end: int, text: str) -> Mutant:
        indented = lines[line - 1]
        column = begin - starts[line - 1] + 1 - (len(indented) - len(indented.lstrip()))
        before = octets[begin:end].decode()
        return Mutant(file, column, begin, end, text, before, indented.strip())

    for node in _carried_out(ast.parse(source)):
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
                    number = octets.count(b"\n", 0, begin) + 1
                    end = begin + len(written)
                    yield mutant(number, begin, end, EXCHANGED[type(operator)])


def _carried_out(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, except those of annotations, which only type checkers read."""
    left = deque([tree])
    while left:
        node = left.popleft()
        yield node
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns"):
                values = value if isinstance(value, list) else [value]
                left += [each for each in values if isinstance(each, ast.AST)]


def drawn_mutants(number: int) -> list[Mutant]:
    """Draw mutants by the kept seed: equally many from each folder of :data:`NEAREST`.

    A changed line exchanges only its own mutants.
    """
    pools = []
    for folder in NEAREST:
        files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py"))
        pool = [mutant for file in files for mutant in mutants_of(file)]
        pools.append(sorted(pool, key=lambda mutant: mutant.order))
    return [pools[place % len(pools)][place // len(pools)] for place in range(number)]


def copy_tree(home: Path) -> Path:
    """Copy the tree to ``home/eyecast``, with the compiled loops; return the copy."""
    tree = home / "eyecast"
    shutil.rmtree(tree, ignore_errors=True)
    left_out = shutil.ignore_patterns(".git", ".venv", "build", ".pytest_cache", ".mypy_cache")
    shutil.copytree(ROOT, tree, ignore=left_out)
    return tree


class Result(NamedTuple):
    """The test folder that notices a mutant, or None; and the number of folders that were tried.

    Instead of a folder, :data:`ENDLESS` if the tests of a folder exceed :data:`LIMIT`.
    """

    by: str | None
    tried: int


def result_of(mutant: Mutant, tree: Path, folders: int, *, shown: bool = False) -> Result:
    """Run the tests of at most ``folders`` folders, the nearest first, until one fails."""
    with mutated(mutant, tree):
        for number, tests in enumerate(tests_of(mutant)[:folders], 1):
            command = [*_named_alike(tree, mutant, tests), tests]
            status = _status(tree, command, loops=_has_loops(tree, mutant), shown=shown)
            if status:
                return Result(ENDLESS if status == -signal.SIGXCPU else tests, number)
    return Result(None, min(folders, len(tests_of(mutant))))


@contextmanager
def mutated(mutant: Mutant, tree: Path) -> Iterator[None]:
    """Change the mutant's file, and put it back with its time, which caches compare."""
    path = tree / mutant.file
    octets, before = path.read_bytes(), path.stat()
    path.write_bytes(octets[: mutant.begin] + mutant.text.encode() + octets[mutant.end :])
    try:
        yield
    finally:
        path.write_bytes(octets)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def folder_of(mutant: Mutant) -> str:
    """Return the folder of :data:`NEAREST` that has the mutant's file."""
    return next(each for each in NEAREST if mutant.file.startswith(f"{each}/"))


def tests_of(mutant: Mutant) -> list[str]:
    """Return the folders of tests for a mutant, the nearest first."""
    return [each for each in NEAREST[folder_of(mutant)] if (ROOT / each).exists()]


def _named_alike(tree: Path, mutant: Mutant, tests: str) -> list[str]:
    """Return the test files of a folder that are named like the changed file: they run first."""
    found = (tree / tests).rglob(f"test_{Path(mutant.file).stem}*.py")
    return sorted(str(each.relative_to(tree)) for each in found)


def _has_loops(tree: Path, mutant: Mutant) -> bool:
    """Tell whether Numba compiles functions of the mutant's file.

    Its cache does not notice that a function changes which another file's function calls.
    """
    return "base.loops import" in (tree / mutant.file).read_text()


def _status(tree: Path, tests: list[str], *, loops: bool, shown: bool) -> int:
    """Run default tests in a child process; return its exit status, or less than 0 by a signal."""
    with TemporaryDirectory() as compiled:
        child = os.fork()
        if child == 0:
            _become_tests(tree, tests, compiled if loops else None, shown=shown)
        try:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        except BaseException:
            os.killpg(child, signal.SIGKILL)
            raise


def _become_tests(tree: Path, tests: list[str], compiled: str | None, *, shown: bool) -> NoReturn:
    """Run tests of the copy in this child process, and end it."""
    status = 3
    try:
        os.setpgid(0, 0)
        # A busy machine must not make a mutant look endless, so the limit is on CPU time.
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 1))
        os.chdir(tree)
        # The tests of names and examples compare the copy with its own files.
        os.environ |= {"PYTHONPATH": str(tree.parent), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.path.insert(0, str(tree.parent))
        sys.dont_write_bytecode = True
        for name in [each for each in sys.modules if each.split(".")[0] == "eyecast"]:
            del sys.modules[name]
        if compiled is not None:
            importlib.import_module("numba").config.CACHE_DIR = compiled
        if not shown:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for number in range(3):
                os.dup2(nowhere, number)
        pytest = importlib.import_module("pytest")
        status = pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests])
    finally:
        os._exit(int(status))


def table_of(drawn: list[Mutant], kept: dict[str, Result]) -> str:
    """Return the results by folder as a table in Markdown."""
    lines = ["| folder | changed lines | noticed | never end | equivalent | survive |"]
    lines += ["|---" * 6 + "|"]
    for folder in NEAREST:
        here = [each for each in drawn if folder_of(each) == folder and each.name in kept]
        counts = Counter(_outcome(each, kept[each.name]) for each in here)
        numbers = [counts[name] for name in OUTCOMES]
        lines.append("| " + " | ".join(map(str, [f"`{folder}`", len(here), *numbers])) + " |")
    return "\n".join(lines)


OUTCOMES = ("noticed", ENDLESS, "equivalent", "survives")


def _outcome(mutant: Mutant, result: Result) -> str:
    """Return one of :data:`OUTCOMES`."""
    if result.by is None:
        return "equivalent" if mutant.name in EQUIVALENT else "survives"
    return ENDLESS if result.by == ENDLESS else "noticed"


@click.command()
@click.option("--mutants", "number", default=600, show_default=True, help="How many are drawn.")
@click.option("--minutes", type=float, help="Begin no mutant after so many minutes.")
@click.option("--folders", default=9, help="The most folders of tests that are tried.")
@click.option("--of", "chosen", multiple=True, type=click.Choice(list(NEAREST)), help="Only these.")
@click.option("--state", type=click.Path(path_type=Path), default=Path("build/mutants/state.json"))
@click.option("--mutant", "one", type=int, help="Run this mutant alone, and show its tests.")
@click.option("--list", "listed", is_flag=True, help="Print the mutants, and run none.")
@click.option("--table", "tabled", is_flag=True, help="Print the kept results as a table.")
def main(
    number: int,
    minutes: float | None,
    folders: int,
    chosen: tuple[str, ...],
    state: Path,
    one: int | None,
    listed: bool,
    tabled: bool,
) -> None:
    """Run the mutants that have no kept result."""
    drawn = [each for each in drawn_mutants(number) if folder_of(each) in (chosen or NEAREST)]
    kept = json.loads(state.read_text()) if state.exists() else {}
    results = {name: Result(*result) for name, result in kept.items()}
    if listed:
        for place, mutant in enumerate(drawn):
            by = results[mutant.name].by or "survives" if mutant.name in results else "not run"
            click.echo(f"{place:4} {mutant.name}  {by}")
        return
    if tabled:
        click.echo(table_of(drawn, results))
        return
    tree = copy_tree(state.parent.resolve())
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for library in WARM:
        importlib.import_module(library)
    if one is not None:
        found = result_of(drawn[one], tree, folders, shown=True)
        click.echo(f"{drawn[one].name}: {found.by or 'survives'}")
        return
    begun, console = time.monotonic(), Console(stderr=True)
    left = [each for each in drawn if is_left(each, results, folders)]
    for mutant in track(left, "mutants", console=console, disable=not console.is_terminal):
        if minutes is not None and time.monotonic() - begun > 60 * minutes:
            break
        results[mutant.name] = found = result_of(mutant, tree, folders)
        write_atomically(state, json.dumps(results, indent=1) + "\n")
        if _outcome(mutant, found) == "survives":
            click.echo(f"survives: {mutant.name}")
    counts = Counter(_outcome(each, results[each.name]) for each in drawn if each.name in results)
    told = ", ".join(f"{counts[name]} {name}" for name in OUTCOMES)
    click.echo(f"{counts.total()} mutants: {told}")
    sys.exit(counts["survives"] > 0)


def is_left(mutant: Mutant, results: dict[str, Result], folders: int) -> bool:
    """Tell whether a mutant has not been tried, or survived fewer folders than now are asked."""
    by, tried = results.get(mutant.name, Result(None, 0))
    return by is None and tried < min(folders, len(tests_of(mutant)))


if __name__ == "__main__":
    main()
