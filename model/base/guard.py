"""A guard that runs a command, and kills it with all its children when the starter is gone.

It is a program and imports nothing of this package. It leads a process group. Only the starter has
the other end of the pipe at its standard input: however the starter ends, the pipe is closed, and
no process is left that could go on writing to a folder.
"""

import os
import signal
import subprocess
import sys
import threading


def _end_with_the_starter() -> None:
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Run ``guard.py COMMAND...``; exit with its status, or 128 + the signal that killed it."""
    threading.Thread(target=_end_with_the_starter, daemon=True).start()
    try:
        status = subprocess.call(sys.argv[1:], stdin=subprocess.DEVNULL)
    except OSError as error:
        sys.exit(f"{sys.argv[1]}: {error.strerror}")
    # Exit at once, without waiting for the thread.
    os._exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
