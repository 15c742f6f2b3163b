"""Networks for tests of the tree broadcast, and plain code that judges its schedules."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from helpers.schedules import listed
from helpers.topologies import distances, neighbors

from eyecast.model.collectives.tree.broadcast import partial_tree_broadcast
from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import Topology
from eyecast.model.schedule.schedule import Schedule

Edge = tuple[int, int]


def graph_of(nodes: int, edges: list[Edge], switches: Iterable[int] = ()) -> Topology:
    """Return a graph of two-way links; a node's ports are in the order of its links."""
    ends: list[list[int]] = [[] for _ in range(nodes)]
    for a, b in edges:
        ends[a].append(b)
        ends[b].append(a)
    ports = max(map(len, ends))
    return graph([[-1, *row, *[-1] * (ports - len(row))] for row in ends], switches)


def star(leaves: int) -> Topology:
    return graph_of(leaves + 1, [(0, leaf) for leaf in range(1, leaves + 1)])


def drawn_edges(nodes: int, more: int, draw: np.random.Generator) -> list[Edge]:
    """Draw a tree and ``more`` edges; an edge drawn twice gives parallel links."""
    edges = [(int(draw.integers(node)), node) for node in range(1, nodes)]
    while len(edges) < nodes - 1 + more:
        a, b = draw.integers(nodes, size=2).tolist()
        if a != b:
            edges.append((a, b))
    return edges


def drawn_graph(nodes: int, more: int, seed: int) -> Topology:
    return graph_of(nodes, drawn_edges(nodes, more, np.random.default_rng(seed)))


def with_drawn_faults(
    whole: Topology, node_rate: float, link_rate: float, seed: int
) -> tuple[Topology, int]:
    """Draw a network with faults, and one of its nodes without fault."""
    draw = np.random.default_rng(seed)
    faulty = np.flatnonzero(draw.random(whole.nodes) < node_rate)
    source = int(draw.choice(np.setdiff1d(np.arange(whole.nodes), faulty)))
    links = [
        (node, int(end))
        for node, row in enumerate(whole.neighbor)
        for end in row[row >= 0]
        if draw.random() < link_rate
    ]
    return with_faults(whole, faulty.tolist(), links), source


def two_way_neighbors(topology: Topology) -> dict[int, set[int]]:
    ends = neighbors(topology)
    return {node: {end for end in ends[node] if node in ends[end]} for node in ends}


def judge(schedule: Schedule, source: int) -> None:
    """Require that the source serves every node in reach once, and that no two sends meet.

    If links in both directions lead to all of these nodes, require the fewest steps.
    """
    ends, switches = neighbors(schedule.topology), {*schedule.topology.switches}
    served = {source: 0}
    links_of_step: dict[int, list[Edge]] = defaultdict(list)
    nodes_of_step: dict[int, list[int]] = defaultdict(list)
    for send in sorted(listed(schedule), key=lambda send: send.step):
        assert served[send.source] < send.step
        assert send.target not in served
        served[send.target] = send.step
        assert all(b in ends[a] for a, b in pairwise(send.path))
        links_of_step[send.step] += pairwise(send.path)
        nodes_of_step[send.step] += [send.source, send.target]
    for used in (*links_of_step.values(), *nodes_of_step.values()):
        assert len(set(used)) == len(used)
    assert served.keys() == distances(ends, source).keys() - switches
    assert 2 ** max(served.values()) >= len(served)
    two_way = two_way_neighbors(schedule.topology)
    if served.keys() == distances(two_way, source).keys() - switches:
        assert len(served) > 2 ** max(served.values()) // 2


def proved(topology: Topology, source: int) -> Schedule:
    """Return the broadcast to all nodes in reach, checked and judged."""
    schedule = partial_tree_broadcast(topology, source, 3)
    schedule.check()
    judge(schedule, source)
    return schedule
