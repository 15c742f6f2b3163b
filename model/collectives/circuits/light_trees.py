"""Broadcast and multicast by one tree of shortest paths that forks in the routers.

The root sends its words once. Where the paths to several targets part, the router sends each word
by several outputs in the same cycle, as a beam of light is split in an optical tree::

    0 ──► 1 ──► 2        sends 0 -> 2, 0 -> 4, 0 -> 5 of one step; the link 0 -> 1 carries every
          ├──► 4         word once, and node 1 is no target
          └──► 5

So the last word arrives after as many cycles as the farthest target has hops, and one for each
word: no schedule takes fewer. A path goes on by links that the tree has already, where it can.

With a port for every link, the message is cut into pieces, each for a tree of its own. The trees
share no link (:mod:`..streaming.arborescences`, :mod:`.shallower`), and a deep tree gets a short
piece. L words in a tree d hops deep take d + L cycles, and the interfaces 5. On an 8x8 torus four
trees 9 hops deep bring 16 words in 9 + 4 + 5 = 18 cycles. No four trees without a common link take
17: all would have to be 8 hops deep. But each tree enters a node at 7 hops by a link of its own,
and one of these links comes from the node at 8 hops.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Numbers
from ...base.errors import InvalidInput, require_range
from ...bounds.hops import UNREACHED, hops_from
from ...network.port_model import PortModel
from ...network.topology import NO_LINK, Topology
from ...schedule.blocks import Blocks
from ...schedule.builder import one_block_schedule, path_columns
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared, multicast
from ..streaming.trees import shares

if TYPE_CHECKING:
    from ..streaming.arborescences import Arborescence

MOST_NODES = 1 << 12
"""Most working nodes for trees that list a whole path for each target."""

MOST_SHARED = 256
"""Most nodes of a network for several trees: a second or two."""
DRAWS = 8
"""Sets of trees drawn."""


def require_no_switches(topology: Topology, algorithm: str) -> None:
    """Raise :class:`.InvalidInput` for a network with switches."""
    if topology.switches:
        raise topology.refusal(algorithm, "one without switches")


def light_tree(topology: Topology, root: int, targets: Iterable[int]) -> list[list[int]]:
    """Return a path from ``root`` to each of ``targets``, all in one tree of shortest paths.

    Raises :class:`.InvalidInput` for a target without a path.
    """
    (hops,) = hops_from(topology, np.array([root]))
    before = _previous_nodes(topology, hops)
    parent = {root: root}
    paths = []
    targets = [*targets]
    _require_reached(hops, root, targets)
    # Nearest first, so that the far targets find a tree to join.
    for target in sorted(targets, key=lambda node: (hops[node], node)):
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


def _require_reached(hops: Numbers, root: int, targets: list[int]) -> None:
    """Raise :class:`.InvalidInput` for the first of ``targets`` without a path from ``root``."""
    for place in np.flatnonzero(hops[targets] == UNREACHED)[:1].tolist():
        allowed = f"nodes with a path from node {root}"
        raise InvalidInput.of("targets", allowed, f"node {targets[place]}")


def _shortest_links(topology: Topology, hops: Numbers) -> tuple[Numbers, Numbers]:
    """Return begins and ends of the links that lead one hop away from the root."""
    nodes, ports = np.nonzero(topology.neighbor[:, 1:] != NO_LINK)
    ends = topology.neighbor[nodes, ports + 1]
    away = (hops[nodes] != UNREACHED) & (hops[ends] == hops[nodes] + 1)
    return nodes[away], ends[away].astype(np.int64)


def _previous_nodes(topology: Topology, hops: Numbers) -> list[list[int]]:
    """Return for each node the nodes with a link to it that are one hop nearer to the root."""
    before: list[list[int]] = [[] for _ in range(topology.nodes)]
    begins, ends = _shortest_links(topology, hops)
    for node, end in zip(begins.tolist(), ends.tolist(), strict=True):
        before[end].append(node)
    return before


def light_broadcast(
    topology: Topology, root: int, words: int, *, all_port: bool = False
) -> Schedule:
    """Broadcast ``words`` words from ``root`` to all working nodes in one step.

    ``all_port``: down a tree for each link of the tightest cut. Raises :class:`.InvalidInput` for a
    faulty root, or a node without a path from the root.
    """
    topology.require_working("source", root)
    if len(topology.working_nodes) > MOST_NODES:
        made = _of_single_links(topology, root, words)
        return replace(made, port_model=PortModel.ALL_PORT) if all_port else made
    targets = [node for node in topology.working_nodes.tolist() if node != root]
    if not all_port:
        blocks = Blocks.of_broadcast(root, words)
        return of_trees(
            topology, Collective.BROADCAST, blocks, [light_tree(topology, root, targets)]
        )
    require_range("words", words, 1)
    pieces, trees = _shared(topology, root, targets, words)
    owners, lengths = np.full(len(pieces), root, np.int32), np.array(pieces, np.int32)
    blocks = Blocks(owners, (None,) * len(pieces), lengths)
    made = of_trees(topology, Collective.BROADCAST, blocks, trees)
    return replace(made, port_model=PortModel.ALL_PORT)


def _of_single_links(topology: Topology, root: int, words: int) -> Schedule:
    """Return a broadcast in which every node streams to the next nodes of a tree.

    On circuits, the routers fork the words that stream (:mod:`...program.circuits.units`).
    """
    (hops,) = hops_from(topology, np.array([root]))
    working = topology.working_nodes
    _require_reached(hops, root, working.tolist())
    begins, ends = _shortest_links(topology, hops)
    parent = np.full(topology.nodes, root, np.int32)
    parent[ends] = begins
    target = working[np.argsort(hops[working], kind="stable")][1:].astype(np.int32)
    source = parent[target]
    made = one_block_schedule(
        NAME,
        topology,
        Blocks.of_broadcast(root, words),
        np.ones(len(target), np.int32),
        2 * np.arange(len(target) + 1),
        np.stack((source, target), axis=1).ravel(),
        port_model=PortModel.FULL_DUPLEX,
    )
    return replace(made, stream=source != root, circuits=True)


def _shared(
    topology: Topology, root: int, targets: list[int], words: int
) -> tuple[list[int], list[list[list[int]]]]:
    """Return pieces of a message, and the paths of a tree for each; the trees share no link.

    The last word of the slowest piece comes as early as in any of the drawn sets of trees. The tree
    of shortest paths alone is one of the sets.
    """
    # Compiled code takes long to import, and one port does not need it.
    from ..streaming.arborescences import packed_arborescences  # noqa: PLC0415
    from ..streaming.passing import links_past  # noqa: PLC0415
    from .shallower import shallower  # noqa: PLC0415

    alone = light_tree(topology, root, targets)
    goals = np.array(targets, np.int64)
    sets = [[alone]]
    if targets and topology.nodes <= MOST_SHARED:
        links = links_past(topology, root, goals)
        for seed in range(DRAWS):
            packed = packed_arborescences(links, root, goals, seed)
            sets.append([_paths_of(tree, root) for tree in packed])
            if packed and not topology.switches:
                parents = np.stack([tree.parent for tree in packed])
                better = shallower(parents, root, links.begins, links.ends, seed)
                sets.append([_paths_down(tree, root) for tree in better.tolist()])
    found = []
    for paths in (paths for paths in sets if paths):
        depths = [max(map(len, tree), default=1) - 1 for tree in paths]
        pieces = shares(words, depths)
        last = max(piece + depth for piece, depth in zip(pieces, depths, strict=True) if piece)
        kept = [tree for tree, piece in zip(paths, pieces, strict=True) if piece]
        found.append((last, [piece for piece in pieces if piece], kept))
    _, pieces, kept = min(found, key=lambda each: each[0])
    return pieces, kept


def _paths_of(tree: Arborescence, root: int) -> list[list[int]]:
    """Return the paths from the root to all other nodes of ``tree``."""
    paths = {root: [root]}
    for node in sorted(tree.paths, key=lambda node: int(tree.depth[node])):
        paths[node] = [*paths[int(tree.parent[node])], *tree.paths[node][1:]]
    del paths[root]
    return [*paths.values()]


def _paths_down(parent: list[int], root: int) -> list[list[int]]:
    """Return the paths from the root to all other nodes of a tree of single links."""
    paths = []
    for node in (node for node, before in enumerate(parent) if before >= 0):
        path = [node]
        while path[-1] != root:
            path.append(parent[path[-1]])
        paths.append(path[::-1])
    return paths


def light_multicast(
    topology: Topology, root: int, targets: Iterable[int] | None, words: int
) -> Schedule:
    """Send ``words`` words from ``root`` to ``targets`` in one step.

    Raises :class:`.InvalidInput` as :func:`light_broadcast`.
    """
    topology.require_working("source", root)
    require_range("words", words, 1)
    wanted = tuple(sorted({*(targets or ())} - {root}))
    for target in wanted:
        topology.require_working("target", target)
    require_range("targets for light-tree", len(wanted), 1)
    owed = (tuple(sorted({*wanted, root})),)
    blocks = Blocks(np.array([root], np.int32), owed, np.array([words], np.int32))
    return of_trees(topology, Collective.MULTICAST, blocks, [light_tree(topology, root, wanted)])


def of_trees(
    topology: Topology, collective: str, blocks: Blocks, trees: list[list[list[int]]]
) -> Schedule:
    """Return the schedule that sends each block along the paths of its tree in one step."""
    paths = [path for tree in trees for path in tree]
    carried = [[block] for block, tree in enumerate(trees) for _ in tree]
    return Schedule(
        topology=topology,
        collective=collective,
        algorithm=NAME,
        port_model=PortModel.HALF_DUPLEX,
        root=int(blocks.owner[0]),
        blocks=blocks,
        step=np.ones(len(paths), np.int32),
        circuits=True,
        **path_columns(paths, carried),
    )


NAME = "light-tree"

ALGORITHMS = (
    Declared(
        Collective.BROADCAST,
        NAME,
        lambda asked: light_broadcast(
            asked.topology, asked.root, asked.words, all_port=asked.all_port
        ),
        networks="any network of circuits",
        steps="1",
        takes=("all_port",),
        ports=(ONE, ALL),
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
