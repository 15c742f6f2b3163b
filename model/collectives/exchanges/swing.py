"""All-gather and all-reduce by Swing's exchanges, with the partners of :mod:`.partners`.

*All-gather*: nodes exchange all their blocks, with the farthest partners first, when blocks are
few. Run backwards and then forwards it is Swing's all-reduce for long messages.

*All-reduce of whole messages*, for short messages: log2 N times each node sends its combined words
to its partner. Both of a pair send their words from before, in one step, and each combines the
partner's with its own (:mod:`...program.memory.halves`).
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ...base.errors import require_range
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared
from .partners import swing_partners
from .rounds import Send, all_gather_of_rounds, all_reduce_of_rounds, summed


def swing_all_gather(topology: Topology, words: int) -> Schedule:
    """Bring ``words`` words of each node of a torus or ring to all nodes, by exchanges.

    Raises :class:`.InvalidInput` for another network, for sides that are no powers of two, and as
    :func:`.all_gather_of_rounds` does.
    """
    rounds = _rounds(topology, swing_partners(topology))
    return all_gather_of_rounds("swing", topology, words, rounds, PortModel.EXCHANGE)


def _rounds(topology: Topology, partners: Sequence[npt.NDArray[np.int64]]) -> Iterator[list[Send]]:
    """Yield each round's sends: all blocks of a node, to the next nearer partner."""
    held = [*np.arange(topology.nodes, dtype=np.int32)[:, np.newaxis]]
    for partner in reversed(partners):
        to = partner.tolist()
        yield [(node, to[node], held[node]) for node in range(topology.nodes)]
        held = [np.concatenate((held[node], held[to[node]])) for node in range(topology.nodes)]


def swing_all_reduce(
    topology: Topology, words: int, operator: str, *, all_port: bool = False
) -> Schedule:
    """All-reduce ``words`` words by exchanges of whole messages with one partner after the other.

    Raises :class:`.InvalidInput` for a network as :func:`swing_all_gather` does, and for a message
    without words.
    """
    require_range("words", words, 1)
    nodes = np.arange(topology.nodes)
    rounds = [summed(nodes, partner) for partner in swing_partners(topology)]
    return all_reduce_of_rounds("swing-whole", topology, words, operator, rounds, all_port=all_port)


_PAPER = "De Sensi et al., Swing, 2024"

ALGORITHM = Declared(
    Collective.ALL_GATHER,
    "swing",
    lambda asked: swing_all_gather(asked.topology, asked.words),
    networks="tori of sides 2^k",
    steps="log2 N rounds",
    paper=_PAPER,
)


SWING_WHOLE = Declared(
    Collective.ALL_REDUCE,
    "swing-whole",
    lambda asked: swing_all_reduce(
        asked.topology, asked.words, asked.combining, all_port=asked.all_port
    ),
    networks="tori of sides 2^k",
    steps="log2 N rounds",
    paper=_PAPER,
    ports=(ONE, ALL),
    takes=("operator", "all_port"),
)
