"""Dimension-order routes against a walk that takes one hop at a time."""

from __future__ import annotations

import numpy as np
import pytest

from eyecast.model.routes import dimension_order
from eyecast.model.topology import mesh


def walk(dims: tuple[int, ...], source: int, target: int) -> list[int]:
    """The nodes from source to target, one axis after the other, by division alone."""
    path, stride = [source], 1
    for side in dims:
        ahead = target // stride % side
        while path[-1] // stride % side != ahead:
            up = path[-1] // stride % side < ahead
            path.append(path[-1] + (stride if up else -stride))
        stride *= side
    return path


@pytest.mark.parametrize("dims", [(5,), (4, 4), (3, 5), (1, 6), (2, 3, 4), (2, 2, 2, 2)])
def test_every_pair_as_walked(dims: tuple[int, ...]) -> None:
    topology = mesh(dims)
    sources, targets = (a.ravel() for a in np.indices((topology.nodes, topology.nodes)))
    offsets, nodes = dimension_order(topology, sources, targets)
    for i, (source, target) in enumerate(zip(sources.tolist(), targets.tolist(), strict=True)):
        assert nodes[offsets[i] : offsets[i + 1]].tolist() == walk(dims, source, target)
    assert offsets[-1] == nodes.size


def test_x_comes_first() -> None:
    offsets, nodes = dimension_order(mesh((4, 4)), np.array([0]), np.array([9]))
    assert offsets.tolist() == [0, 4]
    assert nodes.tolist() == [0, 1, 5, 9]


def test_nothing_to_route() -> None:
    offsets, nodes = dimension_order(mesh((1, 1)), np.empty(0, np.int32), np.empty(0, np.int32))
    assert offsets.tolist() == [0]
    assert nodes.size == 0
