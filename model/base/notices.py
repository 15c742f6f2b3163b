"""Notices to those who wait, on Python's log: the command line puts them on standard error."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

LOG = logging.getLogger("eyecast")
PATIENCE = 2.0
"""Seconds that nobody needs to be told of."""


@contextmanager
def announced(doing: str) -> Iterator[None]:
    """Say what is being done if it takes longer than a moment, and then how long it took."""
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
"""The context in which Numba compiles; the command line puts one in its place that can be left."""
