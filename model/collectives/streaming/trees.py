"""Broadcast and multicast on all ports: each piece of a message streams down a tree of its own.

The trees share no link. There are as many as the tightest cut between the root and any target has
links (:mod:`.arborescences`), so no other schedule moves more words in a cycle. Switches, and nodes
that a multicast does not serve, only pass words on (:mod:`.passing`). All sends are in one step. A
word takes 3 cycles for each node and 1 for each link on its path. So deep trees get shorter pieces
than shallow trees, and all pieces end at about the same time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ...base.errors import require_range
from ...bounds.hops import UNREACHED, hops_from
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, Declared, multicast, rooted
from .sends import SendList

if TYPE_CHECKING:
    from .arborescences import Arborescence


def packed_trees_broadcast(topology: Topology, root: int, words: int) -> Schedule:
    """Send a message of ``words`` words from ``root`` down trees that share no link.

    Raises :class:`.InvalidInput` for a root that is faulty or a switch, and for a network with
    nodes that cannot be reached, or with switches and more than 128 nodes.
    """
    return _packed_trees(topology, root, None, words)


def packed_trees_multicast(
    topology: Topology, root: int, targets: Iterable[int] | None, words: int
) -> Schedule:
    """Send a message of ``words`` words from ``root`` to ``targets``, None for all working nodes.

    ``root`` among the targets does not count. Raises :class:`.InvalidInput` as
    :func:`packed_trees_broadcast` does, also for targets, and for a network of more than 128 nodes
    in which some only pass words on.
    """
    everyone = topology.working_nodes.tolist() if targets is None else targets
    return _packed_trees(topology, root, sorted({*everyone} - {root}), words)


def _packed_trees(topology: Topology, root: int, targets: list[int] | None, words: int) -> Schedule:
    """Make the schedule of a multicast; of a broadcast if ``targets`` is None."""
    # Compiled code takes long to import, and few commands need it.
    from .arborescences import packed_arborescences  # noqa: PLC0415
    from .passing import links_past  # noqa: PLC0415

    topology.require_working("source", root)
    require_range("words", words, 1)
    for node in targets or ():
        topology.require_working("target", node)
    everyone = topology.working_nodes if targets is None else np.array(targets, np.int64)
    goals = np.setdiff1d(everyone, [root])
    (hops,) = hops_from(topology, np.array([root]))
    if (hops[goals] == UNREACHED).any():
        whom = "all nodes" if targets is None else "all targets"
        raise topology.refusal("packed-trees", f"one in which the source reaches {whom}")
    trees = packed_arborescences(links_past(topology, root, goals), root, goals)
    if len(goals) and not trees:
        raise topology.refusal("packed-trees", "one whose links lead both ways")
    pieces = shares(words, [int(tree.delay.max()) for tree in trees]) or [words]
    trees = [tree for tree, share in zip(trees, pieces, strict=False) if share]
    pieces = [share for share in pieces if share]
    sends = SendList()
    for block, tree in enumerate(trees):
        add_tree(sends, tree, [block], step=1)
    owed = None if targets is None else tuple(targets)
    owners, lengths = np.full(len(pieces), root, np.int32), np.array(pieces, np.int32)
    blocks = Blocks(owners, (owed,) * len(pieces), lengths)
    collective = Collective.BROADCAST if targets is None else Collective.MULTICAST
    return sends.schedule("packed-trees", topology, collective, PortModel.ALL_PORT, root, blocks)


def add_tree(sends: SendList, tree: Arborescence, blocks: list[int], step: int) -> None:
    """Add the sends of a tree, those near its root first; all except the root's stream."""
    for node in sorted(tree.paths, key=lambda node: (int(tree.depth[node]), node)):
        stream = bool(tree.depth[tree.parent[node]] > 0)
        sends.add(step, tree.paths[node], blocks, stream=stream)


def shares(words: int, delays: list[int]) -> list[int]:
    """Cut ``words`` to make the largest sum of share and delay least; 0 means no share.

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


ALGORITHMS = tuple(
    Declared(
        collective,
        "packed-trees",
        make,
        networks="any network",
        steps="1; in a reduction more, where packets meet",
        paper="Edmonds 1973",
        takes=("all_port",),
        ports=(ALL,),
    )
    for collective, make in (
        (Collective.BROADCAST, rooted(packed_trees_broadcast)),
        (Collective.MULTICAST, multicast(packed_trees_multicast)),
    )
)
