"""``make mutants``: change one line at a time, and ask whether a default test notices.

    python bench/mutants.py [--mutants 600] [--minutes 60] [--state build/mutants/state.json]
    python bench/mutants.py --jobs 2           run two mutants at a time
    python bench/mutants.py --folders 1        try the nearest tests only
    python bench/mutants.py --of model/bounds  change lines of this folder only
    python bench/mutants.py --again            run the mutants that survived again
    python bench/mutants.py --mutant 17        run one mutant alone, and print its tests' output
    python bench/mutants.py --list             print all mutants, with the kept results
    python bench/mutants.py --table            print the kept results as the table of docs/proofs.md

A mutant is one changed place in a copy of the tree: an exchanged comparison or operator, a constant
one greater, a removed ``not``, or a removed statement. The places are drawn by a kept seed, equally
many from each folder of :data:`NEAREST`.

The tool first records which functions each nearest test enters, and keeps that beside the state. A
mutant needs only the test files that enter its function: the tests that enter it run first, the
quickest before the others, until one fails. A mutant that no test notices *survives*. Survivors
that change nothing that can be observed are in ``bench/mutants.json``, each with its reason.

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
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from math import inf
from mmap import mmap
from multiprocessing import SimpleQueue, get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.progress import track

from eyecast.bench.entered import (
    BUILDS,
    Chosen,
    Recorded,
    Recorder,
    Sources,
    mark_functions,
    marked_code,
)
from eyecast.model.base.files import write_atomically

ROOT = Path(__file__).resolve().parents[1]
SEED = 34
SPARE, COMPILING = 15, 90
"""Seconds of CPU time beyond four times those of the tests, and more if loops are compiled anew.

A mutant whose tests take longer never ends.
"""
FIRST = 10
"""Seconds of the first tests of a mutant; most mutants need no others."""
WARM = ("numpy", "numba", "msgspec", "rich.table", "amaranth.back.rtlil", "pytest", "scipy")
"""Libraries that all tests need, and that are imported once."""
ENDLESS = "never ends"
NEAREST = {
    "rtl": ("tests/rtl", "tests/buses", "tests/sim", "tests/verilog", "tests/ip"),
    "model/cycle": ("tests/model/cycle", "tests/model/run", "tests/sim", "tests/rtl"),
    "model/exact": ("tests/model/exact", "tests/model/program", "tests/model/compare"),
    "model/program": (
        *("tests/model/program", "tests/model/image", "tests/cli", "tests/sim"),
        *("tests/model/schedule", "tests/model/collectives", "tests/model/cycle"),
    ),
    "model/schedule": (
        "tests/model/schedule",
        "tests/model/collectives",
        "tests/model/compare",
        "tests/cli",
    ),
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
    line: int
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
        return Mutant(file, line, column, begin, end, text, before, indented.strip())

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


def copy_tree(tree: Path) -> None:
    """Copy the tree, with the compiled loops."""
    shutil.rmtree(tree, ignore_errors=True)
    left_out = shutil.ignore_patterns(".git", ".venv", "build", ".pytest_cache", ".mypy_cache")
    shutil.copytree(ROOT, tree, ignore=left_out)


class Result(NamedTuple):
    """The test that notices a mutant or None, the number of folders tried, and the CPU seconds.

    Instead of a test, :data:`ENDLESS` if the tests exceed their limit of CPU time.
    """

    by: str | None
    tried: int
    seconds: float


class Reach:
    """The functions that each test enters."""

    def __init__(self, state: Path) -> None:
        self.path = state.with_name("entered.json")
        kept = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.names: dict[str, int] = {name: at for at, name in enumerate(kept.get("names", []))}
        self.files: dict[str, Any] = kept.get("files", {})

    def add(self, file: str, recorded: Recorded) -> None:
        """Keep what the tests of a file enter."""
        numbered = {
            test: (seconds, [self.names.setdefault(name, len(self.names)) for name in entered])
            for test, (seconds, entered) in recorded.items()
        }
        self.files[file] = [_digest(file), numbered]

    def keep(self) -> None:
        """Write the file."""
        write_atomically(self.path, json.dumps({"names": list(self.names), "files": self.files}))

    def left(self, folders: int, chosen: Iterable[str]) -> list[str]:
        """Return the nearest test files that are new or have changed."""
        nearest = {folder for each in chosen for folder in NEAREST[each][:folders]}
        found = {path for each in nearest for path in (ROOT / each).rglob("test_*.py")}
        files = sorted(str(path.relative_to(ROOT)) for path in found)
        return [each for each in files if self.files.get(each, [""])[0] != _digest(each)]

    def tests(self, mutant: Mutant, folders: int) -> list[tuple[str, float]]:
        """Return tests and their seconds: first those that enter the function, by their seconds.

        Then the other tests of the same files, which may use what the first ones have made, and of
        files that import the mutant's, which may read a line outside of functions.
        """
        imports = f"from eyecast.{mutant.file[:-3].replace('/', '.')} import"
        entrances = {
            self.names[name]
            for name in _sources().entrances(mutant.file, mutant.line)
            if name in self.names
        }
        hardware = mutant.file.startswith(("rtl/", "verilog/"))
        built = {self.names.get(BUILDS, -1)} if hardware else set[int]()
        nearest = tuple(f"{each}/" for each in NEAREST[folder_of(mutant)][:folders])
        first, second = [], []
        for file, (_, tests) in self.files.items():
            if file.startswith(nearest):
                enter = {name for name, (_, entered) in tests.items() if entrances & set(entered)}
                builds = any(built & set(entered) for _, entered in tests.values())
                first += [(name, tests[name][0]) for name in enter]
                if enter or builds or imports in (ROOT / file).read_text():
                    second += [(name, tests[name][0]) for name in tests if name not in enter]
        return sorted(first, key=lambda each: each[1]) + second


def _digest(file: str) -> str:
    return sha256((ROOT / file).read_bytes()).hexdigest()


@cache
def _sources() -> Sources:
    return Sources(ROOT)


def result_of(
    mutant: Mutant, tree: Path, tests: list[tuple[str, float]], folders: int, *, shown: bool
) -> Result:
    """Run tests of at most ``folders`` folders until one fails."""
    begun, before = sum(os.times()[:4]), 0.0
    parts: tuple[dict[str, float], ...] = ({}, {})
    tried = min(folders, len(NEAREST[folder_of(mutant)]))
    for name, seconds in tests:
        parts[before >= FIRST][name] = seconds
        before += seconds
    spare = SPARE + COMPILING * bool(_loops(tree, mutant))
    with mutated(mutant, tree):
        noticed = (_noticed_by(tree, part, spare, shown=shown) for part in parts if part)
        by = next(filter(None, noticed), None)
    return Result(by, tried, round(sum(os.times()[:4]) - begun, 1))


@contextmanager
def mutated(mutant: Mutant, tree: Path) -> Iterator[None]:
    """Change the mutant's file, and put it back with its time, which caches compare.

    Numba's cache does not notice that a function changes which another file's function calls, so
    the loops of all files that use the changed one are compiled anew.
    """
    path = tree / mutant.file
    octets, before = path.read_bytes(), path.stat()
    loops = {each: each.read_bytes() for each in _loops(tree, mutant)}
    path.write_bytes(octets[: mutant.begin] + mutant.text.encode() + octets[mutant.end :])
    for each in loops:
        each.unlink()
    try:
        yield
    finally:
        path.write_bytes(octets)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        for each in _loops(tree, mutant):
            each.unlink()
        for each, compiled in loops.items():
            each.write_bytes(compiled)


def _loops(tree: Path, mutant: Mutant) -> list[Path]:
    """Return the files of compiled loops that a mutant may change."""
    sources = _sources()
    if sources.function_at(mutant.file, mutant.line):
        return []
    users = [Path(each) for each in sources.users(mutant.file) if sources.has_compiled(each)]
    return [
        found
        for each in users
        for found in (tree / each.parent / "__pycache__").glob(f"{each.stem}.*.nb[ci]")
    ]


def folder_of(mutant: Mutant) -> str:
    """Return the folder of :data:`NEAREST` that has the mutant's file."""
    return next(each for each in NEAREST if mutant.file.startswith(f"{each}/"))


def _noticed_by(tree: Path, tests: dict[str, float], spare: int, *, shown: bool) -> str | None:
    """Run tests of the copy in a child process; return the one that fails, or None."""
    files = sorted({name.partition("::")[0] for name in tests})
    order = {name: place for place, name in enumerate(tests)}

    def run(failed: Path) -> int:
        return _pytest(files, Chosen(order, failed))

    # A busy machine must not make a mutant look endless, so the limit is on CPU time.
    status, failed = _forked(tree, run, limit=spare + 4 * int(sum(tests.values())), shown=shown)
    if status in (0, 5):
        return None
    return ENDLESS if status == -signal.SIGXCPU else failed or files[0]


def recorded_of(file: str, tree: Path) -> Recorded:
    """Run a test file of the copy alone; return what its tests enter."""
    code, names = _marked(tree), _sources().names

    def run(found: Path) -> int:
        entered = mmap(-1, len(names))
        mark_functions(code, entered)
        recorder = Recorder(names, entered)
        status = _pytest([file], recorder)
        found.write_text(json.dumps(recorder.found))
        return status

    status, found = _forked(tree, run, limit=1000)
    if status not in (0, 5):
        raise click.ClickException(f"{file}: status {status} without a mutant")
    return dict(json.loads(found))


@cache
def _marked(tree: Path) -> dict[str, CodeType]:
    return marked_code(Sources(ROOT), tree)


def _pytest(files: list[str], plugin: object) -> int:
    pytest = importlib.import_module("pytest")
    return int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *files], [plugin]))


def _forked(
    tree: Path, run: Callable[[Path], int], *, limit: int, shown: bool = False
) -> tuple[int, str]:
    """Call ``run`` in a child process; return its status and what it writes to the given file.

    A status less than 0 is a signal.
    """
    with TemporaryDirectory() as folder:
        told = Path(folder, "told")
        child = os.fork()
        if child == 0:
            status = 3
            try:
                _become_child(tree, limit, shown=shown)
                status = run(told)
            finally:
                os._exit(status)
        try:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        except BaseException:
            os.killpg(child, signal.SIGKILL)
            raise
        return status, told.read_text() if told.exists() else ""


def _become_child(tree: Path, limit: int, *, shown: bool) -> None:
    """Prepare this child process for tests of the copy."""
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    os.chdir(tree)
    # The tests of names and examples compare the copy with its own files.
    os.environ |= {"PYTHONPATH": str(tree.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.path.insert(0, str(tree.parent))
    sys.dont_write_bytecode = True
    for name in [each for each in sys.modules if each.split(".")[0] == "eyecast"]:
        del sys.modules[name]
    if not shown:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)


def table_of(drawn: list[Mutant], kept: dict[str, Result]) -> str:
    """Return the results by folder as a table in Markdown."""
    lines = [
        "| folder | changed lines | noticed | never end | equivalent | survive | seconds each |"
    ]
    lines += ["|---" * 7 + "|"]
    for folder in NEAREST:
        here = [each for each in drawn if folder_of(each) == folder and each.name in kept]
        counts = Counter(_outcome(each, kept[each.name]) for each in here)
        seconds = sum(kept[each.name].seconds for each in here) / max(1, len(here))
        numbers = [*(counts[name] for name in OUTCOMES), f"{seconds:.0f}"]
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
@click.option("--jobs", default=1, show_default=True, help="Mutants that run at a time.")
@click.option("--again", is_flag=True, help="Run the mutants that survived again.")
@click.option("--of", "chosen", multiple=True, type=click.Choice(list(NEAREST)), help="Only these.")
@click.option("--state", type=click.Path(path_type=Path), default=Path("build/mutants/state.json"))
@click.option("--mutant", "one", type=int, help="Run this mutant alone, and show its tests.")
@click.option("--list", "listed", is_flag=True, help="Print the mutants, and run none.")
@click.option("--table", "tabled", is_flag=True, help="Print the kept results as a table.")
def main(
    number: int,
    minutes: float | None,
    folders: int,
    jobs: int,
    again: bool,
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
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["EYECAST_CACHE"] = str(state.parent.resolve() / "cache")
    for library in WARM:
        importlib.import_module(library)
    left = [each for each in drawn if is_left(each, results, 0 if again else folders)]
    end = inf if minutes is None else time.monotonic() + 60 * minutes
    with workers(state.parent.resolve(), jobs) as pool:
        reach = recorded_reach(pool, state, chosen or tuple(NEAREST), folders)
        if one is not None:
            tests = reach.tests(drawn[one], folders)
            result = pool.submit(_run, drawn[one], tests, folders, end, True).result()
            click.echo(f"{drawn[one].name}: {(result and result.by) or 'survives'}")
            return
        calls = {each: (_run, each, reach.tests(each, folders), folders, end) for each in left}
        for mutant, found in _track(pool, calls):
            if found is not None:
                results[mutant.name] = found
                write_atomically(state, json.dumps(results, indent=1) + "\n")
                if _outcome(mutant, found) == "survives":
                    click.echo(f"survives: {mutant.name}")
    counts = Counter(_outcome(each, results[each.name]) for each in drawn if each.name in results)
    told = ", ".join(f"{counts[name]} {name}" for name in OUTCOMES)
    click.echo(f"{counts.total()} mutants: {told}")
    sys.exit(counts["survives"] > 0)


def recorded_reach(
    pool: ProcessPoolExecutor, state: Path, chosen: tuple[str, ...], folders: int
) -> Reach:
    """Record the nearest test files that are new or have changed; return all that is recorded."""
    reach = Reach(state)
    calls = {each: (_record, each) for each in reach.left(folders, chosen)}
    for file, entered in _track(pool, calls):
        reach.add(file, entered)
        reach.keep()
    return reach


NOT_RUN = Result(None, 0, 0)
_tree: list[Path] = []
"""This worker's copy of the tree."""


@contextmanager
def workers(home: Path, jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Make processes with a copy of the tree each."""
    trees: SimpleQueue[Path] = SimpleQueue()
    for number in range(jobs):
        trees.put(home / str(number) / "eyecast")
    with ProcessPoolExecutor(jobs, get_context("fork"), _begin, (trees,)) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _begin(trees: "SimpleQueue[Path]") -> None:
    _tree.append(trees.get())
    copy_tree(_tree[0])


def _record(file: str) -> Recorded:
    return recorded_of(file, _tree[0])


def _run(
    mutant: Mutant, tests: list[tuple[str, float]], folders: int, end: float, shown: bool = False
) -> Result | None:
    if time.monotonic() > end:
        return None
    return result_of(mutant, _tree[0], tests, folders, shown=shown)


def _track(
    pool: ProcessPoolExecutor, calls: dict[Any, tuple[Any, ...]]
) -> Iterator[tuple[Any, Any]]:
    """Yield each key with the result of its call, as the calls end."""
    console = Console(stderr=True)
    waited = {pool.submit(*call): key for key, call in calls.items()}
    shown = console.is_terminal
    for each in track(as_completed(waited), total=len(waited), console=console, disable=not shown):
        yield waited[each], each.result()


def is_left(mutant: Mutant, results: dict[str, Result], folders: int) -> bool:
    """Tell whether a mutant has not been tried, or survived fewer folders than now are asked.

    With 0 folders, also whether it survived at all. Equivalent ones are tried once.
    """
    if mutant.name in EQUIVALENT and mutant.name in results:
        return False
    by, tried, _ = results.get(mutant.name, NOT_RUN)
    return by is None and (not folders or tried < min(folders, len(NEAREST[folder_of(mutant)])))


if __name__ == "__main__":
    main()
