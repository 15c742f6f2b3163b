"""All-gather and all-reduce by exchanges with the partners of :mod:`.partners`.

*All-gather*: nodes exchange all their blocks, with the farthest partners first, when blocks are
few. Run backwards and then forwards it is Swing's all-reduce for long messages.

*All-reduce of whole messages*, for short messages: log2 N times each node sends its combined words
to its partner. Both of a pair send their words from before, in one step, and each combines the
partner's with its own (:mod:`...program.memory.halves`).
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ...base.errors import require_range
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.rounds import RoundSend, schedule_of_rounds
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared
from ..declared.request import Request
from .partners import Partners, recursive_doubling_partners, swing_partners
from .rounds import Send, all_gather_of_rounds


def swing_all_gather(topology: Topology, words: int) -> Schedule:
    """Bring ``words`` words of each node of a torus or ring to all nodes, by exchanges.

    Raises :class:`.InvalidInput` for another network, for sides that are no powers of two, and as
    :func:`.all_gather_of_rounds` does.
    """
    _, partners = swing_partners(topology)
    rounds = _rounds(topology, partners)
    return all_gather_of_rounds("swing", topology, words, rounds, PortModel.EXCHANGE)


def _rounds(topology: Topology, partners: Sequence[npt.NDArray[np.int64]]) -> Iterator[list[Send]]:
    """Yield each round's sends: all blocks of a node, to the next nearer partner."""
    held = [*np.arange(topology.nodes, dtype=np.int32)[:, np.newaxis]]
    for partner in reversed(partners):
        to = partner.tolist()
        yield [(node, to[node], held[node]) for node in range(topology.nodes)]
        held = [np.concatenate((held[node], held[to[node]])) for node in range(topology.nodes)]


def exchanged_all_reduce(
    topology: Topology, words: int, operator: str, partners: Partners, *, all_port: bool = False
) -> Schedule:
    """All-reduce ``words`` words by exchanges of whole messages with one partner after the other.

    Raises :class:`.InvalidInput` as ``partners`` does, and for a message without words.
    """
    name, found = partners(topology)
    require_range("words", words, 1)
    rounds = [
        [RoundSend(node, other, [0], combine=True) for node, other in enumerate(each.tolist())]
        for each in found
    ]
    blocks = Blocks.reduced_to((None,), words, operator)
    ports = PortModel.ALL_PORT if all_port else PortModel.EXCHANGE
    return schedule_of_rounds(topology, Collective.ALL_REDUCE, name, ports, None, blocks, rounds)


_PAPER = "De Sensi et al., Swing, 2024"

ALGORITHM = Declared(
    Collective.ALL_GATHER,
    "swing",
    lambda asked: swing_all_gather(asked.topology, asked.words),
    networks="tori of sides 2^k",
    steps="log2 N rounds",
    paper=_PAPER,
)


def _exchanged(partners: Partners) -> Callable[[Request], Schedule]:
    return lambda asked: exchanged_all_reduce(
        asked.topology, asked.words, asked.combining, partners, all_port=asked.all_port
    )


RECURSIVE_DOUBLING = Declared(
    Collective.ALL_REDUCE,
    "recursive-doubling",
    _exchanged(recursive_doubling_partners),
    networks="meshes and tori of sides 2^k",
    steps="log2 N rounds",
    paper="Thakur, Rabenseifner & Gropp 2005",
    ports=(ONE, ALL),
    takes=("operator", "all_port"),
)
SWING_WHOLE = Declared(
    Collective.ALL_REDUCE,
    "swing-whole",
    _exchanged(swing_partners),
    networks="tori of sides 2^k",
    steps="log2 N rounds",
    paper=_PAPER,
    ports=(ONE, ALL),
    takes=("operator", "all_port"),
)
