"""The cocotb bench: loads programs through the design's own ports, runs them, reads the outcome.

It runs inside the simulator's process, once for all jobs of a folder. Python runs for each word
that is loaded or read, but not during a program: the design executes the tables and prints the
trace itself.
"""

import ctypes
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock

from eyecast.sim.host_in_reset import HostInReset
from eyecast.sim.host_of_controller import HostOfController
from eyecast.sim.job import JOBS_FOLDER, TRACE_FILE, Job, JobResult

CLOCK_PERIOD = 2
"""In time steps of the simulator."""


@cocotb.test()
async def run_jobs(dut: Any) -> None:
    """Carry out every job in the folder, in order of name."""
    # The simulator's own clock: Python does not run at its edges.
    Clock(dut.clk, CLOCK_PERIOD, unit="step", impl="gpi").start()
    host: HostInReset | HostOfController | None = None
    for job_folder in sorted(path for path in Path(JOBS_FOLDER).iterdir() if path.is_dir()):
        job = Job.load(job_folder / Job.FILE)
        if host is None:
            host = (HostOfController if job.controller else HostInReset)(dut, CLOCK_PERIOD)
        events: list[str] = []
        if job.interrupted:
            await host.load(job)
            events = await host.interrupt(job)
        await host.load(job)
        if job.first_cycles:
            events += await host.run_first(job)
        with _standard_output_to(job_folder / TRACE_FILE):
            begin = time.process_time()
            done = await host.run(job)
            seconds = time.process_time() - begin
        outcome = JobResult(
            done=done,
            cycles=int(dut.cycle.value),
            seconds=seconds,
            result=await host.result(job),
            status=await host.status(job),
            messages=await host.messages(job),
            events=events,
        )
        outcome.save(job_folder / JobResult.FILE)


@contextmanager
def _standard_output_to(path: Path) -> Iterator[None]:
    """Redirect the output of the simulator's C++, which is only the trace, to ``path``."""
    c_library = ctypes.CDLL(None)
    sys.stdout.flush()
    c_library.fflush(None)
    kept = os.dup(1)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 1)
        try:
            yield
        finally:
            c_library.fflush(None)
            os.dup2(kept, 1)
            os.close(kept)
