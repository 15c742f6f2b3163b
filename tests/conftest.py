"""Fixtures that several test files share."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

# As in the command, and before NumPy is imported: the tests already use every core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from helpers.command import Answer, Command
from slow_tests import pytest_addoption, pytest_configure  # noqa: F401

from eyecast.cli import main as command_line
from eyecast.model.network.topology import Topology
from eyecast.model.schedule import pairs, reduction

if TYPE_CHECKING:
    from amaranth.hdl import ClockDomain


def pytest_collection_finish() -> None:
    """Exclude the imported modules and the collected tests from garbage collection.

    Searching them for garbage again and again would take a seventh of the tests' time.
    """
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a topology by its label in the names of tests."""
    return val.label if isinstance(val, Topology) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print which sentences of the contract the runs of cocotb's tests have covered."""
    kept = [
        json.loads(value)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "teardown"
        for name, value in report.user_properties
        if name == "coverage"
    ]
    if kept:
        from eyecast.testbench.coverage import table_of

        terminalreporter.line(table_of(kept))


@pytest.fixture(params=[pairs.MOST_SPARE, 0], ids=["whole", "sparse"])
def _pair_table(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with both tables in which ``check()`` keeps the blocks that each node has."""
    monkeypatch.setattr(pairs, "MOST_SPARE", request.param)


@pytest.fixture(params=[reduction.QUICK, 0], ids=["arrays", "loops"])
def _both_proofs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test without and with the quick proof of reduced blocks that large schedules have."""
    monkeypatch.setattr(reduction, "QUICK", request.param)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> ClockDomain:
    """Give all domains of a network in Amaranth's simulator one clock."""
    from helpers.network_in_python import one_clock

    return one_clock(monkeypatch)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one, for the commands of a test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def eyecast(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Command]:
    """Return a function that runs a command in this process."""
    # The process belongs to the test runner, which keeps its own signal handlers.
    monkeypatch.setattr(command_line.signal, "signal", lambda *_: None)

    def run(*arguments: str | Path) -> Answer:
        monkeypatch.setattr(sys, "argv", ["eyecast", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            command_line.main()
        return Answer(int(end.value.code or 0), *capsys.readouterr())

    return run
