"""The lower bounds that a schedule's measures are shown beside."""

from __future__ import annotations

from .bounds import least_broadcast_steps, least_broadcast_tcd
from .collective_bounds import counted_costs, lower_bounds, most_links
from .schedule import Schedule
from .schedule_cost import message_words


def least_measures(schedule: Schedule) -> dict[str, int]:
    """The least ``steps`` and ``tcd`` of any schedule that does what ``schedule`` does.

    A broadcast or multicast must reach those whom it is owed to, on any network; for the other
    collectives :func:`.collective_bounds.lower_bounds` says what a grid can do, and also bounds
    what :func:`word_measures` counts.
    """
    nodes = len(_concerned(schedule))
    if nodes < 2:
        return {"steps": 0, "tcd": 0}
    if schedule.collective in ("broadcast", "multicast"):
        sends = most_links(schedule.topology) if schedule.port_model == "all-port" else 1
        return {
            "steps": least_broadcast_steps(nodes, sends),
            "tcd": least_broadcast_tcd(nodes),
        }
    found = lower_bounds(
        schedule.collective,
        schedule.topology,
        schedule.root,
        message_words(schedule),
        schedule.port_model,
    )
    return {
        "steps": found.steps.value,
        "tcd": found.hops.value,
        "word_hops": found.word_hops.value,
        "node_words": found.node_words.value,
        "link_words": found.link_words.value,
    }


def word_measures(schedule: Schedule) -> dict[str, int]:
    """Words times links, and words of the busiest node and link: for what has many blocks."""
    if schedule.collective in ("broadcast", "multicast") or not schedule.sends:
        return {}
    costs = counted_costs(schedule)
    return {
        "word_hops": costs.word_hops,
        "node_words": costs.node_words,
        "link_words": costs.link_words,
    }


def _concerned(schedule: Schedule) -> set[int]:
    """The nodes that have a block at the start or must get one."""
    owed = schedule.blocks.owed
    if None in owed:
        return set(range(schedule.topology.nodes))
    return {*schedule.blocks.owner.tolist(), *(node for nodes in owed for node in nodes or ())}
