"""Broadcast by n whole copies on the trees of nESBT: any n - 1 links may fail.

The n trees of nESBT share no directed link (Johnsson & Ho, Theorem 3.1). So n - 1 faulty links
break at most n - 1 trees, and at least one tree still reaches every node. No node needs to know the
faulty links: a copy of the message goes down every tree, and ends where a link is faulty::

    tree 0    s -> a -> b -> c      link a -> b fails: copy 0 reaches only a,
    tree 1    s -> c -> d -> a      copy 1 still reaches all nodes by its own tree

Each node gets one copy from every tree that still reaches it.
"""

import numpy as np
import numpy.typing as npt

from ...base.errors import InvalidInput, require_range, with_article
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.builder import Rows, build_schedule
from ...schedule.collective import Collective
from ...schedule.promises import broadcast_name
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, Declared, rooted
from .bits import NO_PARENT
from .spanning_graphs import SpanningTree, spanning_graph


def nesbt_copies(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast ``words`` words from ``source`` down all n trees of nESBT, up to faulty links.

    All-port, in n + 1 steps at most (one in the 1-cube). Block j is the copy of tree j; it is owed
    to exactly the nodes that the tree still reaches, with the source.

    Raises :class:`InvalidInput` unless the topology is a hypercube (with or without faults), for a
    source outside it or faulty, for no words, and for working nodes that no tree reaches; the
    message names the first of these.
    """
    if topology.kind != "hypercube":
        raise InvalidInput.of("topology for nesbt", "a hypercube", with_article(topology.label))
    require_range("source", source, 0, topology.nodes - 1)
    require_range("words", words, 1)
    trees = spanning_graph("nesbt", len(topology.dims), source).trees
    reached = np.stack([_reached(tree, topology) for tree in trees])
    alive = np.ones(topology.nodes, np.bool_)
    alive[list(topology.faulty_nodes)] = False
    lost = np.flatnonzero(alive & ~reached.any(axis=0))
    if lost.size or not alive[source]:
        node = int(lost[0]) if alive[source] else source
        raise InvalidInput.of(
            "faults", "such that some tree of nesbt reaches every node", f"such that {node} is lost"
        )
    parent = np.stack([tree.parent for tree in trees])
    block, target = np.nonzero(reached & (parent != NO_PARENT))
    level = np.stack([tree.level for tree in trees])[block, target]
    blocks = Blocks(
        np.full(len(trees), source, np.int32),
        tuple(tuple(np.flatnonzero(nodes).tolist()) for nodes in reached),
        np.full(len(trees), words, np.int32),
    )
    rows = Rows(level, parent[block, target], target, block)
    name = broadcast_name(topology, blocks)
    return build_schedule(topology, name, "nesbt-copies", PortModel.ALL_PORT, source, blocks, rows)


def _reached(tree: SpanningTree, topology: Topology) -> npt.NDArray[np.bool_]:
    """Return a mask, (N,), of the nodes whose tree path from the root has no faulty link."""
    nodes = np.arange(tree.nodes)
    joined: npt.NDArray[np.bool_]
    joined = topology.neighbor[tree.parent, tree.dimension + 1] == nodes
    joined[tree.root] = True
    ahead = np.where(tree.parent == NO_PARENT, tree.root, tree.parent)
    for _ in range(tree.height.bit_length()):
        joined, ahead = joined & joined[ahead], ahead[ahead]
    return joined


ALGORITHM = Declared(
    Collective.BROADCAST,
    "nesbt-copies",
    rooted(nesbt_copies),
    networks="hypercubes, also with faults",
    steps="log2 N + 1",
    paper="Johnsson & Ho, Theorem 3.1",
    takes=("all_port",),
    ports=(ALL,),
    copies=True,
)
