"""Schedules for the soak: drawn collectives on drawn networks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from helpers.soak.programs import draw_controller, draw_hold
from helpers.soak.topologies import draw_broken, draw_graph, draw_links
from helpers.soak.traffic import NETWORKS, draw_config

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.algorithm import Algorithm
from eyecast.model.collectives.declared.block_words import SERVED, BlockWords, as_block_words
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.groups import Nodes, part_of, side_by_side
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.compare.case import Case
from eyecast.model.network.config import TIMINGS, NetworkConfig
from eyecast.model.network.operators import BUILT_IN
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import Topology
from eyecast.model.program.compiler import Compiled, fit
from eyecast.model.schedule.collective import COLLECTIVES, REDUCTIONS, ROOTLESS, Collective
from eyecast.model.schedule.schedule import Schedule

TRIES = 120
"""Draws of a collective and an algorithm per network; most do not serve it or do not fit."""
MOST_WORDS = 8
"""Most words of a block."""
MOST_GROUPS, LARGEST_GROUP = 3, 6
"""Most groups of a schedule, and most nodes of a group."""


def draw_cases(
    draw: np.random.Generator,
    with_operator: Callable[[np.random.Generator, NetworkConfig], NetworkConfig],
) -> list[Case]:
    """Draw a network and schedules that it can carry out; repeat until there is a case.

    ``with_operator`` draws whether a network has a custom operator, and adds it.
    """
    while True:
        topology = draw_topology(draw)
        config = with_operator(draw, draw_network(draw, topology))
        made = list(draw_schedules(draw, topology, config))
        _, compiled = fit(config, made, fixed=("vcs",))
        cases = list(_predicted(draw, compiled))
        if cases:
            return cases


def draw_topology(draw: np.random.Generator) -> Topology:
    """Draw a network of a named kind, or a graph with switches; then its faults and links.

    Working nodes may be out of reach of each other.
    """
    _, make = NETWORKS[draw.integers(len(NETWORKS))]
    whole = draw_graph(draw) if draw.integers(6) == 0 else make()
    return draw_broken(draw, draw_links(draw, whole))


def draw_network(draw: np.random.Generator, topology: Topology) -> NetworkConfig:
    """Draw a network: all-port, contention-free, with circuits, with timed rows, or none of these.

    Half of the networks without timed rows have a controller, some with tile ports and with parity.
    Streams and operators are those of the schedules that are drawn for the network.
    """
    # Links that differ exclude routers without arbitration, and circuits.
    kind = draw.choice([1, 3, 4]) if topology.links_differ else draw.integers(5)
    return draw_config(
        draw,
        topology,
        message_words=16,
        table_words=2,
        steps=1,
        contention_free=bool(kind == 0),
        all_port=bool(kind == 1),
        circuits=bool(kind == 2),
        timed_rows=bool(kind == 4),
        signature=bool(kind not in (1, 2) and draw.integers(2)),
        **({} if kind == 4 else draw_controller(draw)),
    )


def draw_schedules(
    draw: np.random.Generator, topology: Topology, config: NetworkConfig
) -> Iterator[Schedule]:
    """Draw schedules that fit ``config`` together, with enlarged memories; some are of groups.

    With timed rows, most schedules are timed.
    """
    for _ in range(TRIES):
        try:
            if draw.integers(6) == 0:
                schedule = _draw_of_groups(draw, topology, config)
            else:
                algorithm, request = _draw_algorithm(draw, topology, config)
                schedule = algorithm.generate(request)
            if config.timed_rows and draw.integers(4):
                schedule = replace(schedule, timed=True)
            schedule.check()
            config, _ = fit(config, [schedule], fixed=("vcs",))
        except InvalidInput:
            continue
        yield schedule


def _draw_algorithm(
    draw: np.random.Generator, topology: Topology, config: NetworkConfig
) -> tuple[Algorithm, Request]:
    """Draw a collective, an algorithm for it, and a request on ``topology``."""
    collective = COLLECTIVES[draw.integers(len(COLLECTIVES))]
    algorithms = algorithms_for(collective, circuits=config.circuits)
    algorithm = algorithms[draw.integers(len(algorithms))]
    return algorithm, _draw_request(draw, topology, collective, config)


def _draw_of_groups(
    draw: np.random.Generator, topology: Topology, config: NetworkConfig
) -> Schedule:
    """Draw groups, and for each a collective; return the schedule of all of them together.

    Raises :class:`.InvalidInput` if an algorithm does not serve its group.
    """
    parts = [part_of(topology, nodes) for nodes in draw_groups(draw, topology)]
    made = []
    for part in parts:
        algorithm, request = _draw_algorithm(draw, part.topology, config)
        made.append((part, algorithm.generate(request)))
    return side_by_side(topology, made)


def draw_groups(draw: np.random.Generator, topology: Topology) -> list[Nodes]:
    """Draw connected groups of two or more working nodes, without a node in common.

    The list is never empty. Raises :class:`.InvalidInput` if no two free nodes have a link.
    """
    free = {*topology.working_nodes.tolist()}
    groups: list[Nodes] = []
    for _ in range(int(draw.integers(1, MOST_GROUPS + 1))):
        group = [int(draw.choice(sorted(free)))] if free else []
        size = int(draw.integers(2, LARGEST_GROUP + 1))
        while group and len(group) < size:
            ends = {end for node in group for end in topology.neighbor[node].tolist()}
            near = sorted((ends & free) - {*group})
            if not near:
                break
            group.append(int(draw.choice(near)))
        if len(group) > 1:
            free -= {*group}
            groups.append(tuple(sorted(group)))
    if not groups:
        raise InvalidInput.of("groups", "of linked nodes", "none")
    return groups


def _draw_request(
    draw: np.random.Generator, topology: Topology, collective: str, config: NetworkConfig
) -> Request:
    """Draw a root, lengths and whether to use all ports in an all-port network.

    In a network with faults, half of the requests serve only the nodes in reach. With a custom
    operator, half of the reductions use it.
    """
    request = Request(
        topology=topology,
        words=int(draw.integers(1, MOST_WORDS + 1)),
        source=None if collective in ROOTLESS else int(draw.choice(topology.working_nodes)),
        all_port=config.all_port and bool(draw.integers(2)),
        partial=topology.without_faults is not None and bool(draw.integers(2)),
    )
    if collective in REDUCTIONS:
        own = [operator.name for operator in config.operators if not operator.built_in]
        names = own if own and draw.integers(2) else [*BUILT_IN]
        request = replace(request, operator=names[draw.integers(len(names))])
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
    elif collective in SERVED and draw.integers(3) == 0:
        request = replace(request, block_words=draw_block_words(draw, topology, collective))
    return request


def draw_block_words(draw: np.random.Generator, topology: Topology, collective: str) -> BlockWords:
    """Draw the words of each node's block, or of each pair's in an all-to-all; 0 for some."""
    nodes = topology.nodes
    words = draw.integers(0, MOST_WORDS + 1, nodes)
    works = np.isin(np.arange(nodes), topology.working_nodes)
    if collective == Collective.ALL_TO_ALL:
        words = draw.integers(0, MOST_WORDS + 1, (nodes, nodes)) * works[:, np.newaxis]
    return as_block_words(words * works)


def _predicted(draw: np.random.Generator, compiled: Sequence[Compiled]) -> Iterator[Case]:
    """Predict each schedule with a drawn timing; skip those that would collide."""
    for number, each in enumerate(compiled):
        timing = TIMINGS[draw.integers(len(TIMINGS))]
        try:
            hold = draw_hold(draw, each.program.config) if each.program.config.tile_ports else None
            yield Case.of(each, timing=timing, seed=number, hold=hold)
        except InvalidInput:
            # Flits would wait in a contention-free network.
            continue
