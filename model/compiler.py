"""From a schedule to the injection tables of a network.

Block b lies at the same address in every node's message memory: the blocks one after the other, in
the order of the schedule's list. A send becomes one put, so the blocks that it carries must lie
side by side.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .config import NetworkConfig
from .errors import InvalidInput
from .program import Program, Row, Segment, check_limits
from .schedule import Blocks, Schedule


def compile_schedule(schedule: Schedule, config: NetworkConfig) -> Program:
    """The program that carries out ``schedule`` on a network of ``config``.

    Raises :class:`InvalidInput` if the network's limits are too small for it, naming the limit.
    """
    nodes = config.topology.nodes
    addresses = block_addresses(schedule.blocks)
    if addresses[-1] > config.message_words:
        raise InvalidInput.of(
            "flits", f"at most {config.message_words}, the message memory", addresses[-1]
        )
    if schedule.steps > config.steps:
        raise InvalidInput.of("steps of the network", f"at least {schedule.steps}", config.steps)
    rows: list[list[Row]] = [[] for _ in range(nodes)]
    receives: list[set[int]] = [set() for _ in range(nodes)]
    for send in np.argsort(schedule.step, kind="stable").tolist():
        step = int(schedule.step[send])
        route = _route(schedule, send)
        address, length = _put(schedule, send, addresses)
        rows[schedule.source[send]].append(Row(step, route, address, address, length))
        target = int(schedule.target[send])
        if step in receives[target]:
            raise InvalidInput.of(f"receives of node {target} in step {step}", "at most 1", 2)
        receives[target].add(step)
    program = Program(
        config,
        schedule.port_model,
        tuple(tuple(node_rows) for node_rows in rows),
        tuple(tuple(sorted(steps)) for steps in receives),
    )
    check_limits(program)
    return program


def block_addresses(blocks: Blocks) -> npt.NDArray[np.int64]:
    """Where each block begins in message memory, and the last one ends: shape (blocks + 1,)."""
    return np.concatenate(([0], np.cumsum(blocks.words, dtype=np.int64)))


def _route(schedule: Schedule, send: int) -> tuple[Segment, ...]:
    """The path of a send as segments: as long as port and VC stay the same it is one."""
    begin, end = schedule.path_offsets[send], schedule.path_offsets[send + 1]
    ports = schedule.links[begin - send : end - send - 1] % schedule.topology.ports
    vcs = schedule.vcs[begin - send : end - send - 1]
    turns = np.flatnonzero(np.diff(ports) | np.diff(vcs)) + 1
    bounds = [0, *turns.tolist(), len(ports)]
    return tuple(Segment(int(ports[a]), b - a, int(vcs[a])) for a, b in pairwise(bounds))


def _put(schedule: Schedule, send: int, addresses: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Address and length in words of the blocks that a send carries."""
    begin, end = schedule.block_offsets[send], schedule.block_offsets[send + 1]
    blocks = np.sort(schedule.block_ids[begin:end])
    first, last = int(blocks[0]), int(blocks[-1])
    if last - first + 1 != blocks.size:
        raise InvalidInput.of(f"blocks of send {send}", "next to each other", blocks.tolist())
    return int(addresses[first]), int(addresses[last + 1] - addresses[first])
