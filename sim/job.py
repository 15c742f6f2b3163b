"""Jobs and results of the simulation, in files between two processes.

The bench runs inside the simulator's process (``bench.py``); the driver (``simulator.py``) prepares
jobs and reads results. Each job is a folder with ``job.json``, and afterwards ``trace.txt`` and
``result.json``; the last is written when the others are whole.

Nothing here needs NumPy: the bench would be longer in importing it than in a short run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

JOBS_FOLDER = "jobs"
"""The folder of the job folders, in the one in which the simulator is started."""

TRACE_FILE = "trace.txt"


def state_of(result: int) -> int:
    """The number of a controller's state, out of its word *result* (docs/router.md, section 16)."""
    return result >> 8 & 7


@dataclass(frozen=True)
class _Stored:
    """A dataclass of numbers and tables, stored as JSON; a table is a list of rows when read."""

    def save(self, path: Path) -> None:
        """Write to ``path``, beside it first."""
        beside = path.with_suffix(".tmp")
        with beside.open("w") as file:
            # A table of numbers may be an array.
            json.dump(vars(self), file, default=lambda table: table.tolist())
        beside.replace(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read from ``path``."""
        values: dict[str, Any] = json.loads(path.read_text())
        return cls(**values)


@dataclass(frozen=True)
class Job(_Stored):
    """One program to simulate.

    ``writes`` has shape (writes, 4): node, space, address, word of each write through the host port
    before the start. ``read_words`` words of every node's space ``message_space`` are read
    afterwards, and ``status_words`` words of its ``status_space``, of which ``mask_words`` for each
    of the node's ``lanes`` tell in which of ``step_numbers`` steps a packet has arrived.
    ``cycle_limit`` is when the watchdog stops the run. What all nodes say, the answers to the host
    too, is
    ``barrier_registers`` cycles later than it would be without such registers.

    ``controller`` is None in a network that is loaded in reset. In one with a controller it has the
    words of its commands and where they are written: ``space``, ``command``, ``result``, ``start``,
    ``stop``; and ``switches``, which have no messages to read, are left out there. ``hold`` has the
    nodes with a tile port, as text, each with the number of cycles for which its tile holds it
    back.
    """

    FILE = "job.json"

    writes: npt.NDArray[np.uint64]
    nodes: int
    flit_width: int
    step_numbers: int
    mask_words: int
    lanes: int
    message_space: int
    read_words: int
    status_space: int
    status_words: int
    barrier: bool
    half_duplex: bool
    cycle_limit: int
    barrier_registers: int
    controller: dict[str, int] | None = None
    switches: list[int] = field(default_factory=list)
    hold: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class JobResult(_Stored):
    """Result of a job.

    done
        All nodes finished before the limit.
    cycles
        The design's own count.
    seconds
        CPU time from the release of reset to the end of the run.
    status
        Shape (nodes, status words).
    messages
        Shape (nodes, read words).
    result
        The word *result* of a controller, which tells how the run has ended; 0 without one.
    """

    FILE = "result.json"

    done: bool
    cycles: int
    seconds: float
    status: npt.ArrayLike
    messages: npt.ArrayLike
    result: int = 0
