"""Collectives in rounds, whose sends are dealt to steps so that no two share a link in a step.

Papers count rounds in which every node sends at the same time, and ignore the links between. Here
the sends take routes of the given network. If the paths of a round share no link, the round takes
one step (:mod:`...schedule.rounds`).
"""

from collections.abc import Iterable, Sequence

import numpy as np

from ...base.arrays import Int32s, Numbers
from ...base.errors import InvalidInput, require_range
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.rounds import RoundSend, schedule_of_rounds
from ...schedule.schedule import Schedule

Send = tuple[int, int, Sequence[int] | Int32s]
"""Source, target, and the nodes whose blocks are sent."""


def all_gather_of_rounds(
    algorithm: str,
    topology: Topology,
    words: int,
    rounds: Iterable[Iterable[Send]],
    port_model: PortModel,
    *,
    keeps_rounds: bool = False,
    order: Sequence[int] | None = None,
) -> Schedule:
    """Return the all-gather of ``words`` words of each working node with the sends of ``rounds``.

    If it ``keeps_rounds``, a node sends a block in the order of the rounds. The blocks are those of
    the nodes in this ``order``, by default in that of their numbers, unless another one is better.
    Raises :class:`.InvalidInput` for blocks without words, and for a target that no path leads to.
    """
    require_range("words", words, 1)
    nodes = np.array(topology.working_nodes if order is None else order, np.int32)
    number = np.zeros(topology.nodes, np.int32)
    number[nodes] = np.arange(len(nodes))
    sends = [
        [RoundSend(begin, end, number[np.asarray(carried)]) for begin, end, carried in each]
        for each in rounds
    ]
    blocks = Blocks(nodes, (None,) * len(nodes), np.full(len(nodes), words))
    name = Collective.ALL_GATHER
    return schedule_of_rounds(
        topology, name, algorithm, port_model, None, blocks, sends, keeps_rounds=keeps_rounds
    )


def all_reduce_of_rounds(
    algorithm: str,
    topology: Topology,
    words: int,
    operator: str,
    rounds: Sequence[Sequence[RoundSend]],
    *,
    all_port: bool,
) -> Schedule:
    """Return the all-reduce of ``words`` words with the sends of ``rounds``, of whole messages.

    In an exchange, both send their words from before, in one step, and combine the other's with
    them (:mod:`...program.memory.halves`). If there are only exchanges, so says the port model.
    """
    ends = ({(send.source, send.target) for send in each} for each in rounds)
    exchanges = all({(end, begin) for begin, end in pairs} == pairs for pairs in ends)
    ports = PortModel.EXCHANGE if exchanges else PortModel.FULL_DUPLEX
    ports = PortModel.ALL_PORT if all_port else ports
    blocks, name = Blocks.reduced_to((None,), words, operator), Collective.ALL_REDUCE
    return schedule_of_rounds(topology, name, algorithm, ports, None, blocks, rounds)


def summed(sources: Numbers, targets: Numbers, *, combine: bool = True) -> list[RoundSend]:
    """Return the sends of block 0 from each of ``sources`` to its target."""
    return [
        RoundSend(*ends, [0], combine=combine)
        for ends in zip(sources.tolist(), targets.tolist(), strict=True)
    ]


def require_ring(algorithm: str, topology: Topology) -> None:
    """Raise :class:`.InvalidInput` unless ``topology`` is a torus or ring without faults."""
    if topology.kind not in ("torus", "ring") or topology.without_faults is not None:
        allowed = "a torus or ring without faults"
        raise InvalidInput.of(f"network for {algorithm}", allowed, topology.label)
