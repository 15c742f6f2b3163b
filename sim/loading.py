"""Loading of a network before a run, as writes through its host port."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..model.compare.case import Case, watchdog
from ..model.compare.traffic_case import TrafficCase
from ..model.program.program import Program, encode_expected, encode_table
from ..rtl.host_port import HostSpace, status_words, table_address_bits
from .job import Job


def job_of(case: Case) -> Job:
    """Prepare the job that carries out a schedule."""
    return prepare(
        case.program,
        case.payload.loads(),
        timing=case.timing,
        read_words=case.payload.layout.size,
        cycle_limit=watchdog(case.predicted),
    )


def job_of_traffic(case: TrafficCase, *, read_memories: bool) -> Job:
    """Prepare the job that runs traffic; ``read_memories``: all of them are read afterwards."""
    return prepare(
        case.program,
        [(node, 0, words) for node, words in enumerate(case.words)],
        timing="self-timed",
        read_words=case.program.config.message_words if read_memories else 0,
        cycle_limit=watchdog(case.predicted),
        refusal=case.refusal,
    )


def prepare(
    program: Program,
    loads: Sequence[tuple[int, int, npt.NDArray[np.uint64]]],
    *,
    timing: str,
    read_words: int,
    cycle_limit: int,
    refusal: npt.NDArray[np.uint16] | None = None,
) -> Job:
    """The job that loads and runs ``program``.

    ``loads`` are (node, address, words) of the message memories before the start; ``timing`` is
    "barrier" or "self-timed"; ``read_words`` is how much of each message memory to read afterwards.
    ``cycle_limit`` is when the watchdog ends the run; ``refusal`` a pattern for each node
    (docs/router.md, section 11).
    """
    config = program.config
    writes = _lane_writes(program)
    for node, first, block in loads:
        message = enumerate(block.tolist(), first)
        writes += [(node, HostSpace.MESSAGE, address, word) for address, word in message]
    if config.timed_rows:
        writes += _timing_writes(program, refusal)
    return Job(
        writes=np.array(writes, dtype=np.uint64).reshape(-1, 4),
        nodes=config.topology.nodes,
        flit_width=config.flit_width,
        step_numbers=1 << config.step_bits,
        mask_words=config.mask_words,
        lanes=config.lanes,
        message_space=HostSpace.MESSAGE,
        read_words=read_words,
        status_space=HostSpace.STATUS,
        status_words=status_words(config),
        barrier=timing == "barrier",
        half_duplex=program.port_model == "half-duplex",
        cycle_limit=cycle_limit,
        barrier_registers=config.barrier_registers,
    )


def _lane_writes(program: Program) -> list[tuple[int, int, int, int]]:
    """The writes of every lane's table, and of the steps in which it receives."""
    config = program.config
    writes: list[tuple[int, int, int, int]] = []
    for node in range(config.topology.nodes):
        lanes = zip(program.lane_rows(node), program.lane_receives(node), strict=True)
        for lane, (rows, receives) in enumerate(lanes):
            for space, first, words in (
                (HostSpace.TABLE, lane << table_address_bits(config), encode_table(config, rows)),
                (HostSpace.EXPECTED, lane * config.mask_words, encode_expected(config, receives)),
            ):
                writes += [(node, space, place, word) for place, word in enumerate(words, first)]
    return writes


def _timing_writes(
    program: Program, refusal: npt.NDArray[np.uint16] | None
) -> list[tuple[int, int, int, int]]:
    """The writes that say how many packets every node awaits, and when it refuses flits."""
    nodes = program.config.topology.nodes
    first = program.config.mask_words
    awaited = program.awaited or (0,) * nodes
    patterns = [0] * nodes if refusal is None else refusal.tolist()
    columns = enumerate(zip(awaited, patterns, strict=True))
    return [
        (node, HostSpace.EXPECTED, first + place, word)
        for node, words in columns
        for place, word in enumerate(words)
    ]
