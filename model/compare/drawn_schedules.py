"""Schedules for the soak: drawn collectives on drawn networks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..base.errors import InvalidInput
from ..collectives.declared.request import Request
from ..collectives.registry import algorithms_for
from ..network.config import TIMINGS, NetworkConfig
from ..network.faults import with_faults
from ..network.operators import BUILT_IN
from ..network.port_model import PortModel
from ..network.topology import Topology
from ..program.compiler import Compiled, fit
from ..schedule.collective import COLLECTIVES, REDUCTIONS, ROOTLESS, Collective
from ..schedule.schedule import Schedule
from .case import Case
from .drawn_traffic import NETWORKS, draw_config

TRIES = 120
"""Draws of a collective and an algorithm per network; most do not serve it or do not fit."""
LONGEST_DRAWN_LINK, SLOWEST_DRAWN_LINK = 5, 3
"""Most registers of a link, and most cycles between two of its flits, where links differ."""


def draw_cases(draw: np.random.Generator) -> list[Case]:
    """Draw a network and schedules that it can carry out; repeat until there is a case."""
    while True:
        _, make = NETWORKS[draw.integers(len(NETWORKS))]
        topology = draw_topology(draw, make())
        config = draw_network(draw, topology)
        made = list(draw_schedules(draw, topology, config))
        _, compiled = fit(config, made, fixed=("vcs",))
        cases = list(_predicted(draw, compiled))
        if cases:
            return cases


def draw_topology(draw: np.random.Generator, topology: Topology) -> Topology:
    """Draw for some networks a faulty node, and for some the registers and rates of the links."""
    if topology.nodes > 3 and draw.integers(4) == 0:
        working = topology.working_nodes
        topology = with_faults(topology, [int(draw.choice(working))])
    if draw.integers(4) == 0:
        shape = topology.neighbor.shape
        registers = draw.integers(0, LONGEST_DRAWN_LINK + 1, shape)
        rates = draw.integers(1, SLOWEST_DRAWN_LINK + 1, shape) if draw.integers(2) else None
        topology = replace(topology, link_registers_of=registers, link_rate_of=rates)
    return topology


def draw_network(draw: np.random.Generator, topology: Topology) -> NetworkConfig:
    """Draw a network: all-port, contention-free, with circuits, or none of these.

    Its streams and operators are those of the schedules that are drawn for it.
    """
    kind = draw.integers(1 if topology.links_differ else 0, 4)
    return draw_config(
        draw,
        topology,
        message_words=16,
        table_words=2,
        steps=1,
        contention_free=bool(kind == 0),
        all_port=bool(kind == 1),
        circuits=bool(kind == 2),
        signature=bool(kind not in (1, 2) and draw.integers(2)),
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
    request = Request(
        topology=topology,
        words=int(draw.integers(1, 9)),
        source=None if collective in ROOTLESS else int(draw.choice(topology.working_nodes)),
        all_port=all_port and bool(draw.integers(2)),
    )
    if collective in REDUCTIONS:
        request = replace(request, operator=list(BUILT_IN)[draw.integers(len(BUILT_IN))])
    if not request.all_port and draw.integers(4) == 0:
        request = replace(
            request, duplex=(PortModel.HALF_DUPLEX, PortModel.FULL_DUPLEX)[draw.integers(2)]
        )
    if collective == Collective.MULTICAST:
        others = [node for node in topology.working_nodes.tolist() if node != request.source]
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
