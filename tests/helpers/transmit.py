"""The transmitting problem as the paper defines it, word for word and by brute force."""

import json
import random
from collections.abc import Iterator
from itertools import combinations, product

from helpers.topologies import distances

from eyecast.model.network.node_link import decode_node_link
from eyecast.model.network.topology import Topology

Links = dict[int, set[int]]


def covered(links: Links, sends: tuple[tuple[int, int], ...], time: int) -> set[int]:
    """Return the union of N_(t-i)(f(i)) over the steps i in which the host sends."""
    return {
        node
        for step, target in sends
        for node, away in distances(links, target).items()
        if away <= time - step
    }


def least_cost(links: Links) -> tuple[int, int]:
    """Return the optimal (t, s), by trying all functions f of the paper."""
    balls = {node: distances(links, node) for node in links}
    time = 1
    while True:
        for work in range(1, time + 1):
            for steps in combinations(range(1, time + 1), work):
                for targets in product(links, repeat=work):
                    sends = list(zip(steps, targets, strict=True))
                    if all(
                        any(balls[to].get(node, time) <= time - step for step, to in sends)
                        for node in links
                    ):
                        return time, work
        time += 1


def drawn_graphs(count: int, most_nodes: int, seed: int) -> Iterator[Topology]:
    """Draw connected graphs, some of them directed: a tree and up to three further links."""
    draw = random.Random(seed)
    for _ in range(count):
        nodes = draw.randint(1, most_nodes)
        edges = [(node, draw.randrange(node)) for node in range(1, nodes)]
        edges += [(draw.randrange(nodes), draw.randrange(nodes)) for _ in range(draw.randint(0, 3))]
        edges = [edge if draw.random() < 0.5 else edge[::-1] for edge in edges]
        yield node_link(nodes, edges, directed=draw.random() < 0.4)


def node_link(nodes: int, edges: list[tuple[int, int]], *, directed: bool = False) -> Topology:
    """Return the graph of ``edges``."""
    fields = {
        "directed": directed,
        "nodes": [{"id": node} for node in range(nodes)],
        "edges": [{"source": begin, "target": end} for begin, end in edges],
    }
    return decode_node_link(json.dumps(fields).encode())
