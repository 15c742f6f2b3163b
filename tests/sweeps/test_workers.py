"""Points in worker processes, some of which are killed."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Sequence

import pytest
from helpers.sweeps import BROADCAST, LONG, points_of, without_seconds

from eyecast.sweeps import workers
from eyecast.sweeps.points import Point
from eyecast.sweeps.run import Row
from eyecast.sweeps.sweep import groups_of, run_here
from eyecast.sweeps.workers import run_in_processes

pytestmark = pytest.mark.slow


class Killer(threading.Thread):
    """A thread that kills ``times`` workers, one after another, each as soon as it works."""

    def __init__(self, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self._times = times
        self._at_work = threading.Semaphore(0)
        hand = workers._Pool._hand

        def handed(pool: workers._Pool, worker: workers._Worker) -> None:
            hand(pool, worker)
            self._worker = worker
            self._at_work.release()

        monkeypatch.setattr(workers._Pool, "_hand", handed)

    def run(self) -> None:
        for _ in range(self._times):
            self._at_work.acquire()
            while self._worker.at is None:
                time.sleep(0.01)
            # The worker is then in the middle of a point that takes seconds.
            time.sleep(0.3)
            os.kill(self._worker.process.pid or 0, signal.SIGKILL)


def all_of(points: Sequence[Point], count: int) -> list[tuple[str, list[Row]]]:
    return list(run_in_processes(groups_of(points), count))


def test_processes_do_what_this_one_does() -> None:
    points = points_of(BROADCAST | {"words": [1, 2, 4, 8], "algorithm": ["eye", "u-torus"]})
    done = all_of(points, 2)
    here = dict(run_here(groups_of(points)))
    assert len(done) == len(points)
    assert {key: without_seconds(rows) for key, rows in done} == {
        key: without_seconds(rows) for key, rows in here.items()
    }
    assert multiprocessing.active_children() == []


def test_the_point_of_a_killed_worker_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    killer = Killer(1, monkeypatch)
    killer.start()
    points = points_of(LONG | {"seed": [1, 2]})
    done = all_of(points, 1)
    killer.join()
    assert sorted(key for key, _ in done) == sorted(point.key for point in points)
    assert {row["status"] for _, (row,) in done} == {"done"}


def test_a_point_that_kills_twice_is_a_row_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killer = Killer(2, monkeypatch)
    killer.start()
    points = points_of(LONG, BROADCAST)
    done = dict(all_of(points, 1))
    killer.join()
    long, short = (done[point.key][0] for point in points)
    assert (long["status"], short["status"]) == ("failed", "done")
    assert long["error"] == "WorkerDied: 2 processes ended at it, exit status -9"


def test_workers_that_cannot_start_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_serve", print)
    with pytest.raises(RuntimeError, match="worker processes do not start: exit status 0"):
        all_of(points_of(BROADCAST), 1)
