"""All-gather around the rings of a grid on all ports at the same time.

Every node's block is cut into parts, and each part goes round all axes as in
:func:`~.rings.all_gather_sends`. The parts begin on different axes, on wrapped axes also in both
directions: no two are on one axis in one direction at a time. A torus of two axes has four parts::

    part 0    axis 0, up      then axis 1, up            phase 1    phase 2
    part 1    axis 1, up      then axis 0, up
    part 2    axis 0, down    then axis 1, down          all links in both phases
    part 3    axis 1, down    then axis 0, down

The ring of a line that is not wrapped is folded and uses the links of both directions, so a mesh of
two axes has two parts. With P parts a node's port carries (N - 1) / P blocks. Run backwards and
then forwards it is the all-reduce used on torus machines (N. P. Jouppi et al., "TPU v4", ISCA
2023).
"""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np

from ...base.ragged import even_shares
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.block_runs import BlockRuns
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, Declared
from .rings import ring_order
from .sends import Columns, GridCollective, Sends, grid_schedule


def rings_all_gather(topology: Topology, words: int) -> Schedule:
    """Bring ``words`` words of every node of a mesh or torus to all, in sum of (side - 1) steps.

    With unequal sides each phase takes as many steps as its longest ring. Every node has a block of
    each part; the first parts may be a word longer. The blocks of a part stand in the order of its
    axes, so that a send carries adjacent words.
    Raises :class:`.InvalidInput` as :class:`~.sends.GridCollective` does.
    """
    asked = GridCollective(Collective.ALL_GATHER, "rings", topology, None, words)
    axes = [axis for axis, side in enumerate(topology.dims) if side > 1]
    wrapped = all(axis in topology.wrapped and topology.dims[axis] > 2 for axis in axes)
    ways = (1, -1) if wrapped else (1,)
    parts = [(axes[turn:] + axes[:turn], way) for way in ways for turn in range(len(axes))]
    # A single node keeps its block whole.
    parts = parts[:words] or [([], 1)]
    every = [
        sends
        for number, (order, way) in enumerate(parts)
        for sends in _part_sends(topology, order, way, number, len(parts))
    ]
    # Each of these sends is in one step.
    every.sort(key=lambda sends: int(sends.step[0]))
    made = grid_schedule(asked, Sends.joined(every), topology)
    blocks = Blocks(
        np.concatenate([_in_order(topology, order) for order, _ in parts]),
        (None,) * (topology.nodes * len(parts)),
        np.repeat(even_shares(words, len(parts)), topology.nodes),
    )
    return replace(made, blocks=blocks, port_model=PortModel.ALL_PORT)


def _part_sends(
    topology: Topology, axes: list[int], way: int, part: int, parts: int
) -> Iterator[Sends]:
    """Yield the sends of one part, step by step: round the rings of each of ``axes`` in turn."""
    nodes = np.arange(topology.nodes)
    longest = max(topology.dims)
    ranks = np.argsort(_in_order(topology, axes))
    had = np.zeros(1, np.int64)
    for phase, axis in enumerate(axes):
        side, stride = topology.dims[axis], prod(topology.dims[:axis])
        ring = ring_order(side, axis in topology.wrapped)
        rank, place = np.argsort(ring), nodes // stride % side
        line = nodes - place * stride
        gathered = nodes - _places(topology, nodes, axes[:phase]) - place * stride
        for back in range(side - 1):
            come_from = ring[(rank[place] - way * back) % side] * stride
            carried = (gathered + come_from)[:, np.newaxis] + had
            blocks = (part * topology.nodes + ranks[carried]).ravel().astype(np.int32)
            offsets = np.arange(topology.nodes + 1) * had.size
            yield Sends(
                step=np.full_like(nodes, phase * (longest - 1) + back + 1),
                source=nodes,
                target=line + ring[(rank[place] + way) % side] * stride,
                vc=np.zeros_like(nodes),
                block_counts=np.full_like(nodes, had.size),
                block_ids=BlockRuns.of(blocks, offsets).array,
            )
        had = (had[:, np.newaxis] + np.arange(side) * stride).ravel()


def _in_order(topology: Topology, axes: list[int]) -> Columns:
    """Return the nodes in the order in which the first of ``axes`` runs fastest."""
    places = np.arange(topology.nodes).reshape(topology.dims, order="F")
    single = [axis for axis in range(len(topology.dims)) if axis not in axes]
    return places.transpose(*axes, *single).ravel(order="F")


def _places(topology: Topology, nodes: Columns, axes: list[int]) -> Columns:
    """Return the parts of the node numbers that come from the coordinates on ``axes``."""
    strides = [(prod(topology.dims[:axis]), topology.dims[axis]) for axis in axes]
    return sum((nodes // stride % side * stride for stride, side in strides), 0 * nodes)


ALGORITHM = Declared(
    Collective.ALL_GATHER,
    "rings",
    lambda asked: rings_all_gather(asked.topology, asked.words),
    networks="meshes and tori",
    steps="axes × (longest side − 1)",
    paper="Jouppi et al. 2023",
    takes=("all_port",),
    ports=(ALL,),
)
