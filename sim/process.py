"""Processes that end with all their children: each leads a process group under a guard."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

GUARD = Path(__file__).with_name("guard.py")
FULL = 1 << 16
"""Bytes; a disk with less free room counts as full."""


def start(
    command: Sequence[str],
    log: Path,
    *,
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a command in ``folder``, with all its output in ``log``.

    ``variables`` replace this process's environment. If this process is killed, so are the command
    and all its children.
    """
    # Without site packages, Python starts the guard in a moment.
    guarded = [sys.executable, "-I", "-S", str(GUARD), *command]
    # Not a terminal: there the WebAssembly yosys may crash.
    with log.open("wb") as output:
        return subprocess.Popen(
            guarded,
            cwd=folder,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process started here, and all its children, if it still runs."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdin is not None:
        process.stdin.close()


def run(
    command: Sequence[str],
    log: Path,
    *,
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> int:
    """Run a command as :func:`start` does; return its exit status.

    If this call is interrupted, the command is killed, so nothing goes on writing to its folder.
    """
    process = start(command, log, folder=folder, variables=variables)
    try:
        return process.wait()
    finally:
        stop(process)


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
