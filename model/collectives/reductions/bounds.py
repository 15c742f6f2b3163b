"""Lower bounds that no all-reduce can beat, on any network.

N nodes contribute and are owed the result, which has M words:

* **Steps**: those of an all-gather (:mod:`..lower_bounds`): the nodes that have words of one node
  at most double in a step.
* **Hops**: 2 (N - 1). List the sends of all steps in order, and consider the first send after which
  some node has the result. By then each other node has sent its own words: N - 1 sends. Each other
  node still has to receive: N - 1 more.
* **Words x hops**: 2 (N - 1) M, as the hops are needed for every word.
* **Words of a node**: the larger of 2 (N - 1) M / N, as N nodes share the words that are sent
  (P. Patarasuk and X. Yuan, 2009), and M, as every node sends each word at least once.
* **Words of a link**: the larger of two shares: of M on the links out of the node with the fewest
  links, and of words x hops on all links.

In **cycles**, a reduce or reduce-scatter is bounded as a broadcast or all-gather over links turned
round: any schedule of the one, backwards, is one of the other. A block owed to several nodes takes
at least the cycles to bring one contributor's words to all of them. In addition, the ports or links
of all nodes share the sends of all words. Before some node has the result, each other contributor
sends once; after it, each other node that is owed the result receives once. This last bound does
not hold where routers join and fork words: one send of a port is then a send to many.

**Scans.** The last node that is owed a block gets the contributions of all, as in a reduce, and the
words of the first contributor reach all owed nodes, as in a broadcast. Both bounds hold.

**Parts between slow links.** Let all nodes that links faster than rate r join be one *part*, as a
chiplet is. Take a word, and number its arrivals at other parts in their order. Consider the first
arrival after which some part knows the words of all contributors. By then each other part with a
contributor has sent. No other part that is owed the result knows enough yet, so it receives later.
So p parts that contribute and are owed share 2 (p - 1) M words x links, over the links between
parts alone. On 2x2 chiplets of 4x4 with rate 4, these are 6 M words over links that carry 8 words a
cycle: 0.75 M cycles, while all links of the network share 126 M / 200 = 0.63 M.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...base.arrays import Numbers
from ...base.texts import counted
from ...network.port_model import PortModel
from ...network.topology import NO_LINK, Topology
from ...schedule.blocks import NO_OWNER, Blocks
from ...schedule.broadcast_bounds import least_broadcast_steps
from .backwards import against

if TYPE_CHECKING:
    from ...bounds.cycles import CycleBound


def reduction_cycles(
    topology: Topology,
    blocks: Blocks,
    port_model: PortModel,
    *,
    hop_cycles: int,
    joins: bool = False,
) -> CycleBound:
    """Return the least cycles of any schedule for reduced ``blocks``, as :func:`.least_cycles`.

    The bound does not depend on how the words are cut into blocks. ``joins`` tells that routers
    join and fork words.
    """
    # Compiled code takes long to import, and most commands refuse bad input before they need it.
    from ...bounds.cycles import CycleBound, least_cycles  # noqa: PLC0415

    asked = _asked(topology, blocks)
    if not asked:
        return CycleBound(0, "nothing has to be sent")
    alone = {ends: words for ends, words in asked.items() if len(ends.owed) == 1}
    several = {ends: words for ends, words in asked.items() if len(ends.owed) > 1}
    found = []
    if not (joins and several):
        found = [_shared(topology, several, port_model), *_between_parts(topology, several)]
    if alone:
        turned = Blocks(
            np.array([ends.owed[0] for ends in alone], np.int32),
            tuple(ends.contributors for ends in alone),
            np.array([*alone.values()], np.int32),
        )
        bound = least_cycles(against(topology), turned, port_model, hop_cycles=hop_cycles)
        found.append(replace(bound, reason=f"backwards, {bound.reason}"))
    # The words of any one contributor must reach all nodes that are owed the block: try the first
    # contributor and the last.
    for end in (0, -1) if several else ():
        copied = Blocks(
            np.array([ends.contributors[end] for ends in several], np.int32),
            tuple(ends.owed for ends in several),
            np.array([*several.values()], np.int32),
        )
        found.append(least_cycles(topology, copied, port_model, hop_cycles=hop_cycles))
    return max(found)


def ends_of_scans(topology: Topology, blocks: Blocks) -> tuple[Blocks, Blocks]:
    """Return what scans of ``blocks`` do at least: a reduced block and a copied one for each."""
    numbers, first, last = [], [], []
    for block, owed in enumerate(blocks.owed):
        nodes = topology.working_nodes.tolist() if owed is None else owed
        if nodes:
            numbers.append(block)
            first.append(min(blocks.holders(block, topology)))
            last.append(max(nodes))
    some = blocks.chosen(np.array(numbers, np.int64))
    parts = [blocks.parts(*ends, topology) for ends in zip(numbers, last, strict=True)]
    none = np.full(len(numbers), NO_OWNER)
    reduced = Blocks(none, tuple((n,) for n in last), some.words, tuple(parts), some.operator)
    return reduced, Blocks(np.array(first, np.int32), some.owed, some.words)


class _Ends(NamedTuple):
    """The nodes between which words go, each ascending."""

    contributors: tuple[int, ...]
    owed: tuple[int, ...]


def _asked(topology: Topology, blocks: Blocks) -> dict[_Ends, int]:
    """Return the words between the same nodes, summed over blocks."""
    everyone = tuple(topology.working_nodes.tolist())
    asked: dict[_Ends, int] = defaultdict(int)
    # Most blocks go between the same nodes, which may be many.
    alike: dict[tuple[tuple[int, ...] | None, ...], int] = defaultdict(int)
    for *pair, words in zip(blocks.contributors, blocks.owed, blocks.words.tolist(), strict=True):
        alike[tuple(pair)] += words
    for nodes, words in alike.items():
        ends = _Ends(*(everyone if each is None else tuple(sorted(each)) for each in nodes))
        if words and ends.contributors and ends.owed and len({*ends.contributors, *ends.owed}) > 1:
            asked[ends] += words
    return asked


def _shared(topology: Topology, asked: dict[_Ends, int], port_model: PortModel) -> CycleBound:
    """Return the bound from the sends of all words, shared by all ports or links."""
    from ...bounds.cycles import CycleBound  # noqa: PLC0415 - as above

    sends = _sends(asked, np.arange(topology.nodes))
    leaving = topology.neighbor[topology.working_nodes] != NO_LINK
    links = port_model == PortModel.ALL_PORT
    ports = int(np.count_nonzero(leaving if links else leaving.any(axis=1)))
    reason = f"all words together cross at least {counted(sends, 'link')}, {ports:,} at a time"
    capacity = Fraction(ports)
    if links and topology.link_rate_of is not None:
        capacity = _capacity(topology.rates[topology.working_nodes][leaving])
    return CycleBound(ceil(sends / max(Fraction(1), capacity)), reason)


def _between_parts(topology: Topology, asked: dict[_Ends, int]) -> list[CycleBound]:
    """Return the bounds from the words between parts, for each rate that separates parts."""
    from ...bounds.cycles import CycleBound  # noqa: PLC0415 - as above

    node, port = np.nonzero(topology.neighbor != NO_LINK)
    end, rates = topology.neighbor[node, port], topology.rates[node, port]
    found = []
    for rate in np.unique(rates)[1:].tolist():
        part = parts_joined(topology.nodes, node[rates < rate], end[rates < rate])
        between = part[node] != part[end]
        sends = _sends(asked, part)
        if sends and between.any():
            parts = counted(len({*part[topology.working_nodes].tolist()}), "part")
            links = counted(int(between.sum()), "link")
            reason = f"all words together go {sends:,} times between {parts}, through {links}"
            found.append(CycleBound(ceil(sends / _capacity(rates[between])), reason))
    return found


def parts_joined(nodes: int, begins: Numbers, ends: Numbers) -> Numbers:
    """Return the least node that links, in either direction, join with each node."""
    part = np.arange(nodes)
    while True:
        least = part.copy()
        np.minimum.at(least, begins, part[ends])
        np.minimum.at(least, ends, part[begins])
        if np.array_equal(least, part):
            return part
        part = least


def _sends(asked: dict[_Ends, int], part: Numbers) -> int:
    """Return the sends between parts that all words need; ``part`` is the part of each node."""
    sends = 0
    for ends, words in asked.items():
        contributing, owed = ({*part[list(nodes)].tolist()} for nodes in ends)
        common = 1 if contributing.isdisjoint(owed) else 2
        sends += (len(contributing) + len(owed) - common) * words
    return sends


def _capacity(rates: Numbers) -> Fraction:
    """Return how many words links of these ``rates`` carry in a cycle together."""
    return sum((Fraction(1, rate) for rate in rates.tolist()), Fraction(0))


def all_reduce_bounds(
    topology: Topology, nodes: int, words: int, port_model: PortModel, ports: int
) -> dict[str, int]:
    """Return the bounds for ``nodes`` nodes and ``words`` words; nodes have at most ``ports``."""
    if nodes < 2:
        return dict.fromkeys(("steps", "tcd", "word_hops", "node_words", "link_words"), 0)
    steps = least_broadcast_steps(nodes, ports if port_model == PortModel.ALL_PORT else 1)
    idle = port_model == PortModel.HALF_DUPLEX or (
        port_model == PortModel.EXCHANGE and nodes % 2 == 1
    )
    links = np.count_nonzero(topology.neighbor != NO_LINK, axis=1)
    least = int(links[topology.working_nodes].min())
    hops = 2 * (nodes - 1)
    return {
        # After step 1 a node that sent nothing is still the only one with its words.
        "steps": steps + idle,
        "tcd": hops,
        "word_hops": hops * words,
        "node_words": max(words, -(-hops * words // nodes)),
        "link_words": max(-(-words // least), -(-hops * words // int(links.sum()))),
    }
