"""Fixtures that several test files share."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from helpers.command import Answer, Command
from slow_tests import pytest_addoption, pytest_configure  # noqa: F401

from eyecast.cli import main as command_line
from eyecast.model.schedule import possession

if TYPE_CHECKING:
    from amaranth.hdl import ClockDomain


def pytest_collection_finish() -> None:
    """Leave what is imported and collected to itself.

    Gone through again and again in search of garbage, it would take a seventh of the time.
    """
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print which sentences of the contract have happened in the runs of cocotb's tests."""
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


@pytest.fixture(params=[possession.LARGEST_PAIR_TABLE, 0], ids=["whole", "sparse"])
def _pair_table(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways in which check() keeps who has which block."""
    monkeypatch.setattr(possession, "LARGEST_PAIR_TABLE", request.param)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> ClockDomain:
    """The one clock of a network in Amaranth's own simulator."""
    from helpers.network_in_python import one_clock

    return one_clock(monkeypatch)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def eyecast(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Command]:
    """The command, in this process."""
    # The process belongs to the test runner, who wants to be asked to end as ever.
    monkeypatch.setattr(command_line.signal, "signal", lambda *_: None)

    def run(*arguments: str | Path) -> Answer:
        monkeypatch.setattr(sys, "argv", ["eyecast", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            command_line.main()
        return Answer(int(end.value.code or 0), *capsys.readouterr())

    return run
