"""Carries out a verified schedule on a board, and holds what came of it against the prediction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..model.base.errors import InvalidInput
from ..model.compare.case import Case
from ..model.compare.checks import (
    Check,
    Verification,
    cycles_check,
    delivery_check,
    equality_check,
    flags_check,
)
from ..model.network.config import NetworkConfig
from ..model.run.run import HardwareRun
from ..model.run.trace import Trace
from ..rtl.host_port import HostSpace
from ..sim.job import Job, JobResult
from ..sim.loading import job_of
from ..sim.simulator import hardware_run
from .serial.computer import SerialHost
from .serial.frame import Control, Outcome, Status, identity

POLLS = 1000
"""Statuses that are read while a run lasts, at the most: many times as long as any run."""


def require_network(host: SerialHost, config: NetworkConfig) -> None:
    """Raise :class:`.InvalidInput` unless the board holds the network ``config``."""
    found, expected = host.status().identity, identity(config)
    if found != expected:
        allowed = f"the {config.topology.label} of these options (identity {expected:08x})"
        raise InvalidInput.of("network on the board", allowed, f"another one ({found:08x})")


def run_on_board(
    host: SerialHost, case: Case, *, say: Callable[[str], None] = lambda stage: None
) -> Verification:
    """Load ``case`` onto a board, run it, read everything back and compare.

    ``say`` is told what is under way.
    Raises :class:`.InvalidInput` if the board is silent or holds another network.
    """
    require_network(host, case.program.config)
    job = job_of(case)
    mode = Control.BARRIER if job.barrier else Control(0)
    mode |= Control.HALF_DUPLEX if job.half_duplex else Control(0)
    host.control(mode | Control.RESET)
    for number, (node, space, address, word) in enumerate(job.writes.tolist(), 1):
        say(f"loading word {number} of {len(job.writes)}")
        host.write_word(node, space, address, word)
    say("running")
    host.control(mode)
    ended = _await_end(host, job)
    status = _read(host, job.nodes, HostSpace.STATUS, job.status_words, say)
    host.control(mode | Control.RESET)
    messages = _read(host, job.nodes, HostSpace.MESSAGE, job.read_words, say)
    result = JobResult(Outcome.DONE in ended.outcome, ended.cycle, 0.0, status, messages)
    return compare_with_board(case, hardware_run(job, result, Trace.empty(0)))


def _await_end(host: SerialHost, job: Job) -> Status:
    """The status of a run that has ended, or that the watchdog has given up."""
    overdue = 0
    for _ in range(POLLS):
        status = host.status()
        # The bytes of a running counter need not belong together: one look may be wrong.
        overdue = overdue + 1 if status.cycle > job.cycle_limit else 0
        if Outcome.DONE in status.outcome or overdue > 1:
            break
    return status


def _read(
    host: SerialHost, nodes: int, space: HostSpace, words: int, say: Callable[[str], None]
) -> npt.NDArray[np.uint64]:
    """The first words of a space of every node: shape (nodes, words)."""
    values = np.zeros((nodes, words), dtype=np.uint64)
    for node in range(nodes):
        say(f"reading the {space.name.lower()} of node {node} of {nodes}")
        values[node] = host.read_words(node, space, words)
    return values


def compare_with_board(case: Case, measured: HardwareRun) -> Verification:
    """Hold what a board did against what was predicted.

    A board tells of no trace, so there is no first difference to show, and no stalled flits.
    """
    last_step = int(np.nonzero(measured.arrived)[-1].max(initial=0))
    checks = [
        delivery_check(case, measured),
        equality_check("steps", case.schedule.steps, last_step),
        cycles_check(case.predicted, measured),
        flags_check(case.predicted, measured),
    ]
    if case.program.config.signature:
        checks.append(_signatures_check(case, measured))
    return Verification(measured, tuple(checks), None, case)


def _signatures_check(case: Case, measured: HardwareRun) -> Check:
    """Check how many nodes have sent what was predicted, when it was predicted."""
    from ..model.run.signature import signatures  # noqa: PLC0415 - compiles the cycle model

    expected = signatures(case.predicted.trace, case.program.config)
    nodes, same = len(expected), int((expected == measured.signature).sum())
    return Check("signatures", f"{nodes} of {nodes}", f"{same} of {nodes}", same == nodes)
