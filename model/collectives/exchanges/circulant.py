"""All-gather in ⌈log2 N⌉ rounds for any number N of nodes, on any network.

Node r has h blocks: r, r + 1 … r + h - 1 (all modulo N). In the next round it gets h more, or all
that are left, from node r + h; so h doubles from 1 to N::

    N = 5    node 0    | 0 |        h = 1, from node 1   | 0 1 |       h = 2, from node 2
                       | 0 1 2 3 |  h = 4, from node 4   | 0 1 2 3 4 |   which sends one block alone

Every node sends and receives N - 1 blocks, which is the least, in the fewest rounds (J. Bruck et
al., "Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems",
1997). Backwards it is the reduce-scatter of J. L. Träff, "Optimal, Non-pipelined Reduce-scatter and
Allreduce Algorithms" (arXiv 2410.14234); his all-reduce is both in turn. Both papers assume links
that cost nothing; :mod:`.rounds` deals with paths that share links.
"""

from collections.abc import Iterator

from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared
from .rounds import Send, all_gather_of_rounds


def circulant_all_gather(topology: Topology, words: int) -> Schedule:
    """Bring ``words`` words of each working node to all of them, full-duplex, on any network.

    Raises :class:`.InvalidInput` as :func:`.all_gather_of_rounds` does.
    """
    rounds = _rounds(topology.working_nodes.tolist())
    return all_gather_of_rounds("circulant", topology, words, rounds, PortModel.FULL_DUPLEX)


def _rounds(nodes: list[int]) -> Iterator[list[Send]]:
    count, held = len(nodes), 1
    while held < count:
        sent = min(held, count - held)
        yield [
            (nodes[(rank + held) % count], node, _from(nodes, rank + held, sent))
            for rank, node in enumerate(nodes)
        ]
        held += sent


def _from(nodes: list[int], first: int, number: int) -> list[int]:
    return [nodes[(first + place) % len(nodes)] for place in range(number)]


ALGORITHM = Declared(
    Collective.ALL_GATHER,
    "circulant",
    lambda asked: circulant_all_gather(asked.topology, asked.words),
    networks="any network",
    steps="⌈log2 N⌉ rounds",
    paper="Bruck et al. 1997; Träff 2024",
)
