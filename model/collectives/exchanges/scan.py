"""Scans: node i gets what nodes 0 to i contribute, combined; in an exclusive scan, 0 to i - 1.

Every node has one value, which begins as its own contribution. All algorithms serve any network;
three of them, beside gossip (:mod:`.gossip_scan`), any number of nodes, in the order of their
numbers::

    hillis-steele   0 1 2 3 4 5 6 7     round k: node i sends to node i + 2^k, for all i at once
    brent-kung      0 1 2 3 4 5 6 7     distances 1, 2, 4 … then back: about 2 sends for each node
                      └>1 └>3 └>5 └>7   up:   1, 3, 5, 7 have pairs; 3, 7 fours; 7 all eight
                          └───>5        down: 5 has fours and its pair; 2, 4, 6 get the last word
    chain           0>1>2>3>4>5>6>7     each sends to the next while words arrive: one step

W. D. Hillis and G. L. Steele, "Data Parallel Algorithms", 1986; R. P. Brent and H. T. Kung, "A
Regular Layout for Parallel Adders", 1982. An exclusive scan first replaces the value of every node
by that of the node before it. Then the nodes except the first make a scan.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from ...base.errors import require_range
from ...network.port_model import PortModel
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.requested_blocks import blocks_of
from ...schedule.rounds import RoundSend, schedule_of_rounds
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared
from ..declared.request import Request
from ..streaming.chain import straight_paths
from ..streaming.sends import SendList
from .gossip import NAME, STEPS
from .gossip_scan import gossip_scan

Pairs = list[tuple[int, int]]
"""The places of nodes that send to each other: from, to."""


def hillis_steele(count: int) -> Iterator[Pairs]:
    """Yield the sends of each round among ``count`` nodes."""
    for number in range((count - 1).bit_length()):
        far = 1 << number
        yield [(place, place + far) for place in range(count - far)]


def brent_kung(count: int) -> Iterator[Pairs]:
    """Yield the sends of each round among ``count`` nodes, first up and then down."""
    distances = [1 << number for number in range((count - 1).bit_length())]
    for far in distances:
        yield [(place - far, place) for place in range(2 * far - 1, count, 2 * far)]
    for far in reversed(distances):
        yield [(place - far, place) for place in range(3 * far - 1, count, 2 * far)]


def _of_rounds(
    rounds_among: Callable[[int], Iterator[Pairs]], collective: Collective, asked: Request
) -> Schedule:
    """Return the scan by the rounds of one of the functions above."""
    name = rounds_among.__name__.replace("_", "-")
    nodes = asked.topology.working_nodes.tolist()
    summing = nodes[1:] if collective == Collective.EXSCAN else nodes
    rounds = [
        [RoundSend(summing[begin], summing[end], (0,), combine=True) for begin, end in each]
        for each in rounds_among(len(summing))
    ]
    if summing != nodes:
        rounds.insert(0, [RoundSend(begin, end, (0,)) for begin, end in pairwise(nodes)])
    ports = PortModel.ALL_PORT if asked.all_port else PortModel.FULL_DUPLEX
    blocks = _blocks(collective, asked)
    return schedule_of_rounds(asked.topology, collective, name, ports, None, blocks, rounds)


def _blocks(collective: Collective, asked: Request) -> Blocks:
    require_range("words", asked.words, 1)
    return blocks_of(asked.topology, (asked.of(collective),), (), 1)


def _chain(collective: Collective, asked: Request) -> Schedule:
    """Return the scan along a chain of all nodes in the order of their numbers."""
    topology, nodes = asked.topology, asked.topology.working_nodes.tolist()
    paths = straight_paths(topology, list(pairwise(nodes)))
    sends, step = SendList(), 1
    if collective == Collective.EXSCAN:
        # The last ones send first, as a node sends its value no later than it gets another.
        for step, path, _ in _steps(paths[::-1], 1):
            sends.add(step, path, [0])
        paths, step = paths[1:], step + 1
    for at, path, streams in _steps(paths, step):
        sends.add(at, path, [0], stream=streams, combine=True)
    ports = PortModel.ALL_PORT if asked.all_port else PortModel.FULL_DUPLEX
    return sends.schedule("chain", topology, collective, ports, None, _blocks(collective, asked))


def _gossip(collective: Collective, asked: Request) -> Schedule:
    """Return the scan of the best of many random tries."""
    blocks = _blocks(collective, asked)
    return gossip_scan(asked.topology, collective, blocks, all_port=asked.all_port)


def _steps(paths: Sequence[Sequence[int]], step: int) -> Iterator[tuple[int, Sequence[int], bool]]:
    """Yield each path with its step, and whether the path before it has the same step.

    A path that shares a link with earlier ones of a step begins the next step.
    """
    used: set[tuple[int, int]] = set()
    for path in paths:
        streams = bool(used)
        if not used.isdisjoint(pairwise(path)):
            used, step, streams = set(), step + 1, False
        used.update(pairwise(path))
        yield step, path, streams


_MAKE: tuple[tuple[str, Callable[[Collective, Request], Schedule], str, str], ...] = (
    (
        "hillis-steele",
        partial(_of_rounds, hillis_steele),
        "⌈log2 N⌉ rounds",
        "Hillis & Steele 1986",
    ),
    ("brent-kung", partial(_of_rounds, brent_kung), "2 ⌈log2 N⌉ − 1 rounds", "Brent & Kung 1982"),
    (NAME, _gossip, STEPS, ""),
    ("chain", _chain, "1 where its paths share no link, otherwise more", ""),
)
ALGORITHMS = tuple(
    Declared(
        collective,
        name,
        partial(make, collective),
        networks="any network",
        steps=steps,
        paper=paper,
        ports=(ONE, ALL),
        takes=("operator", "all_port"),
    )
    for collective in (Collective.SCAN, Collective.EXSCAN)
    for name, make, steps, paper in _MAKE
)
