"""Titles of tables and pictures: one line that names a schedule."""

from __future__ import annotations

from ..network.node_names import node_name
from ..network.topology import Topology
from ..schedule.blocks import CUSTOM
from ..schedule.collective import Collective
from ..schedule.schedule import Schedule
from .notes import left_out


def origin_name(topology: Topology, collective: str, root: int | None) -> str:
    """Return the root as part of a title, such as " from (1,0)"; empty without a root."""
    if root is None:
        return ""
    towards = collective in (Collective.GATHER, Collective.REDUCE)
    return f" {'to' if towards else 'from'} {node_name(topology, root)}"


def schedule_title(schedule: Schedule) -> str:
    """Return one line: network, algorithm, collective, root, operators, nodes left out."""
    origin = origin_name(schedule.topology, schedule.collective, schedule.root)
    what = "custom collective" if schedule.collective == CUSTOM else schedule.collective
    lack = left_out(schedule)
    names = dict.fromkeys(name for name in schedule.blocks.operator if name is not None)
    combined = f" by {' and '.join(names)}" if names else ""
    title = f"{schedule.topology.label}, {schedule.algorithm} {what}{origin}{combined}"
    return f"{title} ({lack})" if lack else title
