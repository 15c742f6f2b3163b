"""A run on a board whose network has a controller: loaded, started and read by requests to it."""

from __future__ import annotations

from collections.abc import Callable, Container

import numpy as np
import numpy.typing as npt

from ..rtl.host_map import HostSpace
from ..sim.job import Job, JobResult, state_of
from .serial.computer import SerialHost
from .serial.frame import Control, Outcome, Status

POLLS = 1000
"""Statuses that are read while a run lasts, at the most: many times as long as any run."""

Say = Callable[[str], None]


def carry_out(host: SerialHost, job: Job, say: Say) -> JobResult:
    """Load and start the program of ``job`` and read what came of it.

    Raises ``RuntimeError`` where the controller refuses what it must not.
    """
    assert job.controller is not None
    space, command = job.controller["space"], job.controller["command"]
    # Out of reset, and nothing has been refused yet.
    host.control(Control(0))
    host.write_word(0, space, command, job.controller["stop"])
    write_all(host, job, say)

    def is_started() -> bool:
        # State 0 is idle.
        return state_of(_result(host, job)) != 0

    say("running")
    host.write_once(space, command, job.controller["start"], was_done=is_started)
    ended = await_end(host, job)
    result = _result(host, job)
    status = read_all(host, job, HostSpace.STATUS, job.status_words, say)
    done = Outcome.DONE in ended.outcome
    if not done:
        host.write_word(0, space, command, job.controller["stop"])
    messages = read_all(host, job, HostSpace.MESSAGE, job.read_words, say, without=job.switches)
    if Outcome.REFUSED in host.status().outcome:
        raise RuntimeError("the controller on the board has refused a request")
    return JobResult(done, ended.cycle, 0.0, status, messages, result)


def _result(host: SerialHost, job: Job) -> int:
    """The word *result* of the controller."""
    assert job.controller is not None
    (word,) = host.read_words(0, job.controller["space"], 1, first=job.controller["result"])
    return int(word)


def write_all(host: SerialHost, job: Job, say: Say) -> None:
    """Write all words of a job."""
    for number, (node, space, address, word) in enumerate(job.writes.tolist(), 1):
        say(f"loading word {number} of {len(job.writes)}")
        host.write_word(node, space, address, word)


def await_end(host: SerialHost, job: Job) -> Status:
    """The status of a run that has ended, or that the watchdog has given up.

    A controller ends it itself, a node's flag alone does not.
    """
    overdue = 0
    for _ in range(POLLS):
        status = host.status()
        # The bytes of a running counter need not belong together: one look may be wrong.
        overdue = overdue + 1 if status.cycle > job.cycle_limit else 0
        failed = job.controller is not None and Outcome.ERROR in status.outcome
        if Outcome.DONE in status.outcome or failed or overdue > 1:
            break
    return status


def read_all(
    host: SerialHost,
    job: Job,
    space: HostSpace,
    words: int,
    say: Say,
    *,
    without: Container[int] = (),
) -> npt.NDArray[np.uint64]:
    """The first words of a space of every node: shape (nodes, words); 0 of those ``without`` it."""
    values = np.zeros((job.nodes, words), dtype=np.uint64)
    for node in range(job.nodes):
        say(f"reading the {space.name.lower()} of node {node} of {job.nodes}")
        if node not in without:
            values[node] = host.read_words(node, space, words)
    return values
