"""Bad input, as a user might type it: one line, exit status 2, and no file."""

import json
import os
import re
import resource
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.command import CORNER_4X4, INSTALLED, Command, refusal, shell
from helpers.processes import run_program

from eyecast.cli.options import collective as options_collective
from eyecast.model.base.errors import with_article
from eyecast.model.bounds import cycles
from eyecast.model.bounds.cycles import CycleBound
from eyecast.model.network.kinds import KINDS
from eyecast.model.papers.transmit import schemes
from eyecast.sim.toolchain import environment

EYE = "network for the eye broadcast must be a 2^k x 2^k mesh (1x1, 2x2, 4x4, 8x8, ...)"
TREE = "(use --algorithm tree instead)"
CORNER = "--source 0,0"
BAD_OPTIONS = {
    # The network
    f"schedule --mesh 6x6 {CORNER}": f"{EYE}, of which the nearest is 8x8, not a 6x6 mesh {TREE}",
    f"schedule --mesh 0x4 {CORNER}": "side of mesh 0x4 must be at least 1, not 0",
    f"schedule --mesh 8x {CORNER}": "--mesh must be sides such as 8x8, not '8x'",
    f"schedule --mesh -8x8 {CORNER}": "--mesh must be sides such as 8x8, not '-8x8'",
    f"schedule {CORNER}": "a network must be given, such as --mesh 8x8",
    f"schedule --mesh 100000x100000 {CORNER}": (
        "nodes of the 100000x100000 mesh must be at most 16777216 for a schedule, not 10000000000"
    ),
    f"predict --mesh 2048x1024 {CORNER}": (
        "nodes of the 2048x1024 mesh must be at most 1048576 for a program, not 2097152"
    ),
    f"verify --mesh 64x64 {CORNER}": (
        "nodes of the 64x64 mesh must be at most 1024 for hardware, not 4096 "
        "(predict takes up to 1048576)"
    ),
    "verify --mesh 64x64 --all-sources": (
        "nodes of the 64x64 mesh must be at most 1024 for hardware, not 4096 "
        "(predict takes up to 1048576)"
    ),
    "schedule --mesh 2x2 --source 0,0 -o -": (
        "output file must be a name, such as /dev/stdout, not -"
    ),
    "predict --mesh 2x2 --source 0,0 --circuits --vcs 2": (
        "--vcs must be 1 in a network with circuits, not 2"
    ),
    "program --mesh 2x2 --source 0,0 --image a.json": (
        "image must be a file that does not end in .json, not a.json"
    ),
    "program --mesh 2x2 --source 0,0 --base 3": "--base needs --image FILE",
    "program --mesh 2x2 --source 0,0 --number 0 --image a.csv": "--number needs --programs",
    "program --mesh 2x2 --source 0,0 --programs 2 --number 2 --image a.csv": (
        "--number must be 0 to 1, not 2"
    ),
    "program --mesh 2x2 --source 0,0 --programs 2 --base 60 --image a.csv": (
        "words of all programs must be at most 64, the table memory (raise --table-words), not 66"
    ),
    "program --mesh 2x2 --source 0,0 -o a.json --image a.csv": (
        "output file a.json must be another file than the first output"
    ),
    "verify --mesh 4x4 --source 0,0 --programs 2 --hold 1,1:9": "--hold needs --tile-ports",
    "predict --mesh 4x4 --source 0,0 --programs 2 --tile-ports --hold 1,1:-4": (
        "cycles of --hold must be 0 to 1000000, not -4"
    ),
    "predict --mesh 4x4 --source 0,0 --programs 2 --tile-ports --hold 1,1:4 --hold 1,1:5": (
        "--hold must be given once for each node, not twice for 1,1"
    ),
    "predict --hypercube 2 --source 00 --programs 2 --tile-ports --hold 01:4 --hold 1,0:5": (
        "--hold must be given once for each node, not twice for 1,0"
    ),
    f"predict --mesh 2x2 --source 0,0 --programs 2 --tile-ports --hold 1,1:{'1' * 5000}": (
        f"cycles of --hold must be 0 to 1000000, not {'1' * 5000}"
    ),
    "bitstream --board ulx3s-85f --mesh 2x2 --programs 2 --flit-width 16": (
        "--flit-width must be at least 32 in a network with programs, not 16"
    ),
    "verilog --mesh 2x1 --bus wishbone -o a.v": "--programs must be at least 1 for wishbone, not 0",
    "verilog --mesh 2x1 --programs 1 --tile axi-stream -o a.v": (
        "--tile-ports must be given for axi-stream, not left out"
    ),
    "verilog --mesh 64x64 -o a.v": (
        "nodes of the 64x64 mesh must be at most 1024 for hardware, not 4096 "
        "(predict takes up to 1048576)"
    ),
    "verilog --star-tree 40x1 --vcs 4 -o a.v": (
        "ports of a node x VCs must be at most 88 for hardware (lower --vcs), not 41 x 4"
    ),
    # Other networks
    f"schedule --mesh 4x4 --torus 4x4 {CORNER}": (
        "one network must be given, not --mesh and --torus"
    ),
    "traffic --hypercube 2x2": "--hypercube must be a dimension such as 4, not '2x2'",
    "traffic --mesh 4x4 --faulty-link 0,0": (
        "--faulty-link must be two nodes such as 3,4:4,4, not '0,0'"
    ),
    "traffic --mesh 4x4 --faulty-link 0,0:2,2": (
        "faulty link must be a link of the 4x4 mesh, not 0,0:2,2"
    ),
    "traffic --mesh 4x4 --faulty-node 9,9": (
        "--faulty-node must be a node of the 4x4 mesh, 0,0 to 3,3, not 9,9"
    ),
    f"schedule --mesh {'999999999x' * 600}9 {CORNER}": (
        f"nodes of the {'999999999x' * 600}9 mesh must be at most 16777216 for a schedule, not more"
    ),
    "schedule --hypercube 999999999 --source 0": (
        "nodes of the 999999999 hypercube must be at most 16777216 for a schedule, not more"
    ),
    "traffic --graph nope.json": "nope.json: cannot be read: No such file or directory",
    # Traffic
    "traffic --torus 5x5 --on model": (
        "these routes can deadlock: 1 -> 21 -> 16 -> 11 -> 6 -> 1 on VC 0; "
        "with 2 VCs (VC 1 behind each ring's dateline) these routes are free of deadlock "
        "(--force runs the program anyway)"
    ),
    # What a missing file does not need to be read for
    "run no.csv --mesh 4x4 --policy no": "--policy must be first-come or urgent, not no",
    "run no.csv --mesh 4x4 --verify 0": "--verify must be 1 to 4096, not 0",
    "run no.csv --mesh 64x64 --verify 2": (
        "nodes of the 64x64 mesh must be at most 1024 for hardware, not 4096 "
        "(predict takes up to 1048576)"
    ),
    "run no.csv --mesh 4x4 -o a.txt": (
        "suffix of -o must be .perfetto.json, .svg, .pdf or .png, not '.txt'"
    ),
    # The source
    "schedule --mesh 8x8": "a source must be given, such as --source 0,0",
    "schedule --mesh 8x8 --source 64": (
        "--source must be a node of the 8x8 mesh, 0,0 to 7,7, or 0 to 63, not 64"
    ),
    "schedule --mesh 8x8 --collective allreduce": (
        "--collective must be broadcast, multicast, scatter, gather, all-gather, all-to-all, "
        "neighbor, halo, reduce, reduce-scatter, all-reduce, barrier, scan or exscan, not "
        "allreduce (did you mean all-reduce?)"
    ),
    "schedule --mesh 8x8 --source 8,0": (
        "--source must be a node of the 8x8 mesh, 0,0 to 7,7, not 8,0"
    ),
    "schedule --mesh 8x8 --source -1,0": "--source must be coordinates such as 0,0, not '-1,0'",
    "schedule --mesh 8x8 --source (0,0)": "--source must be coordinates such as 0,0, not '(0,0)'",
    "schedule --mesh 8x8 --source 0,": "--source must be coordinates such as 0,0, not '0,'",
    "schedule --mesh 8x8 --source": "Option '--source' requires an argument",
    "schedule --mesh 8x8 --source 0 0": (
        "Got unexpected extra argument (0) (see eyecast schedule --help)"
    ),
    # The message
    f"schedule --mesh 8x8 {CORNER} --words 0": "--words must be 1 to 2147483647, not 0",
    f"schedule --mesh 8x8 {CORNER} --words 3000000000": (
        "--words must be 1 to 2147483647, not 3000000000"
    ),
    f"schedule --mesh 8x8 {CORNER} --words abc": "--words must be an integer, not 'abc'",
    f"verify --mesh 4x4 {CORNER} --words 257 --message-words 256": (
        "flits of the message must be at most 256, the message memory (raise --message-words), "
        "not 257"
    ),
    # The hardware
    f"verify --mesh 4x4 {CORNER} --depth 0": "--depth must be 1 to 16, not 0",
    "bitstream --board icebreaker --mesh 2x2 --steps 4096": "--steps must be 1 to 4095, not 4096",
    f"verify --mesh 4x4 {CORNER} --flit-width 8": (
        "--flit-width must be at least 15, which the delivery (port, step, address) takes here, "
        "not 8"
    ),
    "traffic --mesh 4x4 --pattern uniform --rate 0.1 --flit-width 12": (
        "--flit-width must be at least 16 in a network with timed rows, not 12"
    ),
    f"predict --torus 4x4 {CORNER} --algorithm u-torus --vcs 1": (
        "--vcs must be at least 2 for this schedule, not 1"
    ),
    f"predict --mesh 4x4 {CORNER} --table-words 3": (
        "table of node 0 must be at most 3 words long (raise --table-words), not 9"
    ),
    f"verify --mesh 4x4 {CORNER} --vcs 1_0": "--vcs must be an integer, not '1_0'",
    f"verify --mesh 4x4 {CORNER} --vcs \u0661": "--vcs must be an integer, not '\u0661'",
    "traffic --mesh 4x4 --rate 0.1_0": "--rate must be a number, not '0.1_0'",
    # Names
    f"schedule --mesh 8x8 {CORNER} --algorithm ear": (
        "algorithm for broadcast must be eye, minimum, rectangle, jiang-wu, tree, u-mesh, u-torus, "
        "u-torus-open, ring, recursive-doubling, chain, packed-trees, nesbt-copies, paced, "
        "hierarchy, brg, sbt, tcbt, nrsbt, nesbt, nrbrg, light-tree, optimal or optimal-cycles, "
        "not ear"
    ),
    f"schedule --mesh 8x8 {CORNER} --partial": (
        f"--partial must be left out with eye broadcast {TREE}"
    ),
    f"schedule --mesh 8x8 {CORNER} --packet 0": "--packet must be 1 to 2147483647, not 0",
    f"schedule --mesh 8x8 {CORNER} --packet 1,2": "--packet must be a number of words, not '1,2'",
    f"schedule --mesh 8x8 {CORNER} --algorithm eye --ports all": (
        "--ports all must be left out with eye broadcast (use packed-trees)"
    ),
    "schedule --mesh 4x4 --collective all-reduce --ports all --algorithm stream-ring": (
        "--ports all must be left out with stream-ring all-reduce (use hamiltonian, greedy, rings, "
        "packed-trees, recursive-doubling, combs, dissemination, gossip)"
    ),
    "schedule --mesh 4x4 --source 0,0 --group diag": (
        "--group must be rows, columns, 'submesh AxB', rows+columns or a file, not 'diag'"
    ),
    "schedule --mesh 4x4 --collective all-gather --group rows --group columns": (
        "--group must be given once, not rows and columns"
    ),
    "schedule --mesh 4x4 --source 0,0 --source 1,0": (
        "--source must be given once, not 0,0 and 1,0"
    ),
    f"predict --mesh 4x4 {CORNER} --tile-ports": (
        "--programs must be at least 1 in a network with tile ports, not 0"
    ),
    f"compare --mesh 4x4 {CORNER} --lengths 0,4": "--lengths must be at least 1, not 0",
    f"schedule --mesh 8x8 {CORNER} --seconds 1": (
        "--seconds must be left out with eye: it is for --algorithm best"
    ),
    f"schedule --mesh 8x8 {CORNER} --algorithm best --seconds -1": (
        "--seconds must be 0 or more seconds, not -1.0"
    ),
    f"predict --mesh 2x2 {CORNER} --algorithm chain --timing self-timed": (
        "timing of a program that streams must be barrier, not self-timed"
    ),
    f"schedule --mesh 8x8 {CORNER} --target 1,1": "--target must be left out with broadcast",
    f"schedule --mesh 8x8 {CORNER} --collective multicast": (
        "a target must be given with multicast, such as --target 1,0"
    ),
    f"schedule --mesh 8x8 {CORNER} --keep 1,1": ("--keep must be left out without --random-faults"),
    f"schedule --mesh 8x8 {CORNER} --random-faults 1": (
        "--random-faults must be 0 to less than 1, not 1.0"
    ),
    f"schedule --mesh 8x8 {CORNER} --collective reduce --operator plus": (
        "--operator must be add, min, max, min-signed, max-signed, and, or or xor, not plus"
    ),
    f"schedule --mesh 8x8 {CORNER} --collective reduce --algorithm nesbt-copies": (
        "algorithm for reduce must be eye, minimum, rectangle, jiang-wu, tree, u-mesh, u-torus, "
        "u-torus-open, ring, recursive-doubling, chain, packed-trees, paced, hierarchy, brg, sbt, "
        "tcbt, nrsbt, nesbt, nrbrg, aligned-tree, joining-tree, optimal or optimal-cycles, "
        "not nesbt-copies"
    ),
    f"predict --mesh 8x8 {CORNER} --collective reduce --timing self-timed": (
        "timing of a program that combines must be barrier, not self-timed"
    ),
    f"predict --mesh 8x8 {CORNER} --timing no": "--timing must be barrier or self-timed, not no",
    "frobnicate": (
        "command must be algorithms, asic, bitstream, board-run, boards, cache, certify, check, "
        "chip, compare, completion, convert, demo, doctor, explore, image, ip, paper, predict, "
        "program, run, schedule, show, sweep, traffic, transmit, verify, verilog, not frobnicate"
    ),
    "schedule --qqq": "No such option '--qqq' (see eyecast schedule --help)",
    # Options that exclude or need each other
    f"verify --mesh 4x4 {CORNER} --waves": "--waves needs -o FOLDER, to have a place for waves.vcd",
    f"verify --mesh 4x4 {CORNER} --signals": "--signals needs -o FOLDER, to have a place for "
    "signals.vcd",
    f"predict --mesh 4x4 {CORNER} --waves": "--waves needs -o FILE, to have a place for waves.vcd",
    f"predict --mesh 4x4 {CORNER} --waves -o /dev/null": "-o must be a file with --waves, which "
    "are written beside it, not /dev/null",
    f"predict --mesh 64x64 {CORNER} --waves -o trace.csv": "nodes of the 64x64 mesh must be at "
    "most 1024 for waveforms, not 4096",
    f"predict --mesh 4x4 {CORNER} --waves-node 1,1": "--waves-node must be left out without "
    "--waves",
    f"predict --mesh 4x4 {CORNER} --waves --waves-node 4,1 -o trace.csv": "--waves-node must be a "
    "node of the 4x4 mesh, 0,0 to 3,3, not 4,1",
    f"verify --mesh 4x4 {CORNER} --all-sources": (
        "--all-sources must be without --source and --schedule"
    ),
    "verify --mesh 4x4 --all-sources -o out": (
        "-o must be left out with --all-sources: it keeps the files of one run"
    ),
    "verify --schedule s.json --all-sources": (
        "--all-sources must be without --source and --schedule"
    ),
    "predict --program p.json --schedule s.json": (
        "--schedule must be left out with --program: the file has it already"
    ),
    "predict --program p.json --steps 9": (
        "--steps must be left out with --program: the file has it already"
    ),
    "verilog --mesh 2x1 --ports full-duplex -o a.v": (
        "Invalid value for '--ports': 'full-duplex' is not one of 'one', 'all' "
        "(see eyecast verilog --help)"
    ),
    "verilog --mesh 4x4": "Missing option '-o' / '--output' (see eyecast verilog --help)",
    # Places to write to
    "verilog --mesh 4x4 -o a.json": (
        "output must be a file that does not end in .json, not a.json"
    ),
    f"schedule --mesh 4x4 {CORNER} -o .": "output file . must be a file, not a folder",
    f"schedule --mesh 4x4 {CORNER} -o no/s.json": (
        "output folder no must be an existing folder, not missing"
    ),
    f"program --mesh 4x4 {CORNER} -o /proc/p.json": (
        "output file /proc/p.json must be writable, not refused (No such file or directory)"
    ),
    f"verify --mesh 4x4 {CORNER} -o /proc/out": (
        "output folder /proc/out must be writable, not refused (No such file or directory)"
    ),
    f"schedule --mesh 4x4 {CORNER} -o a.svg": (
        "-o must be a file for JSON, as eyecast show draws pictures, not a.svg"
    ),
    # Places to read from
    "predict --program p.json": "p.json: cannot be read: No such file or directory",
    "verify --schedule .": ".: cannot be read: Is a directory",
}


@pytest.mark.parametrize(("arguments", "line"), BAD_OPTIONS.items(), ids=BAD_OPTIONS)
def test_bad_options(eyecast: Command, here: Path, arguments: str, line: str) -> None:
    assert eyecast(*arguments.split()) == refusal(line)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        f"schedule --mesh 6x6 {CORNER} -o s.json",
        "predict --program p.json",
        f"verify --mesh 4x4 {CORNER} --depth 0 -o out",
    ],
)
def test_the_installed_command_refuses_likewise(
    eyecast: Command, here: Path, arguments: str
) -> None:
    answer = shell(*arguments.split())
    assert answer == eyecast(*arguments.split())
    assert (answer.status, answer.output, answer.errors.count("\n")) == (2, "", 1)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("what", ["schedule", "program"])
def test_files_that_are_not_what_they_should_be(eyecast: Command, here: Path, what: str) -> None:
    other = {"schedule": "program", "program": "schedule"}[what]
    for name in (what, other):
        eyecast(name, *CORNER_4X4, "-o", f"{name}.json")
    whole = (here / f"{what}.json").read_bytes()
    versions = "1 or 2"
    cases = {
        "cut.json": (whole[:200], "Input data was truncated"),
        "empty.json": (b"", "Input data was truncated"),
        "foreign.json": (b'{"name": "x"}', "Object missing required field format"),
        "list.json": (b"[1, 2]", "Expected object, got array"),
        "picture.json": (b"\x89PNG\r\n", "must be UTF-8: invalid start byte"),
        "other.json": (
            (here / f"{other}.json").read_bytes(),
            f"format must be eyecast-{what}, not eyecast-{other}",
        ),
        "future.json": (
            whole.replace(b'"version":1', b'"version":9'),
            f"version must be {versions}, not 9",
        ),
        "more.json": (
            whole.replace(b'"port_model"', b'"color":"red","port_model"'),
            "Object contains unknown field color",
        ),
    }
    for name, (content, line) in cases.items():
        (here / name).write_bytes(content)
        assert eyecast("predict", f"--{what}", name) == refusal(f"{name}: {line}")


def test_a_folder_that_turns_read_only(
    eyecast: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **_named: object) -> None:
        raise PermissionError(13, "Permission denied")

    line = "output folder . must be writable, not read-only"
    for place in ((Path, "touch"), (Path, "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(*place, refuse)
            assert eyecast("schedule", *CORNER_4X4, "-o", "s.json") == refusal(line)
            assert eyecast("predict", *CORNER_4X4, "-o", "t.csv") == refusal(line)
        assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ("predict --schedule s.json --mesh 4x4", "--mesh"),
        ("predict --schedule s.json --words 16", "--words"),
        ("traffic --mesh 4x4 --traffic-file t.csv --cycles 5", "--cycles"),
    ],
)
def test_what_a_file_says_is_left_out_beside_it(
    eyecast: Command, here: Path, arguments: str, option: str
) -> None:
    eyecast("schedule", *CORNER_4X4, "-o", "s.json")
    (here / "t.csv").write_text("cycle,source,target,flits\n3,0,1,2\n")
    file_option = arguments.split()[-4]
    line = f"{option} must be left out with {file_option}: the file has it already"
    assert eyecast(*arguments.split()) == refusal(line)


def test_outputs_that_are_inputs_or_each_other(eyecast: Command, here: Path) -> None:
    eyecast("schedule", *CORNER_4X4, "-o", "s.json")
    eyecast("program", *CORNER_4X4, "-o", "p.json")
    (here / "g.json").write_text('{"kind": "line", "nodes": 4}')
    (here / "v.json").mkdir()
    (here / "traffic.csv").write_text("cycle,source,target,flits\n3,0,1,2\n0,1,0,2\n")
    (here / "schedule.json").write_bytes((here / "s.json").read_bytes())
    before = {path.name: path.is_file() and path.read_bytes() for path in here.iterdir()}
    for arguments, line in (
        ("program --schedule s.json -o ./s.json", "./s.json must be another file than --schedule"),
        ("predict --program p.json -o p.json", "p.json must be another file than --program"),
        ("schedule --graph g.json -o g.json", "g.json must be another file than --graph"),
        ("verilog --graph g.json -o g.v", "g.json must be another file than --graph"),
        (
            "traffic --mesh 2x1 --traffic-file traffic.csv --on model -o .",
            "traffic.csv must be another file than --traffic-file",
        ),
        (
            "verify --schedule ./schedule.json -o .",
            "schedule.json must be another file than --schedule",
        ),
        ("verilog --mesh 1x1 -o v.v", "v.json must be a file, not a folder"),
        (
            "transmit --line 4 -o a.svg --picture ./a.svg",
            "./a.svg must be another file than the first output",
        ),
    ):
        assert eyecast(*arguments.split()) == refusal(f"output file {line}")
    line = "output folder no must be an existing folder, not missing"
    assert eyecast("transmit", "--line", "4", "-o", "t.json", "--picture", "no/t.svg") == refusal(
        line
    )
    assert {path.name: path.is_file() and path.read_bytes() for path in here.iterdir()} == before


def test_a_link_to_itself(eyecast: Command, here: Path) -> None:
    (here / "one").symlink_to("two")
    (here / "two").symlink_to("one")
    line = "one: cannot be read: Too many levels of symbolic links"
    assert eyecast("schedule", "--graph", "one", "--source", "0", "-o", "s.json") == refusal(line)
    assert not (here / "s.json").exists()
    line = (
        f"output file {here}/one must be writable, not refused (Too many levels of symbolic links)"
    )
    assert eyecast("schedule", *CORNER_4X4, "-o", "one") == refusal(line)
    assert (here / "one").is_symlink()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            "transmit --mesh 4096x4096",
            "nodes of the 4096x4096 mesh must be at most 4096 to be searched, not 16777216",
        ),
        (
            f"show --mesh 4096x4096 {CORNER}",
            "nodes of the 4096x4096 mesh must be at most 65536 for a picture, not 16777216",
        ),
        (
            f"show --mesh 4x4 {CORNER} -o a.gif",
            "suffix of picture a.gif must be .svg, .pdf or .png, not .gif",
        ),
    ],
)
def test_what_is_refused_is_refused_before_the_network_is_made(
    eyecast: Command, monkeypatch: pytest.MonkeyPatch, arguments: str, line: str
) -> None:
    monkeypatch.setitem(KINDS, "mesh", replace(KINDS["mesh"], make=None))
    assert eyecast(*arguments.split()) == refusal(line)


def test_a_network_that_is_not_drawn_needs_no_schedule(
    eyecast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options_collective, "answer", None)
    line = "sides of a drawn mesh must be at most 64, not 128x128"
    assert eyecast("show", "--mesh", "128x128", "--source", "0,0") == refusal(line)
    monkeypatch.setattr(schemes, "transmit", None)
    line = "sides of a drawn line must be at most 64, not 100000"
    assert eyecast("transmit", "--line", "100000", "--picture", "a.svg") == refusal(line)


def test_what_is_quoted_stays_on_one_line(eyecast: Command, here: Path) -> None:
    (here / "a.json").write_text('{"format": "x\\ny", "version": 1}')
    for arguments, line in (
        (("predict", "--program", "a.json"), r"a.json: format must be eyecast-program, not x\ny"),
        (("predict", "--program", "a\nb"), r"a\nb: cannot be read: No such file or directory"),
        (("paper", "jiang-wu", "--tau", "\x1b[0m"), r"--tau must be a number, not '\x1b[0m'"),
    ):
        assert eyecast(*arguments) == refusal(line)


def test_hops_of_a_file_are_counted_before_they_are_encoded(eyecast: Command, here: Path) -> None:
    eyecast("program", *CORNER_4X4, "-o", "p.json")
    program = json.loads((here / "p.json").read_text())
    program["nodes"][0]["rows"][0]["route"] = [[1, 2**31 - 1, 0]]
    (here / "p.json").write_text(json.dumps(program))
    # A slot of five bits counts four hops, and a flit has six slots.
    flits = -(-(2**31) // 4 // 6)
    line = f"node 0, row 0: header flits of the route must be 1 to 15, not {flits}"
    assert eyecast("predict", "--program", "p.json") == refusal(f"p.json: {line}")


def test_a_file_in_place_of_the_folder(eyecast: Command, here: Path) -> None:
    (here / "out").write_text("mine")
    line = "output folder out must be a folder, not a file"
    assert eyecast("verify", *CORNER_4X4, "-o", "out") == refusal(line)
    assert (here / "out").read_text() == "mine"


def test_a_schedule_that_breaks_a_rule_is_refused_with_the_send(
    eyecast: Command, here: Path
) -> None:
    eyecast("schedule", *CORNER_4X4, "-o", "s.json")
    text = (here / "s.json").read_text()
    # In step 4 node 0 sends to 4 and node 1 to 5: the first send now takes a detour over 1 -> 5.
    text = text.replace('"path":[0,4],"vcs":[0],', '"path":[0,1,5,4],"vcs":[0,0,0],')
    (here / "s.json").write_text(text.replace('"tcd":18', '"tcd":20'))
    line = "send 11 (step 4, 1 -> 5): it shares link 1 -> 5, VC 0 with send 7 (step 4, 0 -> 4)"
    refused = refusal(f"s.json: {line}")
    assert eyecast("verify", "--schedule", "s.json", "-o", "out") == refused
    assert not (here / "out").exists()


@pytest.mark.parametrize(
    "command", ["predict", "predict --json -o trace.csv", "schedule", "compare", "compare --json"]
)
def test_a_run_that_beats_its_bound_is_an_internal_error(
    eyecast: Command, here: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(cycles, "least_cycles", lambda *_, **__: CycleBound(999, "not one"))
    answer = eyecast(*command.split(), *CORNER_4X4)
    assert (answer.status, answer.output) == (1, "")
    beaten = (
        r"eyecast: internal error: a run of \d+ cycles cannot beat its lower bound of 999: not one"
    )
    assert re.fullmatch(f"{beaten}\n", answer.errors)
    assert not [*here.iterdir()]


def test_no_room_for_the_output_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        command = [INSTALLED, "schedule", *CORNER_4X4, "--json"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "eyecast: standard output: No space left on device\n",
    )


@pytest.mark.parametrize("arguments", ["schedule --mesh 4x4 --source 0,0", "--help"])
def test_a_closed_output_is_one_line(arguments: str) -> None:
    command = ["sh", "-c", f'"$0" {arguments} >&-', INSTALLED]
    done = run_program(command)
    line = "eyecast: standard output must be open, not closed\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", line)


@pytest.mark.parametrize("options", ["--json", "-o /dev/stdout"])
def test_a_reader_who_has_seen_enough_is_told_nothing(options: str) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [INSTALLED, "schedule", *CORNER_4X4, *options.split()]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_too_little_memory_is_one_line() -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (800 << 20, 800 << 20))

    command = [INSTALLED, "predict", "--schedule", "/dev/zero"]
    done = run_program(command, preexec_fn=limit)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "eyecast: out of memory\n")


def test_programs_are_found_without_a_path(
    eyecast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment.cache_clear()
    monkeypatch.delenv("PATH")
    assert eyecast("--version").status == 0
    found = environment()["PATH"].split(os.pathsep)
    environment.cache_clear()
    assert found[-3:] == [*os.defpath.split(os.pathsep), str(INSTALLED.parent)]


@pytest.mark.parametrize(
    ("name", "spoken"),
    [
        ("4x4 mesh", "a 4x4 mesh"),
        ("8x4 mesh", "an 8x4 mesh"),
        ("11-cube", "an 11-cube"),
        ("18x2 torus", "an 18x2 torus"),
        ("80x2 torus", "an 80x2 torus"),
        ("110x2 torus", "a 110x2 torus"),
        ("1x8 mesh", "a 1x8 mesh"),
        ("11000x2 mesh", "an 11000x2 mesh"),
        ("ring of 8", "a ring of 8"),
        ("eye", "an eye"),
    ],
)
def test_the_article_is_the_one_that_is_spoken(name: str, spoken: str) -> None:
    assert with_article(name) == spoken
