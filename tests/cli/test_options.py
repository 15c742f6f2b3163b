"""Every option of a command binds, or is refused beside options with which it has no effect.

The walk adds each option, one at a time, to lines that a command carries out. The result must be a
refusal, or another outcome: what the command prints, its exit status, or a file that it writes.
"""

import json
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers.command import Answer, Command
from helpers.recordings import samples, table, waveform
from matplotlib.figure import Figure

import eyecast as api
from eyecast.cli.main import cli
from eyecast.ip import package
from eyecast.model.compare.case import Case
from eyecast.model.compare.checks import compare
from eyecast.model.compare.traffic_case import TrafficCase, compare_traffic
from eyecast.model.network.topology_file import topology_to_json
from eyecast.model.program.memory.layout import held_words
from eyecast.model.run.trace import Trace
from eyecast.picture import latency
from eyecast.sim import verify as hardware

FLAG = None
VALUES: dict[str, str | None] = {
    # Networks.
    "--mesh": "2x2", "--torus": "3x3", "--hypercube": "2", "--line": "4", "--ring": "4",
    "--binary-tree": "7", "--star-tree": "2x2", "--diagonal-mesh": "3", "--de-bruijn": "2x2",
    "--graph": "graph.json", "--chiplets": "1x1", "--chiplet": "2x2",
    "--between": "latency=2,rate=2", "--faulty-node": "1,0", "--faulty-link": "0,0:1,0",
    "--random-faults": "0.3", "--keep": "0,0", "--seed": "7",
    # Collectives.
    "--source": "1,1", "--collective": "scatter", "--target": "1,1", "--packet": "2",
    "--operator": "max", "--ports": "all", "--words": "3", "--block-words": "blocks.json",
    "--group": "rows", "--algorithm": "tree", "--seconds": "5", "--partial": FLAG,
    "--order": "canonical", "--schedule": "schedule.json", "--program": "program.json",
    # Hardware. Memories are too small.
    "--vcs": "2", "--depth": "1", "--flit-width": "24", "--message-words": "2",
    "--table-words": "2", "--link-registers": "1", "--barrier-registers": "1", "--steps": "40",
    "--contention-free": FLAG, "--programs": "1", "--tile-ports": FLAG, "--parity": FLAG,
    "--operators": "add", "--streams": FLAG, "--circuits": FLAG, "--timed-rows": FLAG,
    "--signature": FLAG,
    # Runs, and their checks.
    "--timing": "self-timed", "--hold": "0,0:5", "--force": FLAG, "--on": "hardware",
    "--image": "image.csv", "--no-program": FLAG, "--any-words": FLAG, "--scope": "other.noc",
    "--clock": "slow", "--names": "names.json", "--number": "2", "--base": "4",
    "--node": "0,0", "--all": FLAG, "--layer": "other", "--as": "lanes", "--late": "2",
    # Traffic.
    "--traffic-file": "traffic.csv", "--pattern": "tornado", "--rate": "0.4", "--hotspot": "1,1",
    "--burst": "10", "--reply-flits": "3", "--packet-flits": "6", "--cycles": "50",
    "--back-pressure": "0.3",
    # Outputs.
    "--all-sources": FLAG, "--signals": FLAG, "--plan": "paper", "--picture": "other.svg",
    "-o": "other", "--report": "page.html", "--json": FLAG, "--waves": FLAG,
    "--waves-node": "1,1", "--certificate": "other.json", "--from": "eyecast", "--to": "eyecast",
    "--lengths": "4,8", "--why": FLAG, "--rtl": FLAG, "--bus": "wishbone", "--tile": "axi-stream",
    "--assertions": FLAG, "--modules": FLAG, "--prefix": "other",
    # Workloads.
    "--word-bytes": "2", "--comm-group": "groups.json", "--mapping": "best", "--policy": "urgent",
    "--workload": "work.csv",
    "--verify": "1",
    # Papers.
    "--dimension": "3", "--tau": "2", "--tc": "2",
}  # fmt: skip

LIMIT = "only a limit, which is not reached here"
NO_DEADLOCK = "these routes cannot deadlock"
NETWORK = "describes the network; this run, or these rules, do not depend on it"
GIVEN = "holds already"

HARDWARE = dict.fromkeys(("--vcs", "--steps", "--contention-free"), NETWORK)
CORNER = "--mesh 2x2 --source 0,0 --words 4"
LINES: dict[str, dict[str, str]] = {
    f"schedule {CORNER} -o out": {},
    f"predict {CORNER} -o out": {**HARDWARE, "--force": NO_DEADLOCK},
    f"predict --circuits {CORNER} -o out": {"--barrier-registers": NETWORK, "--programs": NETWORK},
    "predict --schedule schedule.json -o out": {**HARDWARE, "--force": NO_DEADLOCK},
    "predict --program program.json -o out": {"--force": NO_DEADLOCK},
    "predict --program circuits.json -o out": {},
    f"program {CORNER} -o out --image out.csv": {"--force": NO_DEADLOCK},
    f"program --circuits {CORNER} -o out --image out.csv": {},
    "program --schedule schedule.json -o out --image out.csv": {"--force": NO_DEADLOCK},
    f"check wrong.csv {CORNER}": HARDWARE,
    # In a waveform a signal has a bit for each VC.
    f"check wrong.vcd {CORNER}": dict.fromkeys(("--steps", "--contention-free"), NETWORK),
    f"check table.csv {CORNER}": HARDWARE,
    "check wrong.csv --program program.json --image image.csv": {},
    "check wrong.csv --program program.json": {"--any-words": GIVEN},
    "check wrong.csv --mesh 2x2 --no-program": {
        **HARDWARE,
        **dict.fromkeys(("--depth", "--message-words", "--table-words"), NETWORK),
        **dict.fromkeys(("--link-registers", "--barrier-registers", "--programs"), NETWORK),
        **dict.fromkeys(("--operators", "--streams", "--ports"), NETWORK),
    },
    f"verify {CORNER} -o out": {"--force": NO_DEADLOCK},
    f"verify --circuits {CORNER} -o out": {},
    f"show {CORNER} -o out.svg": {},
    "transmit --mesh 2x2 -o out": {"--seconds": LIMIT},
    "traffic --mesh 2x2 --cycles 100 --on model -o out": {"--force": NO_DEADLOCK},
    "traffic --mesh 2x2 --traffic-file traffic.csv --on model -o out": {"--force": NO_DEADLOCK},
    "convert ranks.xml out.json --mesh 2x2": {},
    "convert schedule.json out.json": {},
    "image resident.json -o out.csv": {},
    "run work.csv --mesh 2x2 -o out.svg": {},
    "certify program.json certificate.json": {},
    f"compare {CORNER}": {**HARDWARE, "--force": NO_DEADLOCK},
    f"compare --circuits {CORNER}": dict.fromkeys(
        ("--flit-width", "--barrier-registers", "--programs"), NETWORK
    ),
    "verilog --mesh 2x1 -o out.v": {},
    "verilog --circuits --mesh 2x1 -o out.v": {},
    # Every file of a package names the options.
    "ip --mesh 2x1 --collective all-gather --words 2 -o out": {},
    "algorithms": {},
    "boards": {},
    "doctor": {},
    "paper johnsson-ho-1986": {},
}
"""Lines, each with the options that may leave its outcome as it is, and why."""

WORK = """id,rank,what,amount,after
first,0 1,all-reduce,64,
second,0 2,all-gather,64,
tail,2,compute,5000,second
far,0>3,message,900,second
"""
"""A workload whose end depends on the order of its collectives, and on the place of its ranks."""

SLOW = ("compare", "verilog", "ip", "paper", "run", "doctor")
"""Commands that take seconds."""

NOT_WALKED = {
    "asic": "takes minutes, and a library of cells",
    "bitstream": "takes minutes, and tools for FPGAs",
    "board-run": "needs a board",
    "cache": "its options remove results",
    "chip": "needs a compiler for C; tests/chip has its options",
    "completion": "has no options",
    "demo": "builds hardware for minutes",
    "explore": "serves until its page is closed; tests/explore has its state",
    "sweep": "runs in workers; tests/sweeps has its keys",
}
"""Commands without a line, and why."""


class Outcome(NamedTuple):
    """What a command prints, and the files that it writes."""

    answer: Answer
    files: dict[str, bytes]


def perfect_verify(cases: Sequence[Case], *, waves_file: Path | None = None, **_: Any) -> Any:
    """Yield results of cases as if the hardware did what is predicted."""
    if waves_file is not None:
        waves_file.touch()
    for case in cases:
        words = held_words(case.schedule, case.payload.layout).shape[1]
        memory = case.predicted.memory[:, :words]
        yield compare(case, replace(case.predicted, memory=memory))


def perfect_traffic(cases: Sequence[TrafficCase], **_: Any) -> Any:
    """Return results of traffic as if the hardware did what is predicted."""
    return (compare_traffic(case, case.predicted) for case in cases)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for the files of ``inputs``, which its first test makes."""
    return tmp_path_factory.mktemp("options") / "inputs"


@pytest.fixture
def inputs(eyecast: Command, here: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill the current folder with the files that the lines and the options name."""
    monkeypatch.setattr(hardware, "verify", perfect_verify)
    monkeypatch.setattr(hardware, "run_traffic", perfect_traffic)
    # The files of ``traffic`` have the latencies, too; drawing them takes longer than the run.
    monkeypatch.setattr(latency, "draw_latencies", lambda *_: Figure())
    # The lines of ``verilog`` convert hardware; every file of a package names the options.
    monkeypatch.setattr(package, "network_modules", lambda *_, **__: {package.ENGINE_MODULE: ""})
    monkeypatch.setattr(package, "crossing_verilog", lambda *_: "")
    if not kept.exists():
        make_inputs(eyecast)
        shutil.copytree(here, kept)
    shutil.copytree(kept, here, dirs_exist_ok=True)


def make_inputs(eyecast: Command) -> None:
    for line in (
        f"schedule {CORNER} -o schedule.json",
        f"program {CORNER} -o program.json --image image.csv --certificate certificate.json",
        f"program --circuits {CORNER} -o circuits.json",
        f"program --programs 1 {CORNER} -o resident.json",
        f"predict {CORNER} -o trace.csv",
        "traffic --mesh 2x2 --cycles 100 --on model -o drawn",
        "schedule --mesh 2x2 --collective all-gather --words 2 -o ranks.json",
        "convert ranks.json ranks.xml",
    ):
        assert eyecast(*line.split()).status == 0, line
    shutil.move("drawn/traffic.csv", "traffic.csv")
    shutil.rmtree("drawn")
    Path("graph.json").write_text(json.dumps(topology_to_json(api.mesh((2, 2)))))
    Path("work.csv").write_text(WORK)
    Path("blocks.json").write_text("[4, 3, 2, 1]")
    Path("names.json").write_text('{"done": "other.done"}')
    trace = Trace.read_csv("trace.csv")
    trace.data[3] ^= 1
    trace.write_csv("wrong.csv")
    Path("wrong.vcd").write_text(waveform(samples(trace)))
    Path("table.csv").write_text(table(samples(trace), radix=False))


def outcome(eyecast: Command, line: str) -> Outcome:
    """Carry out a line among the input files; remove the files that it writes."""
    before = {*Path().rglob("*")}
    answer = eyecast(*shlex.split(line))
    made = {*Path().rglob("*")} - before
    files = {str(path): path.read_bytes() for path in made if path.is_file()}
    for path in sorted(made, reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    return Outcome(answer, files)


def options_of(command: str) -> list[str]:
    """Return the options of a command as they are typed."""
    context = cli.make_context("eyecast", [command], resilient_parsing=True)
    found: Any = cli.get_command(context, command)
    return [option.opts[0] for option in found.params if option.opts[0].startswith("-")]


def test_every_command_is_walked() -> None:
    assert {line.split()[0] for line in LINES} | NOT_WALKED.keys() == {*cli.list_commands(None)}


FIRST = {line.split()[0]: line for line in reversed(LINES) if not line.startswith(SLOW)}.values()
"""The first line of each command; slow tests have the others."""


@pytest.mark.parametrize(
    "line",
    [pytest.param(line, marks=[pytest.mark.slow] * (line not in FIRST)) for line in LINES],
)
def test_every_option_binds_or_is_refused(line: str, eyecast: Command, inputs: None) -> None:
    plain = outcome(eyecast, line)
    assert plain.answer.status != 2, plain.answer
    words = line.split()
    same = {
        option
        for option in options_of(words[0])
        if option not in words
        and outcome(eyecast, " ".join([line, option, VALUES[option] or ""])) == plain
    }
    assert same == LINES[line].keys()
