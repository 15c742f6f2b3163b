"""Broadcast by halving connected parts, whose paths share no node.

Each part of a network has one node with the message. In a step a part is cut into two connected
halves. The node sends to a node of the other half, by a shortest path within the part. The parts of
a step have no node in common, so their paths have none. With s steps left a part has at most 2^s
nodes.

Let c(P, p) be the least TCD of serving part P from its node p. If P is cut into A and B and p is in
A, then c(P, p) is c(A, p) plus the least of hops(p, q) + c(B, q) over all q in B. One search
through the part, which starts at all q with their costs, finds this minimum for all p. This dynamic
programming, as in the ``minimum`` broadcast, finds the best targets for given cuts. The cuts are
searched: parts of up to :data:`EXACT` nodes try all cuts, larger parts fewer cuts the larger they
are (:data:`TRIALS`). Each node keeps the best cut tried for it.

If no cut has connected halves that fit the steps left (a star of three has none for two steps), the
part is served along a tree (:mod:`.intervals`), which also stays inside the part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...base.arrays import Int32s
from .exact_cuts import EXACT, EXACT_STEPS, exact_cuts
from .graph import UNKNOWN, Graph, Members, halves
from .intervals import interval_sends, tree_path

TRIALS = ((16, 8), (32, 4), (64, 2))
"""Pairs (nodes, cuts): a part of at most this many nodes follows this many cuts to the end."""
MOST_ROOTS = 32
"""A part of more nodes than this is served along a tree from one of its nodes only."""
TREE_TRIALS = 500
"""Changes tried of a tree along which a part is served."""

Send = tuple[int, list[int]]
"""Step and path."""


@dataclass(eq=False)
class Part:
    """A connected part of the network, with the TCD of serving it from each of its nodes.

    ``nodes`` are ascending; ``costs`` has shape (nodes,), :data:`UNKNOWN` where it was not tried.
    ``cuts`` are the pairs of parts that were tried and ``chosen`` the one that is best for each
    node; a small part has none. ``along_tree`` says that no cuts were found.
    """

    nodes: Int32s
    steps: int
    costs: Int32s
    cuts: list[tuple[Part, Part]] = field(default_factory=list)
    chosen: Int32s | None = None
    along_tree: bool = False


class PartSearch:
    """The search for cuts of one network.

    ``guides`` has shape (nodes, columns): numbers by which nodes that are close to each other are
    close, such as coordinates. Cuts are across them.
    """

    def __init__(self, graph: Graph, guides: npt.NDArray[np.integer], source: int) -> None:
        self._graph = graph
        self._guides = guides
        self._source = source
        self._known: dict[tuple[bytes, int], Part] = {}

    def solve(self, nodes: Int32s, steps: int) -> Part:
        """Find cuts for the connected part ``nodes``, to be served in ``steps`` steps."""
        key = nodes.tobytes(), steps
        if key not in self._known:
            part = self._solve(nodes, steps)
            if nodes.size > TRIALS[-1][0]:
                self._known.clear()  # what was tried within one part is of no use in others
            self._known[key] = part
        return self._known[key]

    def _solve(self, nodes: Int32s, steps: int) -> Part:
        if nodes.size == 1:
            return Part(nodes, steps, np.zeros(1, np.int32))
        graph = self._graph.part(nodes)
        if nodes.size <= EXACT:
            steps = min(steps, EXACT_STEPS)
            part = Part(nodes, steps, exact_cuts(graph.offsets, graph.neighbors, steps)[0])
        else:
            part = Part(nodes, steps, np.full(nodes.size, UNKNOWN, np.int32))
            part.chosen = np.zeros(nodes.size, np.int32)
            for side in self._cuts(graph, nodes, steps):
                self._try(part, graph, side)
        if part.costs.min() >= UNKNOWN:
            part.along_tree = True
            for root in self._roots(graph, nodes):
                part.costs[root] = interval_sends(graph, root, steps, 0).tcd
        return part

    def _try(self, part: Part, graph: Graph, side: Int32s) -> None:
        """Follow a cut to the end, and choose it for the nodes for which it is the best so far."""
        assert part.chosen is not None
        pair = [self.solve(part.nodes[side == which], part.steps - 1) for which in range(2)]
        for which, (own, other) in enumerate((pair, pair[::-1])):
            start = np.full(side.size, UNKNOWN, np.int32)
            start[side != which] = other.costs
            mine = np.flatnonzero(side == which)
            costs = own.costs + graph.spread(start)[0][mine]
            better = mine[costs < part.costs[mine]]
            part.costs[mine] = np.minimum(costs, part.costs[mine])
            part.chosen[better] = len(part.cuts)
        part.cuts.append((pair[0], pair[1]))

    def _roots(self, graph: Graph, nodes: Int32s) -> list[int]:
        """Return the nodes of a part from which it is served along trees."""
        if nodes.size <= MOST_ROOTS:
            return list(range(nodes.size))
        at = int(np.searchsorted(nodes, self._source))
        if at < nodes.size and nodes[at] == self._source:
            return [at]
        return [int(np.argmin(np.abs(_outward(graph, 0))))]

    def _cuts(self, graph: Graph, nodes: Int32s, steps: int) -> list[Int32s]:
        """Return the cuts to follow, those of the fewest links: the half (0 or 1) of each node."""
        half = 1 << steps - 1
        least, most = max(1, nodes.size - half), min(nodes.size - 1, half)
        wanted = next((trials for size, trials in TRIALS if nodes.size <= size), 1)
        found: dict[bytes, tuple[int, Int32s]] = {}
        for order, first in self._proposals(graph, nodes, least, most, wanted):
            side, links = halves(graph.offsets, graph.neighbors, order, first, least, most)
            if links >= 0:
                side ^= side[0]
                found.setdefault(side.tobytes(), (links, side))
        ranked = sorted(found.values(), key=lambda cut: cut[0])
        return [side for _, side in ranked[:wanted]]

    def _proposals(
        self, graph: Graph, nodes: Int32s, least: int, most: int, wanted: int
    ) -> Iterator[tuple[Int32s, int]]:
        """Orders of the nodes of a part, and how many of them are to be one half."""
        guides = self._guides[nodes]
        columns = guides.shape[1]
        middle = min(max(nodes.size // 2, least), most)
        for column in range(columns):
            ties = [guides[:, (column + later) % columns] for later in range(columns - 1, 0, -1)]
            for sign in (1, -1) if wanted > 1 else (1,):
                keys = [*(sign * tie for tie in ties), guides[:, column]]
                order: Int32s = np.lexsort(keys).astype(np.int32)
                yield order, middle
                edges = np.flatnonzero(np.diff(guides[order, column])) + 1
                edges = edges[(edges >= least) & (edges <= most)]
                for edge in edges[np.argsort(np.abs(edges - middle), kind="stable")][:wanted]:
                    yield order, int(edge)
        grown = np.linspace(0, nodes.size - 1, 1 + wanted // 2).astype(np.int32)
        for corner in grown.tolist():
            distances = _outward(graph, corner)
            order = np.argsort(distances, kind="stable").astype(np.int32)
            yield order, middle


def _outward(graph: Graph, node: int) -> Int32s:
    """Distance of each node from the farthest node of ``node``, less that from the opposite."""
    one = graph.distances(int(graph.distances(node).argmax()))
    other = graph.distances(int(one.argmax()))
    return one - other


def sends_of(part: Part, graph: Graph, source: int) -> list[Send]:
    """Return the sends that serve ``part`` from ``source``, in node numbers of ``graph``."""
    sends: list[Send] = []
    stack = [(part, source, 1)]
    while stack:
        part, source, step = stack.pop()
        if part.nodes.size == 1:
            continue
        inner = graph.part(part.nodes)
        at = int(np.searchsorted(part.nodes, source))
        if part.along_tree:
            for later, path in tree_sends(inner, at, part.steps):
                sends.append((step + later - 1, part.nodes[path].tolist()))
            continue
        find = _exact_send if part.chosen is None else _best_send
        own, other, way = find(part, inner, at)
        path = part.nodes[way].tolist()
        sends.append((step, path))
        stack += [(own, source, step + 1), (other, path[-1], step + 1)]
    return sends


def tree_sends(graph: Graph, root: int, steps: int, members: Members | None = None) -> list[Send]:
    """Return the sends along the best tree found, as :func:`.interval_sends`, in order."""
    tree = interval_sends(graph, root, steps, TREE_TRIALS, members)
    sends = ((step, tree_path(tree.parents, *ends)) for step, *ends in tree.rows.tolist())
    return sorted(sends)


def _exact_send(part: Part, graph: Graph, source: int) -> tuple[Part, Part, list[int]]:
    """Return the half of ``source``, the other half, and the path to its node in the part."""
    _, kept, target = exact_cuts(graph.offsets, graph.neighbors, part.steps)
    keeps = (kept[source] >> np.arange(graph.nodes)) & 1 == 1
    own, other = (
        Part(part.nodes[half], part.steps - 1, np.zeros(0, np.int32)) for half in (keeps, ~keeps)
    )
    start = np.full(graph.nodes, UNKNOWN, np.int32)
    start[target[source]] = 0
    return own, other, _way(graph, start, source)


def _best_send(part: Part, graph: Graph, source: int) -> tuple[Part, Part, list[int]]:
    """Choose a send as :func:`_exact_send`, for a part whose cuts are known."""
    assert part.chosen is not None
    own, other = part.cuts[part.chosen[source]]
    if part.nodes[source] not in own.nodes:
        own, other = other, own
    start = np.full(graph.nodes, UNKNOWN, np.int32)
    start[np.searchsorted(part.nodes, other.nodes)] = other.costs
    return own, other, _way(graph, start, source)


def _way(graph: Graph, costs: Int32s, source: int) -> list[int]:
    """Return the way from ``source`` to where hops + cost is least."""
    _, following = graph.spread(costs)
    way = [source]
    while following[way[-1]] != way[-1]:
        way.append(int(following[way[-1]]))
    return way
