"""Broadcast on all ports: the message is cut, and each piece streams down a tree of its own.

The trees share no link and are as many as the tightest cut between the root and any node has links
(:mod:`.arborescences`), so no other schedule moves more words in a cycle. All are in one step. A
word takes 4 cycles for each node on its way; so a piece on a deep tree is shorter than one on a
shallow tree, by as much as makes both end at once.
"""

from __future__ import annotations

from ...base.errors import InvalidInput, require_range, with_article
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.collective import Collective
from ...schedule.duration import STREAM_CYCLES
from ...schedule.schedule import Schedule
from .arborescences import Arborescence, packed_arborescences
from .sends import SendList, blocks_for_all


def packed_trees_broadcast(topology: Topology, root: int, words: int) -> Schedule:
    """Send a message of ``words`` words from ``root`` down trees that share no link.

    Raises :class:`.InvalidInput` for a root that is faulty or a switch, and for a network with
    switches or nodes that cannot be reached.
    """
    topology.require_working("source", root)
    require_range("flits", words, 1)
    trees = packed_arborescences(topology, root)
    reached = {root}.union(*((tree.depth >= 0).nonzero()[0].tolist() for tree in trees[:1]))
    if topology.switches or not {*topology.working_nodes.tolist()} <= reached:
        allowed = "one without switches in which the source reaches all nodes"
        raise InvalidInput.of("network for packed-trees", allowed, with_article(topology.label))
    pieces = shares(words, [(1 + STREAM_CYCLES) * tree.height for tree in trees]) or [words]
    trees = [tree for tree, share in zip(trees, pieces, strict=False) if share]
    pieces = [share for share in pieces if share]
    sends = SendList()
    for block, tree in enumerate(trees):
        add_tree(sends, tree, [block], step=1)
    blocks = blocks_for_all([root] * len(pieces), pieces)
    ports = PortModel.ALL_PORT
    return sends.schedule("packed-trees", topology, Collective.BROADCAST, ports, root, blocks)


def add_tree(sends: SendList, tree: Arborescence, blocks: list[int], step: int) -> None:
    """Add the sends of a tree, those near its root first; all but the root's stream."""
    for node in sorted(
        (tree.depth > 0).nonzero()[0].tolist(), key=lambda node: int(tree.depth[node])
    ):
        parent = int(tree.parent[node])
        sends.add(step, (parent, node), blocks, stream=bool(tree.depth[parent] > 0))


def shares(words: int, delays: list[int]) -> list[int]:
    """Cut ``words`` so that the largest sum of a share and its delay is the least; 0 for none.

    >>> shares(100, [0, 20, 300])
    [60, 40, 0]
    """
    order = sorted(range(len(delays)), key=delays.__getitem__)
    used = next(
        (
            count
            for count in range(len(order), 0, -1)
            if words + sum(delays[way] for way in order[:count]) > count * delays[order[count - 1]]
        ),
        0,
    )
    found = [0] * len(delays)
    total = words + sum(delays[way] for way in order[:used])
    for place, way in enumerate(order[:used]):
        level = (total + used - 1 - place) // used
        found[way] = level - delays[way]
    return found
