"""Broadcast and multicast by halving a chain of nodes, in ceil(log2 of the chain) steps.

The source and its targets are listed in *dimension order*: by their coordinate on axis 0, then by
axis 1, and so on. The list is cut into halves. The node that has the message sends it to the node
of the other half next to the cut, along axis 0 first. Both halves then do the same. With the source
``s`` in the middle::

    list     a  b  c  d  s  f  g  h      nodes left of the source send to the left,
    step 1            d<-s               nodes right of it to the right, the source both ways
    step 2      b<----d  s---->g
    step 3   a<-b  c<-d  s->f  g->h

**U-mesh** (McKinley, Xu, Esfahanian & Ni, "Unicast-Based Multicast Communication in Wormhole-Routed
Networks", IEEE Trans. Parallel and Distributed Systems 5(12), 1994), for meshes of any sides; on a
hypercube it is the U-cube of the same paper. No two sends of a step share a link. Let their ends be
u < v <= x < y in the list. While a send runs along axis *a*, it has its target's coordinates on the
axes before *a* and its source's on the axes after.

* u to v and x to y (both to the left is the mirror image): if they share a link of axis *a*, v and
  y agree on the axes before *a*; so does x, which is between them. On axis *a* the first send then
  ends at v_a and the second runs from x_a up to y_a, where v_a <= x_a. So the first, if it runs up,
  ends no later than where the second begins.
* v to u and x to y: all four agree on the axes before *a*, and there u_a <= v_a <= x_a <= y_a. The
  first runs down and the second up.
* u to v and y to x do not occur: left of the source no node sends to the right, and right of it
  none to the left.

**U-torus** (Robinson, McKinley & Cheng, "Optimal Multicast Communication in Wormhole-Routed Torus
Networks", IEEE Trans. Parallel and Distributed Systems 6(10), 1995), for tori. The list is rotated
so that it begins with the source: then all sends lead to the right. This was written from
descriptions of the paper, without its text. So two points are our choice:

* What "without contention" means. Here links *are* shared, by two virtual channels. A route that
  crosses the wrap link of an axis is on VC 0 up to and including that link, and on VC 1 after it;
  other routes are on VC 1 (Dally & Seitz). If they were on VC 0, as in :func:`.dateline_vcs`,
  sends would share channels, for example on 3x5 from (0, 0).
* The direction round a ring. Here the shorter, in ties as in :func:`.dimension_order`. Always up
  works too, at a larger TCD. To translate the torus so that the source is at the origin, instead of
  rotating the list, works with neither direction.

No channel is used twice: this was counted, not proved, for every source of all tori of two axes
with sides of 2 to 7, and some more.

**u-torus-open** is ours: cut the torus open opposite the source, on each axis, and use U-mesh on
the resulting mesh. It needs one VC, no link is shared, and its TCD is about the same.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..base.arrays import Int32s
from ..base.errors import require_range
from ..network.routes import Offsets, dimension_order
from ..network.topology import Topology, mesh
from ..schedule.blocks import Blocks
from ..schedule.builder import one_block_schedule
from ..schedule.collective import Collective
from ..schedule.schedule import Schedule
from .declared.algorithm import Declared, multicast, rooted

Nodes = npt.NDArray[np.int64]


def u_mesh_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast ``words`` words from ``source`` to all nodes: see :func:`u_mesh_multicast`."""
    return u_mesh_multicast(topology, source, None, words)


def u_torus_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast ``words`` words from ``source`` to all nodes: see :func:`u_torus_multicast`."""
    return u_torus_multicast(topology, source, None, words)


def u_torus_open_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast ``words`` words from ``source`` to all nodes, on a torus cut open."""
    return u_torus_open_multicast(topology, source, None, words)


def u_mesh_multicast(
    topology: Topology, source: int, targets: Iterable[int] | None, words: int
) -> Schedule:
    """Send ``words`` words from ``source`` to ``targets``; None stands for all other nodes.

    Half-duplex, in ceil(log2(targets + 1)) steps; ``source`` among the targets does not count.
    Raises :class:`.InvalidInput` unless the network is a mesh, line or hypercube without faults,
    for nodes outside it and for a message without words.
    """
    _require_grid("u-mesh", "a mesh, line or hypercube", topology, wrapped=False)
    nodes = _members(topology, source, targets)
    order = nodes[_dimension_order(topology.coordinates(nodes))]
    step, begins, ends = _halve(order, source)
    path_offsets, path_nodes = dimension_order(topology, begins, ends)
    vcs = np.zeros(path_nodes.size - begins.size, np.int32)
    paths = path_offsets, path_nodes, vcs
    return _schedule("u-mesh", topology, source, targets, words, step, paths)


def u_torus_multicast(
    topology: Topology, source: int, targets: Iterable[int] | None, words: int
) -> Schedule:
    """Send ``words`` words from ``source`` to ``targets`` on VCs 0 and 1 of a torus or ring.

    Otherwise as :func:`u_mesh_multicast`.
    """
    _require_grid("u-torus", "a torus or ring", topology, wrapped=True)
    nodes = _members(topology, source, targets)
    order = nodes[_dimension_order(topology.coordinates(nodes))]
    rotated = np.roll(order, -int(np.flatnonzero(order == source)[0]))
    step, begins, ends = _halve(rotated, source)
    path_offsets, path_nodes = dimension_order(topology, begins, ends)
    paths = path_offsets, path_nodes, _wrapping_vcs(topology, path_offsets, path_nodes)
    return _schedule("u-torus", topology, source, targets, words, step, paths)


def u_torus_open_multicast(
    topology: Topology, source: int, targets: Iterable[int] | None, words: int
) -> Schedule:
    """Send ``words`` words from ``source`` to ``targets`` on one VC of a torus or ring cut open.

    Otherwise as :func:`u_mesh_multicast`.
    """
    _require_grid("u-torus-open", "a torus or ring", topology, wrapped=True)
    nodes = _members(topology, source, targets)
    sides = np.array(topology.dims)
    opened = mesh(topology.dims)
    # From a torus coordinate to its mesh coordinate: the source is in the mesh's middle.
    shift = sides // 2 - topology.coordinates(source)
    places = (topology.coordinates(nodes) + shift) % sides
    order = _numbers(opened, places[_dimension_order(places)])
    middle = int(_numbers(opened, sides // 2))
    step, begins, ends = _halve(order, middle)
    path_offsets, path_places = dimension_order(opened, begins, ends)
    path_nodes = _numbers(topology, (opened.coordinates(path_places) - shift) % sides)
    vcs = np.zeros(path_nodes.size - begins.size, np.int32)
    paths = path_offsets, path_nodes.astype(np.int32), vcs
    return _schedule("u-torus-open", topology, source, targets, words, step, paths)


def _require_grid(algorithm: str, allowed: str, topology: Topology, wrapped: bool) -> None:
    alone = topology.nodes == 1 and topology.kind in {"torus", "ring"}
    fits = bool(topology.wrapped or alone) is wrapped
    if not topology.whole_grid or not fits:
        raise topology.refusal(algorithm, f"{allowed} without faults")


def _members(topology: Topology, source: int, targets: Iterable[int] | None) -> Nodes:
    """Return the source and the targets, ascending, each once."""
    last = topology.nodes - 1
    require_range("source", source, 0, last)
    if targets is None:
        return np.arange(topology.nodes)
    members = {source}
    for target in targets:
        require_range("target", target, 0, last)
        members.add(target)
    return np.array(sorted(members))


def _dimension_order(coordinates: Nodes) -> Nodes:
    """Return the indices that sort ``coordinates`` by axis 0, then axis 1 and so on."""
    return np.lexsort(coordinates.T[::-1])


def _numbers(topology: Topology, coordinates: Nodes) -> Nodes:
    """Return the nodes at ``coordinates``, shape (..., axes)."""
    strides = np.cumprod((1, *topology.dims[:-1]))
    numbers: Nodes = coordinates @ strides
    return numbers


def _halve(chain: Nodes, source: int) -> tuple[Int32s, Nodes, Nodes]:
    """Return step, source and target of each send; the ``chain`` must hold ``source``."""
    begin, end = np.zeros(1, np.int64), np.array([chain.size])
    holder = np.flatnonzero(chain == source)
    steps, sources, targets = [], [], []
    for step in range(1, (chain.size - 1).bit_length() + 1):
        cut = (begin + end + 1) // 2
        left = holder < cut
        target = np.where(left, cut, cut - 1)
        splits = end - begin > 1
        steps.append(np.full(np.count_nonzero(splits), step, np.int32))
        sources.append(chain[holder[splits]])
        targets.append(chain[target[splits]])
        to_left, to_right = np.where(left, holder, target), np.where(left, target, holder)
        holder = np.concatenate((np.where(splits, to_left, holder), to_right[splits]))
        begin, end = (
            np.concatenate((begin, cut[splits])),
            np.concatenate((np.where(splits, cut, end), end[splits])),
        )
    if not steps:
        return np.zeros(0, np.int32), chain[:0], chain[:0]
    return np.concatenate(steps), np.concatenate(sources), np.concatenate(targets)


def _wrapping_vcs(topology: Topology, path_offsets: Offsets, path_nodes: Int32s) -> Int32s:
    """Return VC 0 for an axis's hops up to and including its wrap link, VC 1 for all others."""
    inner = np.ones(path_nodes.size, bool)
    inner[path_offsets[1:] - 1] = False
    at = np.flatnonzero(inner)
    sends = np.repeat(np.arange(path_offsets.size - 1), np.diff(path_offsets) - 1)
    ports = topology.ports_between(path_nodes[at], path_nodes[at + 1])
    axes, down = np.divmod(ports - 1, 2)
    every = np.arange(at.size)
    here = topology.coordinates(path_nodes[at])[every, axes]
    goal = topology.coordinates(path_nodes[path_offsets[1:] - 1])[sends, axes]
    wraps_ahead = np.where(down == 1, goal > here, goal < here)
    return np.where(wraps_ahead, 0, 1).astype(np.int32)


def _schedule(
    algorithm: str,
    topology: Topology,
    source: int,
    targets: Iterable[int] | None,
    words: int,
    step: Int32s,
    paths: tuple[Offsets, Int32s, Int32s],
) -> Schedule:
    blocks = Blocks.of_broadcast(source, words)
    path_offsets, path_nodes, vcs = paths
    if targets is not None:
        ends = path_nodes[path_offsets[1:] - 1]
        blocks = Blocks(blocks.owner, (tuple(sorted(ends.tolist())),), blocks.words)
    collective = Collective.BROADCAST if targets is None else Collective.MULTICAST
    return one_block_schedule(
        algorithm,
        topology,
        blocks,
        step,
        path_offsets,
        path_nodes,
        vcs=vcs,
        collective=collective,
    )


_U_MESH = "McKinley, Xu, Esfahanian & Ni 1994"
_U_TORUS = "Robinson, McKinley & Cheng 1995"

ALGORITHMS = tuple(
    algorithm
    for name, networks, paper, broadcast, some in (
        ("u-mesh", "meshes", _U_MESH, u_mesh_broadcast, u_mesh_multicast),
        ("u-torus", "tori", _U_TORUS, u_torus_broadcast, u_torus_multicast),
        ("u-torus-open", "tori", "", u_torus_open_broadcast, u_torus_open_multicast),
    )
    for algorithm in (
        Declared(
            Collective.BROADCAST,
            name,
            rooted(broadcast),
            networks=networks,
            steps="⌈log2 N⌉",
            paper=paper,
            first="the node next to the cut in the other half of the list of nodes",
        ),
        Declared(
            Collective.MULTICAST,
            name,
            multicast(some),
            networks=networks,
            steps="⌈log2 (targets + 1)⌉",
            paper=paper,
        ),
    )
)
