"""Collectives of groups: several at the same time, each among some of the nodes, in one schedule.

Each group is a network of its own (:mod:`..network.boxes`). Its schedule is made and proved on that
network; then all schedules are merged, step by step::

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
from dataclasses import replace
from itertools import chain

import numpy as np

from ..base.ragged import offsets_of
from ..network.boxes import GroupNetwork, Nodes
from ..network.port_model import PORT_MODELS
from ..network.topology import Topology
from ..schedule.blocks import CUSTOM, NO_OWNER, Blocks
from ..schedule.requested import Requested
from ..schedule.schedule import Schedule

SEVERAL = "several"
"""Name of the algorithm of groups that use different ones."""


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
