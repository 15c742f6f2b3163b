"""The line of a page that says to which node a root sends first, and why."""

from collections import defaultdict

import numpy as np

from ..model.base.texts import counted
from ..model.collectives.notes import first_choice
from ..model.network.node_names import node_name
from ..model.network.topology import Topology
from ..model.schedule.schedule import Schedule


def first_target(schedule: Schedule) -> str:
    """Return to which node the root sends first, why, and which nodes the message reaches by it.

    The reason is the algorithm's own. Empty unless the schedule is one message that a root sends to
    a single node first, and that each other node gets once.
    """
    root, topology = schedule.root, schedule.topology
    targets = schedule.target.tolist()
    if root is None or len(schedule.blocks) > 1 or len({root, *targets}) <= len(targets):
        return ""
    own = schedule.source == root
    begins = own & (schedule.step == schedule.step[own].min(initial=schedule.steps))
    if begins.sum() != 1:
        return ""
    (first,) = schedule.target[begins].tolist()
    reached = _reached_by(schedule, first)
    name, why = f"node {node_name(topology, first)}", first_choice(schedule)
    return (
        f"Node {node_name(topology, root)} sends first to {name}{why and ', '}{why}. "
        f"By way of {name} the message reaches {counted(len(reached), 'node')}"
        f"{_corners(topology, reached)}."
    )


def _reached_by(schedule: Schedule, node: int) -> list[int]:
    """Return ``node`` and all nodes that get the message from it, directly or not."""
    targets = defaultdict(list)
    for source, target in zip(schedule.source.tolist(), schedule.target.tolist(), strict=True):
        targets[source].append(target)
    reached = [node]
    for each in reached:
        reached += targets[each]
    return reached


def _corners(topology: Topology, nodes: list[int]) -> str:
    """Return the first and last of nodes that fill a box of a grid, as text; otherwise nothing."""
    if topology.kind == "hypercube" or len(topology.dims) < 2 or len(nodes) < 2:
        return ""
    places = np.array([topology.coordinates(node) for node in nodes])
    low, high = places.min(axis=0), places.max(axis=0)
    if np.prod(high - low + 1) != len(nodes):
        return ""
    ends = (node_name(topology, topology.node_at(tuple(corner))) for corner in (low, high))
    return ", those from {} to {}".format(*ends)
