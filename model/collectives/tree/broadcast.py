"""Broadcast on any network, in the fewest steps, ceil(log2 nodes), where links work both ways.

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
Where they do not reach all whom some path leads to, :mod:`.one_way` takes over: it uses all links,
and may take more steps, as it must where nodes cannot pass on what they get.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
import numpy.typing as npt

from ...base.errors import InvalidInput, require_range, with_article
from ...base.pieces import offsets_of
from ...network.topology import Topology
from ...schedule.broadcast_bounds import least_broadcast_steps
from ...schedule.builder import one_block_schedule
from ...schedule.promises import broadcast_name
from ...schedule.schedule import Schedule
from ...schedule.table import Blocks
from .graph import UNKNOWN, Graph, Numbers, one_way_graph, two_way_graph
from .one_way import one_way_sends
from .parts import PartSearch, Send, sends_of


def tree_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast ``words`` words from ``source`` to all nodes but faulty ones, half-duplex.

    Raises :class:`InvalidInput` for a source that is outside the network or faulty, for a message
    without words, and for a network in which a node cannot be reached, which it names.
    """
    _require_source(topology, source)
    missing = np.setdiff1d(topology.working_nodes, _reached(one_way_graph(topology), source))
    for node in missing[:1]:
        raise InvalidInput.of(
            f"network for a broadcast from node {source}",
            "one in which it reaches all nodes",
            f"{with_article(topology.label)}, where no path leads to node {node}",
        )
    return partial_tree_broadcast(topology, source, words)


def partial_tree_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast as :func:`tree_broadcast` to the nodes in reach; the others are owed nothing."""
    _require_source(topology, source)
    graph, two_way = one_way_graph(topology), two_way_graph(topology)
    reached = _reached(graph, source)
    if _reached(two_way, source).size == reached.size:
        part = two_way.part(reached)
        sends = _two_way_sends(part, _guides(topology, part, reached), reached, source)
    else:
        sends = one_way_sends(graph.part(reached), int(np.searchsorted(reached, source)))
    return _schedule(topology, source, words, reached, sends)


def _require_source(topology: Topology, source: int) -> None:
    require_range("source", source, 0, topology.nodes - 1)
    if source in topology.faulty_nodes:
        raise InvalidInput.of("source", "a node that is not faulty", source)


def _reached(graph: Graph, source: int) -> Numbers:
    """The nodes to which ``source`` has a path, itself included."""
    return np.flatnonzero(graph.distances(source) < UNKNOWN).astype(np.int32)


def _two_way_sends(
    graph: Graph, guides: npt.NDArray[np.integer], reached: Numbers, source: int
) -> list[Send]:
    root = int(np.searchsorted(reached, source))
    search = PartSearch(graph, guides, root)
    everything = np.arange(reached.size, dtype=np.int32)
    part = search.solve(everything, least_broadcast_steps(reached.size))
    return sorted(sends_of(part, graph, root))


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


def _schedule(
    topology: Topology, source: int, words: int, reached: Numbers, sends: list[Send]
) -> Schedule:
    """The schedule of ``sends``, whose nodes are places in ``reached``."""
    blocks = Blocks.of_broadcast(source, words)
    if reached.size < topology.nodes:
        blocks = Blocks(blocks.owner, (tuple(reached.tolist()),), blocks.words)
    lengths = np.array([len(path) for _, path in sends], np.int64)
    path_offsets = offsets_of(lengths)
    places = np.fromiter(chain.from_iterable(path for _, path in sends), np.int64)
    step = np.array([step for step, _ in sends], np.int32)
    return one_block_schedule(
        "tree",
        topology,
        blocks,
        step,
        path_offsets,
        reached[places],
        collective=broadcast_name(topology, blocks),
    )
