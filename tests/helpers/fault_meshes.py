"""2-D meshes with faults, drawn and from the paper, for tests of Jiang & Wu's broadcast."""

from collections.abc import Iterable, Iterator

import numpy as np

from eyecast.model.collectives.fault_blocks.blocks import Node
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, mesh


def faulty_mesh(width: int, height: int, faults: Iterable[Node]) -> Topology:
    return with_faults(mesh((width, height)), [x + width * y for x, y in faults])


def nodes_of(left: int, right: int, bottom: int, top: int) -> list[Node]:
    return [(x, y) for x in range(left, right + 1) for y in range(bottom, top + 1)]


def drawn_meshes(count: int, seed: int, longest: int = 16) -> Iterator[Topology]:
    """Draw meshes with few or many faults, none of them on the edge."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        width, height = draw.integers(3, longest + 1, 2).tolist()
        faulty = draw.random((width - 2, height - 2)) < draw.choice([0.02, 0.05, 0.1, 0.15, 0.2])
        yield faulty_mesh(width, height, [(x + 1, y + 1) for x, y in np.argwhere(faulty).tolist()])


def faults_of(topology: Topology) -> set[Node]:
    return {(x, y) for x, y in topology.coordinates(np.array(topology.faulty_nodes, int)).tolist()}
