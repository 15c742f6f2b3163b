"""From a schedule to the injection tables of a network.

Block b lies at the same address in every node's message memory: the blocks one after the other, in
the order of the schedule's list. A send becomes one put, so the blocks that it carries must lie
side by side.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .config import NetworkConfig
from .errors import InvalidInput
from .program import Program, Row, check_limits
from .routes import segments_of_paths
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
    routes = segments_of_paths(
        schedule.topology, schedule.path_offsets, schedule.path_nodes, schedule.vcs
    )
    rows: list[list[Row]] = [[] for _ in range(nodes)]
    receives: list[set[int]] = [set() for _ in range(nodes)]
    for send in np.argsort(schedule.step, kind="stable").tolist():
        step = int(schedule.step[send])
        address, length = _put(schedule, send, addresses)
        rows[schedule.source[send]].append(Row(step, routes[send], address, address, length))
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


def _put(schedule: Schedule, send: int, addresses: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Address and length in words of the blocks that a send carries."""
    begin, end = schedule.block_offsets[send], schedule.block_offsets[send + 1]
    blocks = np.sort(schedule.block_ids[begin:end])
    first, last = int(blocks[0]), int(blocks[-1])
    if last - first + 1 != blocks.size:
        raise InvalidInput.of(f"blocks of send {send}", "next to each other", blocks.tolist())
    return int(addresses[first]), int(addresses[last + 1] - addresses[first])
