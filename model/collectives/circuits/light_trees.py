"""Broadcast and multicast by one tree of shortest paths that forks in the routers.

The root sends its words once. Where the paths to several targets part, the router sends each word
by several outputs in the same cycle, as a beam of light is split in an optical tree::

    0 ──► 1 ──► 2        sends 0 -> 2, 0 -> 4, 0 -> 5 of one step; the link 0 -> 1 carries every
          ├──► 4         word once, and node 1 is no target
          └──► 5

So the last word arrives after as many cycles as the farthest target has hops, and one for each
word: no schedule takes fewer. A path goes on by links that the tree has already, where it can.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...base.arrays import Numbers
from ...base.errors import InvalidInput, require_range, with_article
from ...base.ragged import offsets_of
from ...bounds.hops import UNREACHED, hops_from
from ...network.port_model import PortModel
from ...network.topology import NO_LINK, Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared, multicast, rooted

MOST_NODES = 1 << 12
"""Most working nodes: the schedule lists a whole path for each target."""


def require_no_switches(topology: Topology, algorithm: str) -> None:
    """Raise :class:`.InvalidInput` for a network with switches, which has no circuits."""
    if topology.switches:
        label = with_article(topology.label)
        raise InvalidInput.of(f"network for {algorithm}", "one without switches", label)


def light_tree(topology: Topology, root: int, targets: Iterable[int]) -> list[list[int]]:
    """Return a path from ``root`` to each of ``targets``, all in one tree of shortest paths.

    Raises :class:`.InvalidInput` for a target without a path.
    """
    (hops,) = hops_from(topology, np.array([root]))
    before = _previous_nodes(topology, hops)
    parent = {root: root}
    paths = []
    # Nearest first, so that the far targets find a tree to join.
    for target in sorted(targets, key=lambda node: (hops[node], node)):
        if hops[target] == UNREACHED:
            allowed = f"nodes with a path from node {root}"
            raise InvalidInput.of("targets", allowed, f"node {target}")
        path = [target]
        while path[-1] != root:
            node = path[-1]
            known = parent.get(node)
            choices = before[node]
            nearest = next((each for each in choices if each in parent), choices[0])
            path.append(nearest if known is None else known)
        path.reverse()
        parent |= dict(zip(path[1:], path, strict=False))
        paths.append(path)
    return paths


def _previous_nodes(topology: Topology, hops: Numbers) -> list[list[int]]:
    """Return for each node the nodes with a link to it that are one hop nearer to the root."""
    before: list[list[int]] = [[] for _ in range(topology.nodes)]
    nodes, ports = np.nonzero(topology.neighbor[:, 1:] != NO_LINK)
    ends = topology.neighbor[nodes, ports + 1]
    nearer = (hops[nodes] != UNREACHED) & (hops[ends] == hops[nodes] + 1)
    for node, end in zip(nodes[nearer].tolist(), ends[nearer].tolist(), strict=True):
        before[end].append(node)
    return before


def light_broadcast(topology: Topology, root: int, words: int) -> Schedule:
    """Broadcast ``words`` words from ``root`` to all working nodes in one step.

    Raises :class:`.InvalidInput` for a faulty root, more than 4,096 working nodes, or a node
    without a path from the root.
    """
    topology.require_working("source", root)
    require_no_switches(topology, NAME)
    require_range("nodes for light-tree", len(topology.working_nodes), 1, MOST_NODES)
    targets = [node for node in topology.working_nodes.tolist() if node != root]
    blocks = Blocks.of_broadcast(root, words)
    return one_tree(topology, Collective.BROADCAST, blocks, light_tree(topology, root, targets))


def light_multicast(
    topology: Topology, root: int, targets: Iterable[int] | None, words: int
) -> Schedule:
    """Send ``words`` words from ``root`` to ``targets`` in one step.

    Raises :class:`.InvalidInput` as :func:`light_broadcast`.
    """
    topology.require_working("source", root)
    require_no_switches(topology, NAME)
    require_range("flits", words, 1)
    wanted = tuple(sorted({*(targets or ())} - {root}))
    for target in wanted:
        topology.require_working("target", target)
    require_range("targets for light-tree", len(wanted), 1, MOST_NODES)
    owed = (tuple(sorted({*wanted, root})),)
    blocks = Blocks(np.array([root], np.int32), owed, np.array([words], np.int32))
    return one_tree(topology, Collective.MULTICAST, blocks, light_tree(topology, root, wanted))


def one_tree(
    topology: Topology, collective: str, blocks: Blocks, paths: list[list[int]]
) -> Schedule:
    """Return the schedule that sends the one block of ``blocks`` along ``paths`` in one step."""
    sends = len(paths)
    nodes = np.array([node for path in paths for node in path], np.int32)
    return Schedule(
        topology=topology,
        collective=collective,
        algorithm=NAME,
        port_model=PortModel.HALF_DUPLEX,
        root=int(blocks.owner[0]),
        blocks=blocks,
        step=np.ones(sends, np.int32),
        source=np.array([path[0] for path in paths], np.int32),
        target=np.array([path[-1] for path in paths], np.int32),
        path_offsets=offsets_of([len(path) for path in paths]),
        path_nodes=nodes,
        vcs=np.zeros(len(nodes) - sends, np.int32),
        block_offsets=np.arange(sends + 1),
        block_ids=np.zeros(sends, np.int32),
        circuits=True,
    )


NAME = "light-tree"

ALGORITHMS = (
    Declared(
        Collective.BROADCAST,
        NAME,
        rooted(light_broadcast),
        networks="any network of circuits",
        steps="1",
        circuits=True,
    ),
    Declared(
        Collective.MULTICAST,
        NAME,
        multicast(light_multicast),
        networks="any network of circuits",
        steps="1",
        circuits=True,
    ),
)
