"""Broadcast along a spanning tree by halving its preorder list: this serves every graph.

List the nodes of a tree, rooted at the source, in preorder, without switches and nodes that the
multicast does not serve. An interval of the list whose first node has the message is halved: the
first node sends, along the tree, to the first node of the right part. In the next step both parts
do the same. Parts may have any size up to 2^s nodes for s steps left. For a list of N nodes
ceil(log2 N) steps are enough.

**Within a step no directed link is used twice.** The paths of a step lead from u to v and from u'
to v', where u < v < u' < v' in the list, as their intervals do not overlap. Suppose that both use
the tree edge between a node y and its parent. The listed nodes among y and its descendants are an
interval Y of the list. Each path has one end in Y and one outside, so only v and u' can be in Y. If
u were in Y, then v, u' and v' would be right of Y; if v' were in Y, then u, v and u' would be left
of Y. So the first path leads down into Y and the second up out of Y: they use the edge's two
different links.

Dynamic programming over the intervals chooses the cuts. Only intervals of more than :data:`WINDOW`
nodes are cut where the path is shortest. The tree and the order of children are free too: a few are
tried, and changes of the best are kept if they do not cost more.
"""

from typing import NamedTuple

import numpy as np

from ...base.arrays import Int32s
from ...base.compiled import compiled
from .graph import UNKNOWN, Graph, Members

WINDOW = 64
"""Most nodes of an interval that is cut optimally."""


class TreeSends(NamedTuple):
    """A broadcast along a tree: rows (step from 1, source, target); the root's parent is -1."""

    tcd: int
    rows: Int32s
    parents: Int32s


def interval_sends(
    graph: Graph, root: int, steps: int, trials: int, members: Members | None = None
) -> TreeSends:
    """Return the cheapest broadcast found from ``root`` along trees of a connected ``graph``.

    It serves the nodes for which ``members`` is true, shape (nodes,), with the root; None stands
    for all. Two trees, each with two orders of children, are tried, then ``trials`` changes of the
    best.
    """
    if members is None:
        members = np.ones(graph.nodes, np.bool_)
    tried = []
    for parents in (_broad_tree(graph, root), _deep_tree(graph, root)):
        beneath = sizes_beneath(parents, root)
        for ranks in (beneath, -beneath):
            tried.append((_sends_along(parents, ranks, root, steps, members), ranks))
    best, ranks = min(tried, key=lambda pair: pair[0].tcd)
    if trials and best.tcd > len(best.rows):
        draws = np.random.default_rng(graph.nodes).integers(0, 1 << 30, (trials, 3), dtype=np.int32)
        parents, ranks = best.parents.copy(), ranks.copy()
        improve(graph.offsets, graph.neighbors, parents, ranks, root, steps, draws, members)
        best = _sends_along(parents, ranks, root, steps, members)
    return best


def _sends_along(
    parents: Int32s, ranks: Int32s, root: int, steps: int, members: Members
) -> TreeSends:
    order, _, above = preorder(parents, ranks, root)
    tcd, rows = cut_intervals(*depths_of_members(order, above, members), steps)
    rows[:, 1:] = order[members[order]][rows[:, 1:]]
    return TreeSends(tcd, rows, parents)


@compiled
def improve(
    offsets: Int32s,
    neighbors: Int32s,
    parents: Int32s,
    ranks: Int32s,
    root: int,
    steps: int,
    draws: Int32s,
    members: Members,
) -> None:
    """Change a tree at random; keep changes that do not raise the TCD.

    A change gives a random node the rank of another node among its siblings, and, if possible,
    another parent: a neighbour that is not beneath the node.
    """
    nodes = parents.size
    beneath = sizes_beneath(parents, root)
    order, place, above = preorder(parents, ranks, root)
    depth, meeting = depths_of_members(order, above, members)
    least = cut_intervals(depth, meeting, steps)[0]
    for trial in range(draws.shape[0]):
        node = draws[trial, 0] % nodes
        if node == root:
            continue
        old_parent, old_rank = parents[node], ranks[node]
        degree = offsets[node + 1] - offsets[node]
        parent = neighbors[offsets[node] + draws[trial, 1] % degree]
        if not place[node] <= place[parent] < place[node] + beneath[node]:
            parents[node] = parent
        ranks[node] = ranks[draws[trial, 2] % nodes]
        order, new_place, above = preorder(parents, ranks, root)
        depth, meeting = depths_of_members(order, above, members)
        cost = cut_intervals(depth, meeting, steps)[0]
        if cost <= least:
            least, place = cost, new_place
            beneath = sizes_beneath(parents, root)
        else:
            parents[node], ranks[node] = old_parent, old_rank


def tree_path(parents: Int32s, source: int, target: int) -> list[int]:
    """Return the nodes of the path from ``source`` to ``target`` in the tree of ``parents``."""
    up, down = [source], [target]
    while up[-1] >= 0:
        up.append(int(parents[up[-1]]))
    above = {node: place for place, node in enumerate(up)}
    while down[-1] not in above:
        down.append(int(parents[down[-1]]))
    return up[: above[down[-1]]] + down[::-1]


def _broad_tree(graph: Graph, root: int) -> Int32s:
    """Return the parents of a tree of shortest paths: each node's lowest closer neighbour."""
    distances = graph.distances(root)
    parents = np.full(graph.nodes, -1, np.int32)
    nodes = np.repeat(np.arange(graph.nodes), np.diff(graph.offsets))
    closer = distances[graph.neighbors] == distances[nodes] - 1
    parents[nodes[closer][::-1]] = graph.neighbors[closer][::-1]
    return parents


def _deep_tree(graph: Graph, root: int) -> Int32s:
    """Return the parents of a tree of depth-first search, with few and long branches."""
    parents = np.full(graph.nodes, -1, np.int32)
    following = graph.offsets[:-1].tolist()
    ends, neighbors = graph.offsets[1:].tolist(), graph.neighbors.tolist()
    stack = [root]
    while stack:
        node = stack[-1]
        if following[node] == ends[node]:
            stack.pop()
            continue
        other = neighbors[following[node]]
        following[node] += 1
        if other != root and parents[other] < 0:
            parents[other] = node
            stack.append(other)
    return parents


@compiled
def preorder(parents: Int32s, ranks: Int32s, root: int) -> tuple[Int32s, Int32s, Int32s]:
    """List a tree in preorder, children by ascending rank, which is -nodes to nodes.

    Returns the nodes by place, the place of each node, and for each place that of the parent, -1 at
    place 0.
    """
    nodes = parents.size
    first, following = children_by_rank(parents, ranks)
    order, place = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    above = np.full(nodes, -1, np.int32)
    node = root
    for at in range(nodes):
        order[at] = node
        place[node] = at
        if node != root:
            above[at] = place[parents[node]]
        child = first[node]
        while child < 0 and node != root:  # up to where a branch is left
            child = following[node]
            node = parents[node]
        node = child
    return order, place, above


@compiled
def children_by_rank(parents: Int32s, ranks: Int32s) -> tuple[Int32s, Int32s]:
    """Return the first child of each node and each node's next sibling, -1 for none."""
    nodes = parents.size
    last_of_rank, before = np.full(2 * nodes + 1, -1, np.int32), np.empty(nodes, np.int32)
    for node in range(nodes):
        before[node] = last_of_rank[ranks[node] + nodes]
        last_of_rank[ranks[node] + nodes] = node
    first, following = np.full(nodes, -1, np.int32), np.full(nodes, -1, np.int32)
    for rank in range(2 * nodes, -1, -1):
        node = last_of_rank[rank]
        while node >= 0:
            parent = parents[node]
            if parent >= 0:
                following[node] = first[parent]
                first[parent] = node
            node = before[node]
    return first, following


@compiled
def sizes_beneath(parents: Int32s, root: int) -> Int32s:
    """Return the number of nodes beneath each node of a tree, the node included."""
    order, _, _ = preorder(parents, parents, root)
    beneath = np.ones(parents.size, np.int32)
    for place in range(parents.size - 1, 0, -1):
        beneath[parents[order[place]]] += beneath[order[place]]
    return beneath


@compiled
def depths_of_members(order: Int32s, above: Int32s, members: Members) -> tuple[Int32s, Int32s]:
    """Return each member's depth, in preorder, and the highest depth on the path from the last.

    ``above`` has the place of the parent of each place, -1 at place 0; ``members`` is by node. The
    second array has the depth of the highest node between the member before and this one.
    """
    depth = np.zeros(order.size, np.int32)
    member_depth = np.zeros(members.sum(), np.int32)
    meeting = np.zeros(member_depth.size, np.int32)
    listed = highest = 0
    for place in range(order.size):
        if place > 0:
            depth[place] = depth[above[place]] + 1
            # Between two nodes that follow each other in preorder the parent of the second is it.
            highest = min(highest, depth[place] - 1)
        if members[order[place]]:
            member_depth[listed] = depth[place]
            meeting[listed] = highest
            listed += 1
            highest = depth[place]
    return member_depth, meeting


@compiled
def cut_intervals(depth: Int32s, meeting: Int32s, steps: int) -> tuple[int, Int32s]:
    """Cut the whole list down to single nodes: the TCD, and rows (step, source, target) of places.

    ``depth`` and ``meeting`` are those of :func:`depths_of_members`, shape (listed nodes,).
    """
    nodes = depth.size
    # Intervals to be cut, as begin, end and the number of steps that are left.
    intervals = np.empty((2 * nodes, 3), np.int32)
    set_row(intervals, 0, 0, nodes, steps)
    known = 1
    rows = np.empty((nodes - 1, 3), np.int32)
    tcd = made = at = 0
    while at < known:
        begin, end, left = intervals[at, 0], intervals[at, 1], intervals[at, 2]
        at += 1
        if end - begin <= WINDOW:
            tcd += cut_window(depth, meeting, begin, end, steps - left, left, rows[made:])
            made += end - begin - 1
            continue
        hops = hops_from(depth, meeting, begin, end)
        half = 1 << left - 1
        cut = max(1, end - begin - half)
        for other in range(cut + 1, min(end - begin - 1, half) + 1):
            if hops[other] < hops[cut]:
                cut = other
        tcd += hops[cut]
        set_row(rows, made, steps - left + 1, begin, begin + cut)
        set_row(intervals, known, begin, begin + cut, left - 1)
        set_row(intervals, known + 1, begin + cut, end, left - 1)
        made += 1
        known += 2
    return tcd, rows


@compiled
def set_row(rows: Int32s, at: int, first: int, second: int, third: int) -> None:
    """Set a row of three columns: compiled in no time, other than ``rows[at] = ...``."""
    rows[at, 0], rows[at, 1], rows[at, 2] = first, second, third


@compiled
def hops_from(depth: Int32s, meeting: Int32s, begin: int, end: int) -> Int32s:
    """Return the tree's hops from place ``begin`` to the places from there up to ``end``."""
    hops = np.zeros(end - begin, np.int32)
    highest = depth[begin]
    for place in range(begin + 1, end):
        highest = min(highest, meeting[place])
        hops[place - begin] = depth[begin] + depth[place] - 2 * highest
    return hops


@compiled
def cut_window(
    depth: Int32s,
    meeting: Int32s,
    begin: int,
    end: int,
    before: int,
    steps: int,
    rows: Int32s,
) -> int:
    """Cut an interval, from step ``before`` + 1 on, at the least TCD, which is returned.

    The first end - begin - 1 ``rows`` are set to the sends. The cost of [i, j) in s steps is the
    least of hops(i, m) + cost of [i, m) + cost of [m, j) in s - 1 steps over the cuts m whose parts
    fit.
    """
    width = end - begin
    rounds = min(steps, 7)  # 64 nodes need 6; one more than that is hardly of use
    cost = np.full((rounds + 1, width, width + 1), UNKNOWN, np.int32)
    cuts = np.zeros((rounds + 1, width, width + 1), np.int32)
    for left in range(rounds + 1):
        for first in range(width):
            cost[left, first, first + 1] = 0
    for first in range(width - 2, -1, -1):
        hops = hops_from(depth, meeting, begin + first, end)
        for left in range(1, rounds + 1):
            half = 1 << left - 1
            for last in range(first + 2, min(first + 2 * half, width) + 1):
                for cut in range(max(first + 1, last - half), min(last - 1, first + half) + 1):
                    parts = cost[left - 1, first, cut] + cost[left - 1, cut, last]
                    if hops[cut - first] + parts < cost[left, first, last]:
                        cost[left, first, last] = hops[cut - first] + parts
                        cuts[left, first, last] = cut
    read_cuts(cuts, begin, before, rows)
    return int(cost[rounds, 0, width])


@compiled
def read_cuts(cuts: Int32s, begin: int, before: int, rows: Int32s) -> None:
    """Set ``rows`` to the sends of a whole window: see :func:`cut_window`."""
    rounds, width = cuts.shape[0] - 1, cuts.shape[1]
    intervals = np.empty((2 * width, 3), np.int32)
    set_row(intervals, 0, 0, width, rounds)
    known = 1
    made = 0
    for at in range(2 * width - 1):
        first, last, left = intervals[at, 0], intervals[at, 1], intervals[at, 2]
        if last - first > 1:
            cut = cuts[left, first, last]
            set_row(rows, made, before + rounds - left + 1, begin + first, begin + cut)
            set_row(intervals, known, first, cut, left - 1)
            set_row(intervals, known + 1, cut, last, left - 1)
            made += 1
            known += 2
