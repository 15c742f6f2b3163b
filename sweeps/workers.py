"""Points on all cores: processes that are handed one group of points after the other.

::

    this process ──── points ────►  worker 1 ── "begin", a key ──►
                                    worker 2 ── "done", a key and its rows ──►

A worker that dies, however it does, is replaced. The point that it was at is run again; if that
ends another worker, it gets a row that says so. What the worker had not begun goes back.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from .points import Point
from .run import Done, failed_row, run_points

MOST_DEATHS = 2
"""A point that has ended so many workers is not run again."""

MOST_STARTS = 3
"""After so many processes that ended before they could take anything, none is started."""

END_SECONDS = 5
"""For so long a process may clean up behind itself when it is ended."""

READY, BEGIN, DONE = "ready", "begin", "done"


class WorkerDied(RuntimeError):
    """A process ended in the middle of a point."""


def run_in_processes(groups: Iterable[Sequence[Point]], count: int) -> Generator[Done]:
    """Carry out groups of points in ``count`` processes, and yield each point when it is done.

    Raises :class:`RuntimeError` if processes end before they have begun anything.
    """
    pool = _Pool(deque(list(group) for group in groups))
    try:
        pool.start(count)
        while pool.busy:
            yield from pool.step()
    finally:
        pool.stop()


@dataclass(eq=False)
class _Worker:
    """A process, this end of its pipe, and the points that it has not done yet."""

    process: BaseProcess
    pipe: Connection
    left: dict[str, Point] = field(default_factory=dict)
    at: str | None = None
    ready: bool = False


class _Pool:
    """Processes, and the points that wait for them."""

    def __init__(self, groups: deque[list[Point]]) -> None:
        self._groups = groups
        self._workers: list[_Worker] = []
        self._deaths: Counter[str] = Counter()
        self._not_started = 0

    @property
    def busy(self) -> bool:
        """Tell whether there is anything that is not done."""
        return bool(self._groups) or any(worker.left for worker in self._workers)

    def start(self, count: int) -> None:
        """Start ``count`` processes, or as many as there are groups."""
        # Spawned: what a fork would copy has threads, of the progress bar and of numerical code.
        context = multiprocessing.get_context("spawn")
        for _ in range(min(count, len(self._groups))):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            worker = _Worker(process, ours)
            self._workers.append(worker)
            self._hand(worker)

    def step(self) -> Iterator[Done]:
        """Wait for news of any process, and yield the points that are done."""
        heard = set(wait([worker.pipe for worker in self._workers]))
        for worker in [worker for worker in self._workers if worker.pipe in heard]:
            try:
                kind, key, rows = worker.pipe.recv()
            except (EOFError, OSError):
                yield from self._replace(worker)
                continue
            if kind == READY:
                worker.ready = True
                self._not_started = 0
            elif kind == BEGIN:
                worker.at = key
            else:
                del worker.left[key]
                yield key, rows
                if not worker.left:
                    self._hand(worker)

    def stop(self) -> None:
        """End all processes."""
        for worker in self._workers:
            worker.process.terminate()
            worker.pipe.close()
        for worker in self._workers:
            # Where machine code is made, an interruption may get lost.
            worker.process.join(END_SECONDS)
            worker.process.kill()
            worker.process.join()

    def _hand(self, worker: _Worker) -> None:
        """Give the next group to a worker that has nothing to do."""
        worker.at = None
        if not self._groups:
            return
        points = self._groups.popleft()
        worker.left = {point.key: point for point in points}
        # One that is dead is noticed where it is read.
        with suppress(OSError):
            worker.pipe.send(points)

    def _replace(self, worker: _Worker) -> Iterator[Done]:
        """Put another process in the place of a dead one, and its points back to the front."""
        self._workers.remove(worker)
        worker.pipe.close()
        worker.process.join()
        status = worker.process.exitcode
        if not worker.ready:
            self._not_started += 1
            if self._not_started == MOST_STARTS:
                raise RuntimeError(f"worker processes do not start: exit status {status}")
        left = worker.left
        if worker.at in left:
            self._deaths[worker.at] += 1
            if self._deaths[worker.at] == MOST_DEATHS:
                point = left.pop(worker.at)
                died = WorkerDied(f"{MOST_DEATHS} processes ended at it, exit status {status}")
                yield point.key, [failed_row(point, died, 0.0)]
        if left:
            self._groups.appendleft(list(left.values()))
        self.start(1)


def _serve(pipe: Any) -> None:
    """Carry out groups of points until there are no more, in a process of its own."""
    # Ctrl-C reaches all processes of a terminal; the one that has started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    pipe.send((READY, "", []))
    with suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            points = pipe.recv()
            for key, rows in run_points(points, lambda at: pipe.send((BEGIN, at, []))):
                pipe.send((DONE, key, rows))
