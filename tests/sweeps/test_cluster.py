"""Points on a Dask cluster of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.command import Command, refusal
from helpers.sweeps import SIX_POINTS, without_seconds

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


def test_without_dask_it_is_refused(
    here: Path, eyecast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    (here / "six.toml").write_text(SIX_POINTS)
    answer = eyecast("sweep", "six.toml", "-o", "t.csv", "--scheduler", "tcp://127.0.0.1:1")
    words = "dask must be installed for --scheduler (pip install 'eyecast[sweep]'), not missing"
    assert answer == refusal(words)
    assert [path.name for path in here.iterdir()] == ["six.toml"]
