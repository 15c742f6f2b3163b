"""Links between some nodes, past the others: paths that share no link.

Switches, and nodes that a multicast does not serve, only pass words on. Such a node is *split off*:
each link into it is joined with a link out of it, to one longer link::

    a -> s -> b, c         s is split off          a ----> b      (a -> s -> b)
    b -> s -> a, c         ==============>         b ----> c      (b -> s -> c)
    c -> s -> a, b                                 c ----> a      (c -> s -> a)

If each node has as many links in as out, such nodes can be split off without a loss: the root keeps
its number of paths without a common link to each remaining node (W. Mader,
"Konstruktion aller n-fach kantenzusammenhängenden Digraphen", European J. Combinatorics 3, 1982;
A. Frank, "On connectivity properties of Eulerian digraphs", 1989). ForestColl removes switches in
this way (Zhao et al., 2024, arXiv:2402.06787). Flows tell which two links may be joined.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base.arrays import Numbers
from ...base.compiled import compiled
from ...network.links import linked_pairs
from ...network.topology import Topology

Path = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class PathLinks:
    """Paths of one or more links of a network, no two with a common link.

    Path i leads from node ``begins[i]`` to node ``ends[i]``; both have shape (paths,).
    """

    begins: Numbers
    ends: Numbers
    paths: tuple[Path, ...]

    @classmethod
    def of(cls, paths: list[Path]) -> PathLinks:
        """Return ``paths`` with the columns of their ends."""
        ends = np.array([(path[0], path[-1]) for path in paths], np.int64).reshape(-1, 2)
        return cls(ends[:, 0], ends[:, 1], tuple(paths))


def links_past(topology: Topology, root: int, goals: Numbers) -> PathLinks:
    """Return the links of ``topology``, joined past all nodes except ``root`` and ``goals``.

    If links lead both ways, the fewest paths without a common link from the root to any goal stay
    as many as in ``topology``; otherwise they may become fewer.
    """
    begins, ends = linked_pairs(topology)
    passing = np.setdiff1d(begins, [root, *goals.tolist()])
    if not len(passing) or not len(goals):
        return PathLinks.of(list(zip(begins.tolist(), ends.tolist(), strict=True)))
    all_links = np.zeros((topology.nodes, topology.nodes), np.int64)
    all_links[begins, ends] = 1
    both_ways = np.minimum(all_links, all_links.T)
    found: list[tuple[int, list[Path]]] = []
    for links in (both_ways, all_links):
        most = _fewest(links, root, goals, int(all_links[root].sum()))
        if not found or most > found[0][0]:
            found.append(_without(passing, links, root, goals, most))
    return PathLinks.of(max(found, key=lambda made: made[0])[1])


def _without(
    passing: Numbers, links: Numbers, root: int, goals: Numbers, most: int
) -> tuple[int, list[Path]]:
    """Split ``passing`` off ``links``; return the fewest disjoint paths to a goal, and paths."""
    room = links.copy()
    paths: list[Path] = [(begin, end) for begin, end in np.argwhere(links).tolist()]
    for node in passing.tolist():
        paths = _split_off(node, paths, room, root, goals, most)
    return _fewest(room, root, goals, most), paths


def _split_off(
    node: int, paths: list[Path], room: Numbers, root: int, goals: Numbers, most: int
) -> list[Path]:
    """Join the paths to ``node`` with those away from it, the shortest first.

    ``room`` counts the paths between each two nodes, shape (nodes, nodes); it is changed. The root
    keeps ``most`` disjoint routes over these paths to each of ``goals``. Paths that cannot be
    joined are left out.
    """
    kept = [path for path in paths if node not in (path[0], path[-1])]
    ahead = sorted((path for path in paths if path[0] == node), key=len)
    for before in sorted((path for path in paths if path[-1] == node), key=len):
        for after in ahead:
            begin, end = before[0], after[-1]
            if begin == end:
                continue
            room[[begin, node], [node, end]] -= 1
            room[begin, end] += 1
            if _all_reached(room, root, goals, most):
                ahead.remove(after)
                kept.append(without_circles((*before, *after[1:])))
                break
            room[[begin, node], [node, end]] += 1
            room[begin, end] -= 1
    room[node] = room[:, node] = 0
    return kept


def without_circles(path: Path) -> Path:
    """Return the path without its circles."""
    found: list[int] = []
    for node in path:
        if node in found:
            del found[found.index(node) :]
        found.append(node)
    return tuple(found)


def _fewest(room: Numbers, root: int, goals: Numbers, most: int) -> int:
    """Count disjoint paths, up to ``most``, from ``root`` to the goal that has the fewest."""
    while not _all_reached(room, root, goals, most):
        most -= 1
    return most


@compiled
def _all_reached(room: Numbers, root: int, goals: Numbers, most: int) -> bool:
    """Return whether ``most`` paths without a common link lead from ``root`` to each goal."""
    nodes = len(room)
    before, queue = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    for goal in goals:
        left = room.copy()
        for _ in range(most):
            before[:] = -1
            before[root], queue[0] = root, root
            begin, end = 0, 1
            while begin < end and before[goal] < 0:
                node = queue[begin]
                begin += 1
                for each in range(nodes):
                    if left[node, each] > 0 and before[each] < 0:
                        before[each], queue[end] = node, each
                        end += 1
            if before[goal] < 0:
                return False
            node = goal
            while node != root:
                left[before[node], node] -= 1
                left[node, before[node]] += 1
                node = before[node]
    return True
