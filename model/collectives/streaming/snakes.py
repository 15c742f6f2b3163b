"""Paths through all nodes of a grid from neighbor to neighbor: snakes and Hamiltonian cycles.

A snake goes along the first axis and back, one node farther on the second axis each time, and so
on. If an axis has an even number of nodes, there is a cycle: a snake leaves out one column and
returns by it. With more than two axes, a snake through all axes except that one is the second
axis::

    snake            cycle                 nodes of a 3x4 mesh
    0 - 1 - 2        0 - 1 - 2
            |        |       |
    3 - 4 - 5        3   4 - 5
    |                |   |
    6 - 7 - 8        6   7 - 8
            |        |       |
    9 -10 -11        9 -10 -11
"""

from math import prod

import numpy as np
import numpy.typing as npt

Nodes = list[int]


def snake(dims: tuple[int, ...], corner: int) -> Nodes | None:
    """Return all nodes of a grid from ``corner`` on, each a neighbor of the one before.

    ``corner`` may be any corner of the grid; the result is None for other nodes.
    """
    places = np.unravel_index(corner, dims, order="F")
    if any(place not in (0, side - 1) for place, side in zip(places, dims, strict=True)):
        return None
    nodes = _snake_array(dims)
    mirrored = [int(place) for place in places]
    return _mirrored(nodes, dims, mirrored)


def _snake_array(dims: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Return the nodes of a snake from node 0 on."""
    nodes = np.arange(dims[0], dtype=np.int64)
    size = dims[0]
    for side in dims[1:]:
        layers = nodes + size * np.arange(side)[:, np.newaxis]
        layers[1::2] = layers[1::2, ::-1]
        nodes = layers.ravel()
        size *= side
    return nodes


def _mirrored(nodes: npt.NDArray[np.int64], dims: tuple[int, ...], corner: list[int]) -> Nodes:
    """Return the snake ``nodes`` mirrored to start from another corner."""
    places = np.stack(np.unravel_index(nodes, dims, order="F"))
    for axis, place in enumerate(corner):
        if place:
            places[axis] = dims[axis] - 1 - places[axis]
    listed: Nodes = np.ravel_multi_index(tuple(places), dims, order="F").tolist()
    return listed


def mesh_cycle(dims: tuple[int, ...]) -> Nodes | None:
    """Return a cycle through all nodes of a grid from node 0; None for a line or if all are odd."""
    sides = tuple(side for side in dims if side > 1)
    if len(sides) < 2 or prod(sides) % 2:
        return None
    # Sides of 1 change no node number. The first axis of ``axes`` is an even one.
    axes = sorted(range(len(sides)), key=lambda axis: sides[axis] % 2)
    strides = np.cumprod((1, *sides[:-1]))
    even, rest = axes[0], axes[1:]
    across = _snake_array(tuple(sides[axis] for axis in rest))
    places = np.unravel_index(across, tuple(sides[axis] for axis in rest), order="F")
    line = sum(place * strides[axis] for place, axis in zip(places, rest, strict=True))
    layers = line[1:] + strides[even] * np.arange(sides[even])[:, np.newaxis]
    layers[1::2] = layers[1::2, ::-1]
    back = line[0] + strides[even] * np.arange(sides[even])[::-1]
    cycle = [*layers.ravel().tolist(), *back.tolist()]
    begin = cycle.index(0)
    return cycle[begin:] + cycle[:begin]


def torus_cycles(sides: tuple[int, int]) -> list[Nodes]:
    """Return two cycles through all nodes of a torus that share no link; empty if unknown.

    (M. M. Bae and B. Bose, "Edge Disjoint Hamiltonian Cycles in k-ary n-Cubes and Hypercubes",
    IEEE Trans. Computers 52(10), 2003.) Both begin at node 0. The first uses all links of each row
    except one; the second uses the links that are left. Known: both sides are 3 or more, and the
    second is a multiple of the first.
    """
    width, height = sides
    if width < 3 or height < 3 or height % width:
        return []
    time = np.arange(width * height)
    row = time // width
    first = ((time - row) % width + width * row).tolist()
    used = {frozenset(link) for link in zip(first, [*first[1:], first[0]], strict=True)}
    second = [0]
    while True:
        x, y = second[-1] % width, second[-1] // width
        ends = [
            (x + 1) % width + width * y,
            x + width * ((y + 1) % height),
            (x - 1) % width + width * y,
            x + width * ((y - 1) % height),
        ]
        free = [end for end in ends if frozenset((second[-1], end)) not in used]
        following = [end for end in free if len(second) < 2 or end != second[-2]]
        if following[0] == 0:
            break
        second.append(following[0])
    return [first, second] if len(second) == len(first) else []
