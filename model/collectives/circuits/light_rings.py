"""All-gather of short blocks round one ring of all nodes, through the routers.

The words of a node go once round the ring, and every router on the way forks them to its own node.
They pass no memory, so each hop takes one cycle. Blocks of one word follow each other without a
gap: in a cycle every link of the ring carries the word of another node::

    ring 0 ─► 1 ─► 2 ─► 3 ─► 0        cycle 0   links carry the words of 0 1 2 3
                                      cycle 1                            3 0 1 2

Longer blocks meet on their way, and then a ring that passes the memories is faster
(:mod:`..streaming.rings`).
"""

import numpy as np

from ...base.errors import require_range
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.builder import path_columns
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared
from ..streaming.rings import ring_of_all
from ..streaming.sends import blocks_for_all
from .light_trees import require_no_switches

NAME = "light-ring"


def light_ring(topology: Topology, words: int) -> Schedule:
    """Bring ``words`` words of each working node to all, round a ring of all nodes.

    Raises :class:`.InvalidInput` if no ring visits every node just once.
    """
    require_range("words", words, 1)
    require_no_switches(topology, NAME)
    hops, blocks = ring_of_all(NAME, topology)
    if any(len(hop) != 2 for hop in hops):
        raise topology.refusal(NAME, "one in which a ring visits every node just once")
    ring = [hop[0] for hop in hops]
    nodes = len(ring)
    twice = [*ring, *ring]
    paths = [
        twice[place : place + further + 1] for place in range(nodes) for further in range(1, nodes)
    ]
    carried = [[block] for block in blocks for _ in range(1, nodes)]
    return Schedule(
        topology=topology,
        collective=Collective.ALL_GATHER,
        algorithm=NAME,
        port_model=PortModel.FULL_DUPLEX,
        root=None,
        blocks=blocks_for_all(topology.working_nodes, words),
        # Two trees of one step share no link, so each has a step of its own.
        step=np.repeat(np.arange(1, nodes + 1, dtype=np.int32), max(0, nodes - 1)),
        circuits=True,
        **path_columns(paths, carried),
    )


ALGORITHM = Declared(
    Collective.ALL_GATHER,
    NAME,
    lambda asked: light_ring(asked.topology, asked.words),
    networks="networks of circuits with a ring of all nodes",
    steps="N",
    circuits=True,
)
