"""Schedules for the soak: drawn collectives on drawn networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..base.errors import InvalidInput
from ..collectives.declared.request import Request
from ..collectives.registry import algorithms_for
from ..network.config import TIMINGS, NetworkConfig
from ..network.port_model import PortModel
from ..network.topology import Topology
from ..program.compiler import Compiled, fit
from ..schedule.collective import COLLECTIVES, ROOTLESS, Collective
from ..schedule.schedule import Schedule
from .case import Case
from .drawn_traffic import NETWORKS, draw_config

TRIES = 120
"""Draws of a collective and an algorithm per network; most do not serve it or do not fit."""


def draw_cases(draw: np.random.Generator) -> list[Case]:
    """Draw a network and schedules that it can carry out; repeat until there is a case."""
    while True:
        _, make = NETWORKS[draw.integers(len(NETWORKS))]
        topology = make()
        config = draw_network(draw, topology)
        made = list(draw_schedules(draw, topology, config))
        _, compiled = fit(config, made, fixed=("vcs",))
        cases = list(_predicted(draw, compiled))
        if cases:
            return cases


def draw_network(draw: np.random.Generator, topology: Topology) -> NetworkConfig:
    """Draw a network: all-port, contention-free, or neither."""
    kind = draw.integers(3)
    return draw_config(
        draw,
        topology,
        message_words=16,
        table_words=2,
        steps=1,
        all_port=bool(kind == 0),
        contention_free=bool(kind == 1),
        signature=bool(kind != 0 and draw.integers(2)),
    )


def draw_schedules(
    draw: np.random.Generator, topology: Topology, config: NetworkConfig
) -> Iterator[Schedule]:
    """Draw schedules that fit ``config`` together, with enlarged memories."""
    for _ in range(TRIES):
        collective = COLLECTIVES[draw.integers(len(COLLECTIVES))]
        algorithms = algorithms_for(collective, circuits=config.circuits)
        algorithm = algorithms[draw.integers(len(algorithms))]
        request = _draw_request(draw, topology, collective, all_port=config.all_port)
        try:
            schedule = algorithm.generate(request)
            schedule.check()
            config, _ = fit(config, [schedule], fixed=("vcs",))
        except InvalidInput:
            continue
        yield schedule


def _draw_request(
    draw: np.random.Generator, topology: Topology, collective: str, *, all_port: bool
) -> Request:
    """Draw a root, lengths and whether to use all ports in an all-port network."""
    nodes = topology.nodes
    request = Request(
        topology=topology,
        words=int(draw.integers(1, 9)),
        source=None if collective in ROOTLESS else int(draw.integers(nodes)),
        all_port=all_port and bool(draw.integers(2)),
    )
    if not request.all_port and draw.integers(4) == 0:
        request = replace(
            request, duplex=(PortModel.HALF_DUPLEX, PortModel.FULL_DUPLEX)[draw.integers(2)]
        )
    if collective == Collective.MULTICAST:
        others = [node for node in range(nodes) if node != request.source]
        number = int(draw.integers(len(others) + 1))
        chosen = draw.choice(others, number, replace=False).tolist() if others else []
        request = replace(request, targets=tuple(chosen))
    if draw.integers(4) == 0:
        request = replace(request, packet=int(draw.integers(1, request.words + 1)))
    return request


def _predicted(draw: np.random.Generator, compiled: Sequence[Compiled]) -> Iterator[Case]:
    """Predict each schedule with a drawn timing; skip those that would collide."""
    for number, each in enumerate(compiled):
        timing = TIMINGS[draw.integers(len(TIMINGS))]
        try:
            yield Case.of(each, timing=timing, seed=number)
        except InvalidInput:
            # Flits would wait in a contention-free network.
            continue
