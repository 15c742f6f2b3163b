"""Blocks that carry out a request: one for each message, or several pieces of each.

============================== =====================================================================
collective                     messages, in this order
============================== =====================================================================
broadcast, multicast           one, from the root
reduce, all-reduce, barrier    one, to which every node contributes
scan, exscan                   the same; a node gets the contributions up to its own, or before it
scatter, reduce-scatter        one for each node
gather, all-gather             one of each node
all-to-all                     one of each node for each node: all of the first node come first
neighbor, halo                 one for each pair (:mod:`.exchanged`), in the same order
============================== =====================================================================

Nodes are those that take part, ascending. A node has a message for itself, too: so the message of
an all-to-all from the i-th of n nodes to the j-th has the number ``i * n + j``.
"""

from collections.abc import Sequence

import numpy as np

from ..base.ragged import even_shares
from ..network.topology import Topology
from .blocks import NO_OWNER, Blocks
from .collective import EXCHANGES, Collective, Prefix
from .exchanged import exchanged_pairs
from .requested import Requested

Nodes = tuple[int, ...]


def blocks_of(
    topology: Topology, requests: Sequence[Requested], groups: Sequence[Nodes], pieces: int
) -> Blocks:
    """Return the blocks of all requests, each message cut into ``pieces`` of nearly equal words.

    ``groups`` lists the nodes of each request, ascending; it is empty for one request of all nodes.
    """
    owner: list[int] = []
    owed: list[Nodes | None] = []
    words: list[int] = []
    contributors: list[Nodes | None] = []
    operator: list[str | None] = []
    prefix: list[Prefix | None] = []
    everyone = tuple(topology.working_nodes.tolist())
    group: list[int] = []
    for number, (request, nodes) in enumerate(zip(requests, groups or (everyone,), strict=True)):
        whole = nodes if groups else None
        reduces = Collective(request.collective).reduces
        messages = _messages(topology, request, nodes, whole)
        lengths = np.broadcast_to(np.ravel(np.array(request.words, np.int64)), (len(messages),))
        group += [number] * (len(messages) * pieces)
        for (begin, end), length in zip(messages, lengths.tolist(), strict=True):
            owner += [begin] * pieces
            owed += [end] * pieces
            words += even_shares(length, pieces).tolist()
            contributors += [whole if reduces else ()] * pieces
            operator += [request.operator] * pieces
            prefix += [Collective(request.collective).prefix] * pieces
    return Blocks(
        np.array(owner, np.int32),
        tuple(owed),
        np.array(words, np.int32),
        tuple(contributors),
        tuple(operator),
        tuple(prefix),
        np.array(group if groups else (), np.int32),
    )


def _messages(
    topology: Topology, request: Requested, nodes: Nodes, whole: Nodes | None
) -> list[tuple[int, Nodes | None]]:
    """List the owner of each message, or ``NO_OWNER``, and the nodes that are owed it.

    ``whole`` stands for all of ``nodes``: None if they are all working nodes of the network.
    """
    root = NO_OWNER if request.root is None else request.root
    all_targets = whole if request.targets is None else request.targets
    messages: dict[str, list[tuple[int, Nodes | None]]] = {
        Collective.BROADCAST: [(root, all_targets)],
        Collective.MULTICAST: [(root, all_targets)],
        Collective.SCATTER: [(root, (node,)) for node in nodes],
        Collective.GATHER: [(node, (root,)) for node in nodes],
        Collective.ALL_GATHER: [(node, whole) for node in nodes],
        Collective.REDUCE: [(NO_OWNER, (root,))],
        Collective.REDUCE_SCATTER: [(NO_OWNER, (node,)) for node in nodes],
        Collective.ALL_REDUCE: [(NO_OWNER, whole)],
        Collective.BARRIER: [(NO_OWNER, whole)],
        Collective.SCAN: [(NO_OWNER, whole)],
        Collective.EXSCAN: [(NO_OWNER, nodes[1:])],
    }
    if request.collective == Collective.ALL_TO_ALL:
        return [(begin, (end,)) for begin in nodes for end in nodes]
    if request.collective in EXCHANGES:
        sources, targets = exchanged_pairs(topology, request.collective, nodes)
        return [
            (begin, (end,)) for begin, end in zip(sources.tolist(), targets.tolist(), strict=True)
        ]
    return messages[request.collective]
