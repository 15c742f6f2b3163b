"""Programs that are ended whole: each is started in a process group of its own, with a guard."""

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
"""Bytes: a disk with less room is full."""


def start(
    command: Sequence[str],
    log: Path,
    *,
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a command in ``folder``, with all that it says in ``log``.

    ``variables`` are its environment instead of this process's own. If this process is killed, the
    command is, and all that it has started.
    """
    # Without Python's site packages, the guard starts in a moment.
    guarded = [sys.executable, "-I", "-S", str(GUARD), *command]
    # Not to a terminal, where the WebAssembly yosys may die.
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
    """End a process that was started here, and all that it has started, if it has not ended."""
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
    """Run a command as :func:`start` does, and give its exit status.

    Interrupted, however, it is ended: nothing goes on writing to a folder that is given up.
    """
    process = start(command, log, folder=folder, variables=variables)
    try:
        return process.wait()
    finally:
        stop(process)


def require_room(log: Path) -> None:
    """Raise the :class:`OSError` of a full disk if that is why a program has failed."""
    # It says not where; programs write beside their log, and to the temporary folder.
    places = {
        shutil.disk_usage(place).free: place for place in (log.parent, Path(tempfile.gettempdir()))
    }
    least = min(places)
    said = os.strerror(errno.ENOSPC) in log.read_text(errors="replace")
    # On a full disk the log too may have found no room.
    if said or least < FULL:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(places[least]))
