"""All-to-all on a mesh or torus by rows and columns, both at the same time.

Some blocks go along a row and then a column, the others along a column and then a row
(:mod:`.messages`). So rows and columns always carry equally much, and the links in their middle,
which half of all blocks must cross, are all busy.

On an 8x8 mesh the links in the middle need 32 steps. The schedule takes 32 with all ports and 43
with one port (:mod:`.steps`); on an 8x8 torus all links need 16. For blocks of w words a step has
4 w words; in the second half these are four packets of w, because the blocks arrived one by one.
"""

from dataclasses import replace

import numpy as np

from ...base.errors import require_range
from ...network.port_model import PortModel
from ...network.routes import dateline_vcs
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared
from ..streaming.sends import SendList
from .messages import messages_of, passage_of, way_of
from .steps import packed_steps, walked_steps


def row_column_all_to_all(topology: Topology, words: int, *, all_port: bool = False) -> Schedule:
    """Send ``words`` words from each node to every other one, on a mesh or torus.

    With one port, or with all ports. Raises :class:`.InvalidInput` unless the topology is a mesh
    or torus of two axes without faults.
    """
    require_range("words", words, 1)
    sides, wrapped = topology.dims, topology.wrapped
    if not topology.whole_grid or len(sides) != 2 or min(sides) < 2:
        raise topology.refusal("row-column", "a mesh or torus of two axes without faults")
    messages = messages_of(sides[0], sides[1])
    passages = [passage_of(message, sides, wrapped) for message in messages]
    ways = [way_of(*pair) for pair in zip(messages, passages, strict=True)]
    steps = walked_steps(messages, passages) if all_port else packed_steps(messages, ways)
    order = [pair for message in messages for pair in message.pairs if message.source == pair[0]]
    number = {pair: block for block, pair in enumerate(order)}
    node = {place: place[0] + sides[0] * place[1] for pair in order for place in pair}
    sends = SendList()
    for step, message, way in sorted(
        zip(steps, messages, ways, strict=True), key=lambda each: each[0]
    ):
        sends.add(step, [node[place] for place in way], [number[pair] for pair in message.pairs])
    blocks = Blocks(
        np.array([node[source] for source, _ in order], np.int32),
        tuple((node[target],) for _, target in order),
        np.full(len(order), words, np.int32),
    )
    ports = PortModel.ALL_PORT if all_port else PortModel.FULL_DUPLEX
    made = sends.schedule("row-column", topology, Collective.ALL_TO_ALL, ports, None, blocks)
    if not wrapped:
        return made
    return replace(made, vcs=dateline_vcs(topology, made.path_offsets, made.path_nodes))


ALGORITHM = Declared(
    Collective.ALL_TO_ALL,
    "row-column",
    lambda asked: row_column_all_to_all(asked.topology, asked.words, all_port=asked.all_port),
    networks="2-D meshes and tori",
    steps="about those of the busiest link or port",
    ports=(ONE, ALL),
    takes=("all_port",),
)
