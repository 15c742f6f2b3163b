"""Runs of verified schedules on a board, compared with their predictions."""

from collections.abc import Callable

import numpy as np

from ..model.base.errors import InvalidInput
from ..model.compare.case import Case
from ..model.compare.checks import (
    Check,
    Verification,
    cycles_check,
    delivery_check,
    ending_checks,
    equality_check,
    flags_check,
)
from ..model.network.config import NetworkConfig
from ..model.run.run import HardwareRun
from ..model.run.trace import Trace
from ..rtl.parts.host_map import HostSpace
from ..sim.job import Job, JobResult
from ..sim.loading import job_of
from ..sim.simulator import hardware_run
from .controlled_run import await_end, carry_out, read_all, write_all
from .serial.computer import SerialHost
from .serial.frame import Control, Outcome, identity


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

    ``say`` gets the current activity. Raises :class:`.InvalidInput` if the board is silent or holds
    another network.
    """
    require_network(host, case.program.config)
    job = job_of(case)
    run = carry_out if job.controller else _carry_out_in_reset
    result = run(host, job, say)
    return compare_with_board(case, hardware_run(job, result, Trace.empty(0)))


def _carry_out_in_reset(host: SerialHost, job: Job, say: Callable[[str], None]) -> JobResult:
    """Load the network in reset, run it, and read the memories in reset again."""
    mode = Control.BARRIER if job.barrier else Control(0)
    mode |= Control.HALF_DUPLEX if job.half_duplex else Control(0)
    host.control(mode | Control.RESET)
    write_all(host, job, say)
    say("running")
    host.control(mode)
    ended = await_end(host, job)
    status = read_all(host, job, HostSpace.STATUS, job.status_words, say)
    host.control(mode | Control.RESET)
    addresses = job.message_addresses()
    read = read_all(host, job, HostSpace.MESSAGE, max(addresses, default=-1) + 1, say)
    messages = read[:, addresses]
    return JobResult(Outcome.DONE in ended.outcome, ended.cycle, 0.0, status, messages)


def compare_with_board(case: Case, measured: HardwareRun) -> Verification:
    """Compare a run on a board with its prediction.

    A board sends no trace, so there is no first difference and no check of stalled flits.
    """
    # A network with circuits has no steps.
    circuits = case.program.config.circuits
    last_step = int(np.nonzero(measured.arrived)[-1].max(initial=0))
    checks = [
        delivery_check(case, measured),
        *([] if circuits else [equality_check("steps", case.schedule.steps, last_step)]),
        cycles_check(case.predicted, measured),
        flags_check(case.predicted, measured),
        *ending_checks(case, measured),
    ]
    if case.program.config.signature:
        checks.append(_signatures_check(case, measured))
    return Verification(measured, tuple(checks), None, case)


def _signatures_check(case: Case, measured: HardwareRun) -> Check:
    """Check the nodes' signatures, which cover what each router sent and when."""
    from ..model.run.signature import signatures  # noqa: PLC0415 - compiles the cycle model

    expected = signatures(case.predicted.trace, case.program.config)
    nodes, same = len(expected), int((expected == measured.signature).sum())
    return Check("signatures", f"{nodes} of {nodes}", f"{same} of {nodes}", same == nodes)
