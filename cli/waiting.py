"""Waiting on the command line: notices of what takes long, and interruption of it.

An interruption is an exception of Python's, which ends what is under way and cleans up behind it.
Where Numba compiles there is nothing to clean up, and the exception would come late, after minutes
in LLVM, or get lost where LLVM calls Python. So it is not raised there: a thread, which the
system tells of the signal at once, ends the process.
"""

from __future__ import annotations

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
    """Notices as lines on standard error; on a terminal, where progress is shown, warnings only."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING or not sys.stderr.isatty():
            click.echo(f"eyecast: {record.getMessage()}", err=True)


def show_notices() -> None:
    """Show what is said to those who wait, and let them end compilations."""
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
    """A context in which an interruption ends the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    watcher = threading.Thread(target=_end_when_told, args=(read_end,), daemon=True)
    with ExitStack() as undone:
        undone.callback(os.close, read_end)
        undone.callback(watcher.join)
        # At its end the watcher has no more to read, and ends too.
        undone.callback(os.close, write_end)
        undone.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(write_end))
        # One that is ignored, as in a shell's background, goes on being so.
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
