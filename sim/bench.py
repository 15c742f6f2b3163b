"""The cocotb bench: loads programs through the design's own ports, runs them, reads the outcome.

It runs inside the simulator's process, once for all jobs of a folder. Python is woken for each word
that is loaded or read, but not during a run: the tables are executed and the trace is printed by
the design itself.

Signals are driven and read at the falling edge, when nothing else moves.
"""

import ctypes
import itertools
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, First, RisingEdge, Timer

from eyecast.sim.job import JOBS_FOLDER, TRACE_FILE, Job, JobResult

CLOCK_PERIOD = 2
"""In time units of the simulator."""


@cocotb.test()
async def run_jobs(dut: Any) -> None:
    """Carry out every job in the folder, in order of name."""
    # The clock of the simulator itself: Python is not woken at its edges.
    Clock(dut.clk, CLOCK_PERIOD, unit="step", impl="gpi").start()
    for job_folder in sorted(path for path in Path(JOBS_FOLDER).iterdir() if path.is_dir()):
        job = Job.load(job_folder / Job.FILE)
        await _load(dut, job)
        with _standard_output_to(job_folder / TRACE_FILE):
            begin = time.process_time()
            done = await _run(dut, job)
            seconds = time.process_time() - begin
        result = JobResult(
            done=done,
            cycles=int(dut.cycle.value),
            seconds=seconds,
            status=await _read(dut, job, job.status_space, job.status_words),
            messages=await _read_messages(dut, job),
        )
        result.save(job_folder / JobResult.FILE)


async def _load(dut: Any, job: Job) -> None:
    """Hold the network in reset and write the job's words."""
    await FallingEdge(dut.clk)
    dut.rst.value = 1
    dut.barrier.value = int(job.barrier)
    dut.half_duplex.value = int(job.half_duplex)
    host = _host(dut)
    for node, space, address, word in job.writes:
        host["node"].value = node
        host["space"].value = space
        host["address"].value = address
        host["write_data"].value = word
        host["write"].value = 1
        await FallingEdge(dut.clk)
    host["write"].value = 0
    # One cycle more in reset: the first table word is read in the last one.
    await FallingEdge(dut.clk)


async def _run(dut: Any, job: Job) -> bool:
    """Release reset and wait for done or the watchdog. True if all nodes finished.

    A flag does not end the run: what was under way goes on, and the model says how.
    """
    dut.rst.value = 0
    cycles = job.cycle_limit + job.barrier_registers
    watchdog = Timer(cycles * CLOCK_PERIOD, unit="step")
    await First(RisingEdge(dut.done), watchdog)
    await FallingEdge(dut.clk)
    return bool(dut.done.value)


async def _read_messages(dut: Any, job: Job) -> list[list[int]]:
    """Hold the network in reset again and read every node's message memory."""
    dut.rst.value = 1
    return await _read(dut, job, job.message_space, job.read_words)


async def _read(dut: Any, job: Job, space: int, words: int) -> list[list[int]]:
    """The first ``words`` words of a space of every node: shape (nodes, words)."""
    host = _host(dut)
    address, read_data = host["address"], host["read_data"]
    falling_edge = FallingEdge(dut.clk)
    host["space"].value = space
    values = [[0] * words for _ in range(job.nodes)]
    places = list(itertools.product(range(job.nodes), range(words)))
    # Without such registers an answer comes two cycles after its address: one is under way.
    under_way = 1 + job.barrier_registers
    after: list[tuple[int, int]] = [(0, 0)] * under_way
    before: list[None] = [None] * under_way
    for asked, answered in zip([*places, *after], [*before, *places], strict=True):
        host["node"].value, address.value = asked
        await falling_edge
        if answered is not None:
            node, word = answered
            values[node][word] = read_data.value.to_unsigned()
    return values


def _host(dut: Any) -> dict[str, Any]:
    """The signals of the host port by name."""
    names = ("node", "space", "address", "write", "write_data", "read_data")
    return {name: getattr(dut, f"host__{name}") for name in names}


@contextmanager
def _standard_output_to(path: Path) -> Iterator[None]:
    """Send what the simulator's C++ prints, the trace and nothing else, to ``path`` meanwhile."""
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
