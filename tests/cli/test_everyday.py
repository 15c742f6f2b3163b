"""The first commands, the version report, and the shell's completions."""

import json
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest
from helpers.command import INSTALLED, Command, printed_result, refusal, result
from helpers.processes import run_program

from eyecast.cli import doctor
from eyecast.cli.doctor import TOOLS, Tool
from eyecast.sim.cache import PACKAGE


@pytest.mark.slow
def test_the_demo_runs_what_it_prints(eyecast: Command, here: Path) -> None:
    answer = eyecast("demo", "--mesh", "2x2", "-o", "out")
    assert (answer.status, answer.errors) == (0, "")
    lines = answer.output.splitlines()
    typed = [line.removeprefix("$ eyecast ") for line in lines if line.startswith("$ ")]
    assert [line.split()[0] for line in typed] == ["verify"] * 2 + ["show"] * 4
    assert sum("trace rows" in line and line.endswith("ok │") for line in lines) == 2
    pictures = {f"{name}.{kind}" for name in ("corner", "eye") for kind in ("svg", "png")}
    assert {path.name for path in (here / "out").iterdir()} == {"corner", "eye", *pictures}
    # A printed command, when typed, writes the same file.
    before = (here / "out" / "eye" / "trace-hardware.csv").read_bytes()
    shutil.rmtree(here / "out" / "eye")
    assert eyecast(*typed[1].split()).status == 0
    assert (here / "out" / "eye" / "trace-hardware.csv").read_bytes() == before


def test_the_demo_is_of_a_mesh_that_has_an_eye(eyecast: Command, here: Path) -> None:
    answer = eyecast("demo", "--mesh", "5x5")
    assert answer.status == 2
    assert "2^k x 2^k mesh" in answer.errors
    mesh = "--mesh must be sides such as 8x8, not 'large'"
    assert eyecast("demo", "--mesh", "large") == refusal(mesh)
    assert not list(here.iterdir())


def test_the_doctor_names_what_is_there(eyecast: Command) -> None:
    found = result(eyecast("doctor", "--json"))
    assert list(found) == ["python", "works", "trouble", "parts", "cache"]
    assert (found["works"], found["trouble"]) == (True, None)
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    versions = {tool["name"]: tool["version"] for tool in found["parts"]}
    assert list(versions) == [tool.name for tool in TOOLS]
    assert all(versions[name] for name in ("g++", "make", "perl", "verilator", "cocotb", "numba"))
    assert found["cache"].keys() == {"folder", "entries", "bytes", "free_bytes"}


def test_the_doctor_knows_every_extra() -> None:
    settings = tomllib.loads((PACKAGE / "pyproject.toml").read_text())
    extras = settings["project"]["optional-dependencies"]
    packages = {extra: " ".join(extras[extra]) for extra in extras}
    found = {extra for tool in TOOLS for extra in re.findall(r"eyecast\[(\w+)\]", tool.install)}
    assert found == extras.keys()
    for tool in TOOLS:
        for extra in re.findall(r"eyecast\[(\w+)\]", tool.install):
            assert tool.package in packages[extra]


def test_the_doctor_says_what_a_missing_part_costs(
    eyecast: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "silent").write_text("#!/bin/sh\n")
    (here / "silent").chmod(0o755)
    absent = Tool("nothing", "a test", "nothing is done", "leave it", ("no-such-program",))
    silent = Tool("silent", "a test", "nothing is said", "leave it", (str(here / "silent"),))
    monkeypatch.setattr(doctor, "TOOLS", (absent, silent))
    answer = eyecast("doctor")
    assert answer.status == 0
    assert "without nothing nothing is done: leave it\n" in answer.output
    rows = [[cell.strip() for cell in line.split("│")] for line in answer.output.splitlines()]
    assert ["", "nothing", "missing", "a test", ""] in rows
    assert ["", "silent", "installed", "a test", ""] in rows


def test_the_doctor_fails_where_the_main_job_cannot_run(tmp_path: Path) -> None:
    (tmp_path / "make").symlink_to(shutil.which("make") or "")
    done = run_program([INSTALLED, "doctor", "--json"], env={**os.environ, "PATH": str(tmp_path)})
    trouble = "g++ must be on PATH, found none: install g++"
    assert (done.returncode, done.stderr) == (1, f"eyecast: {trouble}\n")
    found = printed_result(done.stdout)
    assert (found["works"], found["trouble"]) == (False, trouble)
    missing = [tool["name"] for tool in found["parts"] if tool["version"] is None]
    assert {"g++", "perl", "git"} <= set(missing)
    assert "make" not in missing


def completed(words: str, monkeypatch: pytest.MonkeyPatch, eyecast: Command) -> list[str]:
    """Return bash's completions for ``words``, the last of which is incomplete."""
    monkeypatch.setenv("_EYECAST_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"eyecast {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(f"eyecast {words}x".split()) - 1))
    answer = eyecast()
    assert (answer.status, answer.errors) == (0, "")
    return answer.output.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ver", ["plain,verify", "plain,verilog"]),
        ("verify --waves", ["plain,--waves", "plain,--waves-node"]),
        ("verify --timing s", ["plain,self-timed"]),
        ("schedule --mesh 8x8 --algorithm sbn", ["plain,sbnt"]),
        ("schedule --collective all-g", ["plain,all-gather"]),
        ("predict --program p", ["file,p"]),
        ("traffic --on m", ["plain,model"]),
        ("completion f", ["plain,fish"]),
        # Words typed before need not be valid.
        ("verify --mesh what --vcs x --tim", ["plain,--timing"]),
        ("no-such-command --me", []),
    ],
)
def test_a_shell_completes(
    words: str, offered: list[str], monkeypatch: pytest.MonkeyPatch, eyecast: Command
) -> None:
    assert completed(words, monkeypatch, eyecast) == offered


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_asks_for_it(name: str, eyecast: Command) -> None:
    answer = eyecast("completion", name)
    assert (answer.status, answer.errors) == (0, "")
    assert f"_EYECAST_COMPLETE={name}_complete" in answer.output


def test_there_are_scripts_for_three_shells(eyecast: Command) -> None:
    assert eyecast("completion", "tcsh") == refusal("shell must be bash, zsh or fish, not tcsh")


def test_bash_completes_by_the_script() -> None:
    """Bash runs the function that the script defines."""
    script = f"""
    export PATH={INSTALLED.parent}:$PATH
    eval "$(eyecast completion bash)"
    COMP_WORDS=(eyecast verify --waves-n) COMP_CWORD=2
    _eyecast_completion eyecast --waves-n verify
    echo "${{COMPREPLY[@]}}"
    complete -p eyecast
    """
    done = run_program(["bash", "-c", script], check=True)
    assert done.stdout.splitlines()[0] == "--waves-node"
    assert "-F _eyecast_completion eyecast" in done.stdout


def test_an_image_is_of_programs_that_a_controller_keeps(eyecast: Command, here: Path) -> None:
    eyecast("program", "--mesh", "2x2", "--source", "0,0", "-o", "p.json")
    answer = eyecast("image", "p.json", "-o", "i.csv")
    assert answer == refusal("p.json must be made with --programs, to be kept")


def test_errors_of_timed_schedules_name_the_file(eyecast: Command, here: Path) -> None:
    made = ("--mesh", "2x2", "--collective", "all-to-all", "--algorithm", "direct")
    eyecast("schedule", *made, "-o", "direct.json")
    timed = json.loads(Path("direct.json").read_text())
    Path("ports.json").write_text(json.dumps({**timed, "port_model": "all-port"}))
    answer = eyecast("predict", "--schedule", "ports.json")
    complaint = "port model of a timed schedule must be one of one port, not all-port"
    assert answer == refusal(f"ports.json: {complaint}")
    eyecast("schedule", "--mesh", "3x1", "--source", "0,0", "--algorithm", "ring", "-o", "r.json")
    ring = json.loads(Path("r.json").read_text())
    early = {**ring, "version": 2, "timed": True, "sends": ring["sends"][::-1]}
    Path("early.json").write_text(json.dumps(early))
    answer = eyecast("predict", "--schedule", "early.json")
    assert answer == refusal(
        "early.json: send 0 (step 2, 1 -> 2): timed, it stands before the send that brings its "
        "blocks"
    )
