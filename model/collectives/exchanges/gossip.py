"""Exchanges, all-gathers and all-reduces in about as few steps as possible, on any network.

In each step nodes tell others all that they hold, along paths that share no link. A step costs
cycles however short its messages are, so few steps with long messages suit short blocks. On a line
of 5 with all ports, 6 pairs need the link in the middle, but three steps are enough::

    step 1    0 ◄──► 1 ◄──► 2 ◄──► 3 ◄──► 4       after it, 1 holds 0 1 2, and 3 holds 2 3 4
    step 2           1 ──────────────────► 4      4 holds all
              0 ◄────────────────── 3             0 holds all
    step 3    0 ───────────► 2     3 ◄─── 4
                     1 ◄────────── 3              what it held: 2 3 4

The message with the most news goes first; a long path makes it later, and so does chance. Of many
random tries the one with the fewest steps is kept, and of these the one with the shortest messages.

* *All-gather*: a message carries all blocks that are new at its end.
* *All-to-all* and exchanges of fewer pairs: a node that has heard of others holds their blocks. A
  message then carries only the blocks that take this way from their source to their target. How
  much news counts that an end only relays, is drawn for each try.
* *All-reduce*: a node holds one sum. Sums without a common contribution are combined, otherwise the
  larger one replaces the smaller. Some nodes rest, because sums that overlap cannot be combined.
  An idempotent operator, such as ``and`` in a barrier, combines any two.

On more than 16 nodes, messages are too long to be fast, and few tries end, so there is a limit.

(J. Hromkovič et al., "Dissemination of Information in Interconnection Networks (Broadcasting &
Gossiping)", Combinatorial Network Theory, 1996.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...base.errors import require_range
from ...bounds.hops import UNREACHED, hops_from
from ...network.links import linked_pairs
from ...network.operators import is_idempotent
from ...network.port_model import PortModel
from ...network.route_layers import layered_vcs
from ...network.topology import Topology
from ...schedule.adjacent import adjacent_order
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.exchanged import exchanged_pairs
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared
from ..direct.all_to_all import exchanges
from ..streaming.sends import SendList, blocks_for_all

NAME = "gossip"
STEPS = "few, at least ⌈log2 N⌉ with one port"
RESTING = (0, 0, 0, 0, 0.5)
"""Shares of nodes that rest in a step where sums are combined; one is drawn for each step."""
TRIES = 64
TRIED_SUMS = 1 << 14
"""Pairs of nodes in all tries together, where sums are combined: few of these tries end.

If none has ended, up to :data:`MORE` times as many follow.
"""
MORE = 8
NO_TRY = (NAME, "one in which a random try has few steps")
"""The refusal of a network."""


class Told(NamedTuple):
    """A message: its path, and by the bits of a number whose contributions are ``new`` at its end.

    If it does not ``combine``, it replaces what the end holds.
    """

    path: list[int]
    new: int
    combine: bool


Link = tuple[int, int]
Step = list[Told]
Carried = tuple[list[int], list[int]]
"""A path, and the blocks that go along it."""


def gossip_exchange(
    topology: Topology,
    words: int,
    *,
    all_port: bool = False,
    collective: Collective = Collective.ALL_TO_ALL,
) -> Schedule:
    """Send ``words`` words from each working node to those it exchanges with, in few steps.

    ``collective`` is one of ``EXCHANGES``, or the all-gather, in which all get one block of each
    node. Raises :class:`.InvalidInput` for blocks without words, if no nodes exchange any, and if a
    node does not reach another.
    """
    require_range("words", words, 1)
    gathers = collective == Collective.ALL_GATHER
    pairs = _pairs(topology, Collective.ALL_TO_ALL if gathers else collective)
    if gathers:
        blocks, carried_by = blocks_for_all(topology.working_nodes, words), _news
    else:
        owner, target = zip(*pairs, strict=True)
        owed = tuple((node,) for node in target)
        blocks = Blocks(np.array(owner, np.int32), owed, np.full(len(pairs), words, np.int32))
        number, nodes = {pair: block for block, pair in enumerate(pairs)}, topology.working_nodes
        carried_by = partial(_carried, number=number, nodes=nodes.tolist())
    tries = map(carried_by, _tries(topology, pairs, all_port=all_port))
    steps = min(tries, key=lambda tried: (len(tried), _longest(tried)))
    order = adjacent_order(len(blocks), [carried for step in steps for _, carried in step])
    place = np.argsort(order)
    sends = SendList()
    for each, step in enumerate(steps, start=1):
        for path, carried in step:
            sends.add(each, path, np.sort(place[carried]))
    return _made(sends, topology, collective, all_port, blocks.chosen(np.array(order)))


def gossip_all_reduce(
    topology: Topology, words: int, operator: str, *, all_port: bool = False
) -> Schedule:
    """All-reduce ``words`` words, in few steps of whole messages.

    Raises :class:`.InvalidInput` as :func:`gossip_exchange` does.
    """
    require_range("words", words, 1)
    pairs = _pairs(topology, Collective.ALL_TO_ALL)
    tries = _tries(topology, pairs, all_port=all_port, sums=not is_idempotent(operator))
    blocks = Blocks.reduced_to((None,), words, operator)
    return fewest_sums(topology, Collective.ALL_REDUCE, blocks, tries, all_port=all_port)


def fewest_sums(
    topology: Topology,
    collective: Collective,
    blocks: Blocks,
    tries: Iterable[list[Step]],
    *,
    all_port: bool,
) -> Schedule:
    """Return the schedule of the try with the fewest steps, then the shortest paths.

    All messages are of block 0, which is reduced.
    """
    useful = map(_useful, tries)
    steps = min(useful, key=lambda tried: (len(tried), sum(len(t.path) for s in tried for t in s)))
    sends = SendList()
    for each, step in enumerate(steps, start=1):
        for told in step:
            sends.add(each, told.path, [0], combine=told.combine)
    return _made(sends, topology, collective, all_port, blocks)


def _pairs(topology: Topology, collective: Collective) -> list[tuple[int, int]]:
    """Return the pairs of nodes that have news for each other: from, to, ascending."""
    ends = exchanged_pairs(topology, collective, topology.working_nodes)
    if not ends[0].size:
        raise topology.refusal(NAME, "one with nodes that exchange blocks")
    return list(zip(*map(np.ndarray.tolist, ends), strict=True))


def _made(
    sends: SendList, topology: Topology, collective: str, all_port: bool, blocks: Blocks
) -> Schedule:
    ports = PortModel.ALL_PORT if all_port else PortModel.FULL_DUPLEX
    made = sends.schedule(NAME, topology, collective, ports, None, blocks)
    return replace(made, vcs=layered_vcs(made.path_offsets, made.path_nodes))


def _news(steps: Sequence[Step]) -> list[list[Carried]]:
    """Return the path and the new blocks of each message, if each node has one block for all."""
    return [[(told.path, _ranks(told.new)) for told in step] for step in steps]


def _ranks(bits: int) -> list[int]:
    """Return the numbers of the set bits."""
    return [rank for rank in range(bits.bit_length()) if bits >> rank & 1]


def _carried(
    steps: Sequence[Step], number: dict[tuple[int, int], int], nodes: list[int]
) -> list[list[Carried]]:
    """Return the path and the blocks of each message, if a block goes the way of its source's news.

    ``number`` has the block of each pair of the gossiping ``nodes``.
    """
    bringer: dict[tuple[int, int], tuple[int, int]] = {}
    carried: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for each, step in enumerate(steps):
        for place, told in enumerate(step):
            new = _ranks(told.new)
            bringer.update({(nodes[rank], told.path[-1]): (each, place) for rank in new})
    for (begin, end), block in number.items():
        at = end
        while at != begin:
            each, place = bringer[begin, at]
            carried[each, place].append(block)
            at = steps[each][place].path[0]
    return [
        [(told.path, blocks) for place, told in enumerate(step) if (blocks := carried[each, place])]
        for each, step in enumerate(steps)
    ]


def _useful(steps: Sequence[Step]) -> list[Step]:
    """Return the messages without those whose sums are all replaced before they reach a result."""
    unused: set[int] = set()
    found: list[Step] = []
    for step in reversed(steps):
        useful = [told for told in step if told.path[-1] not in unused]
        unused |= {told.path[-1] for told in useful if not told.combine}
        unused -= {told.path[0] for told in useful}
        found.append(useful)
    return [step for step in reversed(found) if step]


def _longest(steps: list[list[Carried]]) -> int:
    """Return the blocks of the longest message of each step, together."""
    return sum(max(len(carried) for _, carried in step) for step in steps)


def _tries(
    topology: Topology, pairs: Sequence[tuple[int, int]], *, all_port: bool, sums: bool = False
) -> Iterator[list[Step]]:
    """Yield the steps of random tries, none with more steps than an earlier one."""
    gossip = Gossip.of(topology, pairs, all_port=all_port, sums=sums)
    count, most = len(gossip.nodes), 2 * len(gossip.nodes)
    # What a node holds grows at most by what comes over each of its ports.
    ports = max(map(len, gossip.after)) if all_port else 1
    tries = TRIED_SUMS // count**2 if sums else TRIES
    for seed in range(MORE * tries):
        if seed >= tries and most < 2 * count:
            return
        steps = gossip.steps(most, np.random.default_rng(seed))
        if steps is not None:
            most = len(steps)
            yield steps
            if sums and (1 + ports) ** (most - 1) < count:
                return
    if most == 2 * count:
        raise topology.refusal(*NO_TRY)


@dataclass(frozen=True)
class Gossip:
    """A network of gossiping ``nodes``.

    ``wanted`` has the contributions that each of them needs, its own too, as a number's bits.
    ``after`` has the nodes behind the links of each node, ``hops`` the distances by two ranks.
    """

    nodes: list[int]
    wanted: list[int]
    after: list[list[int]]
    hops: np.ndarray
    all_port: bool
    sums: bool

    @classmethod
    def of(
        cls, topology: Topology, pairs: Iterable[tuple[int, int]], *, all_port: bool, sums: bool
    ) -> Gossip:
        """Return the gossip on a network; refuse a network with a node that does not reach all."""
        working = topology.working_nodes
        hops = hops_from(topology, working)[:, working]
        if (hops == UNREACHED).any():
            raise topology.refusal(NAME, "one in which every node reaches all others")
        after: list[list[int]] = [[] for _ in range(topology.nodes)]
        for begin, end in zip(*map(np.ndarray.tolist, linked_pairs(topology)), strict=True):
            after[begin].append(end)
        rank = {node: rank for rank, node in enumerate(working.tolist())}
        wanted = [1 << own for own in rank.values()]
        for begin, end in pairs:
            wanted[rank[end]] |= 1 << rank[begin]
        return cls([*rank], wanted, after, hops, all_port, sums)

    def steps(self, most: int, draw: np.random.Generator) -> list[Step] | None:
        """Return the steps of a random try; None if it needs more than ``most``."""
        count = len(self.nodes)
        held, steps = [1 << rank for rank in range(count)], list[Step]()
        far = draw.random()
        relayed = far**2
        while any(need & ~has for need, has in zip(self.wanted, held, strict=True)):
            if len(steps) == most:
                return None
            weight = draw.uniform(0.5, 1, (count, count)) / np.maximum(self.hops, 1) ** far
            if self.sums:
                weight *= draw.random(count) >= draw.choice(RESTING)
            step, held = self._step(held, weight.tolist(), relayed)
            steps.append(step)
        return steps

    def _step(
        self, held: list[int], weight: list[list[float]], relayed: float
    ) -> tuple[Step, list[int]]:
        """Return the messages of a step, and what the nodes hold after it.

        ``weight`` is by the ranks of a message's ends; a message of weight 0 is not sent.
        ``relayed`` is the worth of news that the end itself does not want.
        """
        now, step = [*held], Step()
        links = set[Link]()
        sends, receives, replaced = set[int](), set[int](), set[int]()
        ranks = range(len(held))
        waiting = [
            (-self._gain(held, now, begin, end, relayed) * weight[begin][end], begin, end)
            for begin in ranks
            for end in ranks
        ]
        waiting = [each for each in waiting if each[0]]
        heapify(waiting)
        while waiting:
            score, begin, end = heappop(waiting)
            if end in replaced or (not self.all_port and (begin in sends or end in receives)):
                continue
            found = -self._gain(held, now, begin, end, relayed) * weight[begin][end]
            if found > score:
                if found:
                    heappush(waiting, (found, begin, end))
                continue
            path = self.path(links, begin, end)
            if path:
                combine = not self.sums or not held[begin] & held[end]
                step.append(Told(path, held[begin] & ~now[end], combine))
                now[end] = held[begin] | now[end] * combine
                links.update(pairwise(path))
                sends.add(begin)
                receives.add(end)
                if not combine:
                    replaced.add(end)
        return step, now

    def _gain(self, held: list[int], now: list[int], begin: int, end: int, relayed: float) -> float:
        """Return the worth of the news that a message brings a node; 0 if it cannot be sent."""
        if not self.sums or not held[begin] & now[end]:
            news, wanted = held[begin] & ~now[end], self.wanted[end]
            return (news & wanted).bit_count() + relayed * (news & ~wanted).bit_count()
        if now[end] != held[end]:
            return 0
        return max(0, held[begin].bit_count() - held[end].bit_count())

    def path(self, used: set[Link], begin: int, end: int, detour: int = 0) -> list[int] | None:
        """Return a shortest path between two ranks over links that are not ``used``.

        Returns None if it has more than ``detour`` links beyond the fewest.
        """
        hops = self.hops[begin, end] + detour
        begin, end = self.nodes[begin], self.nodes[end]
        before = {begin: begin}
        border = [begin]
        for _ in range(hops):
            further = []
            for node in border:
                for onward in self.after[node]:
                    if onward not in before and (node, onward) not in used:
                        before[onward] = node
                        further.append(onward)
            border = further
        if end not in before:
            return None
        path = [end]
        while path[-1] != begin:
            path.append(before[path[-1]])
        return path[::-1]


EXCHANGES = exchanges(NAME, gossip_exchange, steps=STEPS)
ALL_GATHER = Declared(
    Collective.ALL_GATHER,
    NAME,
    lambda asked: gossip_exchange(
        asked.topology, asked.words, all_port=asked.all_port, collective=Collective.ALL_GATHER
    ),
    networks="any network",
    steps=STEPS,
    ports=(ONE, ALL),
    takes=("all_port",),
)
ALL_REDUCE = Declared(
    Collective.ALL_REDUCE,
    NAME,
    lambda asked: gossip_all_reduce(
        asked.topology, asked.words, asked.combining, all_port=asked.all_port
    ),
    networks="any network",
    steps=STEPS,
    ports=(ONE, ALL),
    takes=("all_port", "operator"),
)
