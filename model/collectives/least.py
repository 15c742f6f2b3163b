"""The lower bounds that a schedule's measures are shown beside."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..network.port_model import PortModel
from ..network.topology import Topology
from ..schedule.broadcast_bounds import least_broadcast_steps, least_spanning_tcd, least_tcd
from ..schedule.collective import Collective
from ..schedule.cost import message_words, share_words
from ..schedule.schedule import Schedule
from ..schedule.table import CUSTOM, NO_OWNER
from .halving.boxes import is_whole_grid
from .lower_bounds import counted_costs, lower_bounds, most_links
from .reductions.bounds import all_reduce_bounds, reduction_cycles

if TYPE_CHECKING:
    from ..bounds.cycles import CycleBound

_OF_ANY_NETWORK = (Collective.BROADCAST, Collective.MULTICAST, Collective.REDUCE, CUSTOM)
_TO_EVERYONE = (Collective.ALL_REDUCE, Collective.BARRIER)
_AMONG_ALL = (
    *_TO_EVERYONE,
    *(Collective.ALL_GATHER, Collective.ALL_TO_ALL, Collective.REDUCE_SCATTER),
)
"""Collectives in which each node has something for all others, or for each."""


def least_measures(schedule: Schedule) -> dict[str, int]:
    """:func:`least_counts`, and the least ``cycles``, those of :func:`schedule_bound`."""
    return {**least_counts(schedule), "cycles": schedule_bound(schedule).value}


def least_counts(schedule: Schedule) -> dict[str, int]:
    """The least ``steps`` and ``tcd`` of any schedule that does what this one does.

    A broadcast, a multicast and what is custom must reach those to whom something is owed, on any
    network; for the other collectives :func:`.lower_bounds` says what a grid can do, and also
    bounds what :func:`word_measures` counts, if all blocks are equally long.
    """
    counts = _least_counts(schedule)
    if schedule.stream.any():
        # Who has something may pass it on in the same step, any number of times.
        counts["steps"] = min(1, counts.get("steps", 1))
        if schedule.collective in _AMONG_ALL and "tcd" in counts:
            # A send may begin before all of what it carries is there, so each node needs but one.
            counts["tcd"] = min(counts["tcd"], schedule.topology.working_nodes.size)
    return counts


def schedule_bound(schedule: Schedule, *, link_registers: int = 0) -> CycleBound:
    """The least cycles of any schedule that does what ``schedule`` does, with the same ports.

    As :func:`.least_cycles` says, for links of so many registers; of groups that copy and groups
    that reduce, what the slower ones take.
    """
    # What is compiled takes long to import, and most commands refuse what they refuse before it.
    from ..bounds.cycles import least_cycles  # noqa: PLC0415

    topology, blocks, ports = schedule.topology, schedule.blocks, schedule.port_model
    found = [
        bound(topology, blocks.some(kind), ports, hop_cycles=1 + link_registers)
        for bound, kind in ((least_cycles, ~blocks.reduced), (reduction_cycles, blocks.reduced))
        if kind.any()
    ]
    return max(found)


def _least_counts(schedule: Schedule) -> dict[str, int]:
    """:func:`least_counts` of a schedule in which nothing streams."""
    if schedule.collective in _OF_ANY_NETWORK:
        reached = _reached_from(schedule)
        sends = most_links(schedule.topology) if schedule.port_model == PortModel.ALL_PORT else 1
        return {
            # Who has something of one owner at most double.
            "steps": max(
                (least_broadcast_steps(1 + int(nodes.sum()), sends) for nodes in reached),
                default=0,
            ),
            "tcd": _tcd(schedule.topology, reached),
        }
    if schedule.topology.nodes < 2:
        return {"steps": 0, "tcd": 0}
    if schedule.collective in _TO_EVERYONE:
        return all_reduce_bounds(
            schedule.topology,
            schedule.topology.working_nodes.size,
            int(schedule.blocks.words.sum()),
            schedule.port_model,
            most_links(schedule.topology),
        )
    if not is_whole_grid(schedule.topology) or not share_words(schedule).all():
        return {}
    words = message_words(schedule)
    # A reduce-scatter backwards is an all-gather, and takes as much.
    backwards = schedule.collective == Collective.REDUCE_SCATTER
    found = lower_bounds(
        Collective.ALL_GATHER if backwards else schedule.collective,
        schedule.topology,
        schedule.root,
        1 if words is None else words,
        schedule.port_model,
    )
    counts = {"steps": found.steps.value, "tcd": found.hops.value}
    if words is None:
        return counts
    return counts | {
        "word_hops": found.word_hops.value,
        "node_words": found.node_words.value,
        "link_words": found.link_words.value,
    }


def word_measures(schedule: Schedule) -> dict[str, int]:
    """Words times links, and words of the busiest node and link: for what has many blocks."""
    if schedule.collective in _OF_ANY_NETWORK or not schedule.sends:
        return {}
    costs = counted_costs(schedule)
    return {
        "word_hops": costs.word_hops,
        "node_words": costs.node_words,
        "link_words": costs.link_words,
    }


def _tcd(topology: Topology, reached: list[npt.NDArray[np.bool_]]) -> int:
    """Return the least TCD where each owner's blocks go to one of the sets ``reached``."""
    whole = len(reached) == 1 and reached[0].sum() == topology.working_nodes.size - 1
    if topology.switches and whole:
        return least_spanning_tcd(topology)
    entered = np.any(reached, axis=0) if reached else np.zeros(0, np.bool_)
    return least_tcd(topology, np.flatnonzero(entered).tolist())


def _reached_from(schedule: Schedule) -> list[npt.NDArray[np.bool_]]:
    """For each node that owns a block, the others to whom some block of it is owed: (nodes,).

    For a reduced block, backwards: for one who is owed it, the others who contribute. A block of no
    words goes nowhere.
    """
    blocks, topology = schedule.blocks, schedule.topology
    reached: dict[int, npt.NDArray[np.bool_]] = defaultdict(
        lambda: np.zeros(topology.nodes, np.bool_)
    )
    for block, (owner, owed) in enumerate(zip(blocks.owner.tolist(), blocks.owed, strict=True)):
        others = topology.working_nodes if owed is None else np.array(owed, np.int64)
        if not blocks.words[block] or not others.size:
            continue
        if owner == NO_OWNER:
            reached[int(others.min())][[*blocks.holders(block, topology)]] = True
        else:
            reached[owner][others] = True
    for owner, nodes in reached.items():
        nodes[owner] = False
    return list(reached.values())
