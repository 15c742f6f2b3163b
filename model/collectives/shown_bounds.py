"""Lower bounds that are shown beside a schedule's measures."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..network.port_model import PortModel
from ..network.topology import Topology
from ..schedule.blocks import CUSTOM, NO_OWNER, Blocks
from ..schedule.broadcast_bounds import least_broadcast_steps, least_spanning_tcd, least_tcd
from ..schedule.collective import Collective
from ..schedule.cost import message_words, share_words
from ..schedule.schedule import Schedule
from .lower_bounds import counted_costs, lower_bounds, most_links
from .reductions.bounds import all_reduce_bounds, ends_of_scans, reduction_cycles

if TYPE_CHECKING:
    from ..bounds.cycles import CycleBound

_OF_ANY_NETWORK = (
    *(Collective.BROADCAST, Collective.MULTICAST, Collective.REDUCE),
    *(Collective.SCAN, Collective.EXSCAN, Collective.NEIGHBOR, Collective.HALO, CUSTOM),
)
_TO_EVERYONE = (Collective.ALL_REDUCE, Collective.BARRIER)
_AMONG_ALL = (
    *_TO_EVERYONE,
    *(Collective.ALL_GATHER, Collective.ALL_TO_ALL, Collective.REDUCE_SCATTER),
)
"""Collectives in which each node has words for every other node."""


def least_counts(schedule: Schedule) -> dict[str, int]:
    """Return the least ``steps`` and ``tcd`` of any schedule with this one's promise.

    A broadcast, a multicast, a reduce, a scan and a custom collective are bounded on any network,
    by the nodes they must reach. The others are bounded by :func:`.lower_bounds`, on a grid only.
    If all blocks are equally long, the measures of :func:`word_measures` are bounded too.
    """
    counts = _least_counts(schedule)
    if schedule.stream.any() or schedule.circuits:
        # A node may pass words on in the step that brings them, any number of times, and a tree
        # may reach all nodes in one step.
        counts["steps"] = min(1, counts.get("steps", 1))
        if schedule.collective in _AMONG_ALL and "tcd" in counts:
            # A send may begin before all its words have arrived, and the last tree may bring all
            # nodes their last blocks, so one link into each node may do.
            counts["tcd"] = min(counts["tcd"], schedule.topology.working_nodes.size)
    return counts


def schedule_bound(
    schedule: Schedule, cycles: int | None = None, *, link_registers: int = 0
) -> CycleBound:
    """Return the least cycles of any schedule with the promise and port model of ``schedule``.

    ``cycles`` are those of a finished run of ``schedule``, if any is shown beside the bound. Raises
    RuntimeError if they are fewer than the bound: then one of the two is wrong.

    The bound is :func:`.least_cycles` for links with ``link_registers`` registers. If some blocks
    are copied and others reduced, it is the larger of both bounds. A schedule for circuits is
    compared with schedules whose routers combine words.
    """
    bound = blocks_bound(
        schedule.topology,
        schedule.blocks,
        schedule.port_model,
        hop_cycles=1 + link_registers,
        joins=schedule.circuits,
    )
    if cycles is not None and cycles < bound.value:
        beaten = f"a run of {cycles} cycles cannot beat its lower bound of {bound.value}"
        raise RuntimeError(f"internal error: {beaten}: {bound.reason}")
    return bound


def blocks_bound(
    topology: Topology,
    blocks: Blocks,
    ports: PortModel,
    *,
    hop_cycles: int = 1,
    joins: bool = False,
) -> CycleBound:
    """Return the least cycles of any schedule for ``blocks``: the larger bound if some are reduced.

    A scan has the bounds of :func:`.ends_of_scans`. ``joins`` is true if routers may combine words;
    ``hop_cycles`` is that of :func:`.least_cycles`.
    """
    # Compiled code takes long to import, and most commands refuse bad input before they need it.
    from ..bounds.cycles import least_cycles  # noqa: PLC0415

    kept, reduced = ~blocks.reduced, blocks.reduced & ~blocks.scanned
    copied = [blocks.some(kept)] if kept.any() or not kept.size else []
    combined = [blocks.some(reduced)] if reduced.any() else []
    if blocks.scanned.any():
        gathered, spread = ends_of_scans(topology, blocks.some(blocks.scanned))
        combined.append(gathered)
        copied.append(spread)
    found = [least_cycles(topology, some, ports, hop_cycles=hop_cycles) for some in copied]
    found += [
        reduction_cycles(topology, some, ports, hop_cycles=hop_cycles, joins=joins)
        for some in combined
    ]
    return max(found)


def _least_counts(schedule: Schedule) -> dict[str, int]:
    """Return :func:`least_counts` of a schedule without streams."""
    if schedule.collective in _OF_ANY_NETWORK:
        reached = _reached_from(schedule)
        sends = most_links(schedule.topology) if schedule.port_model == PortModel.ALL_PORT else 1
        return {
            # In a step the nodes with words of one owner multiply by ``sends`` + 1 at most.
            "steps": max(
                (least_broadcast_steps(1 + int(nodes.sum()), sends) for nodes in reached),
                default=0,
            ),
            "tcd": _tcd(schedule.topology, reached),
        }
    if schedule.topology.nodes < 2:
        return {"steps": 0, "tcd": 0}
    if schedule.collective in _TO_EVERYONE:
        words = int(schedule.blocks.words.sum())
        bounds = all_reduce_bounds(
            schedule.topology,
            schedule.topology.working_nodes.size,
            words,
            schedule.port_model,
            most_links(schedule.topology),
        )
        # Routers that join and fork send most words for the nodes.
        return {**bounds, "node_words": words} if schedule.circuits else bounds
    if not schedule.topology.whole_grid or not share_words(schedule).all():
        return {}
    each = message_words(schedule)
    # A reduce-scatter backwards is an all-gather, with the same costs.
    backwards = schedule.collective == Collective.REDUCE_SCATTER
    found = lower_bounds(
        Collective.ALL_GATHER if backwards else schedule.collective,
        schedule.topology,
        schedule.root,
        1 if each is None else each,
        schedule.port_model,
    )
    counts = {"steps": found.steps.value, "tcd": found.hops.value}
    if each is None:
        return counts
    return counts | {
        "word_hops": found.word_hops.value,
        "node_words": found.node_words.value,
        "link_words": found.link_words.value,
    }


def word_measures(schedule: Schedule) -> dict[str, int]:
    """Count words x hops and the words of the busiest node and link; empty for a broadcast."""
    if schedule.collective in _OF_ANY_NETWORK or not schedule.sends:
        return {}
    costs = counted_costs(schedule)
    return {
        "word_hops": costs.word_hops,
        "node_words": costs.node_words,
        "link_words": costs.link_words,
    }


def _tcd(topology: Topology, reached: list[npt.NDArray[np.bool_]]) -> int:
    """Return the least TCD to bring each owner's blocks to its set of nodes in ``reached``."""
    whole = len(reached) == 1 and reached[0].sum() == topology.working_nodes.size - 1
    if topology.switches and whole:
        return least_spanning_tcd(topology)
    entered = np.any(reached, axis=0) if reached else np.zeros(0, np.bool_)
    return least_tcd(topology, np.flatnonzero(entered).tolist())


def _reached_from(schedule: Schedule) -> list[npt.NDArray[np.bool_]]:
    """Return for each block owner a mask, (nodes,), of the others that are owed one of its blocks.

    A reduced block counts backwards: for a node that is owed it, the others that contribute. In a
    scan, the first contributor's words reach all nodes that are owed the block.
    Blocks without words do not count.
    """
    blocks, topology = schedule.blocks, schedule.topology
    reached: dict[int, npt.NDArray[np.bool_]] = defaultdict(
        lambda: np.zeros(topology.nodes, np.bool_)
    )
    for block, (owner, owed) in enumerate(zip(blocks.owner.tolist(), blocks.owed, strict=True)):
        others = topology.working_nodes if owed is None else np.array(owed, np.int64)
        if not blocks.words[block] or not others.size:
            continue
        if blocks.prefix[block] is not None:
            reached[min(blocks.holders(block, topology))][others] = True
        elif owner == NO_OWNER:
            reached[int(others.min())][[*blocks.holders(block, topology)]] = True
        else:
            reached[owner][others] = True
    for owner, nodes in reached.items():
        nodes[owner] = False
    return list(reached.values())
