"""Planted faults: edit the Verilog of drawn packages, and ask whether their own benches notice.

    python bench/planted.py [--faults 40] [--seed 1] [--only "torus"]

Each configuration of :data:`NETWORKS` becomes a package of ``eyecast ip``. A fault is one edit of
one of its modules, of a kind in :data:`KINDS`: kinds take turns, and the place is drawn. The
package's bench then runs in Icarus. A fault that it does not notice is *equivalent* if Yosys and
ABC prove that the module, a tile or the engine behaves the same; otherwise it *passes*, and the
table is followed by its edit.
"""

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import click
from rich.console import Console
from rich.table import Table

from eyecast.proofs.engines import PROVED, run_abc, run_yosys

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
equivalence = import_module("helpers.equivalence")

NETWORKS = {
    "mesh, 1 VC": "--mesh 3x2 --source 0,0 --algorithm tree --words 6",
    "mesh, 2 VCs, tile ports": "--mesh 2x2 --vcs 2 --source 0,0 --words 6 --tile-ports",
    "torus": "--torus 3x3 --vcs 2 --collective all-gather --algorithm ring --words 4",
    "ring, registers": "--ring 4 --vcs 2 --source 0 --algorithm tree --words 4 --link-registers 1"
    " --barrier-registers 3 --programs 3",
    "all ports": "--hypercube 2 --collective all-gather --ports all --words 4",
    "operators": "--mesh 2x2 --collective all-reduce --words 8",
    "operators, parity": "--mesh 2x2 --collective all-reduce --operators add,max --parity"
    " --words 4 --bus wishbone",
    "streams": "--line 4 --source 0 --algorithm chain --words 8",
    "circuits": "--circuits --mesh 3x2 --source 0,0 --algorithm tree --words 6",
    "circuits, operators": "--circuits --mesh 2x2 --collective all-reduce --words 6"
    " --algorithm joining-tree --parity --tile-ports --bus wishbone",
    "circuits, all ports": "--circuits --mesh 2x2 --ports all --algorithm light-tree --source 0,0",
    "AXI-Stream, Wishbone": "--mesh 2x2 --source 0,0 --algorithm tree --words 4 --tile-ports"
    " --tile axi-stream --bus wishbone",
}
"""Options of ``eyecast ip`` by the name of the configuration."""

SECONDS = 20
"""CPU time for one proof."""
BENCH_SECONDS = 300
"""Time for one bench."""
LEVELS = ("eyecast_tile", "eyecast_engine")
"""Modules that are compared if the edited one can differ by itself."""
_SKIPPED = re.compile(r"^\s*(//|initial|localparam|input|output|wire unused|module|wire \[?\d*)")
_LITERAL = re.compile(r"\b(\d+)'h([0-9a-f]+)")


@dataclass(frozen=True)
class Fault:
    """An edit: the text of a module from ``begin`` to ``end`` becomes ``text``."""

    kind: str
    module: str
    begin: int
    end: int
    text: str


def _edits(pattern: str, text: str, replacement: str) -> Iterator[tuple[int, int, str]]:
    """Yield begin, end and replacement of every match of a pattern in a module's statements."""
    for found in re.finditer(pattern, text, re.MULTILINE):
        line = text[text.rfind("\n", 0, found.start()) + 1 :]
        if not _SKIPPED.match(line):
            yield found.start(), found.end(), found.expand(replacement)


def _constants(text: str) -> Iterator[tuple[int, int, str]]:
    for begin, end, literal in _edits(_LITERAL.pattern, text, r"\g<0>"):
        width, digits = literal.split("'h")
        yield begin, end, f"{width}'h{int(digits, 16) ^ 1:x}"


def _indices(text: str) -> Iterator[tuple[int, int, str]]:
    for begin, end, index in _edits(r"\[([1-9]\d*)\]", text, r"\1"):
        yield begin, end, f"[{int(index) - 1}]"


def _credits(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield edits of the names of credits: each becomes always, or never, given."""
    for value in ("1'b0", "1'b1"):
        yield from _edits(r"(?<=[&|(] )\w*(?:credit|spend|earn|accept)\w*\b(?![\[(])", text, value)


def _states(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield edits of the next state: the other states of the same machine."""
    names = re.findall(r"^  localparam \[\d+:0\] ([A-Z_0-9]+) =", text, re.MULTILINE)
    for begin, end, name in _edits(r"(?<=state <= )[A-Z_0-9]+(?=;)", text, r"\g<0>"):
        yield from ((begin, end, other) for other in names if other != name)


def _resets(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield edits that leave out a line of a reset."""
    for block in re.finditer(r"^    if \(rst\) begin\n(.*?)^    end", text, re.M | re.S):
        for line in re.finditer(r"^.*<=.*;\n", block[1], re.MULTILINE):
            yield block.start(1) + line.start(), block.start(1) + line.end(), ""


def _pairs(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield edits that exchange the two arms of a choice, or two ports of the same name's kind."""
    yield from _edits(r"\? (\w+(?:\[\d+\])?) : (\w+(?:\[\d+\])?)(?=[;)])", text, r"? \2 : \1")
    connected = list(re.finditer(r"\.(\w+)\((\w+)\)", text))
    for at, one in enumerate(connected):
        for two in connected[at + 1 : at + 7]:
            between = text[one.end() : two.start()]
            if ";" not in between and re.sub(r"\d+", "#", one[1]) == re.sub(r"\d+", "#", two[1]):
                yield one.start(), two.end(), f".{one[1]}({two[2]}){between}.{two[1]}({one[2]})"


KINDS = {
    "condition": lambda text: _edits(r"(?<=if )\((.*)\)(?= begin$)", text, r"(!(\1))"),
    "gate": lambda text: (
        *_edits(r"(?<= )&(?= )", text, "|"),
        *_edits(r"(?<= )\|(?= )", text, "&"),
    ),
    "constant": _constants,
    "index": _indices,
    "credit": _credits,
    "enable": lambda text: (
        *_edits(r"(?<=if )\((.*)\)(?= begin$)", text, "(1'b1)"),
        *_edits(r"(?<=if )\((.*)\)(?= begin$)", text, "(1'b0)"),
    ),
    "inversion": lambda text: _edits(r"!(?=[\w(])", text, ""),
    "state": _states,
    "reset": _resets,
    "pair": _pairs,
}
"""Kinds of faults: the edits of a module's text."""


def drawn_faults(package: Path, draw: Random, number: int) -> list[Fault]:
    """Draw faults of all kinds in turn; each edit at most once."""
    texts = {path.stem: path.read_text() for path in sorted((package / "rtl").glob("*.v"))}
    places: dict[str, dict[str, list[Fault]]] = {}
    for kind, edits in KINDS.items():
        for module, text in texts.items():
            found = [Fault(kind, module, *each) for each in edits(text)]
            if found:
                places.setdefault(kind, {})[module] = found
    faults: list[Fault] = []
    while len(faults) < number and places:
        for kind in [*places]:
            module = draw.choice([*places[kind]])
            sites = places[kind][module]
            faults.append(sites.pop(draw.randrange(len(sites))))
            if not sites:
                del places[kind][module]
            if not places[kind]:
                del places[kind]
    return faults[:number]


def planted(package: Path, fault: Fault) -> dict[str, str]:
    """Return the text of every module, one of them with the fault."""
    texts = {path.stem: path.read_text() for path in sorted((package / "rtl").glob("*.v"))}
    text = texts[fault.module]
    return texts | {fault.module: text[: fault.begin] + fault.text + text[fault.end :]}


def bench_fails(package: Path, texts: dict[str, str], folder: Path) -> str:
    """Return the last line of the package's bench on other modules; empty if it passes."""
    for name, text in texts.items():
        (folder / f"{name}.v").write_text(text)
    for vectors in (package / "sim").glob("*.hex"):
        shutil.copy(vectors, folder)
    sources = [str(package / "sim" / "bench.v"), *(f"{name}.v" for name in texts)]
    command = ["iverilog", "-g2012", "-s", "bench", "-o", "bench", *sources]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if made.returncode:
        return "does not compile"
    try:
        ran = subprocess.run(
            ["vvp", "-n", "bench"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=BENCH_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    return "" if ran.returncode == 0 else (ran.stdout.strip().splitlines() or ["killed"])[-1]


def is_equivalent(package: Path, fault: Fault, texts: dict[str, str], folder: Path) -> bool:
    """Tell whether the edited module, or one that holds it, behaves as before."""
    sound = "\n".join(path.read_text() for path in sorted((package / "rtl").glob("*.v")))
    faulty = "\n".join(texts.values())
    return any(_same(sound, faulty, level, folder) for level in (fault.module, *LEVELS))


def _same(sound: str, faulty: str, top: str, folder: Path) -> bool:
    """Tell whether ABC proves in time that a module of two texts behaves the same."""
    commands = []
    for name, text in (("first", sound), ("second", faulty)):
        (folder / f"{name}.v").write_text(text)
        commands += [f"read_verilog -DSYNTHESIS {name}.v", f"hierarchy -check -top {top}"]
        commands += [*equivalence.AS_LOGIC, f"rename {top} {name}", f"design -stash {name}"]
    commands += [f"design -copy-from {name} -as {name} {name}" for name in ("first", "second")]
    try:
        run_yosys([*commands, *equivalence.AS_GATES, "write_aiger -zinit miter.aig"], folder)
        proof = "read_aiger miter.aig; scorr; print_stats; pdr"
        said = run_abc(proof, folder, seconds=SECONDS)
    except (RuntimeError, TimeoutError, subprocess.CalledProcessError):
        return False
    return PROVED in said


def judged(package: Path, fault: Fault) -> str:
    """Return *caught*, *equivalent* or *passed*."""
    texts = planted(package, fault)
    with TemporaryDirectory() as name:
        if said := bench_fails(package, texts, Path(name)):
            return "discarded" if said == "does not compile" else "caught"
        return "equivalent" if is_equivalent(package, fault, texts, Path(name)) else "passed"


def edit(package: Path, fault: Fault) -> str:
    """Return the edited lines, before and after."""
    text = (package / "rtl" / f"{fault.module}.v").read_text()
    begin = text.rfind("\n", 0, fault.begin) + 1
    end = text.find("\n", fault.end)
    after = text[begin : fault.begin] + fault.text + text[fault.end : end]
    where = text[: fault.begin].count("\n") + 1
    return f"{fault.module}.v:{where}: {text[begin:end].strip()}\n    becomes {after.strip()}"


@click.command()
@click.option("--faults", default=40, show_default=True, help="Faults of each configuration.")
@click.option("--seed", default=1, show_default=True, help="Seed of all draws.")
@click.option("--only", default="", help="Configurations whose name contains this.")
@click.option("--jobs", default=1, show_default=True, help="Benches at a time.")
def main(faults: int, seed: int, only: str, jobs: int) -> None:
    """Plant faults in every configuration, and print what the benches noticed."""
    console, table = Console(width=110), Table("configuration", "faults", "caught", "equivalent")
    table.add_column("passed")
    for number, (name, options) in enumerate(NETWORKS.items()):
        if only not in name:
            continue
        with TemporaryDirectory() as folder:
            package = Path(folder, "package")
            make = [sys.executable, "-m", "eyecast", "ip", *options.split(), "-o", str(package)]
            subprocess.run(make, check=True, capture_output=True)
            drawn = drawn_faults(package, Random(f"{seed} {number}"), faults)
            with ThreadPoolExecutor(jobs) as pool:
                fates = [*pool.map(partial(judged, package), drawn)]
            counts = Counter(fates)
            planted_faults = len(drawn) - counts["discarded"]
            found = (planted_faults, counts["caught"], counts["equivalent"], counts["passed"])
            table.add_row(name, *map(str, found))
            console.print(f"{name}: {dict(counts)}")
            for fault, fate in zip(drawn, fates, strict=True):
                if fate == "passed":
                    console.print(f"  {fault.kind}: {edit(package, fault)}", markup=False)
    console.print(table)


if __name__ == "__main__":
    main()
