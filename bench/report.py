"""Size and speed of the page of ``--report``, in a browser.

Run by ``make bench-report``. A page is open when its first picture is there. Frames are counted
while the page plays ten cycles per second. The long trace repeats the trace of one prediction until
it has ten million rows.
"""

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import eyecast
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.program.compiler import fit
from eyecast.model.run.trace import Trace
from eyecast.report.reports import report_case

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.browser import browser, missing

LONG = 10_000_000
SECONDS = 5
OPENED = """() => new Promise((resolve) => {
  const playing = () => document.querySelector("#play[aria-pressed=true]");
  const look = () => (playing() ? setTimeout(look, 50) : resolve());
  setTimeout(look, 500);
})"""
"""Waits until the page has played its opening."""

FRAMES = """seconds => new Promise((resolve) => {
  let frames = 0;
  const begin = performance.now();
  const count = (now) => {
    frames++;
    if (now - begin < 1000 * seconds) requestAnimationFrame(count);
    else resolve((1000 * frames) / (now - begin));
  };
  requestAnimationFrame(count);
})"""


def case_of(schedule: eyecast.Schedule) -> Case:
    """Return the case of a schedule with barrier timing."""
    config = NetworkConfig(topology=schedule.topology)
    return Case.of(fit(config, [schedule])[1][0], timing=Timing.BARRIER, seed=0)


def lengthened(case: Case, rows: int) -> Case:
    """Return a case whose trace is repeated until it has at least ``rows`` rows."""
    trace = case.predicted.trace
    times = -(-rows // len(trace))
    shift = np.repeat(np.arange(times) * case.predicted.cycles, len(trace))
    columns = [np.tile(column, times) for column in trace.columns]
    long = Trace(columns[0] + shift, *columns[1:])
    cycles = times * case.predicted.cycles
    return replace(case, predicted=replace(case.predicted, trace=long, cycles=cycles))


def cases() -> dict[str, Case]:
    """Return the runs for the pages, by their names in the table."""
    eye = case_of(eyecast.schedule(eyecast.mesh((8, 8)), "eye", source=0))
    gather = eyecast.schedule(eyecast.mesh((16, 16)), "ring", collective="all-gather")
    return {
        "8x8 eye broadcast": eye,
        "16x16 all-gather": case_of(gather),
        f"8x8, {LONG:,} rows": lengthened(eye, LONG),
    }


def opened(started: Any, path: Path) -> tuple[float, float]:
    """Return the seconds until a page is open, and its frames per second while it plays."""
    page = started.new_page(viewport={"width": 1400, "height": 900})
    begin = time.perf_counter()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    seconds = time.perf_counter() - begin
    page.evaluate(OPENED)
    page.locator("#play").click()
    frames: float = page.evaluate(FRAMES, SECONDS)
    page.close()
    return seconds, frames


def main() -> None:
    """Measure the pages and print the table."""
    if lack := missing():
        sys.exit(f"{lack}")
    table = Table(title="the page")
    columns = ("", "rows", "written in s", "size in kB", "open in s", "frames per s, playing")
    for column in columns:
        table.add_column(column, justify="right" if column else "left")
    with tempfile.TemporaryDirectory() as folder, browser() as started:
        for name, case in cases().items():
            path = Path(folder) / "page.html"
            begin = time.perf_counter()
            report_case(case).write(path)
            written, size = time.perf_counter() - begin, path.stat().st_size / 1000
            seconds, frames = opened(started, path)
            rows = f"{len(case.predicted.trace):,}"
            table.add_row(
                name, rows, f"{written:.2f}", f"{size:.0f}", f"{seconds:.2f}", f"{frames:.0f}"
            )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
