"""Broadcast on any network, in the fewest steps, ceil(log2 N), where links work both ways.

On any network (meshes with faults anywhere, tori, irregular graphs), a node that has the message
sends once in each step until its part is served, and no directed link is used twice in a step. Two
ways of halving do this; the second serves parts that the first cannot cut:

* **Connected parts** (:mod:`.parts`). The network is cut into two connected halves, each of these
  again, down to single nodes. The node that has the message in a part sends to a node of the other
  half, by a shortest path within the part. Parts of one step have no node in common, so their paths
  share no link. Cuts are searched, and targets found by dynamic programming, for a small TCD. On a
  mesh most results look like the eye broadcast.
* **Intervals of a tree** (:mod:`.intervals`). A star cannot be cut into connected halves. A
  spanning tree listed in preorder can be halved anywhere; the module has the proof that no link is
  used twice. The paths use no node outside the part.

With s steps left a part or interval has at most 2^s nodes; halves need not be equal. So the
broadcast takes exactly ceil(log2 nodes) steps. Of each part one node sends and one receives, so
half-duplex is enough.

Switches, and nodes that a multicast does not serve, only pass words on. If there are such nodes,
the whole network is served by intervals of a list without them: ceil(log2 N) steps for N others.

Paths lead both ways over the edges of a tree, so only links that work both ways count. If these do
not reach all nodes that some path leads to, :mod:`.one_way` is used. It uses all links, and may
need more steps if nodes cannot pass the message on.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
import numpy.typing as npt

from ...base.arrays import Int32s
from ...base.errors import InvalidInput, with_article
from ...base.ragged import offsets_of
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.broadcast_bounds import least_broadcast_steps
from ...schedule.builder import one_block_schedule
from ...schedule.collective import Collective
from ...schedule.promises import broadcast_name
from ...schedule.schedule import Schedule
from .graph import UNKNOWN, Graph, one_way_graph, two_way_graph
from .one_way import one_way_sends
from .parts import PartSearch, Send, sends_of, tree_sends


def tree_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast ``words`` words from ``source`` to all working nodes, half-duplex.

    Raises :class:`InvalidInput` for a source that is outside the network, faulty or a switch, for a
    message without words, and for a network in which a node cannot be reached, which it names.
    """
    topology.require_working("source", source)
    _require_reached(topology, source, topology.working_nodes, Collective.BROADCAST)
    return partial_tree_broadcast(topology, source, words)


def partial_tree_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast as :func:`tree_broadcast` to the nodes in reach; the others are owed nothing."""
    topology.require_working("source", source)
    reached = _reached(one_way_graph(topology), source)
    served = np.setdiff1d(reached, topology.switches)
    blocks = Blocks.of_broadcast(source, words)
    if served.size + len(topology.switches) < topology.nodes:
        blocks = Blocks(blocks.owner, (tuple(served.tolist()),), blocks.words)
    return _schedule(topology, served, blocks, broadcast_name(topology, blocks))


def tree_multicast(
    topology: Topology, source: int, targets: Iterable[int] | None, words: int
) -> Schedule:
    """Send ``words`` words from ``source`` to ``targets``; None stands for all working nodes.

    ``source`` among the targets does not count. Raises :class:`InvalidInput` as
    :func:`tree_broadcast` does, also for targets.
    """
    everyone = topology.working_nodes.tolist()
    goals = sorted({*(everyone if targets is None else targets)} - {source})
    for name, node in (("source", source), *(("target", goal) for goal in goals)):
        topology.require_working(name, node)
    _require_reached(topology, source, np.array(goals, np.int64), Collective.MULTICAST)
    one = Blocks.of_broadcast(source, words)
    blocks = Blocks(one.owner, (tuple(goals),), one.words)
    return _schedule(topology, np.array(sorted((source, *goals))), blocks, Collective.MULTICAST)


def _require_reached(
    topology: Topology, source: int, goals: npt.NDArray[np.int64], collective: Collective
) -> None:
    """Raise :class:`InvalidInput` that names the first of ``goals`` that no path leads to."""
    missing = np.setdiff1d(goals, _reached(one_way_graph(topology), source))
    everyone = "all nodes" if collective is Collective.BROADCAST else "its targets"
    for node in missing[:1]:
        raise InvalidInput.of(
            f"network for a {collective} from node {source}",
            f"one in which it reaches {everyone}",
            f"{with_article(topology.label)}, where no path leads to node {node}",
        )


def _reached(graph: Graph, source: int) -> Int32s:
    """Return the nodes to which ``source`` has a path, with ``source``."""
    return np.flatnonzero(graph.distances(source) < UNKNOWN).astype(np.int32)


def _sends(
    topology: Topology, source: int, served: npt.NDArray[np.integer]
) -> Iterator[tuple[int, list[int]]]:
    """Yield the sends from ``source`` to all others of ``served``, in order, as step and path."""
    graph = two_way_graph(topology)
    reached = _reached(graph, source)
    two_way = bool(np.isin(served, reached).all())
    if not two_way:
        graph = one_way_graph(topology)
        reached = _reached(graph, source)
    part, root = graph.part(reached), int(np.searchsorted(reached, source))
    members = np.isin(reached, served)
    if not two_way:
        sends = one_way_sends(part, root, members)
    elif members.all():
        sends = _sends_in_parts(part, _guides(topology, part, reached), root)
    else:
        sends = tree_sends(part, root, least_broadcast_steps(served.size), members)
    for step, path in sends:
        yield step, reached[path].tolist()


def _sends_in_parts(graph: Graph, guides: npt.NDArray[np.integer], root: int) -> list[Send]:
    search = PartSearch(graph, guides, root)
    everything = np.arange(graph.nodes, dtype=np.int32)
    part = search.solve(everything, least_broadcast_steps(graph.nodes))
    return sorted(sends_of(part, graph, root))


def _guides(topology: Topology, graph: Graph, reached: Int32s) -> npt.NDArray[np.integer]:
    """Return coordinates of the nodes reached: those of the grid, or made from distances.

    On a graph four nodes far from each other stand for the corners of a mesh. A coordinate is the
    difference of the distances to two of them, which grows along a side of such a mesh.
    """
    if topology.dims:
        return topology.coordinates(reached)
    corners = [graph.distances(int(graph.distances(0).argmax()))]
    while len(corners) < 4:
        corners.append(graph.distances(int(np.min(corners, axis=0).argmax())))
    return np.stack([corners[0] - corners[other] for other in (2, 3, 1)], axis=1)


def _schedule(
    topology: Topology, served: npt.NDArray[np.integer], blocks: Blocks, collective: str
) -> Schedule:
    """Return the schedule that brings the one block of ``blocks`` to all nodes ``served``."""
    sends = list(_sends(topology, int(blocks.owner[0]), served))
    lengths = np.array([len(path) for _, path in sends], np.int64)
    step = np.array([step for step, _ in sends], np.int32)
    return one_block_schedule(
        "tree",
        topology,
        blocks,
        step,
        offsets_of(lengths),
        np.fromiter(chain.from_iterable(path for _, path in sends), np.int32),
        collective=collective,
    )
