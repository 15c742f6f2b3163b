"""Scatter and gather by messages that go straight between the root and each node, without steps.

The port of the root is the bottleneck: all words pass it. So its messages follow each other without
a gap, on a timetable (:mod:`...schedule.timetable`). In a scatter the messages with the longest
paths are first, in a gather last::

    scatter, port out of the root      | to 5 | to 4 | to 2 | ...     farthest first
    gather, port into the root         | of 1 | of 2 | of 4 | ...     nearest first

Every message takes a shortest path. If two messages cross the same link, it is equally far from the
root on both paths, so they cross it one after the other, as at the port of the root. This holds on
any network: on graphs, through switches and around faults.
"""

import numpy as np
import numpy.typing as npt

from ...base.errors import require_range
from ...network.port_model import PortModel
from ...network.route_layers import safe_routes
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared, rooted

Nodes = npt.NDArray[np.int32]


def direct_scatter(topology: Topology, root: int, words: int) -> Schedule:
    """Send ``words`` words from ``root`` to each other working node, one port, on a timetable.

    Raises :class:`.InvalidInput` for a root that is faulty or a switch, and if a node has no path
    to the root.
    """
    nodes = _nodes(topology, root, words)
    owed = tuple((node,) for node in nodes.tolist())
    blocks = Blocks(np.full_like(nodes, root), owed, np.full_like(nodes, words))
    return _messages(topology, Collective.SCATTER, root, blocks, nodes)


def direct_gather(topology: Topology, root: int, words: int) -> Schedule:
    """Send ``words`` words from each other working node to ``root``, as :func:`direct_scatter`."""
    nodes = _nodes(topology, root, words)
    blocks = Blocks(nodes, ((root,),) * len(nodes), np.full_like(nodes, words))
    return _messages(topology, Collective.GATHER, root, blocks, nodes)


def _nodes(topology: Topology, root: int, words: int) -> Nodes:
    """Return the working nodes; raise :class:`.InvalidInput` for arguments that are not served."""
    topology.require_working("source", root)
    require_range("words", words, 1)
    return topology.working_nodes.astype(np.int32)


def _messages(
    topology: Topology, collective: Collective, root: int, blocks: Blocks, nodes: Nodes
) -> Schedule:
    """Return a schedule of one message to or from each node; ``nodes[i]`` has block i."""
    others = np.flatnonzero(nodes != root).astype(np.int32)
    source = target = np.full_like(others, root)
    if collective is Collective.SCATTER:
        target = nodes[others]
    else:
        source = nodes[others]
    path_offsets, path_nodes, vcs = safe_routes(topology, source, target)
    step = np.arange(1, len(others) + 1, dtype=np.int32)
    made = Schedule(
        topology=topology,
        collective=collective,
        algorithm="direct",
        port_model=PortModel.HALF_DUPLEX,
        root=root,
        blocks=blocks,
        step=step,
        source=source,
        target=target,
        path_offsets=path_offsets,
        path_nodes=path_nodes,
        vcs=vcs,
        block_offsets=np.arange(len(others) + 1),
        block_ids=others,
        timed=True,
    )
    away = made.distances if collective is Collective.GATHER else -made.distances
    order = np.argsort(away, kind="stable")
    return made.with_sends(order, step, made.block_offsets, others[order])


ALGORITHMS = tuple(
    Declared(
        collective,
        "direct",
        rooted(make),
        networks="any network",
        steps="N − 1, on a timetable",
    )
    for collective, make in (
        (Collective.SCATTER, direct_scatter),
        (Collective.GATHER, direct_gather),
    )
)
