"""Reductions as collectives backwards: last step first, every send from its target to its source.

In a broadcast each node gets the message once and passes it on later; backwards, each node first
gets what the nodes that it had served have combined, and then sends it on, once::

    broadcast   step 1  0 -> 2              reduce   step 1  1 -> 0, 3 -> 2      combined at 0, 2
                step 2  0 -> 1, 2 -> 3               step 2  2 -> 0              combined at 0

So a *reduce* is any broadcast backwards, in as many steps, over as many links, and no two sends of
a step share a link unless two of the broadcast do. A *reduce-scatter* is any all-gather backwards:
block b, which the all-gather brings from node b to all, is combined of all at node b. No node sends
a block in the step in which something is combined with it, unless it streams: everything can be
combined in place. How broadcasts that stream are turned round is told in :mod:`.streamed`.

A link that is used backwards must be there. So what is turned round was made for the network with
every link turned round (:func:`against`), which is the network itself unless links are one-way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...base.errors import InvalidInput
from ...base.pieces import offsets_of, ranges
from ...bounds.hops import UNREACHED, hops_from
from ...network.topology import NO_LINK, Topology
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ...schedule.table import CUSTOM, NO_OWNER, Blocks
from .streamed import streamed_backwards


def against(topology: Topology) -> Topology:
    """The network in which every link of ``topology`` leads the other way, by the same ports."""
    if topology.whole_grid:
        return topology
    node, port = np.nonzero(topology.neighbor != NO_LINK)
    end, into = topology.neighbor[node, port], topology.peer[node, port]
    neighbor, peer = (np.full_like(topology.neighbor, NO_LINK) for _ in range(2))
    neighbor[end, into], peer[end, into] = node, port
    if (neighbor == topology.neighbor).all() and (peer == topology.peer).all():
        return topology
    return replace(topology, neighbor=neighbor, peer=peer)


def require_reached(topology: Topology, root: int) -> None:
    """Refuse a reduce to ``root`` of all nodes, naming the first that no path leads from to it."""
    (hops,) = hops_from(against(topology), np.array([root]))
    working = topology.working_nodes
    for node in working[hops[working] == UNREACHED][:1]:
        raise InvalidInput.of(
            f"contributors of a reduce to node {root}",
            "nodes from which a path leads to it",
            f"node {node}",
        )


def reduce_backwards(broadcast: Schedule, topology: Topology, operator: str) -> Schedule:
    """The reduce on ``topology`` that is ``broadcast``, of the network :func:`against`, backwards.

    The nodes that the broadcast serves contribute, with its root, to every one of its blocks, and
    are combined by ``operator`` at the root. A custom broadcast, which leaves nodes out, makes a
    custom reduce.
    """
    root, blocks = broadcast.root, broadcast.blocks
    assert root is not None
    reduced = Blocks(
        np.full(len(blocks), NO_OWNER, np.int32),
        ((root,),) * len(blocks),
        blocks.words,
        tuple(None if owed is None else tuple(sorted({root, *owed})) for owed in blocks.owed),
        (operator,) * len(blocks),
    )
    name = CUSTOM if broadcast.collective == CUSTOM else Collective.REDUCE
    turned = _backwards(broadcast, topology, name, reduced)
    return streamed_backwards(broadcast, turned) if broadcast.stream.any() else turned


def reduce_scatter_backwards(all_gather: Schedule, topology: Topology, operator: str) -> Schedule:
    """The reduce-scatter on ``topology`` that is ``all_gather`` backwards, as for a reduce."""
    blocks = all_gather.blocks
    owed = tuple((owner,) for owner in blocks.owner.tolist())
    reduced = Blocks.reduced_to(owed, blocks.words, operator)
    if all_gather.stream.any():
        allowed = "by an algorithm and of words that do not stream"
        raise InvalidInput.of("reduce-scatter", allowed, f"{all_gather.algorithm} backwards")
    return _backwards(all_gather, topology, Collective.REDUCE_SCATTER, reduced)


def _backwards(schedule: Schedule, topology: Topology, name: str, blocks: Blocks) -> Schedule:
    """All sends of ``schedule`` the other way in space and time, each combining, none streaming."""
    lengths, counts = np.diff(schedule.path_offsets), np.diff(schedule.block_offsets)
    return replace(
        schedule,
        topology=topology,
        collective=name,
        root=schedule.root,
        blocks=blocks,
        step=schedule.steps + 1 - schedule.step[::-1],
        source=schedule.target[::-1],
        target=schedule.source[::-1],
        path_offsets=offsets_of(lengths[::-1]),
        path_nodes=schedule.path_nodes[::-1],
        vcs=schedule.vcs[::-1],
        block_offsets=offsets_of(counts[::-1]),
        # Those of the last send first, each send's in the order that they have.
        block_ids=schedule.block_ids[ranges(schedule.block_offsets[:-1][::-1], counts[::-1])],
        combine=np.ones(schedule.sends, np.bool_),
        stream=np.zeros(schedule.sends, np.bool_),
    )
