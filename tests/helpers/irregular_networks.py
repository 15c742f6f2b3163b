"""Networks that are drawn: meshes, tori and graphs with faults, and fat trees, all connected."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from helpers.switch_networks import fat_tree, switch_mesh
from helpers.tree_networks import drawn_edges, graph_of

from eyecast.model.bounds.hops import UNREACHED, hops_from
from eyecast.model.network.faults import with_faults
from eyecast.model.network.links import linked_pairs
from eyecast.model.network.topology import Topology, mesh, torus

MOST_NODES = 36


def drawn_networks(count: int, seed: int) -> Iterator[Topology]:
    """Draw networks of at most 36 nodes, or switches and nodes, with up to 4 faulty parts."""
    draw = np.random.default_rng(seed)
    while count:
        whole = _whole(draw)
        nodes = draw.choice(whole.nodes, int(draw.integers(3)), replace=False).tolist()
        begins, ends = linked_pairs(whole)
        cut = draw.choice(len(begins), int(draw.integers(3)), replace=False)
        links = [(int(begins[at]), int(ends[at])) for at in cut]
        network = with_faults(whole, nodes, {*links, *((end, begin) for begin, end in links)})
        if len(network.working_nodes) > 2 and connected(network):
            count -= 1
            yield network


def _whole(draw: np.random.Generator) -> Topology:
    """Draw a network without faults."""
    kind = int(draw.integers(4))
    if kind < 2:
        width = int(draw.integers(2, 7))
        return (mesh, torus)[kind]((width, int(draw.integers(2, 7))))
    if kind == 2:
        nodes = int(draw.integers(4, MOST_NODES + 1))
        return graph_of(nodes, drawn_edges(nodes, int(draw.integers(nodes)), draw))
    if draw.integers(2):
        return fat_tree(4)
    return switch_mesh(int(draw.integers(2, 5)), int(draw.integers(1, 4)), int(draw.integers(1, 3)))


def connected(network: Topology) -> bool:
    """Tell whether each working node has a path to each other one."""
    working = network.working_nodes
    return bool((hops_from(network, working)[:, working] != UNREACHED).all())
