"""Broadcast along a chain of nodes, each of which passes the message on while it arrives.

All sends are in one step: every node sends to the next. A word comes to the end of the chain 4
cycles later for each node, so the message of L words takes L cycles and a little::

    root -> 1 -> 2 -> 3        L + 4 * (nodes - 1) cycles, and 4 for the step, where all nodes
                      |        of the chain are neighbours
     7 <- 6 <- 5 <- 4

A long message is in the whole chain at once; a short one spends its time on the way. So the chain
may be cut into 2^k parts: first the message goes to the first node of each, in k steps, as in
recursive doubling, and then along all parts at once. Every such step costs a message, and half of
the way is saved. The number of parts is the one that is expected to be the fastest.

A mesh is gone through from a corner as a snake. From another node, and in any other network, the
chain goes on to a node that is nearest by links that no other send uses, if possible one from which
few others can be reached; of some tries the shortest chain is kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ...base.errors import InvalidInput, with_article
from ...network.port_model import PortModel
from ...network.routes import dimension_order, shortest_paths
from ...network.topology import NO_LINK, Topology
from ...schedule.collective import Collective
from ...schedule.duration import expected_cycles
from ...schedule.schedule import Schedule
from ...schedule.table import Blocks
from ..halving.boxes import is_whole_grid
from .sends import SendList
from .snakes import snake

TRIED_NODES = 1 << 12
"""Nodes of all tries together."""

Path = Sequence[int]


def chain_broadcast(topology: Topology, root: int, words: int) -> Schedule:
    """Send a message of ``words`` words from ``root`` along chains through all working nodes.

    Raises :class:`.InvalidInput` for a root that is faulty or a switch, and for a network in which
    no chain was found, as one of nodes that cannot be reached.
    """
    topology.require_working("source", root)
    paths = chain_paths(topology, root)
    candidates = (
        _broadcast(topology, root, words, sends)
        for parts in range(len(paths).bit_length() + 1)
        if (sends := _cut(topology, root, paths, parts)) is not None
    )
    return min(candidates, key=expected_cycles)


def chain_paths(topology: Topology, root: int) -> list[Path]:
    """The paths of a chain through all working nodes from ``root`` on, without a common link.

    Raises :class:`.InvalidInput` where none was found.
    """
    if is_whole_grid(topology) and (order := snake(topology.dims, root)) is not None:
        return list(pairwise(order))
    walk = _Walk(topology, root)
    tries = max(1, TRIED_NODES // topology.nodes)
    found = [paths for seed in range(tries) if (paths := walk.paths(seed)) is not None]
    if not found:
        allowed = "one in which a chain of links that are used once leads to all nodes"
        raise InvalidInput.of("network for chain", allowed, with_article(topology.label))
    return min(found, key=lambda paths: sum(map(len, paths)))


class _Walk:
    """Walks through a network that use no link twice."""

    def __init__(self, topology: Topology, root: int) -> None:
        self._root, self._working = root, topology.working_nodes.tolist()
        self._next = [[end for end in row if end != NO_LINK] for row in topology.neighbor.tolist()]

    def paths(self, seed: int) -> list[Path] | None:
        """Go to a nearest node that is left, again and again; None where there is no way to any."""
        lots = np.random.default_rng(seed).random(len(self._next)).tolist()
        left = {*self._working} - {self._root}
        used: set[tuple[int, int]] = set()
        paths: list[Path] = []
        at = self._root
        while left:
            path = self._nearest(at, left, used, lots)
            if path is None:
                return None
            used.update(pairwise(path))
            paths.append(path)
            at = path[-1]
            left.remove(at)
        return paths

    def _nearest(
        self, start: int, left: set[int], used: set[tuple[int, int]], lots: list[float]
    ) -> Path | None:
        """Find a way to a nearest node of ``left``, one next to which the fewest others are."""
        before = {start: start}
        border = [start]
        while border:
            ends = [
                (end, node)
                for node in border
                for end in self._next[node]
                if end not in before and (node, end) not in used
            ]
            before |= dict(reversed(ends))
            border = list(dict.fromkeys(end for end, _ in ends))
            near = [end for end in border if end in left]
            if near:
                goal = min(near, key=lambda node: (self._others(node, left), lots[node]))
                return _back(before, goal)
        return None

    def _others(self, node: int, left: set[int]) -> int:
        return sum(end in left for end in self._next[node])


def _back(before: dict[int, int], goal: int) -> Path:
    """The path that ``before`` leads back from ``goal``."""
    path = deque([goal])
    while before[path[0]] != path[0]:
        path.appendleft(before[path[0]])
    return tuple(path)


Send = tuple[int, Path, bool]
"""Step, path and whether it streams."""


def _cut(topology: Topology, root: int, paths: list[Path], parts: int) -> list[Send] | None:
    """The sends of a chain in 2 ** ``parts`` parts; None where sends of a step share a link."""
    order = [root, *(path[-1] for path in paths)]
    if 1 << parts > len(order):
        return None
    sends: list[Send] = []
    bounds = [0, len(order)]
    for step in range(1, parts + 1):
        middles = [(begin + end + 1) // 2 for begin, end in pairwise(bounds)]
        ends = [(order[begin], order[at]) for begin, at in zip(bounds[:-1], middles, strict=True)]
        ways = _routes(topology, ends)
        links = [link for way in ways for link in pairwise(way)]
        if len(set(links)) < len(links):
            return None
        sends += [(step, way, False) for way in ways]
        bounds = sorted({*bounds, *middles})
    first = {*bounds}
    for place, path in enumerate(paths, start=1):
        if place not in first:
            sends.append((parts + 1, path, place - 1 not in first))
    return sends


def _routes(topology: Topology, ends: list[tuple[int, int]]) -> list[Path]:
    """A shortest way between each pair of nodes; on a torus one that does not go round."""
    sources, targets = np.array(ends, np.int64).T
    if is_whole_grid(topology):
        flat = Topology("mesh", topology.dims, topology.neighbor, topology.peer)
        offsets, nodes = dimension_order(flat, sources, targets)
    else:
        offsets, nodes = shortest_paths(topology, sources, targets)
    listed = nodes.tolist()
    return [tuple(listed[begin:end]) for begin, end in pairwise(offsets.tolist())]


def _broadcast(topology: Topology, root: int, words: int, sends: list[Send]) -> Schedule:
    """The schedule of these sends of one block."""
    listed = SendList()
    for step, path, streams in sends:
        listed.add(step, path, [0], stream=streams)
    blocks = Blocks.of_broadcast(root, words)
    ports = PortModel.FULL_DUPLEX
    return listed.schedule("chain", topology, Collective.BROADCAST, ports, root, blocks)
