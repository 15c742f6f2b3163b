"""Collectives carried out word by word on small networks: times that no bound may exceed.

Every directed link carries one word per cycle. With one port a node also injects and ejects at most
one word per cycle. Routers keep and copy words, so no real network is faster. The moves are random:
each time found belongs to a schedule, after enough tries to the best one.
"""

from dataclasses import dataclass, field

import numpy as np
from helpers.topologies import distances, neighbors

from eyecast.model.network.topology import Topology


@dataclass
class Word:
    """A word, the nodes that still lack it, and the nodes whose routers have it."""

    owner: int
    lacking: set[int]
    routers: set[int] = field(default_factory=set)


def links_of(topology: Topology) -> list[tuple[int, int]]:
    """Return the directed links; parallel links separately."""
    rows = enumerate(topology.neighbor.tolist())
    return [(node, end) for node, row in rows for end in row if end >= 0]


def cycles_of(
    topology: Topology,
    asked: list[tuple[int, tuple[int, ...], int]],
    *,
    all_port: bool,
    enough: int = 0,
    tries: int = 12,
) -> int:
    """Return the fewest cycles found for words of (owner, targets, number), as bounds count.

    A word that goes h hops takes h cycles, and one more for the port. The search ends at ``enough``
    cycles, or after ``tries`` tries.
    """
    links, ends = links_of(topology), neighbors(topology)
    hops = [distances(ends, node) for node in ends]
    best = 10**6
    for seed in range(tries):
        best = min(best, 1 + _try(asked, hops, links, all_port, np.random.default_rng(seed)))
        if best <= enough:
            break
    return best


def _try(
    asked: list[tuple[int, tuple[int, ...], int]],
    hops: list[dict[int, int]],
    links: list[tuple[int, int]],
    all_port: bool,
    draw: np.random.Generator,
) -> int:
    words = [
        Word(owner, {*targets} - {owner}) for owner, targets, count in asked for _ in range(count)
    ]
    words = [word for word in words if word.lacking]
    cycle = 0
    while any(word.lacking for word in words):
        # The words with the most hops left come first; ties and a few others in random order.
        lots = draw.random(len(words)) * draw.choice((0.5, 2.5))
        far = [max((hops[w.owner][t] for t in w.lacking), default=0) for w in words]
        order = sorted(range(len(words)), key=lambda at: lots[at] - far[at])
        injecting: set[int] = set()
        for at in order:
            word = words[at]
            if not word.routers and (all_port or word.owner not in injecting):
                injecting.add(word.owner)
                word.routers.add(word.owner)
        moves = []
        for link in draw.permutation(len(links)).tolist():
            begin, end = links[link]
            for at in order:
                word = words[at]
                near = (
                    any(hops[end][t] < min(hops[r][t] for r in word.routers) for t in word.lacking)
                    if begin in word.routers
                    else False
                )
                if near and end not in word.routers and (at, end) not in moves:
                    moves.append((at, end))
                    break
        for at, end in moves:
            words[at].routers.add(end)
        taking: set[int] = set()
        for at in order:
            for node in sorted(words[at].lacking & words[at].routers):
                if all_port or node not in taking:
                    taking.add(node)
                    words[at].lacking.remove(node)
        cycle += 1
    return cycle
