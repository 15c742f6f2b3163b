"""Collectives of groups: several at the same time, each among some of the nodes, in one schedule.

Each group is a network of its own: a box of a grid is a mesh, or a torus if the box spans whole
wrapped axes. Any other group is the whole network with all other nodes faulty. Each schedule is
made and proved on that network; then all schedules are merged, step by step::

    groups "rows"    0 -> 1 -> 2     three broadcasts at the same time, each in its own row
                     3 -> 4 -> 5
                     6 -> 7 -> 8

No path leaves its group. Groups without a common node share no link, and the steps of all begin
together. Groups with common nodes, as rows and columns at the same time, take turns where they need
a port or a link in the same step (:func:`.in_turn`)::

    one port    rows  1   3   5         all ports    rows     1 2 3     columns use other links
                columns 2   4   6                    columns  1 2 3
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from ..base.errors import InvalidInput, with_article
from ..base.ragged import offsets_of
from ..base.texts import integers
from ..network.faults import with_faults
from ..network.port_model import PORT_MODELS
from ..network.topology import Topology, mesh, torus
from ..schedule.blocks import CUSTOM, NO_OWNER, Blocks
from ..schedule.requested import Requested
from ..schedule.schedule import Schedule

Nodes = tuple[int, ...]

_SUBMESH = "submesh "

SEVERAL = "several"
"""Name of the algorithm of groups that use different ones."""


@dataclass(frozen=True, eq=False)
class GroupNetwork:
    """The network of a group; its node i is node ``nodes[i]`` of the whole network."""

    topology: Topology
    nodes: Nodes

    @property
    def members(self) -> Nodes:
        """The group's nodes, by their numbers in the whole network, ascending."""
        return tuple(sorted(self.nodes[node] for node in self.topology.working_nodes.tolist()))


def box_sides(text: str, topology: Topology) -> tuple[int, ...] | None:
    """Return the sides of the boxes that ``text`` names; None if it names no boxes.

    Raises :class:`.InvalidInput` for rows or columns of a network without exactly two axes.
    """
    if text in ("rows", "columns"):
        if len(topology.dims) != 2:
            raise InvalidInput.of(f"network for group {text}", "a grid of 2 axes", topology.label)
        width, height = topology.dims
        return (width, 1) if text == "rows" else (1, height)
    if text.startswith(_SUBMESH):
        return tuple(integers("group", "submesh and sides such as 4x4", text[len(_SUBMESH) :], "x"))
    return None


def boxes_of(topology: Topology, sides: Sequence[int], words: str) -> list[Nodes]:
    """Return the working nodes of each box of ``sides`` into which a grid is cut.

    Raises :class:`.InvalidInput`, which quotes ``words``, unless the network is a grid with sides
    that are multiples of ``sides``.
    """
    dims = topology.dims
    if not dims or len(sides) != len(dims):
        axes = "1 axis" if len(sides) == 1 else f"{len(sides)} axes"
        raise InvalidInput.of(f"network for {words}", f"a grid of {axes}", topology.label)
    for side, whole in zip(sides, dims, strict=True):
        if side < 1 or whole % side:
            allowed = f"of sides that divide those of {with_article(topology.plain_label)}"
            raise InvalidInput.of("group", allowed, words)
    places = topology.coordinates(np.arange(topology.nodes))
    boxes = np.ravel_multi_index(
        tuple((places // np.array(sides)).T),
        tuple(whole // side for whole, side in zip(dims, sides, strict=True)),
        order="F",
    )
    faulty = {*topology.faulty_nodes}
    groups = (np.flatnonzero(boxes == box).tolist() for box in range(int(boxes.max()) + 1))
    working = (tuple(node for node in nodes if node not in faulty) for nodes in groups)
    return [nodes for nodes in working if nodes]


def box_around(topology: Topology, nodes: Nodes) -> tuple[Nodes, Nodes] | None:
    """Return the smallest box of a grid with ``nodes``: its nodes, ascending, and its sides.

    None for a network that is no whole mesh, torus, line or ring.
    """
    if not topology.whole_grid or topology.kind not in ("mesh", "torus", "line", "ring"):
        return None
    places = topology.coordinates(np.arange(topology.nodes))
    low, high = places[list(nodes)].min(axis=0), places[list(nodes)].max(axis=0)
    inside = ((places >= low) & (places <= high)).all(axis=1)
    return tuple(np.flatnonzero(inside).tolist()), tuple((high - low + 1).tolist())


def part_of(topology: Topology, nodes: Nodes) -> GroupNetwork:
    """Return the network of a group of working ``nodes``."""
    around = box_around(topology, nodes)
    if around is not None and len(around[0]) == len(nodes):
        members, sides = around
        round_all = all(
            side == 1 or (axis in topology.wrapped and side == topology.dims[axis])
            for axis, side in enumerate(sides)
        )
        registers, rates = (
            None if table is None else table[list(members)]
            for table in (topology.link_registers_of, topology.link_rate_of)
        )
        box = replace(
            (torus if round_all else mesh)(sides),
            link_registers_of=registers,
            link_rate_of=rates,
        )
        return GroupNetwork(box, members)
    others = sorted({*range(topology.nodes)} - {*nodes} - {*topology.faulty_nodes})
    alone = with_faults(topology, others) if others else topology
    return GroupNetwork(alone, tuple(range(topology.nodes)))


def side_by_side(topology: Topology, parts: Sequence[tuple[GroupNetwork, Schedule]]) -> Schedule:
    """Return one schedule of the schedules of all groups, each made for the network of its part."""
    names = {made.algorithm for _, made in parts}
    first_block = offsets_of([len(made.blocks) for _, made in parts])
    tables = [np.array(part.nodes, np.int32) for part, _ in parts]

    def joined(column: Callable[[Schedule], np.ndarray], nodes: bool = False) -> np.ndarray:
        pairs = zip(tables, parts, strict=True)
        return np.concatenate(
            [table[column(made)] if nodes else column(made) for table, (_, made) in pairs]
        )

    def offsets(column: Callable[[Schedule], np.ndarray]) -> np.ndarray:
        return offsets_of(np.concatenate([np.diff(column(made)) for _, made in parts]))

    return Schedule(
        topology=topology,
        collective=CUSTOM,
        algorithm=names.pop() if len(names) == 1 else SEVERAL,
        port_model=max((made.port_model for _, made in parts), key=PORT_MODELS.index),
        root=None,
        blocks=_blocks(parts),
        step=joined(lambda made: made.step),
        source=joined(lambda made: made.source, nodes=True),
        target=joined(lambda made: made.target, nodes=True),
        path_offsets=offsets(lambda made: made.path_offsets),
        path_nodes=joined(lambda made: made.path_nodes, nodes=True),
        vcs=joined(lambda made: made.vcs),
        block_offsets=offsets(lambda made: made.block_offsets),
        block_ids=np.concatenate(
            [made.block_ids + first for (_, made), first in zip(parts, first_block, strict=False)]
        ),
        combine=joined(lambda made: made.combine),
        stream=joined(lambda made: made.stream),
        groups=tuple(part.members for part, _ in parts),
        timed=all(made.timed for _, made in parts),
        circuits=any(made.circuits for _, made in parts),
        requests=_requests(parts),
    )


def _requests(parts: Sequence[tuple[GroupNetwork, Schedule]]) -> tuple[Requested, ...]:
    """Return all groups' requests in the whole network's numbers; empty unless all are known."""
    if not all(made.requests for _, made in parts):
        return ()
    return tuple(in_whole(part, request) for part, made in parts for request in made.requests)


def in_whole(part: GroupNetwork, request: Requested) -> Requested:
    """Return a group's request in the node numbers of the whole network.

    Tables of words list a group's nodes in ascending order, so they do not change.
    """
    return replace(
        request,
        root=None if request.root is None else part.nodes[request.root],
        targets=request.targets and tuple(part.nodes[node] for node in request.targets),
    )


def _blocks(parts: Sequence[tuple[GroupNetwork, Schedule]]) -> Blocks:
    """Return the blocks of all groups, with node numbers of the whole network."""
    owner, owed, contributors = [], [], []
    for part, made in parts:
        for node in made.blocks.owner.tolist():
            owner.append(node if node == NO_OWNER else part.nodes[node])
        owed += [_whole_numbers(part, nodes) for nodes in made.blocks.owed]
        contributors += [_whole_numbers(part, nodes) for nodes in made.blocks.contributors]
    return Blocks(
        np.array(owner, np.int32),
        tuple(owed),
        np.concatenate([made.blocks.words for _, made in parts]),
        tuple(contributors),
        tuple(chain.from_iterable(made.blocks.operator for _, made in parts)),
        tuple(chain.from_iterable(made.blocks.prefix for _, made in parts)),
        np.repeat(np.arange(len(parts)), [len(made.blocks) for _, made in parts]),
    )


def _whole_numbers(part: GroupNetwork, nodes: Nodes | None) -> Nodes:
    """Return the numbers in the whole network of a part's ``nodes``; None stands for all."""
    return part.members if nodes is None else tuple(part.nodes[node] for node in nodes)
