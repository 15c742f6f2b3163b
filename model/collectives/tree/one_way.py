"""Broadcast where some nodes are reached only over links that do not lead back.

Then the network cannot be cut into halves connected both ways, as in :mod:`.parts`. Two methods are
tried, and the better result is taken:

* **Branches.** In a tree of links that lead away from the node with the message, a branch and the
  rest can be served separately. The node sends to the root of a branch of about half of the nodes,
  and both parts do the same, down to single nodes. The parts of a step share no node. Several trees
  are tried, most of them depth first, because long branches can be cut anywhere. If all parts have
  branches of the right size, this takes ceil(log2 nodes) steps.
* **Most at once.** A node with many leaves that do not lead back has no such branch. Then in each
  step as many nodes as possible are reached, from all nodes with the message, by paths without a
  common link. The nodes with the most to pass on are first. The sets of nodes that can be reached
  together are a matroid (a gammoid). So nodes can be chosen one by one, the most urgent first,
  without loss; each adds one augmenting path to a flow.

Neither method always finds the fewest steps; that problem is as hard as on general graphs.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ...base.arrays import Int32s
from ...base.ragged import offsets_of
from ...schedule.broadcast_bounds import least_broadcast_steps
from .graph import UNKNOWN, Graph, Members
from .parts import Send

DRAWN_TREES = 4
"""Trees tried for each part, beside one breadth first and two depth first."""
LARGEST_FLOW = 1024
"""Nodes up to which most are reached at once: the time for it grows with their square."""


def one_way_sends(graph: Graph, root: int, members: Members) -> list[Send]:
    """Return the sends of a broadcast from ``root``, from which links of ``graph`` reach all nodes.

    It serves the nodes for which ``members`` is true, with the root.
    """
    best = sorted(_by_branches(graph, root, members))
    least = least_broadcast_steps(int(members.sum()))
    while best[-1][0] > least and graph.nodes <= LARGEST_FLOW:
        other = sorted(_most_at_once(graph, root, members, best))
        if _cost(other) >= _cost(best):
            break
        best = other  # gives the next try its urgencies
    return best


def _cost(sends: Sequence[Send]) -> tuple[int, int]:
    return sends[-1][0], sum(len(path) - 1 for _, path in sends)


# ---- Branches ---------------------------------------------------------------------------------


def _by_branches(graph: Graph, root: int, members: Members) -> Iterator[Send]:
    draw = np.random.default_rng(0)
    stack = [(np.arange(graph.nodes, dtype=np.int32), root, 1)]
    while stack:
        nodes, source, step = stack.pop()
        if members[nodes].sum() == 1:
            continue
        part = graph.part(nodes)
        at = int(np.searchsorted(nodes, source))
        branch, way = _best_branch(part, at, members[nodes], draw)
        path = nodes[way].tolist()
        yield step, path
        stack += [(nodes[~branch], source, step + 1), (nodes[branch], path[-1], step + 1)]


def _best_branch(
    graph: Graph, root: int, members: Members, draw: np.random.Generator
) -> tuple[npt.NDArray[np.bool_], list[int]]:
    """Return a branch of a tree, as a mask of the nodes, and the path to the branch's root.

    It is the nearest of the branches with a member as root that leave the fewest steps.
    """
    start = np.full(graph.nodes, UNKNOWN, np.int32)
    start[root] = 0
    hops, back = graph.spread(start)
    found = []
    for order, last in _trees(graph, root, hops, draw):
        before = offsets_of(members[order].astype(np.int64))
        sizes = before[last] - before[:-1]
        larger = np.maximum(sizes, before[-1] - sizes)[1:]
        larger[~members[order[1:]]] = UNKNOWN
        fewest = 1 << least_broadcast_steps(int(larger.min()))
        far = np.where(larger <= fewest, hops[order[1:]], UNKNOWN)
        place = int(far.argmin()) + 1
        found.append((fewest, int(far.min()), order[place : last[place]]))
    _, _, nodes = min(found, key=lambda each: each[:2])
    branch = np.zeros(graph.nodes, np.bool_)
    branch[nodes] = True
    way = [int(nodes[0])]
    while way[-1] != root:
        way.append(int(back[way[-1]]))
    return branch, way[::-1]


def _trees(
    graph: Graph, root: int, hops: Int32s, draw: np.random.Generator
) -> Iterator[tuple[Int32s, Int32s]]:
    """Trees in preorder: the node at each place, and the place behind its branch."""
    ends = [
        graph.neighbors[graph.offsets[node] : graph.offsets[node + 1]].tolist()
        for node in range(graph.nodes)
    ]
    # Only links to nodes farther away: short branches, from which most sends are short.
    yield _depth_first([[e for e in row if hops[e] > hops[n]] for n, row in enumerate(ends)], root)
    yield _depth_first(ends, root)
    yield _depth_first([row[::-1] for row in ends], root)
    for _ in range(DRAWN_TREES):
        yield _depth_first([draw.permutation(row).tolist() for row in ends], root)


def _depth_first(ends: Sequence[Sequence[int]], root: int) -> tuple[Int32s, Int32s]:
    last = np.zeros(len(ends), np.int32)
    place = {root: 0}
    stack = [(root, iter(ends[root]))]
    while stack:
        node, rest = stack[-1]
        following = next((end for end in rest if end not in place), None)
        if following is None:
            last[place[node]] = len(place)
            stack.pop()
        else:
            place[following] = len(place)
            stack.append((following, iter(ends[following])))
    return np.array(list(place), np.int32), last


# ---- Most at once -----------------------------------------------------------------------------


def _most_at_once(
    graph: Graph, root: int, members: Members, known: Sequence[Send]
) -> Iterator[Send]:
    """Sends to as many nodes as can be in each step, those first that ``known`` needs the most."""
    needed = _urgency(graph.nodes, known)
    urgency = {node: needed[node] for node in np.flatnonzero(members).tolist()}
    informed = {root}
    step = 0
    while len(informed) < len(urgency):
        step += 1
        for path in _Step(graph, informed, urgency).paths():
            informed.add(path[-1])
            yield step, path


def _urgency(nodes: int, sends: Sequence[Send]) -> list[int]:
    """Count the steps of ``sends`` that follow, from a node on, the step in which it is reached."""
    reached, finished = [0] * nodes, [0] * nodes
    for step, path in reversed(sends):
        reached[path[-1]] = step
        finished[path[0]] = max(finished[path[0]], finished[path[-1]], step)
    return [max(0, end - begin) for begin, end in zip(reached, finished, strict=True)]


class _Step:
    """The flow of one step: at most one path from each of ``informed``, no link in two paths.

    Paths lead to nodes that have an ``urgency``.
    """

    def __init__(self, graph: Graph, informed: set[int], urgency: Mapping[int, int]) -> None:
        self._ends = np.split(graph.neighbors, graph.offsets[1:-1])
        self._wanted = {node: n for node, n in urgency.items() if node not in informed}
        self._free = dict.fromkeys(sorted(informed))
        self._senders: list[int] = []
        self._out: dict[int, dict[int, None]] = {node: {} for node in range(graph.nodes)}
        self._into: dict[int, dict[int, None]] = {node: {} for node in range(graph.nodes)}

    def paths(self) -> Iterator[list[int]]:
        """Yield the paths, after there is no room for one more."""
        targets = set()
        while (target := self._augment()) is not None:
            targets.add(target)
        for node in self._senders:
            path = self._follow(node, targets)
            targets.remove(path[-1])
            yield path

    def _augment(self) -> int | None:
        """Add a path to the most urgent node that one leads to; None if there is none."""
        came: dict[int, int] = dict.fromkeys(self._free, -1)
        queue = list(came)
        for node in queue:
            onward = (int(end) for end in self._ends[node] if end not in self._out[node])
            for end in (*onward, *self._into[node]):
                if end not in came:
                    came[end] = node
                    queue.append(end)
        reached = [node for node in queue if node in self._wanted]
        if not reached:
            return None
        end = target = max(reached, key=lambda node: self._wanted[node])
        del self._wanted[target]
        while (begin := came[end]) >= 0:
            if end in self._into[begin]:  # what led here goes another way
                del self._into[begin][end], self._out[end][begin]
            else:
                self._out[begin][end] = self._into[end][begin] = None
            end = begin
        del self._free[end]
        self._senders.append(end)
        return target

    def _follow(self, node: int, targets: set[int]) -> list[int]:
        """Take the path that begins at ``node`` out of the flow, without its circles."""
        path = {node: None}  # in the order of the nodes
        while node not in targets:
            node = self._out[node].popitem()[0]
            if node in path:
                while next(reversed(path)) != node:
                    path.popitem()
            path[node] = None
        return list(path)
