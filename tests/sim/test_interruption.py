"""Ctrl-C during a build and during a run: one line, no leftovers, and the next command works.

Each test has its own cache folder. The folder's name in a process's environment tells which
processes belong to a command.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.command import INSTALLED, without_notices
from helpers.processes import run_program

from eyecast.sim.cache import CACHE_VARIABLE

# A small network builds fast, and a long message, loaded and read word by word, runs long.
VERIFY = (
    *("verify", "--mesh", "2x2", "--source", "0,0", "--algorithm", "eye"),
    *("--message-words", "65536", "--words"),
)
LONG, SHORT = "65536", "1"
VERILATOR, COMPILER = "/verilator_bin ", "/cc1plus "
SIMULATOR = "/build/eyecast_network"
"""Patterns of the command lines of programs that a command starts."""
Moment = Callable[[Path], bool]
"""A function of the cache folder that tells whether it is time to interrupt the command."""

PATIENCE = 300
AFTER_A_MOMENT = 5

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found in /proc")


def until(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait until a condition holds; return whether it does at the end."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def processes(cache: Path) -> list[str]:
    """Return the command lines of all running processes started with this cache folder."""
    mark = f"{CACHE_VARIABLE}={cache}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:  # The process has ended meanwhile.
            continue
    # A process that has ended but is not yet waited for has no command line.
    return [command for command in found if command]


def start(cache: Path, flits: str) -> subprocess.Popen[str]:
    """Start the command as a shell does, in a process group of its own."""
    return subprocess.Popen(
        [INSTALLED, *VERIFY, flits],
        env={**os.environ, CACHE_VARIABLE: str(cache)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # If the tests run in the background, Ctrl-C is ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


def runs(program: str) -> Moment:
    """Return the moment in which a program runs whose command line matches ``program``."""
    return lambda cache: any(re.search(program, line) for line in processes(cache))


def converts(cache: Path) -> bool:
    """Tell whether the command is writing Verilog: its folder in the cache is new."""
    return any(cache.glob("*.partial")) and len(processes(cache)) == 1


def interrupt(
    cache: Path,
    flits: str,
    when: Moment,
    send: Callable[[int, int], None],
    number: signal.Signals = signal.SIGINT,
) -> None:
    """Interrupt the command at the moment ``when``; check its output and its leftovers."""
    command = start(cache, flits)
    try:
        assert until(lambda: when(cache), PATIENCE)
        send(command.pid, number)
        output, errors = command.communicate(timeout=PATIENCE)
    finally:
        command.kill()
    assert (command.returncode, output) == (130, "")
    assert without_notices(errors) == "eyecast: interrupted\n"
    assert until(lambda: not processes(cache), AFTER_A_MOMENT), processes(cache)


def kill(cache: Path, flits: str, when: Moment) -> None:
    """Kill the command, without its child processes, at the moment ``when``."""
    command = start(cache, flits)
    assert until(lambda: when(cache), PATIENCE)
    command.kill()
    command.communicate(timeout=PATIENCE)
    assert until(lambda: not processes(cache), AFTER_A_MOMENT), processes(cache)


def kept(cache: Path) -> set[str]:
    """Return the names in the cache that a later run would use as complete."""
    return {path.name for path in cache.iterdir() if path.suffix not in (".lock", ".partial")}


@pytest.mark.slow
def test_interrupted_builds_and_runs_leave_nothing_and_the_next_works(tmp_path: Path) -> None:
    # make cannot read such a name.
    cache = tmp_path / "a cache"
    to_all, to_parent = os.killpg, os.kill
    for when, send in (
        (converts, to_all),
        (converts, to_parent),
        (runs(VERILATOR), to_all),
        (runs(COMPILER), to_parent),
    ):
        interrupt(cache, SHORT, when, send)
        assert kept(cache) == set()

    kill(cache, SHORT, runs(COMPILER))
    assert kept(cache) == set()

    interrupt(cache, LONG, runs(SIMULATOR), to_all)
    assert not [path for path in cache.iterdir() if path.suffix == ".partial"]
    # The simulator, and the objects that all simulators share.
    built = kept(cache)
    assert len(built) == 2
    interrupt(cache, LONG, runs(SIMULATOR), to_parent)
    interrupt(cache, LONG, runs(SIMULATOR), to_parent, signal.SIGTERM)

    command = start(cache, SHORT)
    output, errors = command.communicate(timeout=PATIENCE)
    assert (command.returncode, without_notices(errors)) == (0, "")
    assert "DIFFERS" not in output
    assert kept(cache) == built


def test_interrupted_while_it_loads(tmp_path: Path) -> None:
    # This file replaces a module that the command line loads. It sends Ctrl-C during the import,
    # and catches the exception.
    interrupt = "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "click.py").write_text(f"{interrupt}except KeyboardInterrupt:\n    pass\n")
    done = run_program(
        [sys.executable, "-m", "eyecast", "--version"],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "eyecast: interrupted\n")
