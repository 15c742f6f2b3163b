"""Drawn networks of 36 nodes or fewer: grids and graphs with faults, networks of switches."""

from collections.abc import Callable, Iterator

import numpy as np
from helpers.switch_networks import fat_tree, switch_mesh
from helpers.tree_networks import drawn_graph

from eyecast.model.bounds.hops import hops_from
from eyecast.model.network.faults import with_faults
from eyecast.model.network.links import linked_pairs
from eyecast.model.network.topology import Topology, hypercube, mesh, torus

MOST_NODES = 36


def _sides(draw: np.random.Generator) -> tuple[int, int]:
    first = int(draw.integers(2, 10))
    return first, int(draw.integers(2, MOST_NODES // first + 1))


def _graph(draw: np.random.Generator) -> Topology:
    nodes = int(draw.integers(5, MOST_NODES + 1))
    return drawn_graph(nodes, int(draw.integers(nodes)), int(draw.integers(1 << 30)))


def _switches(draw: np.random.Generator) -> Topology:
    if draw.integers(3) == 0:
        return fat_tree(4)
    width, height = draw.integers(2, 4, size=2).tolist()
    return switch_mesh(width, height, int(draw.integers(1, 4)))


KINDS: dict[str, Callable[[np.random.Generator], Topology]] = {
    "mesh": lambda draw: mesh(_sides(draw)),
    "torus": lambda draw: torus(_sides(draw)),
    "hypercube": lambda draw: hypercube(int(draw.integers(2, 6))),
    "graph": _graph,
    "switches": _switches,
}


def connected(topology: Topology) -> bool:
    """Tell whether there are two working nodes or more, and each reaches all others."""
    nodes = topology.working_nodes
    return len(nodes) > 1 and bool((hops_from(topology, nodes)[:, nodes] >= 0).all())


def drawn_networks(count: int, seed: int) -> Iterator[Topology]:
    """Draw connected networks of all kinds; a lost link is lost in both directions.

    A network has at most 36 nodes besides switches, at least three of them working, and up to 4
    faults.
    """
    draw = np.random.default_rng(seed)
    kinds = [KINDS[name] for name in ("mesh", "torus", "graph", "switches")]
    while count:
        whole = kinds[int(draw.integers(len(kinds)))](draw)
        nodes = draw.choice(whole.nodes, int(draw.integers(3)), replace=False).tolist()
        begins, ends = linked_pairs(whole)
        cut = draw.choice(len(begins), int(draw.integers(3)), replace=False)
        links = [(int(begins[at]), int(ends[at])) for at in cut]
        network = with_faults(whole, nodes, {*links, *((end, begin) for begin, end in links)})
        if len(network.working_nodes) > 2 and connected(network):
            count -= 1
            yield network


def drawn_network(kind: str, seed: int) -> Topology:
    """Draw a connected network with up to four faults, of 36 nodes or fewer besides switches."""
    draw = np.random.default_rng((seed, *kind.encode()))
    while True:
        whole = KINDS[kind](draw)
        nodes = draw.permutation(whole.nodes)[: draw.integers(4)].tolist()
        links = np.argwhere(whole.neighbor >= 0)
        node, port = links[draw.integers(len(links))].tolist()
        lost = [(node, int(whole.neighbor[node, port]))] if draw.integers(2) else []
        topology = with_faults(whole, nodes, lost)
        if connected(topology):
            return topology
