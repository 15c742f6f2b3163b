"""All-reduce by dissemination, on any number of nodes: in round k, node i sends to node i + 2^k.

D. Hensgen, R. Finkel and U. Manber, "Two algorithms for barrier synchronization", 1988. After k
rounds a node has the contributions of itself and of the 2^k - 1 nodes before it. Unless N is a
power of two, the last round brings some of them again::

    node 0 of 5 has the contributions of   0      0 4      0 4 3 2      0 4 3 2 1 0
    after round                                   1        2            3

So the operator must be idempotent, such as ``and`` in a barrier.
"""

import numpy as np

from ...base.errors import InvalidInput, one_of
from ...network.config import MOST_VCS
from ...network.operators import IDEMPOTENT, is_idempotent
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.rounds import schedule_of_rounds
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared
from .rounds import summed

NAME = "dissemination"


def disseminated(
    topology: Topology, words: int, operator: str, *, all_port: bool = False
) -> Schedule:
    """All-reduce ``words`` words in ceil(log2 N) rounds.

    Raises :class:`.InvalidInput` for an operator that is not idempotent, unless N is 2^k, and if
    too many messages of a round share a link.
    """
    nodes = topology.working_nodes
    count = len(nodes)
    if count & (count - 1) and not is_idempotent(operator):
        allowed = f"{one_of(IDEMPOTENT)} for {NAME} on {count} nodes"
        raise InvalidInput.of("operator", allowed, operator)
    rounds = [
        summed(nodes, np.roll(nodes, -(1 << number))) for number in range((count - 1).bit_length())
    ]
    blocks = Blocks.reduced_to((None,), words, operator)
    ports = PortModel.ALL_PORT if all_port else PortModel.FULL_DUPLEX
    name = Collective.ALL_REDUCE
    made = schedule_of_rounds(topology, name, NAME, ports, None, blocks, rounds)
    if made.vcs.max(initial=0) >= MOST_VCS:
        # A round is one step: nodes send their words before these change.
        allowed = f"at most {MOST_VCS} on the {topology.label} (another algorithm helps)"
        raise InvalidInput.of(f"VCs for {NAME}", allowed, int(made.vcs.max()) + 1)
    return made


ALGORITHM = Declared(
    Collective.ALL_REDUCE,
    NAME,
    lambda asked: disseminated(
        asked.topology, asked.words, asked.combining, all_port=asked.all_port
    ),
    networks="any; the operator is idempotent, or N is 2^k",
    steps="⌈log2 N⌉ rounds",
    paper="Hensgen, Finkel & Manber 1988",
    takes=("all_port", "operator"),
    ports=(ONE, ALL),
)
