"""The rule on groups: they do not overlap, all their nodes work, and no send leaves its group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.errors import InvalidInput
from ..network.topology import Topology
from .rules import ScheduleError, broken, first_broken
from .table import SendTable


def require_groups(topology: Topology, groups: Sequence[tuple[int, ...]]) -> None:
    """Raise :class:`.InvalidInput` for groups that overlap or name nodes that cannot take part."""
    taken: dict[int, int] = {}
    idle = {*topology.faulty_nodes, *topology.switches}
    for number, nodes in enumerate(groups):
        if len(nodes) < 2:
            raise InvalidInput.of(f"nodes of group {number}", "2 or more", len(nodes))
        for node in nodes:
            if not 0 <= node < topology.nodes:
                allowed = f"0 to {topology.nodes - 1}"
                raise InvalidInput.of(f"node of group {number}", allowed, node)
            if node in idle:
                kind = "switch" if node in topology.switches else "faulty node"
                raise InvalidInput.of(f"node of group {number}", "a working node", f"{kind} {node}")
            if taken.get(node) == number:
                raise InvalidInput.of(f"nodes of group {number}", "different", f"node {node} twice")
            if node in taken:
                both = f"node {node}, which is in group {taken[node]}"
                raise InvalidInput.of(f"nodes of group {number}", "in no other group", both)
            taken[node] = number


def check_groups(schedule: SendTable) -> None:
    """Require valid groups, and sends that stay in one of them; without groups, require nothing.

    Paths may cross nodes of other groups, as they cross switches: other rules check the links.
    """
    if not schedule.groups:
        return
    try:
        require_groups(schedule.topology, schedule.groups)
    except InvalidInput as error:
        raise ScheduleError(str(error)) from error
    group = np.full(schedule.topology.nodes, -1)
    for number, nodes in enumerate(schedule.groups):
        group[list(nodes)] = number
    apart = group[schedule.source] != group[schedule.target]
    apart |= group[schedule.source] < 0
    send = first_broken(schedule, apart, np.arange(schedule.sends))
    if send is not None:
        raise broken(schedule, send, "it leads from one group to another, or to none")
