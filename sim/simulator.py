"""Runs of programs on the compiled simulator, and their results."""

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..model.base.files import FULL_DISK
from ..model.base.processes import Process, require_room, stop
from ..model.run.run import Ending, EndState, HardwareRun
from ..model.run.trace import COLUMNS, Trace
from ..rtl.parts.host_map import EJECTION_PORT, RunState, StatusWord
from .build import BUILD_FOLDER
from .cache import keep_log
from .compilation import TOP_MODULE
from .job import JOBS_FOLDER, TRACE_FILE, Job, JobResult, state_of
from .run_worker import LOG, start_bench
from .together.trace import is_by_planes, rows_of_planes, trace_of_columns

BENCH = "eyecast.sim.bench"
POLL_SECONDS = 0.02
_END_STATES = {
    RunState.DONE: EndState.DONE,
    RunState.FAILED: EndState.FAILED,
    RunState.TIMED_OUT: EndState.TIMED_OUT,
}
_CULPRIT_LOW = 16


class SimulatorError(RuntimeError):
    """The simulator itself failed (not the design in it)."""


def simulate(
    simulator: Path, jobs: Sequence[Job], *, waves_file: Path | None = None
) -> Iterator[HardwareRun]:
    """Run ``jobs`` one after the other on the simulator in a folder; yield each run as it ends.

    ``waves_file`` gets the waveforms (VCD) of all of them; the simulator must have been built with
    ``waves``. Raises :class:`SimulatorError` if the simulator ends before its jobs do, or if the
    disk of the temporary folder is full.
    """
    with tempfile.TemporaryDirectory(prefix="eyecast-") as name:
        run_folder = Path(name)
        folders = [run_folder / JOBS_FOLDER / f"{number:06d}" for number in range(len(jobs))]
        with _full_disk_named():
            for folder, job in zip(folders, jobs, strict=True):
                folder.mkdir(parents=True)
                job.save(folder / Job.FILE)
            program = simulator / BUILD_FOLDER / TOP_MODULE
            process = start_bench(program, BENCH, run_folder, waves=waves_file is not None)
        try:
            for folder, job in zip(folders, jobs, strict=True):
                _await_result(process, folder, run_folder)
                result = JobResult.load(folder / JobResult.FILE)
                trace = read_printed_trace(folder / TRACE_FILE, job.pieces)
                measured = hardware_run(job, result, trace)
                ending = measured.ending
                if result.done or (ending and ending.state is EndState.TIMED_OUT):
                    # The bench sees the end some cycles late; drop the flits of those cycles.
                    rows = int(np.searchsorted(trace.cycle, result.cycles))
                    measured = replace(measured, trace=trace.first_rows(rows))
                yield measured
                shutil.rmtree(folder)
            process.wait()
        finally:
            stop(process)
        if waves_file is not None:
            shutil.move(run_folder / "dump.vcd", waves_file)


@contextmanager
def _full_disk_named() -> Iterator[None]:
    """Raise :class:`SimulatorError`, which names the temporary folder, if its disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL_DISK:
            raise
        folder = f"temporary folder {tempfile.gettempdir()}"
        message = f"{folder}: {error.strerror} (TMPDIR names another folder)"
        raise SimulatorError(message) from error


def ended_early(run_folder: Path) -> SimulatorError:
    """Return the error of a simulator that ended before its jobs did; its log is kept.

    Raises :class:`SimulatorError` if a full disk is the reason.
    """
    log = run_folder / LOG
    with _full_disk_named():
        require_room(log)
    return SimulatorError(f"the simulator ended early; see {keep_log(log)}")


def _await_result(process: Process, folder: Path, run_folder: Path) -> None:
    """Wait until the job in ``folder`` has its result."""
    result = folder / JobResult.FILE
    while not result.exists():
        # Poll the process first: it may write the result just before it ends.
        ended = process.poll() is not None
        if ended and not result.exists():
            raise ended_early(run_folder)
        time.sleep(POLL_SECONDS)


def hardware_run(job: Job, result: JobResult, trace: Trace) -> HardwareRun:
    """Decode the status words of a simulated network or of one on a board."""
    status = np.array(result.status, dtype=np.uint64)
    end_of_arrived = StatusWord.ARRIVED + job.lanes * job.mask_words
    end_of_states = end_of_arrived + job.lanes - 1
    masks = status[:, StatusWord.ARRIVED : end_of_arrived]
    bits = np.unpackbits(masks.astype("<u8")[..., None].view(np.uint8), axis=2, bitorder="little")
    arrived = bits[:, :, : job.flit_width].astype(bool)
    first_state = status[:, [StatusWord.SENDER_STATE]]
    states = np.concatenate([first_state, status[:, end_of_arrived:end_of_states]], axis=1)
    memory = np.array(result.messages, dtype=np.uint64)
    if job.pieces > 1:
        memory = memory.reshape(job.nodes, job.read_words, job.pieces)
    signature = np.zeros(len(status), dtype=np.uint64)
    for place, words in enumerate(status[:, end_of_states:].T):
        signature |= words << np.uint64(place * job.flit_width)
    return HardwareRun(
        finished=result.done,
        cycles=result.cycles,
        seconds=result.seconds,
        flags=status[:, StatusWord.FLAGS].astype(np.uint8),
        step=status[:, StatusWord.STEP].astype(np.int64),
        stalled_flits=status[:, StatusWord.STALLED_FLITS].astype(np.int64),
        sender_state=states.astype(np.int64),
        arrived=arrived.reshape(len(status), job.lanes, -1)[:, :, : job.step_numbers],
        signature=signature.astype(np.uint32),
        memory=memory,
        trace=trace,
        circuits=job.circuits,
        ending=_ending_of(result.result, result.cycles) if job.controller else None,
        events=tuple(result.events),
    )


def read_printed_trace(path: Path, pieces: int = 1) -> Trace:
    """Read the trace that the design printed, rows in any order; words have this many pieces.

    The file has decimal columns or the records of :mod:`.together.trace`. Deliveries have a number
    for their ejection port; after sorting by it, it becomes port 0. Raises
    :class:`SimulatorError` for any other content.
    """
    content = path.read_bytes()
    try:
        by_planes = is_by_planes(content)
        trace = rows_of_planes(content) if by_planes else _rows_of_text(content, pieces)
    except ValueError as error:
        raise SimulatorError(f"the printed trace has a line that is no row: {error}") from error
    trace = trace.sort()
    ejected = trace.port > EJECTION_PORT
    if not ejected.any():
        return trace
    trace.port[ejected] = 0
    return trace.sort()


def _rows_of_text(content: bytes, pieces: int) -> Trace:
    """Return the rows of decimal columns; a wide word's pieces are the last columns."""
    rows, columns = content.count(b"\n"), len(COLUMNS) - 1 + pieces
    numbers = np.array(content.split(), dtype=np.uint64).reshape(rows, columns)
    *found, data = np.split(numbers, np.arange(1, len(COLUMNS)), axis=1)
    return trace_of_columns([column[:, 0] for column in found], data)


def _ending_of(result: int, cycle: int) -> Ending | None:
    """Return the end of the last run (docs/router.md, section 16); None if it has not ended.

    ``result`` is the controller's word *result*, ``cycle`` the cycle at which its count stopped.
    """
    state = _END_STATES.get(RunState(state_of(result)))
    if state is None:
        return None
    culprit = None if state is EndState.DONE else result >> _CULPRIT_LOW
    return Ending(state, cycle, culprit)
