"""From a schedule to the injection tables of a network.

A send becomes one put, or several where its blocks do not lie side by side
(:class:`~.layout.Layout`): rows that are all *continued* but for the last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..base.errors import InvalidInput
from ..network.config import MOST_MEMORY_WORDS, NetworkConfig
from ..network.port_model import PortModel
from ..network.routes import segments_of_paths
from ..network.segment import Segment
from ..schedule.schedule import Schedule
from .layout import Layout, sent_blocks
from .program import Program, Row, check_limits, table_words


def compile_schedule(schedule: Schedule, config: NetworkConfig) -> Program:
    """The program that carries out ``schedule`` on a network of ``config``.

    Raises :class:`InvalidInput` if the network's limits are too small for it, naming the limit, or
    if its nodes have too few ports.
    """
    layout = Layout.of(schedule, config.message_words)
    if layout.size > config.message_words:
        allowed = f"at most {config.message_words}, the message memory"
        raise InvalidInput.of("flits", allowed, layout.size)
    if schedule.steps > config.steps:
        raise InvalidInput.of("steps of the network", f"at least {schedule.steps}", config.steps)
    if schedule.port_model == PortModel.ALL_PORT and not config.all_port:
        raise InvalidInput.of("ports", "all, which an all-port schedule needs", "one")
    rows: list[list[Row]] = [[] for _ in range(config.topology.nodes)]
    routes = segments_of_paths(
        schedule.topology, schedule.path_offsets, schedule.path_nodes, schedule.vcs
    )
    for send in np.argsort(schedule.step, kind="stable").tolist():
        rows[schedule.source[send]] += _rows(schedule, send, routes[send], layout)
    receives, ports = _receives(schedule, config)
    program = Program(
        config,
        schedule.port_model,
        tuple(tuple(node_rows) for node_rows in rows),
        receives,
        receive_ports=ports if config.all_port else (),
    )
    check_limits(program)
    return program


def with_message_room(config: NetworkConfig, schedule: Schedule) -> NetworkConfig:
    """``config`` with message memories large enough for ``schedule``, if they may be."""
    size = Layout.of(schedule, config.message_words).size
    return replace(config, message_words=max(config.message_words, _room(size)))


def with_table_room(config: NetworkConfig, schedule: Schedule) -> NetworkConfig:
    """``config`` with table memories large enough for ``schedule``, if they may be."""
    program = compile_schedule(schedule, replace(config, table_words=MOST_MEMORY_WORDS))
    return replace(config, table_words=max(config.table_words, _room(table_words(program))))


def with_room(config: NetworkConfig, schedules: Iterable[Schedule]) -> NetworkConfig:
    """``config`` with steps and memories enough for all of ``schedules``, if they may be."""
    for schedule in schedules:
        config = replace(config, steps=max(config.steps, schedule.steps))
        config = with_table_room(with_message_room(config, schedule), schedule)
    return config


def _room(words: int) -> int:
    """The power of two that holds ``words``, or the most that there may be."""
    return min(MOST_MEMORY_WORDS, 1 << (words - 1).bit_length())


def _rows(schedule: Schedule, send: int, route: tuple[Segment, ...], layout: Layout) -> list[Row]:
    """The puts of one send: a row for each run of blocks that lie side by side at both ends."""
    source, target = int(schedule.source[send]), int(schedule.target[send])
    runs: list[list[int]] = []
    for block in sorted(sent_blocks(schedule, send), key=lambda it: layout.address(source, it)):
        begin, goal = layout.address(source, block), layout.address(target, block)
        words = int(schedule.blocks.words[block])
        if runs and (begin, goal) == (runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]):
            runs[-1][2] += words
        else:
            runs.append([begin, goal, words])
    step, last = int(schedule.step[send]), len(runs) - 1
    return [
        Row(step, route, begin, goal, words, continued=place < last)
        for place, (begin, goal, words) in enumerate(runs)
    ]


_Lists = tuple[tuple[int, ...], ...]


def _receives(schedule: Schedule, config: NetworkConfig) -> tuple[_Lists, _Lists]:
    """The steps in which each node receives, ascending, and the ports by which it does."""
    before, target = schedule.path_nodes[schedule.path_offsets[1:] - 2], schedule.target
    ports = schedule.topology.peer[before, schedule.topology.ports_between(before, target)]
    order = np.lexsort((ports, schedule.step, target))
    steps: list[list[int]] = [[] for _ in range(config.topology.nodes)]
    by: list[list[int]] = [[] for _ in range(config.topology.nodes)]
    columns = (column[order].tolist() for column in (target, schedule.step, ports))
    for node, step, port in zip(*columns, strict=True):
        again = steps[node] and steps[node][-1] == step
        if again and (by[node][-1] == port or not config.all_port):
            where = f" by port {port}" if config.all_port else ""
            raise InvalidInput.of(f"receives of node {node} in step {step}{where}", "at most 1", 2)
        steps[node].append(step)
        by[node].append(port)
    return tuple(map(tuple, steps)), tuple(map(tuple, by))
