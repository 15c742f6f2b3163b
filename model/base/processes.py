"""Child processes: the only module that starts any.

A child executes nothing of the user's folder. Python gets ``PYTHONSAFEPATH``, so that a
``signal.py`` in the user's folder does not replace Python's own. Any program runs in a folder of
its own, or in :data:`NOWHERE`, where it finds no settings to read.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.context import SpawnContext

Process = subprocess.Popen[bytes]
"""A started program."""
Finished = subprocess.CompletedProcess[str]
"""A program that has ended: its status and what it printed."""

GUARD = Path(__file__).with_name("guard.py")
NOWHERE = Path("/")
"""The folder of programs that read and write no file; only root writes to it."""
SAFE = "PYTHONSAFEPATH"
FULL = 1 << 16
"""Bytes; a disk with less free room counts as full."""


def start(
    command: Sequence[str], log: Path, *, variables: Mapping[str, str] | None = None
) -> Process:
    """Start a command in the folder of its ``log``, which gets all its output.

    ``variables`` replace this process's environment. If this process is killed, so are the command
    and all its children.
    """
    # Without site packages, Python starts the guard in a moment.
    guarded = [sys.executable, "-I", "-S", str(GUARD), *command]
    # Not a terminal: there the WebAssembly yosys may crash.
    with log.open("wb") as output:
        return subprocess.Popen(
            guarded,
            cwd=log.parent,
            env=_environment(command, variables),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def stop(process: Process) -> None:
    """End a process started here, and all its children, if it still runs."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdin is not None:
        process.stdin.close()


def run(command: Sequence[str], log: Path, *, variables: Mapping[str, str] | None = None) -> int:
    """Run a command as :func:`start` does; return its exit status.

    If this call is interrupted, the command is killed, so nothing goes on writing to its folder.
    """
    process = start(command, log, variables=variables)
    try:
        return process.wait()
    finally:
        stop(process)


def ask(
    command: Sequence[str],
    *,
    folder: Path = NOWHERE,
    variables: Mapping[str, str] | None = None,
    given: str = "",
    seconds: float | None = None,
    limit: Callable[[], None] | None = None,
) -> Finished:
    """Run a command in ``folder`` with the input ``given``; return its output.

    The child calls ``limit`` first. Raises :class:`OSError` if the program cannot be started or
    does not end in this many ``seconds``.
    """
    try:
        return subprocess.run(
            command,
            input=given,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            check=False,
            cwd=folder,
            env=_environment(command, variables),
            preexec_fn=limit,
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT), command[0]) from error


def call(command: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None) -> int:
    """Run a command in ``folder`` with this process's output; return its exit status."""
    return subprocess.call(command, cwd=folder, env=_environment(command, variables))


@contextmanager
def output_of(command: Sequence[str]) -> Iterator[IO[bytes]]:
    """Start a command, and yield its output; at the end, stop it if it has more."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, cwd=NOWHERE, env=_environment(command, None)
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout
        finally:
            process.stdout.close()
            process.terminate()


@contextmanager
def python_children() -> Iterator[SpawnContext]:
    """Yield the context of child processes of Python; all that are started here are safe.

    It spawns: a fork would copy the threads of the progress bar and of numerical code.
    """
    from multiprocessing import get_context  # noqa: PLC0415 - slow to import

    before = os.environ.get(SAFE)
    os.environ[SAFE] = "1"
    try:
        yield get_context("spawn")
    finally:
        if before is None:
            del os.environ[SAFE]
        else:
            os.environ[SAFE] = before


def _environment(command: Sequence[str], variables: Mapping[str, str] | None) -> dict[str, str]:
    """Return the environment of a command; other programs may need modules beside their scripts."""
    given = dict(os.environ if variables is None else variables)
    is_python = Path(command[0]).name.startswith("python")
    return given | ({SAFE: "1"} if is_python else {})


def require_room(log: Path) -> None:
    """Raise the :class:`OSError` of a full disk if that is why a program failed."""
    # The program does not say which disk; it writes beside its log and to the temporary folder.
    places = {
        shutil.disk_usage(place).free: place for place in (log.parent, Path(tempfile.gettempdir()))
    }
    least = min(places)
    said = os.strerror(errno.ENOSPC) in log.read_text(errors="replace")
    # On a full disk even the log may be incomplete.
    if said or least < FULL:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(places[least]))
