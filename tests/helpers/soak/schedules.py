"""Schedules for the soak: drawn collectives on drawn networks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from helpers.soak.operators import lane_names, with_operator
from helpers.soak.programs import SEEDS, WIDE, controllers, holds
from helpers.soak.topologies import SMALL_NETWORKS, broken, graphs, one_in, with_links
from helpers.soak.traffic import NETWORKS, configs
from hypothesis import assume
from hypothesis import strategies as st

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.algorithm import Algorithm
from eyecast.model.collectives.declared.block_words import SERVED, BlockWords, as_block_words
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.groups import side_by_side
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.compare.case import Case
from eyecast.model.network.boxes import Nodes, part_of
from eyecast.model.network.config import TIMINGS, NetworkConfig
from eyecast.model.network.operators import BUILT_IN
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import Topology
from eyecast.model.program.compiler import Compiled, fit
from eyecast.model.schedule.collective import COLLECTIVES, REDUCTIONS, ROOTLESS, Collective
from eyecast.model.schedule.schedule import Schedule

TRIES = 120
"""Draws of a collective and an algorithm per network; most do not serve it or do not fit."""
WIDE_TRIES = 3 * TRIES
MOST_OPERATORS = 4
"""Operators of a network, after which schedules use no others: each costs time in every build."""
MOST_WORDS = 8
"""Most words of a block."""
MOST_GROUPS, LARGEST_GROUP = 3, 6
"""Most groups of a schedule, and most nodes of a group."""


@st.composite
def schedule_cases(draw: st.DrawFn, *, wide: bool = False) -> list[Case]:
    """Draw a network and schedules that it can carry out: one or more.

    ``wide``: a small network with wide words, without a custom operator.
    """
    topology = draw(topologies(SMALL_NETWORKS if wide else NETWORKS))
    if wide:
        limits = {"vcs": draw(st.integers(1, 2)), "depth": draw(st.integers(2, 4))}
        limits["flit_width"] = draw(st.sampled_from(WIDE))
        config = draw(schedule_networks(topology, **limits))
    else:
        config = draw(with_operator(draw(schedule_networks(topology))))
    tries = WIDE_TRIES if wide else TRIES
    _, compiled = fit(config, draw(schedules(config, tries)), fixed=("vcs",))
    cases = draw(_predicted(compiled))
    assume(cases)
    return cases


@st.composite
def topologies(draw: st.DrawFn, named: Sequence[Topology] = NETWORKS) -> Topology:
    """Draw one of the ``named`` networks, or a graph with switches; then its faults and links.

    Working nodes may be out of reach of each other.
    """
    whole = draw(graphs() if draw(one_in(6)) else st.sampled_from(named))
    return draw(broken(draw(with_links(whole))))


@st.composite
def schedule_networks(draw: st.DrawFn, topology: Topology, **limits: Any) -> NetworkConfig:
    """Draw a network: all-port, contention-free, with circuits, with timed rows, or none of these.

    Half of the networks without timed rows have a controller, some with tile ports and with parity.
    Streams and operators are those of the schedules that are drawn for the network.
    """
    # Links that differ exclude routers without arbitration, and circuits.
    kinds = ["", "all_port", "timed_rows"]
    kinds += [] if topology.links_differ else ["contention_free", "circuits"]
    kind = draw(st.sampled_from(kinds))
    given = {"timed_rows": True} if kind == "timed_rows" else draw(controllers())
    given |= {kind: True} if kind else {}
    given["signature"] = kind not in ("all_port", "circuits") and draw(st.booleans())
    return draw(configs(topology, message_words=16, table_words=2, steps=1, **given, **limits))


@st.composite
def schedules(draw: st.DrawFn, config: NetworkConfig, tries: int = TRIES) -> list[Schedule]:
    """Draw schedules that fit ``config`` together, with enlarged memories; some are of groups.

    With timed rows, most schedules are timed.
    """
    found = []
    for _ in range(tries):
        try:
            schedule = draw(_schedules(config))
            schedule.check()
            config, _ = fit(config, [schedule], fixed=("vcs",))
        except InvalidInput:
            continue
        found.append(schedule)
    return found


@st.composite
def _schedules(draw: st.DrawFn, config: NetworkConfig) -> Schedule:
    """Draw a schedule, of groups or of all nodes.

    Raises :class:`.InvalidInput` if an algorithm does not serve its network.
    """
    if draw(one_in(6)):
        schedule = draw(_schedules_of_groups(config))
    else:
        algorithm, request = draw(_tasks(config.topology, config))
        schedule = algorithm.generate(request)
    if config.timed_rows and not draw(one_in(4)):
        schedule = replace(schedule, timed=True)
    return schedule


@st.composite
def _tasks(draw: st.DrawFn, topology: Topology, config: NetworkConfig) -> tuple[Algorithm, Request]:
    """Draw a collective, an algorithm for it, and a request on ``topology``."""
    collective = draw(st.sampled_from(COLLECTIVES))
    algorithms = algorithms_for(collective, circuits=config.circuits)
    return draw(st.sampled_from(algorithms)), draw(requests(topology, collective, config))


@st.composite
def _schedules_of_groups(draw: st.DrawFn, config: NetworkConfig) -> Schedule:
    """Draw groups, and for each a collective; return the schedule of all of them together.

    Raises :class:`.InvalidInput` if an algorithm does not serve its group.
    """
    made = []
    for nodes in draw(groups_of(config.topology)):
        part = part_of(config.topology, nodes)
        algorithm, request = draw(_tasks(part.topology, config))
        made.append((part, algorithm.generate(request)))
    return side_by_side(config.topology, made)


@st.composite
def groups_of(draw: st.DrawFn, topology: Topology) -> list[Nodes]:
    """Draw connected groups of two or more working nodes, without a node in common.

    The list is never empty. Raises :class:`.InvalidInput` if no two free nodes have a link.
    """
    free = {*topology.working_nodes.tolist()}
    groups: list[Nodes] = []
    for _ in range(draw(st.integers(1, MOST_GROUPS))):
        group = [draw(st.sampled_from(sorted(free)))] if free else []
        size = draw(st.integers(2, LARGEST_GROUP))
        while group and len(group) < size:
            ends = {end for node in group for end in topology.neighbor[node].tolist()}
            near = sorted((ends & free) - {*group})
            if not near:
                break
            group.append(draw(st.sampled_from(near)))
        if len(group) > 1:
            free -= {*group}
            groups.append(tuple(sorted(group)))
    if not groups:
        raise InvalidInput.of("groups", "of linked nodes", "none")
    return groups


@st.composite
def requests(
    draw: st.DrawFn, topology: Topology, collective: str, config: NetworkConfig
) -> Request:
    """Draw a root, lengths and whether to use all ports in an all-port network.

    In a network with faults, half of the requests serve only the nodes in reach. With a custom
    operator, half of the reductions use it.
    """
    nodes = topology.working_nodes.tolist()
    request = Request(
        topology=topology,
        words=draw(st.integers(1, MOST_WORDS)),
        source=None if collective in ROOTLESS else draw(st.sampled_from(nodes)),
        all_port=config.all_port and draw(st.booleans()),
        partial=topology.without_faults is not None and draw(st.booleans()),
    )
    if collective in REDUCTIONS:
        own = [operator.name for operator in config.operators if not operator.built_in]
        names = lane_names([*BUILT_IN], config.flit_width)
        if own and draw(st.booleans()):
            names = st.sampled_from(own)
        elif len(config.operators) >= MOST_OPERATORS:
            names = st.sampled_from([operator.name for operator in config.operators])
        request = replace(request, operator=draw(names))
    if not request.all_port and draw(one_in(4)):
        duplex = draw(st.sampled_from([PortModel.HALF_DUPLEX, PortModel.FULL_DUPLEX]))
        request = replace(request, duplex=duplex)
    if collective == Collective.MULTICAST:
        others = [node for node in nodes if node != request.source]
        targets = draw(st.lists(st.sampled_from(others), unique=True) if others else st.just([]))
        request = replace(request, targets=tuple(targets))
    if draw(one_in(4)):
        request = replace(request, packet=draw(st.integers(1, request.words)))
    elif collective in SERVED and draw(one_in(3)):
        request = replace(request, block_words=draw(_block_words(topology, collective)))
    return request


@st.composite
def _block_words(draw: st.DrawFn, topology: Topology, collective: str) -> BlockWords:
    """Draw the words of each node's block, or of each pair's in an all-to-all; 0 for some."""
    nodes = topology.nodes
    shape = (nodes, nodes) if collective == Collective.ALL_TO_ALL else (nodes,)
    # An array of all pairs is too long to be drawn number by number.
    words = np.random.default_rng(draw(SEEDS)).integers(0, MOST_WORDS + 1, shape)
    works = np.isin(np.arange(nodes), topology.working_nodes)
    return as_block_words(words * works * (works[:, np.newaxis] if words.ndim == 2 else 1))


@st.composite
def _predicted(draw: st.DrawFn, compiled: Sequence[Compiled]) -> list[Case]:
    """Predict each schedule with a drawn timing; skip those that would collide."""
    cases = []
    for number, each in enumerate(compiled):
        config, timing = each.program.config, draw(st.sampled_from(TIMINGS))
        hold = draw(holds(config)) if config.tile_ports else None
        try:
            cases.append(Case.of(each, timing=timing, seed=number, hold=hold))
        except InvalidInput:
            # Flits would wait in a contention-free network.
            continue
    return cases
