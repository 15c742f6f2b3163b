"""Points on all cores: processes that get one group of points after the other.

::

    this process ──── points ────►  worker 1 ── "begin", a key ──►
                                    worker 2 ── "done", a key and its rows ──►

A dead worker is replaced. Its current point runs again; if that kills another worker, the point
gets a row that says so. Points that the worker had not begun go back to the queue.
"""

import signal
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from ..model.base.processes import python_children
from .points import Point
from .run import Done, failed_row, run_points

MOST_DEATHS = 2
"""Workers that a point may end; then it is not run again."""

MOST_STARTS = 3
"""Processes in a row that may end before they take anything; then the sweep fails."""

END_SECONDS = 5
"""Seconds that an ended process has to clean up."""

READY, BEGIN, DONE = "ready", "begin", "done"


class WorkerDied(RuntimeError):
    """A process ended in the middle of a point."""


def run_in_processes(groups: Iterable[Sequence[Point]], count: int) -> Generator[Done]:
    """Run groups of points in ``count`` processes, and yield each point when it is done.

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
    """A process, this end of its pipe, and its unfinished points."""

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
        """True while a point is unfinished."""
        return bool(self._groups) or any(worker.left for worker in self._workers)

    def start(self, count: int) -> None:
        """Start ``count`` processes, or as many as there are groups."""
        with python_children() as context:
            for _ in range(min(count, len(self._groups))):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs,), daemon=True)
                process.start()
                theirs.close()
                worker = _Worker(process, ours)
                self._workers.append(worker)
                self._hand(worker)

    def step(self) -> Iterator[Done]:
        """Wait for a message of any process, and yield the finished points."""
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
            # During compilation to machine code an interruption may get lost.
            worker.process.join(END_SECONDS)
            worker.process.kill()
            worker.process.join()

    def _hand(self, worker: _Worker) -> None:
        """Give the next group to an idle worker."""
        worker.at = None
        if not self._groups:
            return
        points = self._groups.popleft()
        worker.left = {point.key: point for point in points}
        # A dead worker is detected when its pipe is read.
        with suppress(OSError):
            worker.pipe.send(points)

    def _replace(self, worker: _Worker) -> Iterator[Done]:
        """Replace a dead worker by another, and put its points back at the front."""
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
    """Run groups of points in a worker process until there are no more."""
    # Ctrl-C reaches all processes of a terminal; the parent process ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    pipe.send((READY, "", []))
    with suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            points = pipe.recv()
            for key, rows in run_points(points, lambda at: pipe.send((BEGIN, at, []))):
                pipe.send((DONE, key, rows))
