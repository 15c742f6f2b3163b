"""Drawn requests, and a judge of the words that a schedule owes to each node.

The judge reads blocks one by one and adds their words for each pair: the node that has the words
before step 1, and the node that gets them. It shares no code with the checks of schedules.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from helpers.switch_networks import switch_mesh
from helpers.tree_networks import drawn_graph

import eyecast
from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.faults import draw_faults, with_faults
from eyecast.model.network.topology import Topology, hypercube, mesh, ring, torus
from eyecast.model.schedule.schedule import Schedule

ROOTED = ("broadcast", "multicast", "scatter", "gather", "reduce")
REDUCING = ("reduce", "reduce-scatter", "all-reduce", "barrier", "scan", "exscan")
TABLED = ("scatter", "gather", "all-gather", "reduce-scatter", "all-to-all")
COLLECTIVES = (*ROOTED, "all-gather", "all-to-all", "neighbor", "halo", *REDUCING[1:])
LEAVING_OUT = "jiang-wu"
"""The algorithm that may leave working nodes out unasked."""
COPYING = "nesbt-copies"
"""The algorithm that sends the message several times."""
ANYWHERE = ("tree", "circulant", "direct")
"""Algorithms that serve any connected network, and so irregular groups."""

Asked = dict[str, Any]
"""Arguments of ``eyecast.schedule``; groups as lists of the entries in a file."""


def draw_network(draw: np.random.Generator) -> Topology:
    """Draw a small network of any kind, in most cases with faulty nodes or links."""
    sides = tuple(int(side) for side in draw.integers(2, 6, draw.integers(1, 4)))[
        : draw.integers(1, 4)
    ]
    seed = int(draw.integers(1 << 30))
    kinds: tuple[Callable[[], Topology], ...] = (
        lambda: mesh(sides),
        lambda: torus(sides),
        lambda: mesh((int(draw.integers(2, 4)),) * 3),
        lambda: hypercube(int(draw.integers(1, 5))),
        lambda: ring(int(draw.integers(3, 11))),
        lambda: torus((4, 4)),
        lambda: drawn_graph(int(draw.integers(4, 14)), int(draw.integers(0, 8)), seed),
        lambda: switch_mesh(2, 2, int(draw.integers(1, 3))),
    )
    network = kinds[draw.integers(len(kinds))]()
    if network.switches or draw.integers(3) == 0:
        return network
    nodes = draw_faults(network, float(draw.choice([0.1, 0.2, 0.3])), seed=seed)
    links = [
        (node, int(end))
        for node, ends in enumerate(network.neighbor.tolist())
        for end in ends
        if end >= 0 and draw.integers(30) == 0 and not {node, end} & {*nodes}
    ]
    return with_faults(network, nodes, links)


def draw_asked(draw: np.random.Generator, network: Topology) -> Asked:
    """Draw a collective of all nodes of ``network``, or of groups of them."""
    working = network.working_nodes.tolist()
    ports = str(draw.choice(["one", "one", "all", "all", "half-duplex", "full-duplex"]))
    asked: Asked = {"network": network, "ports": ports}
    if draw.integers(10) == 0:
        asked["packet"] = int(draw.integers(1, 9))
    if draw.integers(4) or len(working) < 4:
        asked |= _draw_collective(draw, working, network.nodes)
        if asked["collective"] == "multicast":
            count = int(draw.integers(1, len(working) + 1))
            asked["targets"] = sorted(draw.choice(working, count, replace=False).tolist())
        if asked["collective"] in ("broadcast", "reduce") and draw.integers(6) == 0:
            asked["partial"] = True
        if "words" in asked and asked["collective"] == "barrier":
            del asked["words"]
        asked["algorithm"] = _draw_algorithm(draw, asked["collective"])
        return asked
    groups = []
    for nodes in _draw_groups(draw, network, working):
        group = _draw_collective(draw, nodes, len(nodes), of_groups=True)
        group["algorithm"] = _draw_algorithm(draw, group["collective"])
        if "words" in group:
            group["words"] = group.pop("words")
        if "source" in group:
            group["root"] = group.pop("source")
        groups.append({"nodes": nodes, **group})
    return {**asked, "algorithm": "tree", "groups": groups}


def _draw_algorithm(draw: np.random.Generator, collective: str) -> str:
    names = eyecast.algorithms(collective)
    general = [name for name in names if name in ANYWHERE]
    some = general if general and draw.integers(2) else names
    return str(some[draw.integers(len(some))])


def _draw_collective(
    draw: np.random.Generator, nodes: list[int], entries: int, *, of_groups: bool = False
) -> Asked:
    """Draw a collective among ``nodes``; a table of words has ``entries`` entries a node."""
    names = [name for name in COLLECTIVES if not (of_groups and name == "multicast")]
    collective = str(names[draw.integers(len(names))])
    asked: Asked = {"collective": collective}
    if collective in ROOTED:
        asked["source"] = int(nodes[draw.integers(len(nodes))])
    if collective in REDUCING and not of_groups and draw.integers(2):
        asked["operator"] = str(draw.choice(["add", "max", "xor"]))
    if collective in TABLED and draw.integers(4) == 0:
        shape = (entries,) * (2 if collective == "all-to-all" else 1)
        table = draw.integers(0, 9, shape) * draw.integers(0, 2, shape)
        if not of_groups:
            idle = sorted({*range(entries)} - {*nodes})
            table[idle] = 0
            if table.ndim == 2:
                table[:, idle] = 0
        asked["block_words"] = table.tolist()
    else:
        asked["words"] = int(draw.choice([1, 2, 3, 7, 16, 31, 64, int(draw.integers(1, 200))]))
    return asked


def _draw_groups(
    draw: np.random.Generator, network: Topology, working: list[int]
) -> Iterator[list[int]]:
    """Draw one to three connected groups of two nodes or more, some of which share nodes."""
    free = {*working}
    for _ in range(int(draw.integers(1, 4))):
        if len(free) < 2:
            return
        group = [int(draw.choice(sorted(free)))]
        goal = int(draw.integers(2, 7))
        while len(group) < goal:
            ends = {end for node in group for end in network.neighbor[node].tolist()}
            near = sorted((ends & free) - {*group})
            if not near:
                break
            group.append(int(draw.choice(near)))
        if len(group) >= 2:
            free -= {*group} if draw.integers(2) else set()
            yield sorted(group)


def made(asked: Asked) -> Schedule | None:
    """Return the proved schedule of a request; None if the algorithm does not serve it."""
    asked = dict(asked)
    try:
        return eyecast.schedule(asked.pop("network"), asked.pop("algorithm"), **asked)
    except InvalidInput:
        return None


Pairs = Counter[tuple[object, int]]
"""Words, by the node that has or contributes to them and the node that gets them."""


def owed_words(asked: Asked, unserved: set[int]) -> Pairs:
    """Return the words that a schedule owes among the nodes that it serves."""
    working = asked["network"].working_nodes.tolist()
    if "groups" not in asked:
        table = asked.get("block_words")
        nodes = [node for node in working if node not in unserved]
        return _of_group(asked, nodes, lambda node: node, table)
    every: Pairs = Counter()
    for group in asked["groups"]:
        words = {"words": group.get("words", 16), "source": group.get("root")}
        words["network"] = asked["network"]
        every += _of_group(
            {**group, **words}, group["nodes"], group["nodes"].index, group.get("block_words")
        )
    return every


def _of_group(
    asked: Asked, nodes: list[int], place: Callable[[int], int], table: list[Any] | None
) -> Pairs:
    name, root, network = asked["collective"], asked.get("source"), asked["network"]
    flits = 1 if name == "barrier" else asked.get("words")

    def words(*ends: int) -> int:
        row: Any = flits if table is None else table
        if table is None:
            return int(row)
        for end in ends:
            row = row[place(end)]
        return int(row)

    all_of = frozenset(nodes)
    others = [node for node in nodes if node != root]
    pairs = [(a, b) for a in nodes for b in nodes if a != b]
    targets = {*asked.get("targets", ())} - {root}
    made: dict[str, Callable[[], dict[tuple[object, int], int]]] = {
        "broadcast": lambda: {(root, node): flits for node in others},
        "multicast": lambda: {(root, node): flits for node in targets},
        "scatter": lambda: {(root, node): words(node) for node in others},
        "gather": lambda: {(node, root): words(node) for node in others},
        "all-gather": lambda: {(a, b): words(a) for a, b in pairs},
        "all-to-all": lambda: {(a, b): words(a, b) for a, b in pairs},
        "neighbor": lambda: {(a, b): flits for a, b in pairs if b in network.neighbor[a]},
        "halo": lambda: {(a, b): flits for a, b in pairs if _around(network, a, b)},
        "reduce": lambda: {(all_of, root): flits},
        "reduce-scatter": lambda: {(all_of, node): words(node) for node in nodes},
        "all-reduce": lambda: {(all_of, node): flits for node in nodes},
        "barrier": lambda: {(all_of, node): flits for node in nodes},
        "scan": lambda: {(frozenset(n for n in nodes if n <= node), node): flits for node in nodes},
        "exscan": lambda: {
            (frozenset(n for n in nodes if n < node), node): flits
            for node in nodes
            if node > min(nodes)
        },
    }
    return +Counter(made[name]())


def _around(network: Topology, a: int, b: int) -> bool:
    """Tell whether no coordinate of two nodes differs by more than 1."""
    places = zip(network.dims, *network.coordinates([a, b]).tolist(), strict=True)
    return all(
        abs(p - q) <= 1 or (axis in network.wrapped and abs(p - q) == side - 1)
        for axis, (side, p, q) in enumerate(places)
    )


def moved_words(schedule: Schedule) -> Pairs:
    """Return the words that the blocks of a schedule promise."""
    blocks, every = schedule.blocks, schedule.topology.working_nodes.tolist()
    found: Pairs = Counter()
    for block, owner in enumerate(blocks.owner.tolist()):
        given = blocks.contributors[block]
        holder: object = owner
        if blocks.operator[block] is not None:
            holder = frozenset(every if given is None else given)
        owed, prefix = blocks.owed[block], blocks.prefix[block]
        for node in every if owed is None else owed:
            if prefix:
                end = node + (prefix == "inclusive")
                before = frozenset(n for n in (every if given is None else given) if n < end)
                found[before, node] += int(blocks.words[block])
            elif node != holder:
                found[holder, node] += int(blocks.words[block])
    return +found


def as_asked(asked: Asked, schedule: Schedule) -> bool:
    """Tell whether a schedule promises exactly the requested words."""
    if asked["algorithm"] == COPYING:
        # Whole copies; every node gets at least one.
        copies = {*schedule.blocks.words.tolist()} == {asked["words"]}
        return copies and owed_words(asked, set()).keys() == moved_words(schedule).keys()
    may = asked.get("partial") or asked["algorithm"] == LEAVING_OUT
    may |= any(group.get("algorithm") == LEAVING_OUT for group in asked.get("groups", ()))
    unserved = {*schedule.unserved} if may and "groups" not in asked else set()
    return owed_words(asked, unserved) == moved_words(schedule)
