"""``make fuzz``: damaged command lines and damaged files, each answered as the project promises.

    python bench/fuzz.py [--cases 100000] [--state build/fuzz/state.json]
    python bench/fuzz.py --case 17

A case is drawn from its number. Half of the cases change a command of ``bench/commands.txt`` or a
command's example; the other half change a file that Eyecast or a format's owner reads, and give it
to a command. Each case has an empty folder of its own, and finds no tools: a command that builds
hardware ends where it would start one. It must end within :data:`LIMIT` seconds:

- with status 0, 1 or 2, and without an exception;
- for status 2, with one line on standard error and without a new file;
- a schedule that ``convert`` accepts must be right by the judge of the tests, which shares no code
  with ``Schedule.check``.

The state file has the number of the next case, so that the next run continues this one. Every
failure is printed with the number of its case; ``--case`` repeats it and keeps its folder.
"""

import json
import os
import random
import resource
import shlex
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track

from eyecast.boards.tools import WHEELS
from eyecast.cli.command import Command
from eyecast.cli.main import COMMANDS, cli
from eyecast.cli.main import main as eyecast
from eyecast.formats.registry import FORMATS
from eyecast.model.base.files import write_atomically
from eyecast.model.schedule.file import read_schedule
from eyecast.sim.cache import CACHE_VARIABLE

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
judge = import_module("helpers.schedule_judge")

LIMIT = 60
"""Seconds of CPU time of a case; the largest answered case takes 15."""
MEMORY = 12 << 30
"""Bytes of address space of a case."""
TOGETHER = 250
"""Cases that share a process."""
WITHOUT_TOOLS = {"PATH": "/none"}
WITHOUT_TOOLS |= {name.upper().replace("-", "_"): "/bin/false" for name in WHEELS}
"""Variables with which no tool is found; those of boards are found, and fail."""
QUICK = {"transmit": ("--seconds", "0"), "explore": ("--help",)}
"""Words at the end of a command that would otherwise search for its time limit, or serve a page."""
VALUES = (
    *("", " ", "0", "1", "-1", "2", "3", "1.5", "1e9", "nan", "inf", "99999999999999999999", "0x4"),
    *("x", "4x4", "2x2x2", "0,0", "1,1", "9,9", "-1,0", "0,0,0", "0,0:0,1", "1,1:5", "all", "one"),
    *("é", "\N{SNOWMAN}", "a b", "../x", "/", ".", "missing.json", "out.svg", "out.json", "--json"),
    *("best", "eye", "tree", "ring", "all-reduce", "all-to-all", "broadcast", "half-duplex", "add"),
)
NUMBERS = (0, 1, -1, 2, 3, 7, 63, 64, 255, 256, 1 << 31, 1 << 63, 1 << 64, -(1 << 63), 0.5, 1e308)
WORDS = (None, True, False, "", "0", "x", [], {}, [[]], [None], float("nan"))
MAKING = {
    "eye.json": "schedule --mesh 4x4 --source 0,0 -o eye.json",
    "tree.json": "schedule --binary-tree 7 --source 0 --algorithm tree -o tree.json",
    "fault.json": "schedule --ring 6 --faulty-node 2 --source 0 --algorithm tree -o fault.json",
    "sum.json": "schedule --mesh 3x3 --collective all-reduce -o sum.json",
    "ports.json": "schedule --hypercube 3 --source 0,0,0 --ports all -o ports.json",
    "gather.json": "schedule --ring 6 --collective all-gather -o gather.json",
    "certificate.json": (
        "program --mesh 4x4 --source 0,0 -o program.json --certificate certificate.json"
    ),
    "joining.json": (
        "program --circuits --mesh 3x3 --collective all-reduce --operators add -o circuits.json "
        "--certificate joining.json"
    ),
    "trace.csv": "predict --mesh 4x4 --source 0,0 -o trace.csv",
    "image.csv": "program --mesh 2x2 --source 0,0 --programs 2 --image image.csv",
}
"""Commands that make the files from which cases are drawn; conversions to all formats follow."""
WRITTEN = {
    "network-own.json": '{"kind": "graph", "neighbor": [[-1, 1, 2], [-1, 0, 2], [-1, 0, 1]]}',
    "network-booksim.anynet": "router 0 node 0 router 1 router 2 5\nrouter 1 node 1\nrouter 2\n",
    "network-edges.txt": "# a ring\n0 1\n1 2 17\n2 3\n3 0\n",
    "network-matrix.mtx": (
        "%%MatrixMarket matrix coordinate pattern symmetric\n% comment\n3 3 2\n2 1\n3 2\n"
    ),
    "network-graphml.graphml": (
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="d0" for="node" attr.name="switch" attr.type="boolean"/>'
        '<graph edgedefault="undirected"><node id="a"/><node id="b"/>'
        '<node id="s"><data key="d0">true</data></node><edge source="a" target="s"/>'
        '<edge source="b" target="s"/></graph></graphml>'
    ),
    "network-links.json": (
        '{"directed": false, "nodes": [{"id": "a"}, {"id": "b"}, {"id": "s", "switch": true}],'
        ' "edges": [{"source": "a", "target": "s"}, {"source": "b", "target": "s"}]}'
    ),
    "ring-rounds.csv": (
        "collective,broadcast\nsource,0\nround,source,target,blocks,combine\n"
        "1,0,1,0,\n1,0,5,0,\n2,1,2,0,\n2,5,4,0,\n3,2,3,0,\n"
    ),
    "trees-forestcoll.xml": (
        '<Algo nchunkspernode="1">'
        '<tree root="(0, \'GPU\', 0)" index="0" nchunks="1" height="1">'
        "<send src=\"(0, 'GPU', 0)\" dst=\"(0, 'GPU', 1)\" "
        "path=\"(0, 'GPU', 0),(0, 'NVSwitch', 0),(0, 'GPU', 1)\"/></tree>"
        '<tree root="(0, \'GPU\', 1)" index="0" nchunks="1" height="1">'
        "<send src=\"(0, 'GPU', 1)\" dst=\"(0, 'GPU', 0)\" "
        "path=\"(0, 'GPU', 1),(0, 'NVSwitch', 0),(0, 'GPU', 0)\"/></tree></Algo>"
    ),
    "traffic-table.txt": (
        "% src dst pir por t_on t_off t_period\n0 5 0.01\n1 4 0.02 0.3 0 500 1000\n"
    ),
    "traffic-list.txt": "0 5\n1 4\n-1\n-1\n2 3\n",
    "traffic-own.csv": "cycle,source,target,flits\n0,0,5,4\n3,1,2,1\n",
    "grid-small.toml": (
        'format = "eyecast-sweep"\nversion = 1\n[[grid]]\nkind = "collective"\n'
        'network = ["mesh 2x2", "torus 3x3"]\nsource = "0,0"\nalgorithm = ["eye", "tree"]\n'
        'words = [1, 4]\n[[grid]]\nkind = "traffic"\nnetwork = "mesh 2x2"\nrate = [0.1, 0.2]\n'
        "cycles = 100\nseed = { first = 1, last = 2 }\n"
    ),
    "liberty-tiny.lib": (
        'library (tiny) {\n  time_unit : "1ns";\n  capacitive_load_unit (1.0, "pf");\n'
        "  cell (NAND) {\n    area : 4.5;\n    pin (A) { direction : input; }\n"
        "    pin (B) { direction : input; }\n"
        '    pin (Y) {\n      function : "!(A B)";\n    }\n  }\n'
        "  cell (BUF) {\n    area : 5;\n    pin (A) { direction : input; }\n"
        '    pin (Y) {\n      function : "A";\n    }\n  }\n}\n'
    ),
    "groups-two.json": (
        '{"format": "eyecast-groups", "version": 1, "groups": [{"nodes": [0, 1, 2], "collective": '
        '"broadcast", "root": 1, "words": 4}, {"nodes": [4, 5, 8], "collective": "all-gather", '
        '"block_words": [2, 0, 1]}]}'
    ),
    "blocks-four.json": (
        '{"format": "eyecast-block-words", "version": 1, "collective": "all-gather", '
        '"words": [3, 0, 1, 2]}'
    ),
    "workload-small.csv": (
        "id,rank,what,amount,after\na,all,compute,5,\nsum,0 1/2 3,all-reduce,3,a\n"
        "send,0>3,message,4,sum\n"
    ),
    "mapping-four.txt": "3\n2\n1\n0\n",
    "ranks-two.json": '{"0": [0, 1], "1": [2, 3]}',
    "names-few.json": '{"clk": "top.clock", "tile_0.cycle": "top.noc.t0.cycle"}',
}
"""Small files in the formats that no command writes."""
READING = {
    "schedule": (
        "schedule --schedule {}",
        "predict --schedule {}",
        "program --schedule {} -o p.json",
        "verify --schedule {}",
        "ip --schedule {} -o package",
    ),
    "program": (
        "predict --program {}",
        "predict --program {} -o t.csv",
        "image {} -o out.csv",
        "certify {} certificate.json",
    ),
    "circuits": ("predict --program {}", "certify {} joining.json"),
    "certificate": ("certify program.json {}", "certify program.json {} --late 5"),
    "joining": ("certify circuits.json {}",),
    "network": ("schedule --graph {} --source 0 --algorithm tree", "convert {} out.json"),
    "traffic": ("traffic --mesh 3x3 --traffic-file {}", "convert {} out.csv --mesh 3x3"),
    "trace": ("check {} --mesh 4x4 --source 0,0",),
    "names": ("check trace.csv --mesh 4x4 --source 0,0 --names {}",),
    "image": ("check trace.csv --program program.json --image {}",),
    "grid": ("sweep {} -o table.csv --jobs 1", "sweep {} --jobs 1 --plot cycles out.svg"),
    "liberty": ("asic --mesh 2x2 --flit-width 16 --liberty {}",),
    "groups": ("predict --mesh 4x4 --group {}", "verify --mesh 3x3 --group {}"),
    "blocks": (
        "predict --mesh 2x2 --collective all-gather --block-words {}",
        "ip --mesh 2x2 --collective all-gather --block-words {} -o package",
    ),
    "workload": (
        *("run {} --mesh 2x2", "run {} --mesh 2x2 --circuits"),
        "ip --workload {} --mesh 2x2 -o package",
    ),
    "mapping": ("run workload-small.csv --mesh 2x2 --mapping {}",),
    "ranks": ("run gather-chakra.0.et --ring 6 --comm-group {}",),
    "foreign": (
        "convert {} out.json",
        "convert {} out.json --mesh 4x4",
        "convert {} out.json --ring 6",
    ),
}
JUDGED = "out.json"


@dataclass(frozen=True)
class Case:
    """A command line, and the files that it finds in its folder.

    ``reader`` names the command, or the kind of file that is damaged.
    """

    arguments: list[str]
    files: dict[str, bytes]
    reader: str = ""


def draw_case(number: int, corpus: dict[str, bytes]) -> Case:
    """Return the case with this number; ``corpus`` has the contents of files by name."""
    draw = random.Random(number)
    return _draw_command(draw, corpus) if draw.random() < 0.5 else _draw_file(draw, corpus)


def _draw_command(draw: random.Random, corpus: dict[str, bytes]) -> Case:
    """Draw a command, one of its lines, and change one to three of its words."""
    name = draw.choice(sorted(COMMANDS))
    lines = [line for line in known_lines() if line.split(" ")[0] == name]
    words = shlex.split(draw.choice(lines))
    for _ in range(draw.randint(1, 3)):
        place = draw.randint(1, len(words))
        match draw.randrange(4):
            case 0:
                words[place:place] = _option(draw, words[0])
            case 1:
                words[place:place] = [draw.choice(VALUES)]
            case 2 if place < len(words):
                words[place] = draw.choice(VALUES)
            case _:
                del words[place : place + 1]
    reader = f"eyecast {words[0]}"
    words += QUICK.get(words[0], ())
    return Case(words, {name: corpus[name] for name in words if name in corpus}, reader)


@cache
def known_lines() -> list[str]:
    """Return the lines of ``bench/commands.txt`` and the examples of every command."""
    lines = (ROOT / "bench/commands.txt").read_text().replace("FIXTURES/", "").splitlines()
    usable = [line for line in lines if line.split(" ")[0] in COMMANDS]
    commands = [cli.get_command(click.Context(cli), name) for name in COMMANDS]
    examples = (each.examples for each in commands if isinstance(each, Command))
    calls = (line.partition("eyecast ")[2].partition(")")[0] for each in examples for line in each)
    return [*usable, *calls]


def _option(draw: random.Random, name: str) -> list[str]:
    """Return an option of this command with a drawn value."""
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None
    known = command.get_params(context)
    option = draw.choice([each for each in known if isinstance(each, click.Option)])
    values = [] if option.is_flag else [draw.choice(VALUES)]
    return [draw.choice(option.opts), *values]


def _draw_file(draw: random.Random, corpus: dict[str, bytes]) -> Case:
    """Draw a kind of file, a file, damage it once to four times, and a command that reads it."""
    kind = draw.choice(sorted({kind for name in corpus for kind in kinds_of(name)}))
    name = draw.choice(sorted(name for name in corpus if kind in kinds_of(name)))
    content = corpus[name]
    for _ in range(draw.randint(1, 4)):
        content = _damaged_json(draw, content) if draw.random() < 0.6 else _damaged(draw, content)
    words = shlex.split(draw.choice(READING[kind]).format(name))
    others = {word: corpus[word] for word in words if word in corpus}
    return Case(words, others | {name: content}, kind)


def kinds_of(name: str) -> tuple[str, ...]:
    """Return what a file of the corpus is read as, by the first word of its name."""
    stem = name.partition(".")[0]
    known = stem.partition("-")[0]
    if known in READING:
        return (known,)
    return ("foreign",) if "-" in stem else ("schedule", "foreign")


def _damaged(draw: random.Random, content: bytes) -> bytes:
    """Change bytes: flip, cut, repeat, or write something else over them."""
    if not content:
        return draw.randbytes(8)
    begin = draw.randrange(len(content))
    end = min(len(content), begin + draw.choice((1, 1, 2, 8, 64)))
    middle = {
        0: lambda: b"",
        1: lambda: content[begin:end] * 2,
        2: lambda: draw.randbytes(end - begin),
        3: lambda: str(draw.choice(NUMBERS)).encode(),
        4: lambda: draw.choice((b"\n", b"\0", b",", b'"', b"<", b"{", b"]", b"\xff", b" ")),
    }[draw.randrange(5)]()
    return content[:begin] + middle + content[end:] if draw.random() < 0.95 else content[:begin]


def _damaged_json(draw: random.Random, content: bytes) -> bytes:
    """Change one value of a JSON file, or remove, repeat or exchange one; other files by bytes."""
    try:
        whole = json.loads(content)
    except ValueError:
        return _damaged(draw, content)
    places: list[tuple[Any, Any]] = []
    if isinstance(whole, (dict, list)):
        _collect(whole, places)
    if not places:
        return json.dumps(draw.choice(WORDS)).encode()
    holder, key = draw.choice(places)
    match draw.randrange(5):
        case 0:
            holder[key] = draw.choice(NUMBERS)
        case 1:
            holder[key] = draw.choice(WORDS)
        case 2:
            del holder[key]
        case 3 if isinstance(holder, list):
            holder.insert(key, holder[draw.randrange(len(holder))])
        case _:
            other, there = draw.choice(places)
            if there in other if isinstance(other, dict) else there < len(other):
                holder[key] = json.loads(json.dumps(other[there]))
    return json.dumps(whole).encode()


def _collect(value: Any, places: list[tuple[Any, Any]]) -> None:
    """Add holder and key of every value inside a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs):
        places.append((value, key))
        if isinstance(inner, (dict, list)):
            _collect(inner, places)


def make_corpus(folder: Path) -> dict[str, bytes]:
    """Make the files of :data:`MAKING`, and what ``convert`` makes of the schedules."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, line in MAKING.items():
        if not (folder / name).exists():
            _run(shlex.split(line), folder)
    for schedule in ("eye", "gather", "sum"):
        for form in FORMATS:
            # A trace of Chakra has a file for each NPU, and a number in its name.
            made = folder / f"{schedule}-{form}.0{FORMATS[form].suffixes[0]}"
            if not made.exists() and form != "schedule":
                _run(["convert", f"{schedule}.json", made.name, "--to", form], folder)
    for name, text in WRITTEN.items():
        (folder / name).write_text(text)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def _run(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Run one command in a process of its own; return its status and its errors.

    The status is negative for a signal, and 70 after an exception.
    """
    with tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            os._exit(_answer(arguments, folder, err.fileno()))
        _, status = os.waitpid(child, 0)
        err.seek(0)
        return os.waitstatus_to_exitcode(status), err.read().decode(errors="replace")


def _run_here(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Run one command in this process; return its status and its errors."""
    with tempfile.TemporaryFile() as err:
        status = _answer(arguments, folder, err.fileno())
        err.seek(0)
        return status, err.read().decode(errors="replace")


def _limit(what: int, most: int) -> None:
    """Set a limit of this process, below the one beyond which no process may raise it."""
    resource.setrlimit(what, (most, resource.getrlimit(what)[1]))


def _answer(arguments: list[str], folder: Path, err: int) -> int:
    """Carry out a command in this process, which has no output any more; return its status."""
    status = 70
    os.environ |= {**WITHOUT_TOOLS, CACHE_VARIABLE: f"{folder}.cache"}
    # Yosys as a wheel is not found, either.
    sys.modules["pyosys"] = None  # type: ignore[assignment]
    os.chdir(folder)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(err, 2)
    os.close(nowhere)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    _limit(resource.RLIMIT_AS, MEMORY)
    seconds = int(time.process_time()) + LIMIT
    _limit(resource.RLIMIT_CPU, seconds)
    signal.alarm(10 * LIMIT)
    sys.argv = ["eyecast", *arguments]
    try:
        # A command that fails silences all later warnings.
        with warnings.catch_warnings():
            eyecast()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return status


def fault(case: Case, folder: Path, run: Callable[..., tuple[int, str]] = _run) -> str | None:
    """``run`` a case in an empty folder; return what is wrong with the answer, or None."""
    for name, content in case.files.items():
        (folder / name).write_bytes(content)
    status, errors = run(case.arguments, folder)
    if status < 0:
        return f"ended by signal {-status}"
    if status not in (0, 1, 2) or "Traceback (most recent" in errors:
        return f"status {status}: {errors.strip().splitlines()[-1] if errors.strip() else ''}"
    if status == 2:
        lines = [line for line in errors.splitlines() if line.startswith("eyecast: ")]
        if len(lines) != 1 or lines != errors.splitlines()[-1:]:
            return f"status 2 with {errors!r}"
        new = sorted({path.name for path in folder.iterdir()} - case.files.keys())
        return f"status 2 and a new file {new[0]}" if new else None
    if status == 0 and case.arguments[0] == "convert" and (folder / JUDGED).exists():
        return _judged(folder / JUDGED)
    return None


def faults(numbers: Sequence[int], corpus: dict[str, bytes]) -> dict[int, str]:
    """Return the cases that are not answered as promised, and what is wrong.

    One process runs all of them, because a fork and the imports take ten times as long as a case.
    Cases that it does not find right run again, each in a process of its own. Only those answers
    count.
    """
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile() as right:
        child = os.fork()
        if child == 0:
            for number in numbers:
                folder = Path(tempfile.mkdtemp(dir=home))
                if fault(draw_case(number, corpus), folder, _run_here) is None:
                    os.write(right.fileno(), f"{number}\n".encode())
            os._exit(0)
        os.waitpid(child, 0)
        right.seek(0)
        answered = {int(line) for line in right}
        found = {}
        for number in sorted(set(numbers) - answered):
            wrong = fault(draw_case(number, corpus), Path(tempfile.mkdtemp(dir=home)))
            if wrong is not None:
                found[number] = wrong
        return found


def _judged(path: Path) -> str | None:
    """Return what the judge of the tests says of an accepted schedule, or None."""
    whole = json.loads(path.read_text())
    if "sends" not in whole and "steps" not in whole:
        return None
    found = judge.problems(read_schedule(path))
    return f"accepted, but wrong: {', '.join(sorted(found))}" if found else None


@click.command()
@click.option("--cases", default=100_000, show_default=True, help="Cases in all runs together.")
@click.option("--minutes", type=float, help="Stop after so many minutes.")
@click.option("--state", type=click.Path(path_type=Path), default=Path("build/fuzz/state.json"))
@click.option("--case", "one", type=int, help="Run this case alone, and keep its folder.")
def main(cases: int, minutes: float | None, state: Path, one: int | None) -> None:
    """Draw cases and run them until all have run."""
    corpus = make_corpus(state.parent / "files")
    if one is not None:
        case, folder = draw_case(one, corpus), Path(tempfile.mkdtemp())
        click.echo(f"cd {folder}; eyecast {shlex.join(case.arguments)}")
        click.echo(fault(case, folder) or "as promised")
        return
    begun, so_far = time.monotonic(), json.loads(state.read_text()) if state.exists() else {}
    kinds, readers = Counter(so_far.get("faults", {})), Counter(so_far.get("readers", {}))
    batches = range(so_far.get("next", 0), cases, TOGETHER)
    console = Console(stderr=True)
    for first in track(batches, "fuzz", console=console, disable=not console.is_terminal):
        numbers = range(first, min(first + TOGETHER, cases))
        for number, wrong in faults(numbers, corpus).items():
            kinds[wrong] += 1
            click.echo(f"case {number}: {wrong[:300]}")
        readers.update(draw_case(number, corpus).reader for number in numbers)
        so_far = {"next": numbers.stop, "faults": kinds, "readers": readers}
        write_atomically(state, json.dumps(so_far) + "\n")
        if minutes is not None and time.monotonic() - begun > 60 * minutes:
            break
    click.echo(", ".join(f"{reader}: {count}" for reader, count in readers.most_common()))
    click.echo(f"{so_far.get('next', 0):,} cases, {kinds.total()} not as promised")
    sys.exit(bool(kinds))


if __name__ == "__main__":
    main()
