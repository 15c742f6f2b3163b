"""Drawn sends: what ``check()`` accepts and a network takes, routers carry out without flags."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.schedules import Send, build
from helpers.soak.samples import example_of
from helpers.soak.schedules import topologies
from helpers.verified import verified

from eyecast.model.base.errors import InvalidInput
from eyecast.model.compare.case import Case
from eyecast.model.network.config import TIMINGS, NetworkConfig, Timing
from eyecast.model.network.port_model import PORT_MODELS, PortModel
from eyecast.model.network.topology import NO_LINK, Topology, ring
from eyecast.model.program.compiler import Compiled, fit
from eyecast.model.program.deadlock import certify
from eyecast.model.program.program import Program
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.schedule import Schedule

CARRIED_OUT, REFUSED, UNPROVED = "carried out", "refused by the network", "refused by check()"


class _Drawing:
    """A schedule that is drawn send by send; ``held`` are the blocks of each node."""

    def __init__(self, draw: np.random.Generator, topology: Topology) -> None:
        self.draw = draw
        self.topology = topology
        self.working = self.topology.working_nodes.tolist()
        self.blocks = int(draw.integers(1, 5))
        self.owners = draw.choice(self.working, self.blocks).tolist()
        self.held = {node: set[int]() for node in self.working}
        for block, owner in enumerate(self.owners):
            self.held[owner].add(block)

    def below(self, most: int) -> int:
        return int(self.draw.integers(most))

    def path(self, node: int) -> list[int]:
        """Walk from a node at random: it may turn back, come by again, or end where it began."""
        path = [node]
        while len(path) < 2 or (len(path) < 25 and self.below(3)):
            neighbors = self.topology.neighbor[path[-1]]
            ahead = np.unique(neighbors[neighbors != NO_LINK])
            if self.below(9) and len(path) > 1:
                ahead = ahead[ahead != path[-2]]
            if not len(ahead):
                break
            path.append(int(self.draw.choice(ahead)))
        return path

    def sends(self) -> list[Send]:
        """Draw copying sends; those of a step mostly keep the half-duplex rule."""
        sends = []
        for step in range(1, 2 + self.below(5)):
            busy, coming = set[int](), dict[int, set[int]]()
            for _ in range(1 + self.below(4)):
                path = self.path(int(self.draw.choice(self.working)))
                source, target = path[0], path[-1]
                streams = self.below(4) == 0
                known = self.held[source] | (coming.get(source, set()) if streams else set())
                taken = {source, target} & busy and self.below(8)
                if not known or len(path) < 2 or target not in self.held or taken:
                    continue
                busy |= {source, target}
                blocks = self.draw.permutation([*known])[: 1 + self.below(3)].tolist()
                most = 3 if self.below(9) else 12
                vcs = [self.below(most)] * (len(path) - 1)
                if self.below(3) == 0:
                    vcs = [self.below(most) for _ in vcs]
                sends.append(Send(step, path, blocks, vcs, stream=streams))
                coming.setdefault(target, set()).update(blocks)
            for node, blocks in coming.items():
                self.held[node] |= blocks
        return sends

    def reduction(self) -> list[Send]:
        """Draw a tree of combining sends: each node sends its sum once, to a node not yet done."""
        order = self.draw.permutation(self.working).tolist()
        sends = []
        for step, node in enumerate(order[:-1], start=1):
            paths = (self.path(node) for _ in range(99))
            path = next((path for path in paths if path[-1] in order[step:]), None)
            if path is not None:
                sends.append(Send(step, path, [0], combine=True))
        self.root = order[-1]
        return sends


def drawn_topology(draw: np.random.Generator) -> Topology:
    return example_of(topologies(), int(draw.integers(1 << 31)))


def drawn_schedule(draw: np.random.Generator, topology: Topology) -> Schedule:
    """Draw sends, mostly of copies, and the promise that they keep if they can be carried out."""
    drawing = _Drawing(draw, topology)
    words = draw.integers(0, 6, drawing.blocks)
    if draw.integers(4):
        sends = drawing.sends()
        owed = tuple(
            tuple(node for node in drawing.working if block in drawing.held[node])
            for block in range(drawing.blocks)
        )
        blocks = Blocks(np.array(drawing.owners), owed, words)
    else:
        sends = drawing.reduction()
        blocks = Blocks.reduced_to(((drawing.root,),), int(words[0]), "add")
    ports = PORT_MODELS[draw.integers(len(PORT_MODELS))]
    made = build(drawing.topology, sends, blocks, "custom", ports)
    return replace(made, timed=draw.integers(6) == 0)


def _fitted(config: NetworkConfig, schedule: Schedule) -> Compiled:
    """Compile a schedule for a network with room for it, and prove that no packets deadlock."""
    _, (compiled,) = fit(config, [schedule])
    if isinstance(compiled.program, Program):
        certify(compiled.program)
    return compiled


def fate(seed: int) -> str:
    """Draw a schedule and a network; return how far it comes, and require a run without flags."""
    draw = np.random.default_rng(seed)
    schedule = drawn_schedule(draw, drawn_topology(draw))
    try:
        schedule.check()
    except InvalidInput:
        return UNPROVED
    try:
        config = NetworkConfig(
            topology=schedule.topology,
            all_port=schedule.port_model == PortModel.ALL_PORT,
            circuits=draw.integers(4) == 0,
            contention_free=draw.integers(8) == 0,
            depth=int(draw.integers(1, 5)),
            flit_width=int(draw.choice([20, 32, 64])),
            vcs=int(draw.choice([1, 3])),
        )
        compiled = _fitted(config, schedule)
        timing = TIMINGS[0] if config.circuits else TIMINGS[draw.integers(len(TIMINGS))]
        case = Case.of(compiled, timing=timing, seed=seed)
    except InvalidInput as error:
        assert ", row " not in str(error), seed
        return REFUSED
    assert not case.predicted.flags.any(), seed
    assert case.predicted.finished, seed
    got = case.payload.delivered(case.predicted.memory, schedule.topology)
    assert got.sum() == len(schedule.blocks.served(schedule.topology)), seed
    return CARRIED_OUT


@pytest.mark.parametrize(
    "seeds", [range(50), pytest.param(range(50, 2000), marks=pytest.mark.slow)], ids=len
)
def test_what_is_accepted_is_carried_out_without_a_flag(seeds: range) -> None:
    assert {*map(fate, seeds)} == {CARRIED_OUT, REFUSED, UNPROVED}


def _carried_out(config: NetworkConfig, draw: np.random.Generator) -> Iterator[Schedule]:
    """Draw schedules that pass their proof and that the network takes, with few VCs."""
    for _ in range(4000):
        schedule = drawn_schedule(draw, config.topology)
        with suppress(InvalidInput):
            schedule.check()
            few = _fitted(config, schedule).program.config.vcs <= MOST_VCS
            if schedule.sends and not schedule.timed and few:
                yield schedule


MOST_VCS = 3
"""VCs of simulated networks; 8, as in ``tests/sim/test_limits.py``, would take minutes to build."""


@pytest.mark.slow
@pytest.mark.parametrize("circuits", [False, True], ids=["packets", "circuits"])
@pytest.mark.parametrize(
    ("seed", "all_port"),
    [(12, False), (1, True), (10, True)],
    ids=["2x3 torus", "graph of 4 with 1 switch, all-port", "1x6 mesh, all-port"],
)
def test_hardware_carries_out_what_is_accepted_as_the_model_does(
    seed: int, all_port: bool, circuits: bool
) -> None:
    draw = np.random.default_rng(seed)
    network = NetworkConfig(
        topology=drawn_topology(draw), all_port=all_port, circuits=circuits, vcs=1
    )
    schedules = [*islice(_carried_out(network, draw), 20)]
    _, compiled = fit(network, schedules)
    cases = []
    for number, each in enumerate(compiled):
        waits = circuits or (each.schedule.combine | each.schedule.stream).any()
        timing = Timing.BARRIER if waits else TIMINGS[number % len(TIMINGS)]
        cases.append(Case.of(each, timing=timing, seed=number))
    assert len([*verified(cases)]) == 20


ROUND = [0, 1, 2, 3] * 8
"""A path round a ring of four, again and again."""


@pytest.mark.parametrize(
    ("path", "vcs", "circuits", "refusal"),
    [
        ([0, 1, 2, 1], [0, 0, 0], False, "its path turns back at node 2, to 1 where it came from"),
        ([0, 1], [99], False, "vc must be 0 to 7, not 99"),
        (ROUND[:6], [0, 1, 2, 3, 1], False, ""),
        (ROUND[:6], [0, 0, 0, 0, 1], True, "its path crosses link 0 -> 1 twice, without VCs"),
    ],
)
def test_refusals_have_the_words_of_the_schedule(
    path: list[int], vcs: list[int], circuits: bool, refusal: str
) -> None:
    sends = [Send(1, path, vcs=vcs)]
    made = build(ring(4), sends, Blocks(np.array([0]), ((path[-1],),), np.array([4])), "custom")

    def carry_out() -> None:
        made.check()
        fit(NetworkConfig(topology=ring(4), circuits=circuits), [made])

    if refusal:
        name = f"send 0 (step 1, 0 -> {path[-1]})"
        assert refusal_of(carry_out) == f"{name}: {refusal}"
    else:
        carry_out()
