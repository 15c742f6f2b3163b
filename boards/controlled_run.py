"""A run on a board whose network has a controller: loaded, started and read by requests."""

from collections.abc import Callable, Container

import numpy as np
import numpy.typing as npt

from ..rtl.parts.host_map import HostSpace
from ..sim.job import Job, JobResult, state_of
from .serial.computer import SerialHost
from .serial.frame import Control, Outcome, Status

POLLS = 1000
"""Most statuses that are read during a run: many times more than any run needs."""

Say = Callable[[str], None]


def carry_out(host: SerialHost, job: Job, say: Say) -> JobResult:
    """Load and start the program of ``job`` and read its result.

    Raises ``RuntimeError`` if the controller refuses a request that it must accept.
    """
    assert job.controller is not None
    space, command = job.controller["space"], job.controller["command"]
    # Leave reset, and clear the mark of earlier refusals.
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
    """Read the controller's word *result*."""
    assert job.controller is not None
    (word,) = host.read_words(0, job.controller["space"], 1, first=job.controller["result"])
    return int(word)


def write_all(host: SerialHost, job: Job, say: Say) -> None:
    """Write all words of a job."""
    for number, (node, space, address, word) in enumerate(job.writes.tolist(), 1):
        say(f"loading word {number} of {len(job.writes)}")
        host.write_word(node, space, address, word)


def await_end(host: SerialHost, job: Job) -> Status:
    """Return the status at the end of a run, or when the watchdog gives up.

    A controller ends a run itself; without one a node's flag does not end it.
    """
    overdue = 0
    for _ in range(POLLS):
        status = host.status()
        # The bytes of a running counter may not belong together: one reading may be wrong.
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
    """Read the first words of a space of every node: shape (nodes, words); 0 if ``without``."""
    values = np.zeros((job.nodes, words), dtype=np.uint64)
    for node in range(job.nodes):
        say(f"reading the {space.name.lower()} of node {node} of {job.nodes}")
        if node not in without:
            values[node] = host.read_words(node, space, words)
    return values
