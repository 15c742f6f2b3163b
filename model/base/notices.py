"""Notices to users who wait, on Python's log; the command line prints them on standard error."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

LOG = logging.getLogger("eyecast")
PATIENCE = 2.0
"""Seconds of work without a notice."""


@contextmanager
def announced(doing: str) -> Iterator[None]:
    """Log ``doing`` if the work takes longer than :data:`PATIENCE`, and its seconds at the end."""
    begin, said = time.monotonic(), threading.Event()

    def say() -> None:
        said.set()
        LOG.info("%s", doing)

    timer = threading.Timer(PATIENCE, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
    if said.is_set():
        LOG.info("%s: %.0f s", doing, time.monotonic() - begin)


def _announced_compilation() -> AbstractContextManager[None]:
    return announced("compiling for this machine (once, then it is kept)")


compiling: Callable[[], AbstractContextManager[None]] = _announced_compilation
"""The context in which Numba compiles; the command line replaces it by an interruptible one."""
