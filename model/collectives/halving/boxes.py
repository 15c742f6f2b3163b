"""Common parts of all broadcasts by halving: from pairs of sender and receiver to a schedule.

Each of these broadcasts cuts a box of nodes in two across one axis. The one node of the box that
has the message sends it into the other half, and both halves go on alone. So a box has one send in
a step. Dimension-order routes stay in the box, so no two sends of a step can share a link, for all
cuts, senders and receivers.

On a torus the same holds if its nodes are numbered as a mesh, with any node first. The routes are
those of the mesh and use no wrap link. So one VC is enough: no messages can wait for each other
around a ring.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...base.arrays import Int32s
from ...base.errors import require_range
from ...network.routes import dimension_order
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.builder import one_block_schedule
from ...schedule.schedule import Schedule

SENDS_AT_ONCE = 1 << 20
"""Sends for which routes are made at a time, to bound memory."""

Coordinates = npt.NDArray[np.int32]
"""The coordinates of nodes: shape (axes, nodes)."""


@dataclass(frozen=True)
class Broadcast:
    """A broadcast to make: one block of ``words`` words from the node ``source`` to all nodes.

    Raises :class:`.InvalidInput` for a source outside the topology and a message without words.
    """

    topology: Topology
    algorithm: str
    source: int
    words: int

    def __post_init__(self) -> None:
        require_range("source", self.source, 0, self.topology.nodes - 1)
        require_range("words", self.words, 1)


@dataclass(frozen=True)
class Numbering:
    """The nodes of a grid numbered as those of a mesh with the same sides.

    ``start`` are the source's coordinates in that mesh. ``nodes[i]`` is the grid's node for node i
    of the mesh, shape (nodes,); None if all numbers are the same.
    """

    start: tuple[int, ...]
    nodes: Int32s | None

    @classmethod
    def of(cls, topology: Topology, source: int, best: tuple[int, ...]) -> Numbering:
        """Number a grid so that ``source`` has the coordinate ``best`` on each wrapped axis.

        A mesh has no wrapped axis and keeps its numbers.
        """
        place = tuple(topology.coordinates(source).tolist())
        if not topology.wrapped:
            return cls(place, None)
        pairs = enumerate(zip(place, best, strict=True))
        start = tuple(b if axis in topology.wrapped else c for axis, (c, b) in pairs)
        grid = np.arange(topology.nodes, dtype=np.int32).reshape(topology.dims, order="F")
        shifts = tuple(s - c for s, c in zip(start, place, strict=True))
        nodes = np.roll(grid, shifts, tuple(range(grid.ndim))).ravel(order="F")
        return cls(start, nodes)


def node_numbers(dims: tuple[int, ...], coordinates: Coordinates) -> Int32s:
    """Return the nodes at ``coordinates`` in a grid with sides ``dims``: shape (nodes,)."""
    numbers: Int32s = coordinates[-1].copy()
    for axis in reversed(range(len(dims) - 1)):
        numbers *= dims[axis]
        numbers += coordinates[axis]
    return numbers


def doubling_schedule(broadcast: Broadcast, numbering: Numbering, reached: Int32s) -> Schedule:
    """Return the schedule of a broadcast in which all nodes with the message send in every step.

    ``reached`` lists the nodes of the mesh in the order in which they get the message, shape
    (2^steps,): in step *s*, ``reached[i]`` sends to ``reached[2**(s - 1) + i]``.
    """
    steps = reached.size.bit_length() - 1
    lengths = 1 << np.arange(steps)
    step = np.repeat(np.arange(1, steps + 1, dtype=np.int32), lengths)
    source = np.concatenate([reached[:0], *(reached[:length] for length in lengths.tolist())])
    return halving_schedule(broadcast, numbering, step, source, reached[1:])


def halving_schedule(
    broadcast: Broadcast,
    numbering: Numbering,
    step: Int32s,
    source: Int32s,
    target: Int32s,
) -> Schedule:
    """Return the half-duplex schedule with these sends, on dimension-order routes of the mesh.

    ``source`` and ``target`` are node numbers of the mesh that ``numbering`` describes. All shapes
    are (sends,).
    """
    topology = broadcast.topology
    path_offsets, path_nodes = _routes(topology, source, target)
    if numbering.nodes is not None:
        path_nodes = numbering.nodes[path_nodes]
    blocks = Blocks.of_broadcast(broadcast.source, broadcast.words)
    return one_block_schedule(broadcast.algorithm, topology, blocks, step, path_offsets, path_nodes)


def _routes(
    topology: Topology, source: Int32s, target: Int32s
) -> tuple[npt.NDArray[np.int64], Int32s]:
    """Return dimension-order paths in the mesh with the sides of ``topology``."""
    mesh = replace(topology, wrapped=())
    offsets, nodes = [np.zeros(1, dtype=np.int64)], [source[:0]]
    for begin in range(0, source.size, SENDS_AT_ONCE):
        some = slice(begin, begin + SENDS_AT_ONCE)
        some_offsets, some_nodes = dimension_order(mesh, source[some], target[some])
        offsets.append(offsets[-1][-1] + some_offsets[1:])
        nodes.append(some_nodes)
    return np.concatenate(offsets), np.concatenate(nodes)
