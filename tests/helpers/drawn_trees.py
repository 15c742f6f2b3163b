"""Drawn schedules of circuits: forks, joins, relays, streams and tokens; and NumPy beside them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np
from helpers.by_numpy import combined
from helpers.certificates import circuit_verdict
from helpers.schedules import Send, build
from helpers.switch_networks import SIX_NODES

from eyecast.model.base.errors import InvalidInput
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.memory.layout import Layout, held_words
from eyecast.model.schedule.blocks import NO_OWNER, Blocks
from eyecast.model.schedule.checks import check_links, check_paths, check_ports
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule
from eyecast.model.schedule.streams import check_streams
from eyecast.model.schedule.trees import check_trees

ROOM = {"message_words": 64, "table_words": 256, "operators": "add,max,xor", "circuits": True}

NETWORKS: dict[str, dict[str, Any]] = {
    "mesh": {"topology": mesh((3, 3))},
    "torus, all ports": {"topology": torus((3, 3)), "all_port": True},
    "line, registers": {"topology": line(4), "link_registers": 2},
    "cube, signature": {"topology": hypercube(3), "signature": True, "barrier_registers": 2},
    "mesh, a faulty node": {"topology": with_faults(mesh((4, 2)), [5])},
    "mesh, all ports, faulty links": {
        "topology": with_faults(mesh((3, 3)), [], [(0, 1), (1, 0), (4, 7)]),
        "all_port": True,
        "link_registers": 1,
    },
    "ring, narrow words": {"topology": ring(5), "flit_width": 12, "link_registers": 3},
    "tiles simulated together": {"topology": mesh((5, 5)), "link_registers": 1},
    "switches": {"topology": SIX_NODES, "signature": True},
    "late tiles, all ports": {
        "topology": mesh((2, 2, 2)),
        "all_port": True,
        "programs": 1,
        "tile_ports": True,
        "parity": True,
    },
    "late tiles, a controller": {
        "topology": torus((4, 2)),
        "programs": 2,
        "tile_ports": True,
        "barrier_registers": 1,
    },
}
"""Networks by name; tiles with a port come late."""

BLOCKS = 6
REDUCED = 3
"""The last blocks are reduced, each by an operator of its own; the others have an owner."""

MOST_LATE = 30
"""Most cycles for which a tile holds its node."""

Place = tuple[int, int]
"""A node and a block."""


def config_of(network: str) -> NetworkConfig:
    """Return the network of this name."""
    return NetworkConfig(**ROOM | NETWORKS[network])


def drawn_blocks(random: Random, topology: Topology, operators: Sequence[str]) -> Blocks:
    """Blocks of 0 to 5 words; each reduced one has contributions of most nodes."""
    nodes = topology.working_nodes.tolist()
    plain = BLOCKS - REDUCED
    contributors = [
        tuple(node for node in nodes if node == nodes[0] or random.random() < 0.8)
        for _ in range(REDUCED)
    ]
    return Blocks(
        np.array([random.choice(nodes) for _ in range(plain)] + [NO_OWNER] * REDUCED),
        ((),) * BLOCKS,
        np.array([random.choice((0, 1, 1, 2, 3, 5)) for _ in range(BLOCKS)]),
        ((),) * plain + tuple(contributors),
        (None,) * plain + tuple(random.sample(operators, REDUCED)),
    )


@dataclass
class _Step:
    """The sends of a step so far, and the places that they change.

    ``combined`` and ``replaced`` count the sends that change a place; ``streamed`` has the places
    from which a send of the step streams: no further send may change them.
    """

    number: int
    sends: list[Send] = field(default_factory=list)
    combined: Counter[Place] = field(default_factory=Counter)
    replaced: Counter[Place] = field(default_factory=Counter)
    streamed: set[Place] = field(default_factory=set)

    def allows(self, tree: list[Send]) -> bool:
        """Tell whether no place gets two different words from the step with this tree.

        By all ports a node could get two words at one address.
        """
        now = {name: changed(tree, combine=name) for name in (False, True)}
        if (now[False] | now[True]) & self.streamed:
            return False
        if now[False] & (self.replaced.keys() | self.combined.keys()):
            return False
        return not now[True] & self.replaced.keys()

    def add(self, tree: list[Send]) -> None:
        """Add the sends of a tree."""
        self.sends += tree
        for send in tree:
            places = [(send.path[-1], block) for block in send.blocks]
            (self.combined if send.combine else self.replaced).update(places)
            if send.stream:
                self.streamed |= {(send.path[0], block) for block in send.blocks}

    def came(self, node: int, *, combine: bool) -> list[int]:
        """Return the blocks that one send of the step brings to ``node``, and no other changes."""
        mine, others = self.replaced, self.combined
        if combine:
            mine, others = others, mine
        return [
            block for block in range(BLOCKS) if mine[node, block] == 1 and not others[node, block]
        ]


def changed(sends: list[Send], *, combine: bool) -> set[Place]:
    """Return the places that these sends combine into, or those that they replace."""
    return {
        (send.path[-1], block) for send in sends for block in send.blocks if send.combine == combine
    }


def drawn_ways(random: Random, topology: Topology, root: int) -> list[list[int]]:
    """The ways from the root to some nodes that are no switches, in a drawn tree."""
    ways = {root: [root]}
    for _ in range(random.randint(1, 3 * topology.nodes)):
        here = random.choice([*ways])
        near = [node for node in topology.neighbor[here].tolist() if node >= 0]
        if near:
            there = random.choice(near)
            ways.setdefault(there, [*ways[here], there])
    del ways[root]
    ends = [way for node, way in ways.items() if node not in topology.switches]
    return random.sample(ends, random.randint(1, len(ends))) if ends else []


def drawn_tree(
    random: Random, topology: Topology, step: _Step, holders: list[set[int]]
) -> list[Send]:
    """A fork or a join of blocks that its nodes hold, or a fork of blocks that come in the step."""
    combine = random.random() < 0.6
    nodes = topology.working_nodes.tolist()
    fed = [node for node in nodes if step.came(node, combine=combine)]
    streams = bool(fed) and random.random() < 0.5
    root = random.choice(fed if streams else nodes)
    ways = drawn_ways(random, topology, root)
    held = [block for block in range(BLOCKS) if root in holders[block]]
    blocks = step.came(root, combine=combine) if streams else held
    if combine:
        blocks = [block for block in blocks if block >= BLOCKS - REDUCED]
    join = combine and not streams and random.random() < 0.6
    blocks = random.sample(blocks, min(len(blocks), random.randint(1, 3)))
    if combine:
        ways = [way for way in ways if all(way[-1] in holders[block] for block in blocks)]
    if not blocks:
        return []
    return [
        Send(
            step.number,
            way[::-1] if join else way,
            random.sample(blocks, len(blocks)),
            combine=combine,
            stream=streams,
        )
        for way in ways
    ]


def drawn_schedule(
    random: Random,
    topology: Topology,
    *,
    all_port: bool | None = None,
    operators: Sequence[str] = ("add", "max", "xor"),
) -> Schedule:
    """Trees of some steps; not all contributions come together.

    Each node that gets a block with an owner is owed it.
    """
    blocks = drawn_blocks(random, topology, operators)
    holders = [{*blocks.holders(block, topology)} for block in range(BLOCKS)]
    models = ("half-duplex", "full-duplex", "all-port")
    model = random.choice(models[:2] if all_port is False else models)
    sends: list[Send] = []

    def made(sends: list[Send]) -> Schedule:
        schedule = build(topology, sends, blocks, "custom", model)
        return replace(schedule, circuits=True, root=None)

    for number in range(1, random.randint(2, 6)):
        step = _Step(number)
        for _ in range(random.randint(1, 6)):
            tree = drawn_tree(random, topology, step, holders)
            if tree and step.allows(tree) and _may_be(made([*step.sends, *tree])):
                step.add(tree)
        for send in step.sends:
            for block in send.blocks:
                holders[block].add(send.path[-1])
        sends += step.sends
    owed = tuple(tuple(sorted(nodes)) for nodes in holders[: BLOCKS - REDUCED])
    blocks = replace(blocks, owed=owed + ((),) * REDUCED)
    return made(sends)


def _may_be(schedule: Schedule) -> bool:
    """Tell whether the sends of one step break no rule of schedules."""
    try:
        for rule in (check_paths, check_trees, check_ports, check_links, check_streams):
            rule(schedule)
    except ScheduleError:
        return False
    return True


def carried_out(schedule: Schedule, layout: Layout, memory: np.ndarray, bits: int) -> np.ndarray:
    """The memories after all steps.

    A send carries the words that its source holds before its step; a send that streams, those that
    its source holds after the sends before it in the table.
    """
    words, operators = schedule.blocks.words.tolist(), schedule.blocks.operator
    for step in range(1, schedule.steps + 1):
        before = memory.copy()
        for send in np.flatnonzero(schedule.step == step).tolist():
            begin, end = schedule.block_offsets[send : send + 2].tolist()
            held = memory if schedule.stream[send] else before
            for block in schedule.block_ids[begin:end].tolist():
                if not words[block]:
                    continue
                source, target = int(schedule.source[send]), int(schedule.target[send])
                here, there = layout.address(source, block), layout.address(target, block)
                new = held[source, here : here + words[block]].copy()
                if schedule.combine[send]:
                    old = memory[target, there : there + words[block]]
                    new = combined(operators[block], old, new, bits)
                memory[target, there : there + words[block]] = new
    return memory


def drawn_case(random: Random, config: NetworkConfig) -> Case | None:
    """Draw a schedule, compile it, and predict a run that leaves the words of NumPy.

    None for a schedule that the compiler refuses.
    """
    names = [operator.name for operator in config.operators]
    schedule = drawn_schedule(random, config.topology, all_port=config.all_port, operators=names)
    layout = Layout.of_circuits(schedule, random.choice((0, config.message_words)))
    try:
        compiled = Compiled.of(schedule, config, layout)
    except InvalidInput:
        return None
    late = [random.randint(0, MOST_LATE) for _ in range(config.topology.nodes)]
    hold = np.array(late) if config.tile_ports else None
    case = Case.of(compiled, timing=Timing.BARRIER, seed=random.randrange(2**16), hold=hold)
    memory = case.payload.memory(config)
    expected = carried_out(schedule, layout, memory, config.narrow_width)
    held = np.zeros(memory.shape[:2], np.bool_)
    held[:, : layout.size] = held_words(schedule, layout)
    assert case.predicted.finished, (schedule, case.predicted.flags)
    assert (case.predicted.memory == expected)[held].all(), schedule
    said = circuit_verdict(compiled, compiled.program)
    twice = schedule.combine.any() and "combines a value twice" in said
    assert said == "holds" or twice, (said, schedule)
    return case


def features_of(case: Case) -> Counter[str]:
    """Count the features of a schedule."""
    schedule, program = case.schedule, case.program
    trees = np.bincount(schedule.trees, minlength=1)
    joins = np.bincount(schedule.joins, minlength=1)
    operators = [schedule.blocks.operator[block] for block in schedule.block_ids.tolist()]
    combined = schedule.combine[schedule.block_sends]
    several = {
        send
        for send in schedule.block_sends[combined].tolist()
        if len({operators[i] for i in np.flatnonzero(schedule.block_sends == send)}) > 1
    }
    return Counter(
        {
            "forks": int((trees > 1).sum() - (joins > 1).sum()),
            "joins": int((joins > 1).sum()),
            "joins in routers": int((program.operator > 0).any()),
            "relays": int(schedule.steps > 1),
            "streams": int(schedule.stream.sum()),
            "sends of several operators": len(several),
            "tokens": int((schedule.send_words == 0).any()),
            "late tiles": int(case.hold is not None),
        }
    )
