"""Drawn schedules of forks, joins, relays and tokens as circuits, against NumPy."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from helpers.schedules import Send, build

from eyecast.model.base.errors import InvalidInput
from eyecast.model.cycle.circuits import run_circuits
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import Topology, hypercube, line, mesh, torus
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.layout import Layout, held_words
from eyecast.model.program.payload import Payload
from eyecast.model.schedule.blocks import NO_OWNER, Blocks
from eyecast.model.schedule.checks import check_links, check_paths, check_ports
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule
from eyecast.model.schedule.trees import check_trees

NETWORKS = (mesh((3, 3)), torus((3, 3)), line(4), hypercube(3), mesh((4, 2)))
BLOCKS = 5
REDUCED = 3
"""The last blocks are reduced, the others have an owner."""


def drawn_blocks(random: Random, topology: Topology) -> Blocks:
    """Blocks of 0 to 5 words; each reduced one has contributions of most nodes."""
    nodes = range(topology.nodes)
    plain = BLOCKS - REDUCED
    contributors = [
        tuple(node for node in nodes if node == 0 or random.random() < 0.8) for _ in range(REDUCED)
    ]
    return Blocks(
        np.array([random.choice(nodes) for _ in range(plain)] + [NO_OWNER] * REDUCED),
        ((),) * BLOCKS,
        np.array([random.choice((0, 1, 1, 2, 3, 5)) for _ in range(BLOCKS)]),
        ((),) * plain + tuple(contributors),
        (None,) * plain + ("add",) * REDUCED,
    )


def drawn_ways(random: Random, topology: Topology, root: int) -> list[list[int]]:
    """The ways from the root to some nodes, in a drawn tree."""
    ways = {root: [root]}
    for _ in range(random.randint(1, 3 * topology.nodes)):
        here = random.choice([*ways])
        there = random.choice([node for node in topology.neighbor[here].tolist() if node >= 0])
        ways.setdefault(there, [*ways[here], there])
    del ways[root]
    return random.sample([*ways.values()], random.randint(1, len(ways))) if ways else []


def drawn_tree(
    random: Random, topology: Topology, step: int, holders: list[set[int]]
) -> list[Send]:
    """A fork or a join of blocks that its nodes hold."""
    root = random.randrange(topology.nodes)
    ways = drawn_ways(random, topology, root)
    blocks = [block for block in range(BLOCKS) if root in holders[block]]
    combine = random.random() < 0.6
    if combine:
        blocks = [block for block in blocks if block >= BLOCKS - REDUCED]
    blocks = random.sample(blocks, min(len(blocks), random.randint(1, 3)))
    join = combine and random.random() < 0.6
    if combine:
        ways = [way for way in ways if all(way[-1] in holders[block] for block in blocks)]
    if not blocks:
        return []
    return [
        Send(step, way[::-1] if join else way, random.sample(blocks, len(blocks)), combine=combine)
        for way in ways
    ]


def changed(sends: list[Send], *, combine: bool) -> set[tuple[int, int]]:
    """The target and block of each word that these sends combine, or of each that they replace."""
    return {
        (send.path[-1], block) for send in sends for block in send.blocks if send.combine == combine
    }


def drawn_schedule(random: Random, topology: Topology) -> Schedule:
    """Trees of some steps, in a port model of one port; not all contributions come together."""
    blocks = drawn_blocks(random, topology)
    holders = [{*blocks.holders(block, topology)} for block in range(BLOCKS)]
    model = random.choice(("half-duplex", "full-duplex", "all-port"))
    sends: list[Send] = []
    for step in range(1, random.randint(2, 6)):
        added: list[Send] = []
        for _ in range(random.randint(1, 6)):
            tree = drawn_tree(random, topology, step, holders)
            made = replace(
                build(topology, [*added, *tree], blocks, "custom", model), circuits=True, root=None
            )
            try:
                check_paths(made)
                check_trees(made)
                check_ports(made)
                check_links(made)
            except ScheduleError:
                continue
            # By all ports, a node could get two different words at one address in one step.
            combined, replaced = changed(added, combine=True), changed(added, combine=False)
            now = changed(tree, combine=True), changed(tree, combine=False)
            if replaced & now[1] or replaced & now[0] or combined & now[1]:
                continue
            added += tree
        for send in added:
            for block in send.blocks:
                holders[block].add(send.path[-1])
        sends += added
    return replace(build(topology, sends, blocks, "custom", model), circuits=True, root=None)


def carried_out(schedule: Schedule, layout: Layout, memory: np.ndarray, mask: int) -> np.ndarray:
    """The memories after all steps: every send carries what its source holds before its step."""
    words = schedule.blocks.words.tolist()
    for step in range(1, schedule.steps + 1):
        before = memory.copy()
        for send in np.flatnonzero(schedule.step == step).tolist():
            for block in schedule.block_ids[
                schedule.block_offsets[send] : schedule.block_offsets[send + 1]
            ].tolist():
                if not words[block]:
                    continue
                source, target = int(schedule.source[send]), int(schedule.target[send])
                here, there = layout.address(source, block), layout.address(target, block)
                sent = before[source, here : here + words[block]]
                old = memory[target, there : there + words[block]]
                new = (old + sent) & np.uint64(mask) if schedule.combine[send] else sent
                memory[target, there : there + words[block]] = new
    return memory


def carry_out(random: Random, seen: Counter[str]) -> None:
    """Compile and run one drawn schedule."""
    topology = random.choice(NETWORKS)
    schedule = drawn_schedule(random, topology)
    config = NetworkConfig(
        topology=topology,
        circuits=True,
        all_port=schedule.port_model == "all-port" or random.random() < 0.2,
        operators="add",
        link_registers=random.randrange(3),
        message_words=64,
        table_words=1024,
    )
    layout = Layout.of_circuits(schedule, random.choice((0, 64)))
    try:
        compiled = Compiled.of(schedule, config, layout)
    except InvalidInput:
        seen["refused"] += 1
        return
    memory = Payload.random(compiled, seed=random.randrange(99)).memory(config)
    run = run_circuits(compiled.program, memory)
    expected = carried_out(schedule, layout, memory, (1 << config.flit_width) - 1)
    held = np.zeros(memory.shape, np.bool_)
    held[:, : layout.size] = held_words(schedule, layout)
    assert run.finished, (schedule, run.flags)
    assert (run.memory == expected)[held].all(), schedule
    trees = np.bincount(schedule.trees, minlength=1)
    joins = np.bincount(schedule.joins, minlength=1)
    seen["forks"] += int((trees > 1).sum() - (joins > 1).sum())
    seen["joins"] += int((joins > 1).sum())
    seen["operators in routers"] += int((compiled.program.operator > 0).any())
    seen["relays"] += int(schedule.steps > 1)
    seen["tokens"] += int((schedule.send_words == 0).any())


def test_drawn_schedules_leave_what_numpy_reckons() -> None:
    random, seen = Random(23), Counter()
    for _ in range(60):
        carry_out(random, seen)
    assert min(seen[each] for each in ("forks", "joins", "operators in routers", "tokens")) > 5
    assert seen["refused"] < 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_many_drawn_schedules_leave_what_numpy_reckons(seed: int) -> None:
    random, seen = Random(seed), Counter()
    for _ in range(300):
        carry_out(random, seen)
    assert seen["refused"] < 15
