"""Shortest routes, which at every node take a port that leads closer to the target.

If several ports lead closer, the lowest one is taken, with one exception. The result:

* On a grid without faults the result is dimension order: all hops along axis 0, then along axis 1,
  and so on. On a wrapped axis the route goes the shorter way round. All such routes are computed at
  the same time, axis by axis (:func:`dimension_order`)::

      source --- - --- +          axis 0 first: x, then y
                       |
                     target

  The exception is a tie, when both ways round an axis are equally long. Then the route goes up if
  its source's coordinate on the axis is even, and down if it is odd, so that both ways get equally
  many routes. (Always up, all pairs of a ring of 8 put 10 routes on each link up and 6 on each link
  down; this way each link has 8.)

* On any other graph, and around faults, a search from each target finds the ports that lead closer,
  and every node takes the lowest (:func:`shortest_paths`).

With the links of a mesh as channels, dimension-order routes never wait for each other in a circle,
because no route turns from a later axis to an earlier one. Around a ring they may. There the
channels of each axis form two classes, with a dateline between the ends of the axis
(:func:`dateline_vcs`)::

    VC 0 -> VC 0 -> VC 0 -> [wrap link on VC 0] -> VC 1 -> VC 1 ...   next axis: VC 0 again

Most routes never cross the dateline, so class 0 would carry most of the flits. Traffic therefore
draws a class for the routes that do not cross it (:func:`balanced_vcs`, which also proves that no
circle of waits is possible then).

(Dally & Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks", IEEE
Trans. Computers C-36(5), 1987.) For other graphs and for routes around faults there is no such
proof: :func:`.certify` checks each program.

Paths list nodes. If links are parallel, as on a torus axis of length 2, a path means the link with
the lowest port (:meth:`.Topology.ports_between`).
"""

from collections import deque

import numpy as np
import numpy.typing as npt

from ..base.arrays import Int32s
from ..base.errors import InvalidInput, require_range
from ..base.ragged import offsets_of
from .segment import Routes
from .topology import NO_LINK, Topology

Nodes = npt.NDArray[np.integer]
Offsets = npt.NDArray[np.int64]

FAR = 1 << 30
"""The distance of unreachable nodes, larger than any real one."""


def route(
    topology: Topology, sources: Nodes, targets: Nodes, vcs: int
) -> tuple[Offsets, Int32s, Int32s]:
    """Return routes from each source to its target: ``(path_offsets, path_nodes, path_vcs)``.

    ``sources`` and ``targets`` are nodes, shape (routes,). Path *i* is
    ``path_nodes[path_offsets[i]:path_offsets[i + 1]]``, both ends included; ``path_offsets`` has
    shape (routes + 1,). ``path_vcs`` has one VC for each link, so those of path *i* begin at
    ``path_offsets[i] - i``. A route from a node to itself has that node and no link.

    ``vcs`` is the network's number of VCs. With two or more, wrapped axes use VCs 0 and 1 as their
    dateline classes; no route uses the others.

    Raises :class:`.InvalidInput` for a node that does not exist and for a target that no path
    reaches.
    """
    require_range("vcs", vcs, 1)
    for name, ends in (("source", sources), ("target", targets)):
        for node in ends[(ends < 0) | (ends >= topology.nodes)][:1].tolist():
            require_range(name, node, 0, topology.nodes - 1)
    if topology.whole_grid:
        path_offsets, path_nodes = dimension_order(topology, sources, targets)
    else:
        path_offsets, path_nodes = shortest_paths(topology.neighbor, sources, targets)
    if vcs > 1 and topology.wrapped:
        path_vcs = dateline_vcs(topology, path_offsets, path_nodes)
    else:
        path_vcs = np.zeros(path_nodes.size - sources.size, dtype=np.int32)
    return path_offsets, path_nodes, path_vcs


def dimension_order(topology: Topology, sources: Nodes, targets: Nodes) -> tuple[Offsets, Int32s]:
    """Return paths on a grid without faults as ``(path_offsets, path_nodes)``: see :func:`route`.

    If both ways round an axis are equally long, a route goes up from an even coordinate and down
    from an odd one. Then all pairs together cross as many links up the axis as down it. On an axis
    whose length is a multiple of 4, all links are crossed equally often. (On an axis of length 2
    both ways are parallel links, and a path does not distinguish them.)

    The work is proportional to the length of the result, whatever the number of axes.
    """
    starts, ends = topology.coordinates(sources), topology.coordinates(targets)
    # Each axis of a path is a run of equal differences between node numbers, or three runs if it
    # may cross the wrap link. A jump leads from the end of the path before to the path's source.
    # One running sum over all differences gives all paths.
    jumps = np.array(sources, dtype=np.int64)
    jumps[1:] -= targets[:-1]
    differences, lengths = [jumps], [np.ones(sources.size, dtype=np.int64)]
    stride = 1
    for axis, side in enumerate(topology.dims):
        start, end = starts[:, axis], ends[:, axis]
        if axis in topology.wrapped:
            around = (end - start) % side
            # An odd start loses the tie; it changes no other case, because 2 * around is even.
            up = 2 * around + (start & 1) <= side
            hops = np.where(up, around, side - around)
            before = np.minimum(hops, np.where(up, side - 1 - start, start))
            step = np.where(up, stride, -stride)
            wrap = np.minimum(hops - before, 1)
            differences += [step, (1 - side) * step, step]
            lengths += [before, wrap, hops - before - wrap]
        else:
            differences.append(np.sign(end - start) * stride)
            lengths.append(np.abs(end - start))
        stride *= side
    steps, counts = np.stack(differences, axis=1), np.stack(lengths, axis=1)
    path_nodes = np.cumsum(np.repeat(steps.ravel(), counts.ravel()), dtype=np.int32)
    return offsets_of(counts.sum(axis=1)), path_nodes


def shortest_paths(neighbor: Int32s, sources: Nodes, targets: Nodes) -> tuple[Offsets, Int32s]:
    """Return paths on any graph as ``(path_offsets, path_nodes)``: see :func:`route`.

    ``neighbor`` is the table of :class:`.Topology`. Each distinct target costs a search through the
    whole graph: suitable for thousands of nodes.
    """
    nodes, ports = np.nonzero(neighbor != NO_LINK)
    before: list[list[int]] = [[] for _ in neighbor]
    for node, end in zip(nodes.tolist(), neighbor[nodes, ports].tolist(), strict=True):
        before[end].append(node)
    paths: list[list[int]] = [[]] * sources.size
    order = np.argsort(targets, kind="stable").tolist()
    target, closer = NO_LINK, [NO_LINK]
    for place in order:
        if targets[place] != target:
            target = int(targets[place])
            closer = _next_nodes(neighbor, before, target)
        path = [int(sources[place])]
        while path[-1] != target:
            path.append(closer[path[-1]])
            if path[-1] == NO_LINK:
                raise InvalidInput.of(
                    f"target of a route from node {path[0]}", "a node that it can reach", target
                )
        paths[place] = path
    lengths = np.fromiter(map(len, paths), np.int64, len(paths))
    flat = (node for path in paths for node in path)
    return offsets_of(lengths), np.fromiter(flat, np.int32, int(lengths.sum()))


def _next_nodes(neighbor: Int32s, before: list[list[int]], target: int) -> list[int]:
    """Return each node's next node by the lowest port that leads closer; -1 without one.

    ``before[node]`` lists the nodes with a link to ``node``.
    """
    # One extra entry: index -1, the neighbour of a port without a link, which is never closer.
    distance = [FAR] * (len(neighbor) + 1)
    distance[target] = 0
    queue = deque([target])
    while queue:
        node = queue.popleft()
        for farther in before[node]:
            if distance[farther] == FAR:
                distance[farther] = distance[node] + 1
                queue.append(farther)
    distances = np.array(distance)
    leads_closer = distances[neighbor] == distances[:-1, np.newaxis] - 1
    ports = leads_closer.argmax(axis=1)  # the first one; without any, column 0, which holds -1
    following: list[int] = neighbor[np.arange(len(neighbor)), ports].tolist()
    return following


def dateline_vcs(topology: Topology, path_offsets: Offsets, path_nodes: Int32s) -> Int32s:
    """Return the VCs of paths on a grid with wrapped axes; shapes as in :func:`route`.

    On each axis a path uses VC 0 up to and including the wrap link between the two ends, and VC 1
    after it, until the path turns into another axis.
    """
    run, wraps = _dateline(topology, path_offsets, path_nodes)
    crossed: npt.NDArray[np.int64] = np.cumsum(wraps) - wraps
    crossed_before = crossed[np.flatnonzero(np.diff(run, prepend=-1))]
    vcs: Int32s = (crossed > crossed_before[run]).astype(np.int32)
    return vcs


def balanced_vcs(
    topology: Topology, path_offsets: Offsets, path_nodes: Int32s, draw: np.random.Generator
) -> Int32s:
    """Return :func:`dateline_vcs`, but draw the VC of a run along an axis without the wrap link.

    Such a run is on VC 0 or on VC 1 as a whole, with equal probability. The paths must be those of
    :func:`dimension_order`. Then no packets wait for each other in a circle. To prove it, number
    the channels by (axis, up or down, VC, place). The place counts the links of a ring from the
    dateline on in the direction of travel, so the wrap link is the last::

        ring of 4, up:   0 --> 1 --> 2 --> 3 --> 0
        place               0     1     2     3 (the wrap link)

    A path that goes from one channel to the next always goes to a higher number:

    * into another axis: axes come in order, and no path turns back on an axis;
    * on the same VC of an axis, to the next place. Only the wrap link leads to a lower one, and no
      path stays on its VC there. A run crosses the wrap link on VC 0 and continues on VC 1. No run
      uses the wrap link on VC 1: the rest of a run that has crossed it is shorter than a round, and
      a run with a drawn VC does not contain it;
    * from VC 0 to VC 1 of an axis: across the wrap link; no run goes from VC 1 to VC 0.

    So the channel dependency graph has no cycle (Dally & Seitz, Theorem 1;
    ``model.program.deadlock``). Disjoint copies of the graph, which lanes of VCs make, have none
    either.
    """
    run, wraps = _dateline(topology, path_offsets, path_nodes)
    crosses = np.bincount(run, weights=wraps) > 0
    drawn = draw.integers(0, 2, crosses.size, dtype=np.int32)
    vcs = dateline_vcs(topology, path_offsets, path_nodes)
    return np.where(crosses[run], vcs, drawn[run])


def _dateline(
    topology: Topology, path_offsets: Offsets, path_nodes: Int32s
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return for each link of all paths its run along an axis, and whether it is a wrap link.

    Runs are numbered from 0, in order.
    """
    begins, ports, first = _links(topology, path_offsets, path_nodes)
    axes, down = np.divmod(ports - 1, 2)
    last = np.array(topology.dims)[axes] - 1
    at = topology.coordinates(begins)[np.arange(begins.size), axes]
    wraps = np.isin(axes, topology.wrapped) & (at == np.where(down, 0, last))
    turns = first.copy()
    turns[1:] |= axes[1:] != axes[:-1]
    return np.cumsum(turns) - 1, wraps


def segments_of_paths(
    topology: Topology, path_offsets: Offsets, path_nodes: Nodes, path_vcs: Nodes
) -> Routes:
    """Return all paths of :func:`route` as segments; a segment has one port and one VC.

    Raises :class:`.InvalidInput` if a path does not follow links.
    """
    begins, ports, first = _links(topology, path_offsets, path_nodes)
    turns = first.copy()
    turns[1:] |= (ports[1:] != ports[:-1]) | (path_vcs[1:] != path_vcs[:-1])
    at = np.flatnonzero(turns)
    hops = np.diff(at, append=begins.size)
    bounds = np.searchsorted(at, path_offsets - np.arange(path_offsets.size))
    return Routes(bounds, ports[at].astype(np.int64), hops, path_vcs[at].astype(np.int64))


def _links(
    topology: Topology, path_offsets: Offsets, path_nodes: Nodes
) -> tuple[Nodes, Int32s, npt.NDArray[np.bool_]]:
    """Return the links of all paths: node, port, and whether each is the first of its path."""
    inner = np.ones(path_nodes.size, dtype=bool)
    inner[path_offsets[1:] - 1] = False
    begins, ends = path_nodes[inner], path_nodes[np.flatnonzero(inner) + 1]
    ports = topology.ports_between(begins, ends)
    for place in np.flatnonzero(ports == NO_LINK)[:1]:
        raise InvalidInput.of("path", "along links", f"{begins[place]} -> {ends[place]}")
    first = np.zeros(path_nodes.size, dtype=bool)
    first[path_offsets[:-1]] = True
    return begins, ports, first[inner]
