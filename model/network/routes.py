"""Routes: one shortest route for each source and target, at every node by a port that leads closer.

Where several ports lead closer it is the lowest one, but for one tie. What that means:

* On a grid without faults it is dimension order: the whole way along axis 0, then along axis 1, and
  so on. On a wrapped axis the route goes the shorter way round. Such routes are computed by axis,
  all at once (:func:`dimension_order`)::

      source --- - --- +          axis 0 first: x, then y
                       |
                     target

  The tie is where both ways round an axis are equally long: there the route goes up if its source's
  coordinate on the axis is even, and down if it is odd. So as many routes go up as down. (Always
  up, all pairs of a ring of 8 load its links up with 10 routes each and those down with 6; this
  way all have 8.)

* On any other graph, and around faults, a search from each target finds the ports that lead closer,
  and the lowest is taken everywhere (:func:`shortest_paths`).

With the links of a mesh as channels dimension-order routes never wait for each other in a circle,
because no route turns from a later axis to an earlier one. Around a ring they may; there the
channels of each axis are two classes, with a dateline between the ends of the axis
(:func:`dateline_vcs`)::

    VC 0 -> VC 0 -> VC 0 -> [wrap link on VC 0] -> VC 1 -> VC 1 ...   next axis: VC 0 again

Most routes never meet the dateline, and with them class 0 carries most of the flits; so traffic
draws a class for those (:func:`balanced_vcs`, where it is proved that nothing can wait in a circle
then either).

(Dally & Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks", IEEE
Trans. Computers C-36(5), 1987.) Other graphs and routes around faults promise nothing:
:func:`.certify` tells.

Paths list nodes. Where links are parallel, as on a torus axis of length 2, the link that is meant
is the one with the lowest port (:meth:`.Topology.ports_between`).
"""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from ..base.pieces import offsets_of
from .segment import Routes
from .topology import NO_LINK, Topology

Nodes = npt.NDArray[np.integer]
Offsets = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]

FAR = 1 << 30
"""A distance that no node has: what cannot be reached is this far away."""


def route(
    topology: Topology, sources: Nodes, targets: Nodes, vcs: int
) -> tuple[Offsets, Numbers, Numbers]:
    """Routes from each source to its target, as ``(path_offsets, path_nodes, path_vcs)``.

    ``sources`` and ``targets`` are nodes, shape (routes,). Path *i* is
    ``path_nodes[path_offsets[i]:path_offsets[i + 1]]``, both ends included; ``path_offsets`` has
    shape (routes + 1,). ``path_vcs`` has one VC for each link, so those of path *i* begin at
    ``path_offsets[i] - i``. A route from a node to itself has that node and no link.

    ``vcs`` is what the network has: with two or more, wrapped axes use 0 and 1 as their dateline
    classes, and nothing uses the others.

    Raises :class:`InvalidInput` for a node that does not exist and for a target that cannot be
    reached.
    """
    require_range("vcs", vcs, 1)
    for name, ends in (("source", sources), ("target", targets)):
        for node in ends[(ends < 0) | (ends >= topology.nodes)][:1].tolist():
            require_range(name, node, 0, topology.nodes - 1)
    whole_grid = topology.dims and topology.without_faults is None
    find = dimension_order if whole_grid else shortest_paths
    path_offsets, path_nodes = find(topology, sources, targets)
    if vcs > 1 and topology.wrapped:
        path_vcs = dateline_vcs(topology, path_offsets, path_nodes)
    else:
        path_vcs = np.zeros(path_nodes.size - sources.size, dtype=np.int32)
    return path_offsets, path_nodes, path_vcs


def dimension_order(topology: Topology, sources: Nodes, targets: Nodes) -> tuple[Offsets, Numbers]:
    """Paths on a grid without faults as ``(path_offsets, path_nodes)``: see :func:`route`.

    Where both ways round an axis are equally long, a route goes up from an even coordinate and down
    from an odd one: all pairs together then cross as many links up the axis as down it, and on an
    axis whose length is a multiple of 4 every link is crossed equally often. (On an axis of length
    2 both ways are parallel links, and a path does not tell them apart.)

    The work is proportional to the length of the result, whatever the number of axes.
    """
    starts, ends = topology.coordinates(sources), topology.coordinates(targets)
    # A path is a run of equal differences between node numbers for each axis (three runs where it
    # may cross the link between the ends), after one jump from the end of the path before it to its
    # own source: one running sum makes all paths.
    jumps = np.array(sources, dtype=np.int64)
    jumps[1:] -= targets[:-1]
    differences, lengths = [jumps], [np.ones(sources.size, dtype=np.int64)]
    stride = 1
    for axis, side in enumerate(topology.dims):
        start, end = starts[:, axis], ends[:, axis]
        if axis in topology.wrapped:
            around = (end - start) % side
            # An odd start loses the tie; it decides nothing else, as 2 * around is even.
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


def shortest_paths(topology: Topology, sources: Nodes, targets: Nodes) -> tuple[Offsets, Numbers]:
    """Paths on any graph as ``(path_offsets, path_nodes)``: see :func:`route`.

    Every different target costs a search through the whole graph: meant for thousands of nodes.
    """
    nodes, ports = np.nonzero(topology.neighbor != NO_LINK)
    before: list[list[int]] = [[] for _ in range(topology.nodes)]
    for node, end in zip(nodes.tolist(), topology.neighbor[nodes, ports].tolist(), strict=True):
        before[end].append(node)
    paths: list[list[int]] = [[]] * sources.size
    order = np.argsort(targets, kind="stable").tolist()
    target, closer = NO_LINK, [NO_LINK]
    for place in order:
        if targets[place] != target:
            target = int(targets[place])
            closer = _next_nodes(topology, before, target)
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


def _next_nodes(topology: Topology, before: list[list[int]], target: int) -> list[int]:
    """Next node by the lowest port that leads closer to ``target``, for each node; -1 for none.

    ``before[node]`` are the nodes from which a link leads to ``node``.
    """
    # One entry more than nodes: the neighbour -1, no link, leads there and is never closer.
    distance = [FAR] * (topology.nodes + 1)
    distance[target] = 0
    queue = deque([target])
    while queue:
        node = queue.popleft()
        for farther in before[node]:
            if distance[farther] == FAR:
                distance[farther] = distance[node] + 1
                queue.append(farther)
    distances = np.array(distance)
    leads_closer = distances[topology.neighbor] == distances[:-1, np.newaxis] - 1
    ports = leads_closer.argmax(axis=1)  # the first; column 0 where there is none, which holds -1
    following: list[int] = topology.neighbor[np.arange(topology.nodes), ports].tolist()
    return following


def dateline_vcs(topology: Topology, path_offsets: Offsets, path_nodes: Numbers) -> Numbers:
    """VCs of paths on a grid with wrapped axes: see :func:`route`, for shapes too.

    A path uses VC 0 on each axis up to and including the link between the two ends of the axis, and
    VC 1 after it, until it turns into another axis.
    """
    run, wraps = _dateline(topology, path_offsets, path_nodes)
    crossed: npt.NDArray[np.int64] = np.cumsum(wraps) - wraps
    crossed_before = crossed[np.flatnonzero(np.diff(run, prepend=-1))]
    vcs: Numbers = (crossed > crossed_before[run]).astype(np.int32)
    return vcs


def balanced_vcs(
    topology: Topology, path_offsets: Offsets, path_nodes: Numbers, draw: np.random.Generator
) -> Numbers:
    """Like :func:`dateline_vcs`, but a run along an axis that stays off the wrap link draws its VC.

    Such a run is on VC 0 as a whole or on VC 1 as a whole, evenly by lot. The paths must be those
    of :func:`dimension_order`. Then no packets wait for each other in a circle: number the channels
    of the network by (axis, up or down, VC, place), where place counts the links of a ring from
    the dateline on, in the direction of travel, so that the wrap link is the last one::

        ring of 4, up:   0 --> 1 --> 2 --> 3 --> 0
        place               0     1     2     3 (the wrap link)

    A path that goes from one channel straight to another goes to a higher number:

    * into another axis: axes come in order, and no path turns back on an axis;
    * on the same VC of an axis: to the next place. Only the wrap link leads to a lower one, and no
      path stays on its VC there: a run crosses it on VC 0 and goes on on VC 1. What is on VC 1
      never uses the wrap link: be it the rest of such a run, which is less than a whole round, or
      a run that was drawn, which stays off it;
    * from VC 0 to VC 1 of an axis: past the wrap link; and no run goes from VC 1 to VC 0.

    So the channel dependency graph has no cycle (Dally & Seitz, Theorem 1;
    :mod:`..program.deadlock`), and copies of it side by side, which are what lanes of VCs make,
    have none either.
    """
    run, wraps = _dateline(topology, path_offsets, path_nodes)
    crosses = np.bincount(run, weights=wraps) > 0
    drawn = draw.integers(0, 2, crosses.size, dtype=np.int32)
    vcs = dateline_vcs(topology, path_offsets, path_nodes)
    return np.where(crosses[run], vcs, drawn[run])


def _dateline(
    topology: Topology, path_offsets: Offsets, path_nodes: Numbers
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The run along an axis that each link of all paths is in, and whether it is a wrap link.

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
    """All paths of :func:`route` as segments: as long as port and VC stay the same it is one.

    Raises :class:`InvalidInput` where a path does not follow links.
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
) -> tuple[Nodes, Numbers, npt.NDArray[np.bool_]]:
    """List the links of all paths: node, port, and whether it is the first of its path."""
    inner = np.ones(path_nodes.size, dtype=bool)
    inner[path_offsets[1:] - 1] = False
    begins, ends = path_nodes[inner], path_nodes[np.flatnonzero(inner) + 1]
    ports = topology.ports_between(begins, ends)
    for place in np.flatnonzero(ports == NO_LINK)[:1]:
        raise InvalidInput.of("path", "along links", f"{begins[place]} -> {ends[place]}")
    first = np.zeros(path_nodes.size, dtype=bool)
    first[path_offsets[:-1]] = True
    return begins, ports, first[inner]
