"""Jobs and results of the simulation, in files between two processes.

The bench runs inside the simulator's process (``bench.py``). The driver (``simulator.py``) prepares
jobs and reads results. Each job is a folder with ``job.json``; the bench adds ``trace.txt`` and,
when that is complete, ``result.json``.

This module does not import NumPy, because that would take the bench longer than a short run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

JOBS_FOLDER = "jobs"
"""The folder of the job folders, inside the simulator's working folder."""

TRACE_FILE = "trace.txt"

FIRST_PROGRAM = 1
"""The number of the program that runs before program 0, if a job has such a program."""


def state_of(result: int) -> int:
    """Return a controller's state from its word *result* (docs/router.md, section 16)."""
    return result >> 8 & 7


class HostEvent(StrEnum):
    """Events of a run that the host interrupts, or after which it starts another program."""

    RESET = "reset in mid-run"
    STOP = "stop ends a run"
    QUEUED = "queued run begins"
    CLEARED = "stop clears the queue"
    REFUSED = "start refused behind a queued program"


@dataclass(frozen=True)
class _Stored:
    """A dataclass of numbers and tables, stored as JSON; a table is read as a list of rows."""

    def save(self, path: Path) -> None:
        """Write to a temporary file beside ``path``, then rename it."""
        beside = path.with_suffix(".tmp")
        with beside.open("w") as file:
            # A table may be a NumPy array.
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
    before the start. A word at the host port has at most 64 bits; wide words have several
    :attr:`pieces`. After the run the bench reads all pieces of ``read_words`` words of every node's
    space ``message_space`` and ``status_words`` words of its ``status_space``. In the status,
    ``mask_words`` words for each of the node's ``lanes`` tell in which of ``step_numbers`` steps a
    packet has arrived. ``cycle_limit`` is when the watchdog stops the run. ``barrier_registers``
    delay by this many cycles all signals from the nodes, and answers to the host.

    ``controller`` is None in a network that is loaded in reset. With a controller it has the words
    of its commands and their addresses: ``space``, ``command``, ``result``, ``start``, ``stop``;
    and ``switches`` lists the nodes without messages to read. ``hold`` has each node with a tile
    port, as text, and the number of cycles for which its tile holds it.
    ``circuits`` is True for a network with circuits, which has no steps.
    ``interrupted`` is the number of cycles after which the bench interrupts a first run of the same
    program, by a reset or a stop; 0: there is no such run. Its trace is not kept.
    ``first_cycles`` is the number of cycles of :data:`FIRST_PROGRAM`, which then runs before
    program 0, with its result in the memories; 0: there is no such program. Its trace is not kept.
    ``damaged`` is the word that message memories damage; the host cannot read it. None: no word.
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
    circuits: bool = False
    interrupted: int = 0
    first_cycles: int = 0
    damaged: int | None = None

    @property
    def pieces(self) -> int:
        """Pieces of a word, of at most 64 bits each."""
        return -(-self.flit_width // 64)

    def message_addresses(self) -> list[int]:
        """Return the host's addresses of the words to read, piece by piece.

        The address is a multiple of a power of two, plus the number of the piece: docs/router.md,
        section 25.
        """
        bits = (self.pieces - 1).bit_length()
        words, pieces = range(self.read_words), range(self.pieces)
        return [(word << bits) + piece for word in words for piece in pieces]


@dataclass(frozen=True)
class JobResult(_Stored):
    """Result of a job.

    done
        True if all nodes finished before the limit.
    cycles
        The cycles that the design counted.
    seconds
        CPU time of the run, in seconds.
    status
        Shape (nodes, status words).
    messages
        Shape (nodes, read words), with wide words (nodes, read words * pieces).
    result
        The controller's word *result*, which tells how the run ended; 0 without a controller.
    events
        What the host saw of the runs before this one: names of :class:`HostEvent`.
    """

    FILE = "result.json"

    done: bool
    cycles: int
    seconds: float
    status: npt.ArrayLike
    messages: npt.ArrayLike
    result: int = 0
    events: list[str] = field(default_factory=list)
