"""The rule on groups: all their nodes work, and no block leaves the nodes of its group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.errors import InvalidInput
from ..network.topology import Topology
from .rules import ScheduleError, broken, first_broken
from .table import SendTable


def require_groups(topology: Topology, groups: Sequence[tuple[int, ...]]) -> None:
    """Raise :class:`.InvalidInput` for groups that name a node twice, or one that takes no part."""
    idle = {*topology.faulty_nodes, *topology.switches}
    for number, nodes in enumerate(groups):
        if len(nodes) < 2:
            raise InvalidInput.of(f"nodes of group {number}", "2 or more", len(nodes))
        taken: set[int] = set()
        for node in nodes:
            if not 0 <= node < topology.nodes:
                allowed = f"0 to {topology.nodes - 1}"
                raise InvalidInput.of(f"node of group {number}", allowed, node)
            if node in idle:
                kind = "switch" if node in topology.switches else "faulty node"
                raise InvalidInput.of(f"node of group {number}", "a working node", f"{kind} {node}")
            if node in taken:
                raise InvalidInput.of(f"nodes of group {number}", "different", f"node {node} twice")
            taken.add(node)


def share_nodes(groups: Sequence[tuple[int, ...]]) -> bool:
    """Tell whether a node is in two of ``groups``."""
    return len({node for nodes in groups for node in nodes}) < sum(map(len, groups))


def check_groups(schedule: SendTable) -> None:
    """Require valid groups, and blocks that stay in one of them; without groups, require nothing.

    Paths may cross nodes of other groups, as they cross switches: other rules check the links.
    """
    if not schedule.groups:
        return
    try:
        require_groups(schedule.topology, schedule.groups)
    except InvalidInput as error:
        raise ScheduleError(str(error)) from error
    _require_numbers(schedule)
    # The last row is that of blocks without a group.
    member = np.zeros((len(schedule.groups) + 1, schedule.topology.nodes), np.bool_)
    for number, nodes in enumerate(schedule.groups):
        member[number, list(nodes)] = True
    group = schedule.blocks.in_groups(schedule.groups, schedule.topology)[schedule.block_ids]
    sends = schedule.block_sends
    stays = member[group, schedule.source[sends]] & member[group, schedule.target[sends]]
    place = first_broken(schedule, ~stays, sends)
    if place is not None:
        leaving = f"it takes block {schedule.block_ids[place]} out of its group"
        raise broken(schedule, int(sends[place]), leaving)


def _require_numbers(schedule: SendTable) -> None:
    """Require groups of blocks if groups share nodes, and that their nodes have the blocks."""
    blocks, groups = schedule.blocks, schedule.groups
    if not blocks.group.size:
        if share_nodes(groups):
            raise ScheduleError("blocks must have the number of their group, as groups share nodes")
        return
    for block, number in enumerate(blocks.group.tolist()):
        if not 0 <= number < len(groups):
            allowed = f"0 to {len(groups) - 1}"
            raise ScheduleError(str(InvalidInput.of(f"group of block {block}", allowed, number)))
        for node in {*blocks.holders(block, schedule.topology)}.difference(groups[number]):
            raise ScheduleError(f"node {node} has block {block}, but is not in its group {number}")
