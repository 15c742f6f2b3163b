"""Broadcast in the fewest steps, ceil(log2 nodes), on any connected network.

Whatever the network (meshes with faults anywhere, tori, irregular graphs), a node that has the
message sends once in each step as long as there is something left for it to do, and no directed
link is used twice in a step. Two ways of halving do that, and the second serves what is left over
by the first:

* **Connected parts** (:mod:`.parts`). The network is cut into two connected halves, each of
  these again, down to single nodes. The node that has the message in a part sends to one in the
  other half by a shortest path within the part. Parts of one step have no node in common, so
  nothing can meet. Cuts are searched and targets found by dynamic programming, to bring the TCD
  down; on a mesh most of what comes out looks like the eye broadcast.
* **Intervals of a tree** (:mod:`.intervals`). A star cannot be cut into connected halves. A
  spanning tree listed in preorder can be halved anywhere; the proof that nothing meets is there.

The tree's part of the network keeps to itself, as any part does: its paths use no node outside.

With s steps left a part or interval has at most 2^s nodes, and halves need not be equal as long as
they fit. So the broadcast takes ceil(log2 nodes) steps and no more. A half-duplex node never has to
do two things at once: of each part one node sends and one receives.

Paths lead both ways over the edges of a tree, so links count only where the link back works too.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
import numpy.typing as npt

from ..bounds import least_broadcast_steps
from ..errors import InvalidInput, require_range, with_article
from ..pieces import offsets_of
from ..schedule import Blocks, Schedule
from ..schedule_builder import one_block_schedule
from ..topology import Topology
from .graph import UNKNOWN, Graph, Numbers, two_way_graph
from .parts import PartSearch, Send, sends_of


def tree_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast ``words`` words from ``source`` to all nodes but faulty ones, half-duplex.

    Raises :class:`InvalidInput` for a source that is outside the network or faulty, for a message
    without words, and for a network in which a node cannot be reached, which it names.
    """
    graph = two_way_graph(topology)
    reached = _reached(topology, graph, source)
    healthy = np.setdiff1d(np.arange(topology.nodes), topology.faulty_nodes)
    if missing := np.setdiff1d(healthy, reached)[:1].tolist():
        raise InvalidInput.of(
            f"network for a broadcast from node {source}",
            "connected by links that work both ways",
            f"{with_article(topology.label)}, where they do not reach node {missing[0]}",
        )
    return _broadcast(topology, graph, reached, source, words)


def partial_tree_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """As :func:`tree_broadcast`, to the nodes that can be reached; the others are owed nothing."""
    graph = two_way_graph(topology)
    return _broadcast(topology, graph, _reached(topology, graph, source), source, words)


def _reached(topology: Topology, graph: Graph, source: int) -> Numbers:
    """The nodes to which ``source`` has a path, itself included."""
    require_range("source", source, 0, topology.nodes - 1)
    if source in topology.faulty_nodes:
        raise InvalidInput.of("source", "a node that is not faulty", source)
    return np.flatnonzero(graph.distances(source) < UNKNOWN).astype(np.int32)


def _broadcast(
    topology: Topology, graph: Graph, reached: Numbers, source: int, words: int
) -> Schedule:
    blocks = Blocks.of_broadcast(source, words)
    if reached.size < topology.nodes:
        blocks = Blocks(blocks.owner, (tuple(reached.tolist()),), blocks.words)
    part_graph = graph.part(reached)
    root = int(np.searchsorted(reached, source))
    search = PartSearch(part_graph, _guides(topology, part_graph, reached), root)
    everything = np.arange(reached.size, dtype=np.int32)
    part = search.solve(everything, least_broadcast_steps(reached.size))
    sends = sorted(sends_of(part, part_graph, root))
    return _schedule(topology, blocks, reached, sends)


def _guides(topology: Topology, graph: Graph, reached: Numbers) -> npt.NDArray[np.integer]:
    """Coordinates of the nodes reached: those of the grid, or made from distances.

    On a graph four nodes are taken that are far from each other, like the corners of a mesh. How
    much closer a node is to one of them than to another grows along a side of such a mesh.
    """
    if topology.dims:
        return topology.coordinates(reached)
    corners = [graph.distances(int(graph.distances(0).argmax()))]
    while len(corners) < 4:
        corners.append(graph.distances(int(np.min(corners, axis=0).argmax())))
    return np.stack([corners[0] - corners[other] for other in (2, 3, 1)], axis=1)


def _schedule(topology: Topology, blocks: Blocks, reached: Numbers, sends: list[Send]) -> Schedule:
    """The schedule of ``sends``, whose nodes are places in ``reached``."""
    lengths = np.array([len(path) for _, path in sends], np.int64)
    path_offsets = offsets_of(lengths)
    places = np.fromiter(chain.from_iterable(path for _, path in sends), np.int64)
    step = np.array([step for step, _ in sends], np.int32)
    return one_block_schedule("tree", topology, blocks, step, path_offsets, reached[places])
