"""Reductions as collectives run backwards: last step first, every send from target to source.

In a broadcast each node gets the message once and passes it on later. Backwards, each node first
gets the combined words of the nodes that it served, and then sends its own combined words once::

    broadcast   step 1  0 -> 2              reduce   step 1  1 -> 0, 3 -> 2      combined at 0, 2
                step 2  0 -> 1, 2 -> 3               step 2  2 -> 0              combined at 0

So a *reduce* is any broadcast backwards, with equally many steps and links. Two sends of a step
share a link only if two of the broadcast do. A *reduce-scatter* is any all-gather backwards: block
b, which the all-gather brings from node b to all nodes, is combined from all nodes at node b.
Unless a block streams, no node sends it in the step in which words are combined with it. So all
words can be combined in place. :mod:`.streamed` turns streaming broadcasts round.

A send backwards needs a link in that direction. So the broadcast is made for the network with all
links turned round (:func:`against`). This is the network itself unless links are one-way.
"""

from dataclasses import replace

import numpy as np

from ...base.arrays import Numbers
from ...base.errors import InvalidInput
from ...base.ragged import offsets_of
from ...bounds.hops import UNREACHED, hops_from
from ...network.topology import NO_LINK, UNSAID, Topology
from ...schedule.blocks import CUSTOM, NO_OWNER, Blocks
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from .streamed import streamed_backwards


def against(topology: Topology) -> Topology:
    """Return the network with every link of ``topology`` turned round, on the same ports."""
    if topology.whole_grid and not topology.links_differ:
        return topology
    node, port = np.nonzero(topology.neighbor != NO_LINK)
    end, into = topology.neighbor[node, port], topology.peer[node, port]
    neighbor, peer = (np.full_like(topology.neighbor, NO_LINK) for _ in range(2))
    neighbor[end, into], peer[end, into] = node, port

    def turned(table: Numbers | None) -> Numbers | None:
        if table is None:
            return None
        values = np.full_like(table, UNSAID)
        values[end, into] = table[node, port]
        return values

    same = (neighbor == topology.neighbor).all() and (peer == topology.peer).all()
    if same and not topology.links_differ:
        return topology
    return replace(
        topology,
        neighbor=neighbor,
        peer=peer,
        link_registers_of=turned(topology.link_registers_of),
        link_rate_of=turned(topology.link_rate_of),
    )


def require_reached(topology: Topology, root: int) -> None:
    """Raise :class:`.InvalidInput` if a working node has no path to ``root``; name the first."""
    (hops,) = hops_from(against(topology), np.array([root]))
    working = topology.working_nodes
    for node in working[hops[working] == UNREACHED][:1]:
        raise InvalidInput.of(
            f"contributors of a reduce to node {root}",
            "nodes from which a path leads to it",
            f"node {node}",
        )


def reduce_backwards(broadcast: Schedule, topology: Topology, operator: str) -> Schedule:
    """Return the reduce on ``topology`` from a ``broadcast`` on the network :func:`against` it.

    The root and the nodes that the broadcast serves contribute to every block. ``operator``
    combines their words at the root. A custom broadcast, which leaves nodes out, becomes a custom
    reduce.
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
    """Return the reduce-scatter on ``topology``: ``all_gather`` backwards, as for a reduce."""
    blocks = all_gather.blocks
    owed = tuple((owner,) for owner in blocks.owner.tolist())
    reduced = Blocks.reduced_to(owed, blocks.words, operator)
    if all_gather.stream.any():
        allowed = "by an algorithm and of words that do not stream"
        raise InvalidInput.of("reduce-scatter", allowed, f"{all_gather.algorithm} backwards")
    return _backwards(all_gather, topology, Collective.REDUCE_SCATTER, reduced)


def _backwards(schedule: Schedule, topology: Topology, name: str, blocks: Blocks) -> Schedule:
    """Return ``schedule`` reversed in space and time; all sends combine, none streams."""
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
        # The blocks of the last send come first; within a send their order stays.
        block_ids=schedule.carried(np.arange(schedule.sends)[::-1]),
        combine=np.ones(schedule.sends, np.bool_),
        stream=np.zeros(schedule.sends, np.bool_),
    )
