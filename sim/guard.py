"""Runs a command, and ends it with all that it has started when its starter is gone.

Run as a program of its own, it needs nothing of this package. It leads a process group. Its
standard input is a pipe of which the starter alone has the other end: however that one ends, it
is closed then, and nothing is left that could go on writing to a folder.
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
    """``guard.py COMMAND...``; the command's exit status, 128 and the signal if it was killed."""
    threading.Thread(target=_end_with_the_starter, daemon=True).start()
    try:
        status = subprocess.call(sys.argv[1:], stdin=subprocess.DEVNULL)
    except OSError as error:
        sys.exit(f"{sys.argv[1]}: {error.strerror}")
    # At once: the thread is not to be waited for.
    os._exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
