"""Common parts of the collectives on grids: sends in columns, along lines, and their schedules.

A *line* is all nodes of a grid that differ on one axis only. The collectives go axis by axis, on
all lines of an axis at the same time. Lines share no link, so the lines of an axis never conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from math import prod

import numpy as np
import numpy.typing as npt

from ...base.errors import InvalidInput, one_of, require_range
from ...base.ragged import offsets_of, ranges
from ...network.port_model import PortModel
from ...network.routes import dimension_order
from ...network.topology import Topology
from ...schedule.block_runs import end_to_end
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule

Columns = npt.NDArray[np.int64]

GRID_COLLECTIVES = (
    Collective.BROADCAST,
    Collective.SCATTER,
    Collective.GATHER,
    Collective.ALL_GATHER,
    Collective.ALL_TO_ALL,
)
"""The collectives that move blocks of owners over grids."""


@dataclass(frozen=True)
class GridCollective:
    """A collective on a mesh or torus of any sides, or on a hypercube.

    ``source`` is the root, or None. Each block has ``words`` words. Raises :class:`.InvalidInput`
    for an unknown collective, for a network that is no grid or has faults, for a source that is
    missing, must be left out or is outside, and for a block without words.
    """

    name: str
    algorithm: str
    topology: Topology
    source: int | None
    words: int

    def __post_init__(self) -> None:
        if self.name not in GRID_COLLECTIVES:
            raise InvalidInput.of("collective", one_of(GRID_COLLECTIVES), self.name)
        if not self.topology.whole_grid:
            raise self.topology.refusal(self.algorithm, "a mesh, torus or hypercube without faults")
        if not self.rooted and self.source is not None:
            raise InvalidInput.of("source", f"left out with {self.name}", self.source)
        if self.rooted and self.source is None:
            raise InvalidInput.of("source", f"given with {self.name}", self.source)
        if self.source is not None:
            require_range("source", self.source, 0, self.topology.nodes - 1)
        require_range("words", self.words, 1)

    @property
    def rooted(self) -> bool:
        """True if the collective has a root."""
        return Collective(self.name).rooted

    @property
    def root(self) -> int:
        """The source of a collective that has one."""
        assert self.source is not None
        return self.source

    @property
    def blocks(self) -> Blocks:
        """The blocks that the collective moves.

        Broadcast: one block. Scatter and gather: block b for, or from, node b. All-gather: block b
        from node b, for all. All-to-all: block ``s * nodes + d`` from s for d.
        """
        nodes = self.topology.nodes
        every = np.arange(nodes, dtype=np.int32)
        owed: Iterable[tuple[int, ...] | None]
        match self.name:
            case Collective.BROADCAST:
                return Blocks.of_broadcast(self.root, self.words)
            case Collective.SCATTER:
                owner, owed = (
                    np.full(nodes, self.root, np.int32),
                    ((node,) for node in range(nodes)),
                )
            case Collective.GATHER:
                owner, owed = every, ((self.root,),) * nodes
            case Collective.ALL_GATHER:
                owner, owed = every, (None,) * nodes
            case _:
                owner, owed = np.repeat(every, nodes), [(node,) for node in range(nodes)] * nodes
        return Blocks(owner, tuple(owed), np.full(owner.size, self.words, np.int32))


@dataclass(frozen=True)
class Sends:
    """Sends in columns, in order of step; all shapes are (sends,), except that of ``block_ids``.

    ``vc`` is the VC of the whole path. Send *i* carries the next ``block_counts[i]`` entries of
    ``block_ids``, which ascend.
    """

    step: Columns
    source: Columns
    target: Columns
    vc: Columns
    block_counts: Columns
    block_ids: npt.NDArray[np.integer]

    @classmethod
    def joined(cls, parts: list[Sends]) -> Sends:
        """Return the sends of all ``parts``, in their order."""
        none = np.zeros(0, np.int64)
        columns = {each.name: [getattr(part, each.name) for part in parts] for each in fields(cls)}
        ids = end_to_end(columns.pop("block_ids"))
        others = {name: np.concatenate([none, *column]) for name, column in columns.items()}
        return cls(**others, block_ids=ids)

    def reversed(self) -> Sends:
        """Return the sends backwards in time, each from its target to its source."""
        counts = self.block_counts[::-1]
        begins = (np.cumsum(self.block_counts) - self.block_counts)[::-1]
        steps = self.step.max(initial=0) + 1 - self.step[::-1]
        ids = self.block_ids[ranges(begins, counts)]
        return Sends(steps, self.target[::-1], self.source[::-1], self.vc[::-1], counts, ids)


@dataclass(frozen=True)
class LineSends:
    """Sends by which a collective with a root serves one line, in order of step; shapes (sends,).

    ``source``, ``target`` and ``begin`` are coordinates on the line. A send serves ``length`` nodes
    from ``begin`` on; the first node of the line follows the last.
    """

    step: Columns
    source: Columns
    target: Columns
    begin: Columns
    length: Columns


Line = Callable[[int, int, bool], LineSends]
"""A function of (side of the line, coordinate of the root, whether the line is wrapped)."""


def reach(side: int, place: int, wrapped: bool) -> tuple[int, int]:
    """Count the nodes of a line that are served up from ``place``, and those served down.

    A wrapped line is cut opposite ``place``, so each node is served in the shorter direction.
    """
    up = side // 2 if wrapped else side - 1 - place
    return up, side - 1 - up


def rooted_sends(collective: GridCollective, line: Line) -> Sends:
    """Return the sends of a collective with a root, axis by axis, the last axis first.

    A broadcast or scatter begins with the line through the root along the last axis. Each node of
    that line then has the blocks of all nodes with its coordinate, and serves its line along the
    axis before, and so on. A gather is a scatter backwards.
    """
    parts = []
    steps = 0
    topology, root = collective.topology, collective.root
    for axis in reversed(range(len(topology.dims))):
        side, stride = topology.dims[axis], prod(topology.dims[:axis])
        along = line(side, root // stride % side, axis in topology.wrapped)
        slabs = np.arange(0, topology.nodes, stride * side)
        source, target = (
            (place[:, np.newaxis] * stride + slabs + root % stride).ravel()
            for place in (along.source, along.target)
        )
        step = np.repeat(along.step + steps, slabs.size)
        if collective.name == Collective.BROADCAST:
            counts, ids = np.ones_like(step), np.zeros_like(step)
        else:
            counts, ids = _served(along, slabs, side, stride)
        parts.append(Sends(step, source, target, np.zeros_like(step), counts, ids))
        steps += int(along.step.max(initial=0))
    sends = Sends.joined(parts)
    return sends.reversed() if collective.name == Collective.GATHER else sends


def _served(along: LineSends, slabs: Columns, side: int, stride: int) -> tuple[Columns, Columns]:
    """Return how many nodes each send of all slabs serves, and these nodes, ascending."""
    over = np.maximum(along.begin + along.length - side, 0)
    begins = np.stack(
        np.broadcast_arrays(slabs, slabs + along.begin[:, np.newaxis] * stride), axis=-1
    )
    counts = np.repeat(np.stack((over, along.length - over), axis=-1) * stride, slabs.size, axis=0)
    return counts.sum(axis=1), ranges(begins.ravel(), counts.ravel())


def grid_schedule(collective: GridCollective, sends: Sends, routed: Topology) -> Schedule:
    """Return the schedule of ``sends`` on the dimension-order routes of the grid ``routed``."""
    path_offsets, path_nodes = dimension_order(routed, sends.source, sends.target)
    return Schedule(
        topology=collective.topology,
        collective=collective.name,
        algorithm=collective.algorithm,
        port_model=strictest_port_model(sends, routed.nodes),
        root=collective.source,
        blocks=collective.blocks,
        step=sends.step.astype(np.int32),
        source=sends.source.astype(np.int32),
        target=sends.target.astype(np.int32),
        path_offsets=path_offsets,
        path_nodes=path_nodes,
        vcs=np.repeat(sends.vc, np.diff(path_offsets) - 1).astype(np.int32),
        block_offsets=offsets_of(sends.block_counts),
        block_ids=sends.block_ids.astype(np.int32),
    )


def strictest_port_model(sends: Sends, nodes: int) -> PortModel:
    """Return the strictest port model of ``sends``; no node may send or receive twice in a step."""
    sending, receiving = sends.step * nodes + sends.source, sends.step * nodes + sends.target
    both = np.isin(sending, receiving)
    if not both.any():
        return PortModel.HALF_DUPLEX
    there, back = sending * nodes + sends.target, receiving * nodes + sends.source
    answered = np.array_equal(np.sort(there[both]), np.sort(back[both]))
    return PortModel.EXCHANGE if answered else PortModel.FULL_DUPLEX
