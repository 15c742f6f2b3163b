"""Points on a Dask cluster of this machine."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from helpers.command import Command, refusal
from helpers.sweeps import LONG, SIX_POINTS, sweep_of, without_seconds

import eyecast as face


@pytest.mark.slow
def test_a_cluster_does_what_this_process_does(here: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="pip install 'eyecast[sweep]'")
    (here / "six.toml").write_text(SIX_POINTS)
    options = {"threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(n_workers=2, **options) as cluster:
        rows = face.sweep("six.toml", "six.csv", scheduler=cluster.scheduler_address)
    assert without_seconds(rows) == without_seconds(face.sweep("six.toml"))
    assert len((here / "six.csv").read_text().splitlines()) == 7


@pytest.mark.slow
@pytest.mark.parametrize(("kills", "status"), [(1, "done"), (2, "failed")])
def test_workers_that_are_killed(kills: int, status: str) -> None:
    distributed = pytest.importorskip("distributed", reason="pip install 'eyecast[sweep]'")
    dask = pytest.importorskip("dask", reason="pip install 'eyecast[sweep]'")
    at_once = {"distributed.scheduler.allowed-failures": 0}
    options = {"threads_per_worker": 1, "dashboard_address": None}
    with dask.config.set(at_once), distributed.LocalCluster(n_workers=1, **options) as cluster:
        ended = threading.Event()

        def wait_until(processed: bool) -> None:
            tasks = cluster.scheduler.tasks
            while not ended.is_set() and processed != any(
                task.state == "processing" for task in list(tasks.values())
            ):
                time.sleep(0.001)

        def kill() -> None:
            for _ in range(kills):
                wait_until(processed=True)
                # The point loads modules before it begins; then it takes seconds.
                if not ended.wait(1):
                    killed.append(cluster.workers[0].pid)
                    os.kill(killed[-1], signal.SIGKILL)
                wait_until(processed=False)

        longer = LONG | {"cycles": 1_000_000}
        killed: list[int] = []
        killer = threading.Thread(target=kill)
        killer.start()
        (row,) = face.sweep(sweep_of(longer), scheduler=cluster.scheduler_address)
        ended.set()
        killer.join()
    assert len(killed) == kills, "the point ended before its worker was killed"
    assert row["status"] == status
    assert (row["error"] or "").startswith("" if status == "done" else "KilledWorker: ")


def test_without_dask_it_is_refused(
    here: Path, eyecast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    (here / "six.toml").write_text(SIX_POINTS)
    answer = eyecast("sweep", "six.toml", "-o", "t.csv", "--scheduler", "tcp://127.0.0.1:1")
    words = "dask must be installed for --scheduler (pip install 'eyecast[sweep]'), not missing"
    assert answer == refusal(words)
    assert [path.name for path in here.iterdir()] == ["six.toml"]
