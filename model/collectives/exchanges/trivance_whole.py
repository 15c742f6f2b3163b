"""All-reduce of whole messages on all ports, in k rounds for each ring of 3^k nodes.

A node has combined the words of the h nodes around it, itself in the middle. It sends the result h
nodes up and h nodes down, and combines the words from both sides: then it has those of 3h nodes::

    n = 9    node 4    | 4 |    from 3 and 5    | 3 4 5 |    from 1 and 7    | 0 1 2 3 4 5 6 7 8 |

(*Trivance*, arXiv 2602.17254, for short messages.) On a torus this is done axis by axis. If the
operator is idempotent, a contribution may arrive twice, and sides of any length serve. Two
messages arrive and are combined while the node sends its old words. So each node needs copies
of the message (:mod:`...program.memory.halves`): one more than the number of rounds.

In a round h messages cross each link, in one step on h VCs if there are enough. So a ring of 9
takes two steps, a 9x9 torus four. A network has at most 8 VCs; the last round of a ring of 27 would
need 9, so it takes two steps.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, count, pairwise
from math import prod
from operator import itemgetter

import numpy as np

from ...base.errors import InvalidInput, one_of, require_range
from ...base.ragged import offsets_of
from ...network.config import MOST_VCS
from ...network.operators import BUILT_IN, IDEMPOTENT, is_built_in, is_idempotent
from ...network.port_model import PortModel
from ...network.route_layers import Layers
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, Declared
from ..streaming.sends import SendList
from .rounds import require_ring

NAME = "trivance-whole"


def trivance_all_reduce(topology: Topology, words: int, operator: str) -> Schedule:
    """All-reduce ``words`` words on a torus or ring, all-port.

    Raises :class:`.InvalidInput` for another network, for sides that are no powers of three unless
    the operator is idempotent, for no words, and for an operator that is not built in: its copies
    would differ (:mod:`...program.memory.halves`).
    """
    require_ring(NAME, topology)
    if not is_built_in(operator):
        raise InvalidInput.of(f"operator for {NAME}", one_of(BUILT_IN), operator)
    require_range("words", words, 1)
    if not is_idempotent(operator) and any(3**7 % side for side in topology.dims):
        allowed = f"of sides that are powers of three, unless the operator is {one_of(IDEMPOTENT)}"
        raise topology.refusal(NAME, allowed)
    rounds = [
        _paths(topology.nodes, side, prod(topology.dims[:axis]), hops)
        for axis, side in enumerate(topology.dims)
        for hops in _hops(side)
    ]
    return _Calendar(rounds).schedule(topology, Blocks.reduced_to((None,), words, operator))


def _hops(side: int) -> Iterator[tuple[int, int]]:
    """Yield the hops up and down of each round, until all nodes of a ring have all words."""
    held = 1
    while held < side:
        missing = side - held
        down = min(held, missing // 2)
        up = min(held, missing - down)
        yield up, -down
        held += up + down


def _paths(nodes: int, side: int, stride: int, ways: tuple[int, int]) -> list[list[int]]:
    """Return the paths along an axis from all nodes, as many hops up and down as ``ways`` say."""
    return [
        [node + ((place + hop) % side - place) * stride for hop in range(0, hops + step, step)]
        for node in range(nodes)
        for place in [node // stride % side]
        for hops, step in zip(ways, (1, -1), strict=True)
        if hops
    ]


class _Calendar:
    """Sends dealt to steps and VCs; no two share a link and VC in one step.

    On each VC no circle of packets can wait for itself.
    """

    def __init__(self, rounds: list[list[list[int]]]) -> None:
        self._sends: list[tuple[int, int, list[int]]] = []
        paths = [*chain(*rounds)]
        self._layers = Layers(offsets_of([*map(len, paths)]), np.array([*chain(*paths)]))
        for paths_of_round in rounds:
            self._add_round(paths_of_round)

    def _add_round(self, paths: list[list[int]]) -> None:
        """Place sends in the earliest steps that fit, after all sends of earlier rounds."""
        first = max((step for step, _, _ in self._sends), default=0) + 1
        taken: set[tuple[int, int, tuple[int, int]]] = set()
        for path in paths:
            links = list(pairwise(path))
            step, vc = self._place(links, first, taken)
            taken.update((step, vc, link) for link in links)
            self._sends.append((step, vc, path))

    def _place(
        self,
        links: list[tuple[int, int]],
        first: int,
        taken: set[tuple[int, int, tuple[int, int]]],
    ) -> tuple[int, int]:
        """Return the first step, and its lowest VC, in which all ``links`` are free."""
        for step in count(first):
            for vc in range(MOST_VCS):
                free = not any((step, vc, link) in taken for link in links)
                if free and self._layers.joins(len(self._sends), vc):
                    return step, vc
        raise AssertionError  # count() has no end

    def schedule(self, topology: Topology, blocks: Blocks) -> Schedule:
        """Return the schedule of all added sends, each with the whole message."""
        # Rounds are in order, but the sends of one round are in the order of the nodes.
        ordered = sorted(self._sends, key=itemgetter(0))
        sends = SendList()
        for step, _, path in ordered:
            sends.add(step, path, [0], combine=True)
        ports, name = PortModel.ALL_PORT, Collective.ALL_REDUCE
        made = sends.schedule(NAME, topology, name, ports, None, blocks)
        return replace(made, vcs=np.repeat([vc for _, vc, _ in ordered], made.distances))


ALGORITHM = Declared(
    Collective.ALL_REDUCE,
    NAME,
    lambda asked: trivance_all_reduce(asked.topology, asked.words, asked.combining),
    networks="tori; the operator is idempotent, or sides are 3^k",
    steps="sum of ⌈log3 n⌉",
    paper="Trivance, arXiv 2602.17254",
    takes=("all_port", "operator"),
    ports=(ALL,),
)
