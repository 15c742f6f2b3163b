"""Drawn reductions: network with faults, collective, algorithm, operator, words, ports.

NumPy computes the expected memories from the initial ones.
"""

from collections.abc import Iterator
from functools import partial, reduce

import numpy as np
from helpers.by_numpy import BY_NUMPY, combined

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.faults import draw_faults, with_faults
from eyecast.model.network.topology import Topology, hypercube, mesh, ring, torus
from eyecast.model.program.compiler import fit
from eyecast.model.schedule.collective import REDUCTIONS
from eyecast.model.schedule.schedule import Schedule


def draw_network(draw: np.random.Generator) -> Topology:
    """Draw a small grid or hypercube; one in three has faults."""
    sides = tuple(int(side) for side in draw.integers(2, 5, draw.integers(1, 3)))
    kind = draw.integers(5)
    if kind == 0:
        return hypercube(int(draw.integers(1, 5)))
    if kind == 1:
        return ring(int(draw.integers(2, 11)))
    network = (torus if kind == 2 else mesh)(sides)
    if draw.integers(3) == 0:
        seed = int(draw.integers(1 << 30))
        network = with_faults(network, draw_faults(network, 0.15, seed=seed))
    return network


def draw_reduction(draw: np.random.Generator, topology: Topology) -> Schedule | None:
    """Draw a proved reduction on ``topology`` that an algorithm serves; None after ten tries."""
    for _ in range(10):
        collective = REDUCTIONS[draw.integers(len(REDUCTIONS))]
        algorithms = algorithms_for(collective, circuits=False)
        algorithm = algorithms[draw.integers(len(algorithms))]
        working = topology.working_nodes
        request = Request(
            topology=topology,
            words=int(draw.integers(1, 24)),
            source=int(draw.choice(working)) if collective == "reduce" else None,
            all_port="all_port" in algorithm.takes and bool(draw.integers(2)),
            operator=str(draw.choice(list(BY_NUMPY))),
        )
        try:
            schedule = algorithm.generate(request)
        except InvalidInput:
            continue
        schedule.check()
        return schedule
    return None


def draw_cases(draw: np.random.Generator, count: int) -> Iterator[Case]:
    """Draw this many cases, each on a network of its own."""
    while count:
        topology = draw_network(draw)
        schedule = draw_reduction(draw, topology)
        if schedule is not None:
            yield case_of(schedule, int(draw.integers(1 << 30)))
            count -= 1


def case_of(schedule: Schedule, seed: int) -> Case:
    """Make the case of a schedule on the smallest network that fits."""
    config = NetworkConfig(
        topology=schedule.topology,
        message_words=2,
        table_words=2,
        steps=1,
        all_port=schedule.port_model == "all-port",
    )
    (compiled,) = fit(config, [schedule])[1]
    return Case.of(compiled, timing="barrier", seed=seed)


def wrong_nodes(case: Case, memory: np.ndarray) -> list[tuple[int, int]]:
    """Return (node, block) where ``memory`` does not end with NumPy's words of the block.

    These are the owner's words, or a reduction of the contributions. The inputs are read from the
    memories before the run: at the block's address, or at the same index of the memory's upper
    half. Blocks that are reduced by a custom operator are not checked.
    """
    blocks, layout, config = case.schedule.blocks, case.payload.layout, case.program.config
    before = case.payload.memory(config)
    everyone = case.schedule.topology.working_nodes.tolist()
    wrong = []
    for block, operator in enumerate(blocks.operator):
        words = int(blocks.words[block])
        if not words or (operator and operator.partition(":")[0] not in BY_NUMPY):
            continue
        given = blocks.contributors[block] if operator else (int(blocks.owner[block]),)
        given = everyone if given is None else given
        contributions = []
        for node in given:
            places = [layout.address(node, block)]
            if layout.halves.any:
                places.append(places[0] + (1 << (config.address_bits - 1)))
            loaded = [before[node, place : place + words] for place in places]
            # Random words are practically never all 0.
            contributions.append(max(loaded, key=lambda found: int(found.any())))
        owed, prefix = blocks.owed[block], blocks.prefix[block]
        for node in everyone if owed is None else owed:
            last = np.inf if prefix is None else node - (prefix == "exclusive")
            taken = [each for at, each in zip(given, contributions, strict=True) if at <= last]
            expected = reduce(partial(combined, operator, bits=config.narrow_width), taken)
            begin = layout.address(node, block)
            if not np.array_equal(memory[node, begin : begin + words], expected):
                wrong.append((node, block))
    return wrong
