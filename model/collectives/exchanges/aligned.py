"""Trees over halves of the nodes, which backwards add in the canonical order.

The ranks 0 … N - 1 of the nodes are split as :mod:`...schedule.canonical` splits them: into the
largest power of two and the rest, and so on down to single ranks. A block goes from its node to one
node of the other half, and then in each half on its own::

    N = 7, from rank 2      step 1   2 ──► 6               0 1 2 3 | 4 5 6
                            step 2   2 ──► 0    6 ──► 4    0 1 | 2 3    4 5 | 6
                            step 3   2 ──► 3    0 ──► 1    4 ──► 5

Backwards each node adds the sum of the rank beside it first, then that of the pair beside its pair:
so every sum is made in the canonical order, whoever its root is.

* *aligned-tree* is a broadcast; its reduce takes ⌈log2 N⌉ steps of whole messages.
* *aligned-halving* is an all-gather, in which each node sends all its blocks at once. Its
  reduce-scatter halves what it sends in each round, as recursive halving does. Its blocks stand in
  the order of their nodes' ranks with the bits reversed: a send carries those of equal low bits, so
  they are adjacent, all of them if N is a power of two.
"""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from ...base.errors import require_range
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.rounds import RoundSend, schedule_of_rounds
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared, rooted
from .rounds import Send, all_gather_of_rounds


def aligned_broadcast(topology: Topology, root: int, words: int) -> Schedule:
    """Bring ``words`` words of ``root`` to all working nodes, one half after the other.

    Raises :class:`.InvalidInput` for a root that is faulty, a message without words, and a node
    that no path leads to.
    """
    require_range("words", words, 1)
    topology.require_working("source", root)
    nodes = topology.working_nodes.tolist()
    rounds = [
        [RoundSend(nodes[begin], nodes[end], [0]) for begin, end in pairs]
        for pairs in _levels(len(nodes), nodes.index(root))
    ]
    blocks = Blocks(np.array([root]), (None,), np.array([words]))
    ports, name = PortModel.FULL_DUPLEX, Collective.BROADCAST
    return schedule_of_rounds(
        topology, name, "aligned-tree", ports, root, blocks, rounds, keeps_rounds=True
    )


def aligned_all_gather(topology: Topology, words: int) -> Schedule:
    """Bring ``words`` words of each working node to all of them, full-duplex, on any network.

    Raises :class:`.InvalidInput` as :func:`.all_gather_of_rounds` does.
    """
    nodes = topology.working_nodes.tolist()
    rounds: list[dict[tuple[int, int], list[int]]] = []
    for rank, node in enumerate(nodes):
        for number, pairs in enumerate(_levels(len(nodes), rank)):
            if number == len(rounds):
                rounds.append(defaultdict(list))
            for begin, end in pairs:
                rounds[number][nodes[begin], nodes[end]].append(node)
    sends: list[list[Send]] = [
        [(begin, end, carried) for (begin, end), carried in sorted(each.items())] for each in rounds
    ]
    bits = max(len(nodes) - 1, 0).bit_length()
    ranks = sorted(range(len(nodes)), key=lambda rank: f"{rank:0{bits}b}"[::-1])
    order, ports = [nodes[rank] for rank in ranks], PortModel.FULL_DUPLEX
    return all_gather_of_rounds(
        "aligned-halving", topology, words, sends, ports, keeps_rounds=True, order=order
    )


def _levels(ranks: int, root: int) -> Iterator[list[tuple[int, int]]]:
    """Yield for each level of the tree from ``root`` the (sender, receiver) ranks, top first.

    The receiver is the rank of the other half with the sender's place in its own half; in a shorter
    half the places begin again.
    """
    half = 1 << max(ranks - 1, 0).bit_length() >> 1
    held = [root]
    while half:
        pairs = []
        for rank in held:
            first = rank - rank % (2 * half)
            other = first if rank & half else first + half
            places = min(half, ranks - other)
            if places > 0:
                pairs.append((rank, other + (rank % half) % places))
        yield pairs
        held += [end for _, end in pairs]
        half >>= 1


# Both are declared for their reductions alone: forwards, other algorithms are as good.
_ANY = "any network"

BROADCAST = Declared(
    Collective.BROADCAST,
    "aligned-tree",
    rooted(aligned_broadcast),
    networks=_ANY,
    steps="⌈log2 N⌉ where paths share no link",
)
ALL_GATHER = Declared(
    Collective.ALL_GATHER,
    "aligned-halving",
    lambda asked: aligned_all_gather(asked.topology, asked.words),
    networks=_ANY,
    steps="⌈log2 N⌉ rounds",
)
