"""Notices of slow work, and interruption of Numba's compilations.

Python raises an exception on an interruption, and running work cleans up. While Numba compiles,
nothing needs cleaning up, and the exception could come minutes late or get lost where LLVM calls
Python. So during a compilation a thread gets the signal from the system and ends the process.
"""

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import click

from ..model.base import notices

INTERRUPTED = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_CLEAR_LINE, _SHOW_CURSOR = "\r\x1b[2K", "\x1b[?25h"


class _Lines(logging.Handler):
    """A log handler that prints notices on standard error; on a terminal only warnings."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING or not sys.stderr.isatty():
            click.echo(f"eyecast: {record.getMessage()}", err=True)


def show_notices() -> None:
    """Print notices of slow work, and make compilations interruptible."""
    notices.LOG.addHandler(_Lines())
    notices.LOG.setLevel(logging.INFO)
    announced = notices.compiling

    @contextmanager
    def compiling() -> Iterator[None]:
        with announced(), _ended_by_signals():
            yield

    notices.compiling = compiling


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Return a context in which an interruption ends the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    watcher = threading.Thread(target=_end_when_told, args=(read_end,), daemon=True)
    with ExitStack() as undone:
        undone.callback(os.close, read_end)
        undone.callback(watcher.join)
        # Closing the write end gives the watcher an end of file, and it returns.
        undone.callback(os.close, write_end)
        undone.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(write_end))
        # A signal that is ignored, as in a shell's background job, stays ignored.
        for number in (each for each in _SIGNALS if signal.getsignal(each) != signal.SIG_IGN):
            undone.callback(signal.signal, number, signal.getsignal(number))
            signal.signal(number, lambda *_: None)
        watcher.start()
        yield


def _end_when_told(pipe: int) -> None:
    while told := os.read(pipe, 1):
        if told[0] in _SIGNALS:
            terminal = _CLEAR_LINE + _SHOW_CURSOR if os.isatty(2) else ""
            os.write(2, f"{terminal}eyecast: interrupted\n".encode())
            os._exit(INTERRUPTED)
