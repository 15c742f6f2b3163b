"""What the simulation of one program takes and gives, in files between two processes.

The bench runs inside the simulator's process (``bench.py``); the driver (``simulator.py``) prepares
jobs and reads results. Each job is a folder with ``job.npz``, and afterwards ``trace.txt`` and
``result.npz``; the last is written when the others are whole.
"""

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

JOBS_VARIABLE = "EYECAST_JOBS"
"""Environment variable that tells the bench the folder of the job folders."""

TRACE_FILE = "trace.txt"


@dataclass(frozen=True)
class _Stored:
    """A dataclass of arrays and numbers that is stored as one NumPy archive."""

    def save(self, path: Path) -> None:
        """Write to ``path``, beside it first."""
        beside = path.with_suffix(".tmp")
        with beside.open("wb") as file:
            np.savez(file, **asdict(self))
        beside.replace(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read from ``path``; scalars come back as Python's own."""
        values: dict[str, Any] = {}
        with np.load(path) as archive:
            for field in fields(cls):
                value = archive[field.name]
                values[field.name] = value if value.ndim else value.item()
        return cls(**values)


@dataclass(frozen=True)
class Job(_Stored):
    """One program to simulate.

    ``writes`` has shape (writes, 4), uint64: node, space, address, word of each write through the
    host port before the start. ``read_words`` words of every node's message memory are read
    afterwards, and ``status_words`` words of its status, of which ``mask_words`` for each of the
    node's ``lanes`` tell in which of ``step_numbers`` steps a packet has arrived. ``cycle_limit``
    is when the watchdog stops the run. What all nodes say, the answers to the host too, is
    ``barrier_registers`` cycles later than it would be without such registers.
    """

    FILE = "job.npz"

    writes: npt.NDArray[np.uint64]
    nodes: int
    flit_width: int
    step_numbers: int
    mask_words: int
    lanes: int
    read_words: int
    status_words: int
    barrier: bool
    half_duplex: bool
    cycle_limit: int
    barrier_registers: int


@dataclass(frozen=True)
class JobResult(_Stored):
    """What came of it.

    done
        All nodes finished before the limit.
    cycles
        The design's own count.
    seconds
        CPU time from the release of reset to the end of the run.
    status
        Shape (nodes, status words), uint64.
    messages
        Shape (nodes, read words), uint64.
    """

    FILE = "result.npz"

    done: bool
    cycles: int
    seconds: float
    status: npt.NDArray[np.uint64]
    messages: npt.NDArray[np.uint64]
