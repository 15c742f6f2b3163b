"""Planted faults: edit the Verilog of packages, and ask whether their own benches notice.

    python bench/planted.py [--faults 40] [--seed 1] [--only "torus"]

Each configuration of :data:`NETWORKS` becomes a package of ``eyecast ip``. A fault is one edit of
one of its modules, of a kind in :data:`KINDS`: kinds take turns, and the place is drawn. The
package's bench then runs in Icarus, up to its first failure. A fault that it does not notice is
*equivalent* if Yosys and ABC prove that the module, a tile or the engine behaves the same. It is
*argued* if :data:`ARGUED` has the reason why it does; otherwise it *passes*, and its edit is
printed. It is *open* until it is compared.

The counts are kept in ``bench/planted.json``, by configuration.
"""

import hashlib
import json
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from eyecast.model.base.files import write_atomically
from eyecast.proofs.engines import PROVED, run_abc, run_yosys

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
equivalence = import_module("helpers.equivalence")
FIRST_FAULT = import_module("helpers.planted_faults").FIRST_FAULT

KEPT = Path(__file__).with_suffix(".json")

NETWORKS = {
    "mesh": "--mesh 2x2 --source 0,0",
    "mesh, 2 VCs": "--mesh 2x2 --vcs 2 --source 0,0 --algorithm tree",
    "circuits, operators": "--circuits --mesh 2x2 --collective all-reduce",
    "streams": "--line 3 --source 0 --algorithm chain",
    "all ports": "--hypercube 2 --collective all-gather --ports all",
    "torus, tile ports": "--torus 3x2 --vcs 2 --collective all-gather --algorithm ring"
    " --tile-ports --words 1",
    "operators, parity": "--mesh 2x2 --collective all-reduce --operators add,max --parity"
    " --bus wishbone",
    "ring, registers": "--ring 4 --vcs 2 --source 0 --algorithm tree --link-registers 1"
    " --barrier-registers 3 --programs 3",
    "circuits, all ports": "--circuits --mesh 2x2 --ports all --algorithm light-tree --source 0,0"
    " --link-registers 1 --barrier-registers 3",
    "circuits, parity": "--circuits --mesh 2x2 --collective all-reduce --algorithm joining-tree"
    " --parity --tile-ports --bus wishbone",
    "half-duplex": "--mesh 2x2 --ports half-duplex --collective all-reduce",
    "AXI-Stream": "--mesh 2x2 --source 0,0 --tile-ports --tile axi-stream",
    "128 bits, parity": "--mesh 2x2 --collective all-reduce --operator add:32 --flit-width 128"
    " --parity --tile-ports --tile axi-stream",
}
"""Options of ``eyecast ip`` by the name of the configuration."""
SIZES = "--words 4 --message-words 16 --table-words 32"
"""Sizes unless the options say others: small memories, which proofs unfold into registers."""

SECONDS = 10
"""CPU time for one proof."""
BENCH_SECONDS = 1200
"""Time for one bench."""
OUTSIDE = ("_message_memory", "_table_memory", "_run_memory")
"""Ends of the names of memories that stay outside of a comparison of modules that hold others."""
TILE = "eyecast_tile"
"""Beginning of the names of tiles."""
FATES = ("faults", "caught", "equivalent", "argued", "passed", "open")
NO_VERILOG = "does not compile"
ARGUED = (
    (
        r"reset: eyecast_receiver\.v:\d+: kept_\w+ <=",
        "a header flit loads the register before a word needs it",
    ),
    (
        r"\.v:\d+: if \(router_causes__credit_overflow",
        "sound routers never set this flag (docs/proofs.md)",
    ),
    (
        r"reset: eyecast_circuit_(lane\.v:\d+: is_read|router\.v:\d+: chosen_\d+) <=",
        "an engine resets tiles for two cycles; in the second one the run table sends nothing",
    ),
    (
        r"(?s)state: eyecast_sender\w*\.v:\d+: state <= FAILED;.*becomes state <= "
        r"(EXPECT|CONTROL|READY);",
        "a node with a flag begins no row, whatever the state of its sender (docs/router.md)",
    ),
    (
        r"reset: eyecast_request_under_way\.v:\d+: (refusal_2|request) <=",
        "each access writes this register before it is answered",
    ),
    (
        r"reset: eyecast_circuit_lane\.v:\d+: (now_written|receive_now|injection__valid) <=|"
        r"eyecast_circuit_lane\.v:\d+: receive_now <= 2'h0;",
        "an engine resets tiles for two cycles, and no word arrives in them",
    ),
    (
        r"(?s)^(?!.*registers).*network\.v:\d+: if \(middle_rst\).*becomes if \(1'b0\)",
        "an engine resets tiles for two cycles; in the second one no tile's step is over",
    ),
    (
        r"^ring, registers: reset: eyecast_flit_buffer\.v:\d+: used <=",
        "a buffer in reset drops a flit a cycle, and barrier registers make a reset long enough",
    ),
    (
        r"eyecast_network\.v:\d+: \.inputs__\d__flit\(\d+'h0\)",
        "an input without a link never gets a valid flit",
    ),
    (
        r"eyecast_tile\.v:\d+: \.outputs__0__credit\(\d+'h0\)",
        "the output to a node spends no credits",
    ),
    (
        r"(?s)state: eyecast_request_under_way\.v:\d+: fsm_state <= ANSWER;.*becomes .* FETCH;|"
        r"eyecast_request_under_way\.v:\d+: host__read_data <= 32'h0;\s+becomes",
        "runs of this network keep no memory busy until a request is given up",
    ),
    (
        r"(?s)state: eyecast_request_under_way\.v:\d+: fsm_state <= TAKE;.*becomes .* ANSWER;",
        "an access behind a start waits for a cycle more, within what is guaranteed",
    ),
    (
        r"^(?!.*parity).*eyecast_sender\w*\.v:\d+: assign fetches = \(due & !hold\)",
        "the node reads a word that it does not send",
    ),
    (
        r"^(?=.*circuits).*network\.v:\d+: (if \(middle_rst\)|advance <=)",
        "this is the barrier's register, and tiles of circuits ignore the barrier",
    ),
    (
        r"^(?=.*circuits).*eyecast_tile\.v:\d+: if \(rst\)",
        "an engine resets tiles for two cycles; in the second one no router sends a word",
    ),
    (
        r"reset: eyecast_axi4_lite\.v:\d+: (bus__bresp|bus__rresp|bus__rdata) <=",
        "a master looks at a response only while it is valid",
    ),
    (
        r"^(?=.*torus).*arrival_\d\.v:\d+: .*port_chosen\[\d\];",
        "a torus lacks no link, so that all bits of port_chosen are equal",
    ),
    (
        r"^(?!.*(VCs|ring|torus)).*receiver\.v:\d+: if \(ejection__valid\)",
        "with one VC and without link registers, a packet's flits arrive in successive cycles",
    ),
)
"""Reasons why survivors behave as before, by pattern of the configuration's name and the edit.

The proof of these takes more time than :data:`SECONDS`, or needs more than the tile.
"""
_SKIPPED = re.compile(
    r"^\s*(//|initial|words\[place\] =|localparam|input|output|wire unused|module|wire \[?\d*)"
)
_LITERAL = re.compile(r"\b(\d+)'h([0-9a-f]+)")


@dataclass(frozen=True)
class Fault:
    """An edit: the text of a module from ``begin`` to ``end`` becomes ``text``."""

    kind: str
    module: str
    begin: int
    end: int
    text: str


NOTHING = Fault("none", "eyecast_engine", 0, 0, "")


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


def drawn_faults(package: Path, draw: Random) -> Iterator[Fault]:
    """Draw faults of all kinds in turn; each edit at most once."""
    texts = {path.stem: path.read_text() for path in sorted((package / "rtl").glob("*.v"))}
    places: dict[str, dict[str, list[Fault]]] = {}
    for kind, edits in KINDS.items():
        for module, text in texts.items():
            found = [Fault(kind, module, *each) for each in edits(text)]
            if found:
                places.setdefault(kind, {})[module] = found
    while places:
        for kind in [*places]:
            module = draw.choice([*places[kind]])
            sites = places[kind][module]
            yield sites.pop(draw.randrange(len(sites)))
            if not sites:
                del places[kind][module]
            if not places[kind]:
                del places[kind]


def planted(package: Path, fault: Fault) -> dict[str, str]:
    """Return the text of every module, one of them with the fault."""
    texts = {path.stem: path.read_text() for path in sorted((package / "rtl").glob("*.v"))}
    text = texts[fault.module]
    return texts | {fault.module: text[: fault.begin] + fault.text + text[fault.end :]}


def bench(package: Path, texts: dict[str, str], folder: Path) -> tuple[bool, str]:
    """Return whether the package's bench passes on other modules, and what it says.

    The bench ends with its first fault.
    """
    for name, text in texts.items():
        (folder / f"{name}.v").write_text(text)
    for vectors in (package / "sim").glob("*.hex"):
        shutil.copy(vectors, folder)
    text = (package / "sim" / "bench.v").read_text()
    (folder / "bench.v").write_text(text.replace(*FIRST_FAULT, 1))
    sources = ["bench.v", *(f"{name}.v" for name in texts)]
    compiler = ["iverilog", "-g2012", "-s", "bench", "-o", "bench", *sources]
    if _run(compiler, folder).returncode:
        return False, NO_VERILOG
    try:
        ran = _run(["vvp", "-n", "bench"], folder)
    except subprocess.TimeoutExpired:
        return False, "does not end"
    return ran.returncode == 0, ran.stdout


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=BENCH_SECONDS
    )


def is_equivalent(package: Path, fault: Fault) -> bool:
    """Tell whether the edited module, or one that holds it, behaves as before.

    A module of a tile is compared up to the tile: the time is too short for several tiles. So any
    other module is first compared with free outputs of all tiles.
    """
    texts = planted(package, fault)
    sound = "\n".join(path.read_text() for path in sorted((package / "rtl").glob("*.v")))
    faulty = "\n".join(texts.values())
    below = {each: [*_modules_in(each, texts)] for each in texts}
    tops = sorted(
        (each for each in texts if fault.module in below[each]), key=lambda each: len(below[each])
    )
    tiles = [each for each in tops if each.startswith(TILE)]
    tops = tops[: tops.index(tiles[-1]) + 1] if tiles else tops
    outside = [(top, [each for each in below[top] if each.startswith(TILE)]) for top in tops]
    outside = [] if tiles else [(top, held) for top, held in outside if held]
    outside += [(tops[0], [])]
    outside += [(top, [each for each in below[top] if each.endswith(OUTSIDE)]) for top in tops[1:]]
    with TemporaryDirectory() as folder:
        pair = sound, faulty
        return any(_same(pair, top, Path(folder), held) for top, held in outside)


def _modules_in(top: str, texts: dict[str, str]) -> Iterator[str]:
    """Yield the modules of an instance of ``top``, which is the first."""
    yield top
    for name in {*re.findall(r"^  (\w+) \w+ \($", texts[top], re.MULTILINE)} & {*texts}:
        yield from _modules_in(name, texts)


def _same(texts: tuple[str, str], top: str, folder: Path, outside: list[str]) -> bool:
    """Tell whether ABC proves in time that a module of two texts behaves the same.

    Some memories stay outside of the module: their inputs are compared, and their outputs are free.
    """
    commands: list[str] = []
    for name, text in zip(("first", "second"), texts, strict=True):
        (folder / f"{name}.v").write_text(_held_reset(text, top))
        commands += [f"read_verilog -DSYNTHESIS {name}.v", f"hierarchy -check -top {top}"]
        commands += [f"blackbox {memory}" for memory in outside]
        commands += [*equivalence.AS_LOGIC]
        # Only cells: by itself the command also compares all wires.
        cells = " ".join(f"t:{memory}" for memory in outside)
        commands += [f"expose -evert {cells}"] if outside else []
        commands += [f"rename {top} {name}", f"design -stash {name}"]
    commands += [f"design -copy-from {name} -as {name} {name}" for name in ("first", "second")]
    try:
        run_yosys([*commands, *equivalence.AS_GATES, "write_aiger -zinit miter.aig"], folder)
        run_abc("read_aiger miter.aig; scorr; write_aiger rest.aig", folder, seconds=SECONDS)
        return equivalence.is_zero(folder / "rest.aig") or PROVED in run_abc(
            "read_aiger rest.aig; pdr", folder, seconds=SECONDS
        )
    except (RuntimeError, TimeoutError, subprocess.CalledProcessError):
        return False


def _held_reset(text: str, top: str) -> str:
    """Return a text in which ``top``, if it is a tile, stays in reset for one more cycle.

    An engine resets its tiles for two cycles at least (docs/router.md, section 16).
    """
    body = re.search(rf"(?ms)^module {top} \(.*?^\);\n(.*?)^endmodule", text)
    assert body
    if not top.startswith("eyecast_tile"):
        return text
    held = "reg before = 1'b1;\nalways @(posedge clk) before <= rst;\nwire held = rst | before;\n"
    return text[: body.start(1)] + held + body[1].replace("(rst)", "(held)") + text[body.end(1) :]


def fate_in_bench(package: Path, fault: Fault) -> str:
    """Return *caught* or *passed*, or that the edit is no Verilog."""
    with TemporaryDirectory() as name:
        passes, said = bench(package, planted(package, fault), Path(name))
    if passes:
        return "passed"
    return said if said == NO_VERILOG else "caught"


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
def main(faults: int, seed: int, only: str) -> None:
    """Plant faults in every configuration, keep their fates, and print the faults that passed.

    First all benches run, and then the faults that they do not notice are compared. A later call
    goes on where an earlier one ended, unless package or seed have changed.
    """
    names = [name for name in NETWORKS if only in name]
    with TemporaryDirectory() as folder:
        packages = {name: Path(folder, str(number)) for number, name in enumerate(names)}
        for name, package in packages.items():
            make = [sys.executable, "-m", "eyecast", "ip", *f"{SIZES} {NETWORKS[name]}".split()]
            subprocess.run([*make, "-o", str(package)], check=True, capture_output=True)
            run_benches(package, name, f"{seed} {name}", faults)
        for name, package in packages.items():
            compare(package, name, f"{seed} {name}")
    kept = read_kept()
    columns = (*FATES, "points", "seconds")
    table = Table("configuration", *columns, title="Faults, points, and seconds of the bench")
    for name in (each for each in NETWORKS if each in kept):
        row = {**kept[name], "open": len(kept[name]["open"])}
        table.add_row(name, *(str(row[each]) for each in columns))
    Console(width=110).print(table)


def read_kept() -> dict[str, dict[str, Any]]:
    """Return the kept counts by configuration."""
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def run_benches(package: Path, name: str, seed: str, most: int) -> None:
    """Plant drawn faults in a package, and keep their number by fate after each fault."""
    hashed = hashlib.sha256(seed.encode())
    for path in sorted([*package.glob("rtl/*.v"), package / "sim" / "bench.v"]):
        hashed.update(re.sub(rb"(?m)^//.*\n", b"", path.read_bytes()))
    key = hashed.hexdigest()[:16]
    row = read_kept().get(name, {})
    if row.get("key") != key:
        row = dict.fromkeys((*FATES, NO_VERILOG), 0) | {"open": [], "survivors": [], "key": key}
        row |= of_sound_bench(package)
    faults = [*islice(drawn_faults(package, Random(seed)), 2 * most)]
    while row["faults"] < most and (number := row["faults"] + row[NO_VERILOG]) < len(faults):
        fate = fate_in_bench(package, faults[number])
        row["faults"] += fate != NO_VERILOG
        if fate == "passed":
            row["open"].append(number)
        else:
            row[fate] += 1
        keep(name, row)


def compare(package: Path, name: str, seed: str) -> None:
    """Compare the edited hardware of the faults that a package's bench has not noticed."""
    row = read_kept()[name]
    faults = [*islice(drawn_faults(package, Random(seed)), max(row["open"], default=0) + 1)]
    while row["open"]:
        fault = faults[row["open"].pop(0)]
        edited = f"{fault.kind}: {edit(package, fault)}"
        reasons = [why for at, why in ARGUED if re.search(at, f"{name}: {edited}")]
        fate = "argued" if reasons else "equivalent" if is_equivalent(package, fault) else "passed"
        row[fate] += 1
        if fate != "equivalent":
            row["survivors"].append("\n    because ".join([edited, *reasons]))
        if fate == "passed":
            click.echo(edited)
        keep(name, row)


def keep(name: str, row: dict[str, Any]) -> None:
    """Replace the kept counts of a configuration."""
    write_atomically(KEPT, json.dumps({**read_kept(), name: row}, indent=1) + "\n")


def of_sound_bench(package: Path) -> dict[str, float]:
    """Return the points that a bench covers, and its CPU time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with TemporaryDirectory() as folder:
        passes, said = bench(package, planted(package, NOTHING), Path(folder))
    assert passes, said
    found = re.search(r"^(\d+) of \1 points", said, re.MULTILINE)
    assert found
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return {"points": int(found[1]), "seconds": round(seconds, 1)}


if __name__ == "__main__":
    main()
