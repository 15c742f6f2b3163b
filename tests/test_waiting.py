"""What is said while one waits, and how what takes long is ended: by Ctrl-C, and by a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command import INSTALLED

from eyecast.model import notices

AT_ONCE = 20
"""Seconds, on a machine with much else to do."""


def until(condition: Callable[[], bool]) -> bool:
    """Wait until something holds; whether it does in the end."""
    deadline = time.monotonic() + AT_ONCE
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def run_python(code: str, **variables: str) -> subprocess.Popen[str]:
    """Start Python as a shell does, with its output in pipes."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in the background, Ctrl-C is ignored, and that is inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def is_running(process: int) -> bool:
    try:
        # One that has ended and is only not yet waited for is a zombie.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


BUILD = """
from pathlib import Path
from eyecast.sim import process
process.run(["sh", "-c", "sleep 1000 & echo $! > pid.new; mv pid.new pid; wait"], Path("log"),
            folder=Path("{folder}"))
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found in /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_what_a_killed_process_has_started_ends_too(here: Path, number: signal.Signals) -> None:
    build = run_python(BUILD.format(folder=here))
    pid = here / "pid"
    assert until(pid.exists)
    grandchild = int(pid.read_text())
    assert is_running(grandchild)
    build.send_signal(number)
    build.communicate(timeout=AT_ONCE)
    assert until(lambda: not is_running(grandchild))


def test_a_guarded_command_gives_its_status_and_its_words(here: Path) -> None:
    from eyecast.sim import process

    log = here / "log"
    assert process.run(["sh", "-c", "echo words; exit 3"], log) == 3
    assert log.read_text() == "words\n"
    assert process.run(["sh", "-c", "kill -9 $$"], log) == 128 + 9
    assert process.run([str(here / "none")], log) == 1
    assert log.read_text() == f"{here / 'none'}: No such file or directory\n"


# What a compiler does that calls Python and is called by it: an exception is lost on the way.
COMPILE = """
import sys, time
from eyecast import waiting
from eyecast.model import notices
waiting.show_notices()
with notices.compiling():
    print("compiling", flush=True)
    while True:
        try:
            time.sleep(1000)
        except BaseException:
            pass
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_a_compilation_that_loses_it(number: signal.Signals) -> None:
    compilation = run_python(COMPILE)
    try:
        assert first_line(compilation) == "compiling"
        compilation.send_signal(number)
        _, errors = compilation.communicate(timeout=AT_ONCE)
    finally:
        compilation.kill()
    assert compilation.returncode == 130
    # Where the machine has much else to do, that it compiles may have been said.
    assert errors.splitlines()[-1] == "eyecast: interrupted"
    assert "Traceback" not in errors


def test_numba_can_be_interrupted_and_says_that_it_compiles(tmp_path: Path) -> None:
    command = subprocess.Popen(
        [INSTALLED, "predict", "--mesh", "2x1", "--source", "0,0", "--algorithm", "tree"],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    assert command.stderr is not None
    said = command.stderr.readline()
    command.send_signal(signal.SIGINT)
    output, errors = command.communicate(timeout=AT_ONCE)
    assert said == "eyecast: compiling for this machine (once, then it is kept)\n"
    assert (command.returncode, output, errors) == (130, "", "eyecast: interrupted\n")


SIGNALS_AFTERWARDS = """
import signal
from eyecast import waiting
from eyecast.model import notices
waiting.show_notices()
with notices.compiling():
    pass
assert signal.set_wakeup_fd(-1) == -1
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print("as before")
"""


def test_after_a_compilation_an_interruption_is_an_exception_again() -> None:
    assert run_python(SIGNALS_AFTERWARDS).communicate(timeout=AT_ONCE) == ("as before\n", "")


def test_what_takes_long_is_said_at_its_start_and_at_its_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "eyecast")
    with notices.announced("counting to one"):
        pass
    assert caplog.messages == []
    monkeypatch.setattr(notices, "PATIENCE", 0)
    with notices.announced("counting to many"):
        assert until(lambda: bool(caplog.messages))
    assert caplog.messages == ["counting to many", "counting to many: 0 s"]


def test_no_command_compiles_what_was_compiled_at_first() -> None:
    # Each in a process of its own, which has loaded nothing yet.
    code = """
import sys
from numba.core import event
from eyecast import cli, precompile
precompile.main()
with event.install_recorder("numba:compile") as recorder:
    for line in sys.argv[1:]:
        sys.argv = ["eyecast", *line.split()]
        try:
            cli.main()
        except SystemExit as end:
            assert not end.code, line
assert not recorder.buffer, recorder.buffer
"""
    lines = (
        "predict --mesh 4x4 --source 0,0 --timing self-timed",
        "predict --hypercube 3 --source 0,0,0 --algorithm sbt --ports all",
        "compare --mesh 5x4 --source 0,0",
        "schedule --mesh 20x20 --source 0,0 --algorithm tree --faulty-node 3,3",
        "transmit --diagonal-mesh 8",
        "traffic --mesh 4x4 --rate 0.1 --cycles 100 --on model",
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *lines], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
