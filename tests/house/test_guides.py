"""The guides and the README: their code and commands run, and print the output shown.

The language of a fenced block says what the test does with it; blocks of a page run in order, in
one folder. ``python`` runs; ``text`` is the output of the block before it; ``pycon`` is a session;
``c``, ``csv``, ``json``, ``toml`` and ``xml`` are files, named in the text before them; ``console``
has commands and their output. A page shows all of a command's output, or none.
"""

import doctest
import re
import shlex
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers.command import Command
from helpers.processes import run_program
from helpers.readme import typed_lines
from helpers.waves import read_waves

from eyecast import api

ROOT = Path(api.__file__).parents[1]
FIRST_HOUR = ROOT / "docs" / "guides" / "first-hour.md"
README = ROOT / "README.md"
TOUR = ROOT / "docs" / "guides" / "tour.md"
PAGES = [README, ROOT / "docs" / "index.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
LONG = (
    *("chip", "papers", "own-network", "fast", "into-a-chip", "reductions", "sweeps"),
    *("workload", "circuits", "own-testbench"),
)
"""Guides whose commands take seconds; slow tests run them."""
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
READS = ("--graph", "--schedule", "--program", "--traffic-file", "--block-words")
"""Options that name an input file."""
ELSEWHERE = ("make", "pip", "source", "gtkwave", "surfer")
"""Commands that no test of a guide runs: they install the project or show a file."""


class Block(NamedTuple):
    """A fenced block, and the text of the page before it."""

    language: str
    text: str
    before: str


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for found in FENCED.finditer(text):
        yield Block(found[1], found[2], text[: found.start()])


def commands(text: str) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with the output that the page shows."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)
    assert parts[0] == "", parts[0]
    return list(zip(parts[1::2], parts[2::2], strict=True))


def run_command(line: str, eyecast: Command) -> str:
    """Run a command, which must succeed; return its output, after its notice about algorithms."""
    program, *arguments = shlex.split(line)
    if program != "eyecast":
        assert program in ("head", "tail")
        done = run_program([program, *arguments], check=True)
        return done.stdout
    answer = eyecast(*arguments)
    assert answer.status == 0, answer.errors
    best = re.findall(r"^(?:group \d+: )?best is .*\n", answer.errors, re.MULTILINE)
    return "".join(best) + answer.output


def is_run(line: str) -> bool:
    """Tell whether the page's test runs a command; those that record signals are slow tests.

    ``explore`` serves until its page is closed.
    """
    words = line.split()
    return not {words[0], *words[1:2]} & {*ELSEWHERE, "explore"} and "--signals" not in words


def run_session(text: str, names: dict[str, Any], page: Path) -> None:
    """Run a session line by line, and compare its answers."""
    session = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
    complaints: list[str] = []
    doctest.DocTestRunner().run(session, out=complaints.append, clear_globs=False)
    names.update(session.globs)
    assert not complaints, "".join(complaints)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] * (page.stem in LONG), id=page.stem)
        for page in PAGES
    ],
)
def test_a_guide_runs(
    page: Path, here: Path, eyecast: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    if page.stem == "chip":
        pytest.importorskip("ziglang", reason="pip install 'eyecast[chip]'")
    names: dict[str, Any] = {"__name__": "guide"}
    printed = ""
    for language, text, before in blocks(page):
        if language == "python":
            exec(compile(text, page.name, "exec"), names)
            printed = capsys.readouterr().out
        elif language == "text":
            assert printed == text
        elif language == "pycon":
            run_session(text, names, page)
        elif language in ("c", "csv", "json", "toml", "xml"):
            (here / re.findall(rf"`(\S+\.{language})`", before)[-1]).write_text(text)
        else:
            assert language == "console"
            for line, shown in filter(lambda each: is_run(each[0]), commands(text)):
                output = run_command(line, eyecast)
                assert shown in ("", output), f"{line}\n{output}"


def test_the_readme_is_read_in_minutes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Require three screens at most; the comments of its Python show what the lines print."""
    assert len(README.read_text().splitlines()) <= 120
    (example,) = (block.text for block in blocks(README) if block.language == "python")
    exec(compile(example, README.name, "exec"), {})
    said = re.findall(r"# (86|True), ", example)
    assert capsys.readouterr().out.splitlines()[-len(said) :] == said == ["86", "True"]


def test_the_tour_reads_no_file_that_it_does_not_make() -> None:
    """A slow test runs its lines."""
    made = {"-", "/dev/stdout"}
    for line, files in typed_lines(TOUR.read_text()):
        made |= files.keys()
        for words in map(partial(shlex.split, comments=True), re.split(r"&&|\|", line)):
            read = [after for word, after in pairwise(words) if word in READS]
            read += words[2:3] if words[1] in ("convert", "sweep") else []
            assert [name for name in read if name not in made] == [], line
            made |= {after for word, after in pairwise(words) if word == "-o"}
            made |= {*words[3:4]} if words[1] == "convert" else set()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_at_the_root_lead_to_files(name: str) -> None:
    text = (ROOT / name).read_text()
    links = re.findall(r"""\]\(([^)#]+)|(?:src|srcset)="([^"]+)\"""", text)
    paths = [one or other for one, other in links]
    assert paths
    assert [path for path in paths if "://" not in path and not (ROOT / path).is_file()] == []


FACE = r"eyecast\.(?:api\.(?:annotations|sends)\.)?"
"""The module of a name in the reference; aliases of types are named where they have a docstring."""


def test_the_reference_has_each_name_of_the_face_once() -> None:
    pages = sorted((ROOT / "docs" / "reference").glob("*.md"))
    text = "".join(page.read_text() for page in pages)
    assert (
        sorted(re.findall(rf"^\.\. auto(?!module)\w+:: {FACE}(\w+)(?:\(.*)?$", text, re.M))
        == api.__all__
    )
    assert sorted(re.findall(rf"^   ~?{FACE}(\w+)$", text, re.M)) == sorted(
        set(api.__all__) - {"InvalidInput"}
    )


def waves(path: Path) -> dict[int, dict[str, str]]:
    """Return, for each cycle out of reset, every signal of ``eyecast_network`` in hex."""
    names: dict[str, list[str]] = {}
    values: dict[str, str] = {}
    cycles: dict[int, dict[str, str]] = {}
    scope: list[str] = []
    for line in map(str.strip, path.read_text().splitlines()):
        if line.startswith("$scope"):
            scope.append(line.split()[2])
        elif line.startswith("$upscope"):
            scope.pop()
        elif line.startswith("$var"):
            _, _, _, code, name, *_ = line.split()
            names.setdefault(code, []).append(".".join((*scope, name)))
        elif line.startswith("#"):
            now = {key.removeprefix("eyecast_network."): word for key, word in values.items()}
            if now.get("clk") == "0" and now.get("rst") == "0":
                cycles[int(now["cycle"], 16)] = now
        elif found := re.fullmatch(r"b([01]+) (\S+)|([01])(\S+)", line):
            word, code = f"{int(found[1] or found[3], 2):x}", found[2] or found[4]
            values.update(dict.fromkeys(names[code], word))
    return cycles


@pytest.mark.slow
def test_signals_are_what_the_guide_says(here: Path, eyecast: Command) -> None:
    lines = [
        line
        for block in blocks(FIRST_HOUR)
        if block.language == "console"
        for line, _ in commands(block.text)
    ]
    for line in lines:
        if " schedule " in line or "--signals" in line:
            run_command(line, eyecast)
    run_command("eyecast check signals/signals.vcd --schedule corner.json", eyecast)
    cycles = waves(here / "signals" / "signals.vcd")
    _, table = FIRST_HOUR.read_text().split("`signals/signals.vcd`")
    signals = re.findall(r"^\| `(\S+)` \|", table, re.M)
    assert len(signals) == 8
    assert set(signals) <= set(cycles[0])
    rows = (here / "signals" / "trace-hardware.csv").read_text().splitlines()
    sent = {int(row.split(",")[0]): row.split(",")[5] for row in rows if ",0,1,0," in row}
    seen = {
        cycle: f"{int(now['tile_0.outputs__0__flit'], 16) & 0xFFFF_FFFF:x}"
        for cycle, now in cycles.items()
        if now["tile_0.outputs__0__valid"] == "1"
    }
    assert seen == sent
    assert cycles[2]["tile_0.outputs__0__flit"] == "10000000d"
    steps = {
        cycle: now["tile_1.network_interface.steps.clock__step"] for cycle, now in cycles.items()
    }
    assert (steps[9], steps[10]) == ("1", "2")
    assert next(cycle for cycle, now in cycles.items() if now["done"] == "1") == 17
    # The same registers, by readable names.
    shown = read_waves(here / "signals" / "waves.vcd")
    node = "network.node_1,0.interface."
    assert shown.changes[f"{node}step"] == [(0, 1), (10, 2)]
    for name, signal in (("step_over", "tile_1.over"), ("barrier", "advance")):
        values = [cycles[cycle][signal] for cycle in range(17)]
        assert shown.values(node + name) == values
    assert shown.changes[f"{node}row"] == [(0, 0), (10, 1)]
    assert [word for _, word in shown.changes[f"{node}sender"]] == [
        *("control", "ready", "payload", "control", "ended")
    ]


def test_waveforms_are_what_the_guide_says(here: Path, eyecast: Command) -> None:
    run_command("eyecast schedule --mesh 2x2 --source 0,0 --words 4 -o corner.json", eyecast)
    run_command("eyecast predict --schedule corner.json --waves -o trace.csv", eyecast)
    shown = read_waves(here / "waves.vcd")
    _, table = FIRST_HOUR.read_text().split("signal of `network`")
    table, _ = table.split("\n\n", 1)
    signals = re.findall(r"^\| `(\S+)` \|", table, re.M)
    assert len(signals) == 8
    out, into, delivered, words, steps = (
        shown.changes[f"network.{signals[place]}"] for place in (1, 4, 5, 6, 7)
    )
    assert out == [(0, ""), (2, "head"), (3, "body"), (6, "tail"), (7, "")]
    assert into == out
    assert delivered[1] == (3, "head")
    assert (words[-1], steps) == ((8, 4), [(0, 0), (8, 1)])
    assert dict(shown.changes[f"network.{signals[2]}"])[2] == 0xD
    assert dict(shown.changes[f"network.{signals[3]}"])[2] == 1
    assert shown.values("network.cycle") == [*range(17)]
