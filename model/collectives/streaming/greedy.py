"""All-gather and broadcast on all ports of any network: every link brings new blocks.

In each step a link brings its end one block that the end does not have and the beginning had before
the step. It is the block that the fewest nodes have, at random among equally rare ones. (W. Won et
al., "TACOS: Topology-Aware Collective Algorithm Synthesizer for Distributed Machine Learning",
2023, arXiv:2304.05301, with the rarest block first.) The node that finishes last, such as a corner
of a mesh, gets a new block over each link in every step, the most possible. So the schedule mostly
takes the steps of the tightest cut, or few more. The try with the fewest cycles is kept.

A step takes as long as the longest block that moves in it. So long blocks are cut into pieces, and
unequal blocks into pieces of about equal length. Where links have rates (docs/router.md, section
24), a link brings as many pieces as fit in the time that the slowest link needs for one::

    rate 1   | a | b | c | d |      four pieces in a step
    rate 2   |   a   |   b   |      two
    rate 4   |       a       |      one

**Parts.** Nodes that links faster than the slowest join are a *part*, such as a chiplet. The links
between parts are the bottleneck, so some tries bring each piece into each part only once. These
links choose first. If none of them brings a piece, the step is *short*: the other links bring half
as many pieces in it, so that the last pieces spread quickly. The best length of a piece depends on
the latencies too, so these tries have several lengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ...base.arrays import Numbers
from ...base.errors import require_range
from ...base.ragged import even_shares, shares_of
from ...bounds.hops import hops_from
from ...network.links import linked_pairs
from ...network.port_model import PortModel
from ...network.topology import NO_LINK, Topology
from ...schedule.collective import Collective
from ...schedule.duration import ONE_HOP_CYCLES, expected_cycles
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, Declared, rooted
from ..reductions.bounds import parts_joined
from .sends import SendList, blocks_for_all

if TYPE_CHECKING:
    from .passing import PathLinks

TRIED_BLOCKS = 1 << 18
"""Blocks at all nodes, in all tries together."""
MOST_TRIES = 4
PACED = "paced"
"""The broadcast, in which each link brings pieces at its own pace."""
MOST_PIECES = 1 << 11
"""Most pieces of a broadcast."""
MOST_LENGTHS = 4
"""Piece lengths tried for unequal blocks."""
LEAST_PIECE = 64
"""Least words of a piece: each further step costs about five cycles."""

Move = tuple[int, int, int]
"""Step, link and block."""

Cut = tuple[Numbers, Numbers]
"""Owners and lengths of pieces."""

LinksInto = list[list[tuple[int, int]]]
"""For each node the links into it, each with the node at which it begins."""

Tried = tuple[list[Move], Numbers, Numbers]
"""Moves, and the owners and lengths of the moved blocks."""


def greedy_all_gather(
    topology: Topology, words: int, block_words: npt.ArrayLike | None = None
) -> Schedule:
    """Bring ``words`` words of each working node to all, on all ports.

    ``block_words`` are the words of each node if they differ. Raises :class:`.InvalidInput` for a
    network with nodes that cannot be reached, or with switches and more than 128 nodes.
    """
    # Compiled code takes long to import, and few commands need it.
    from .passing import links_past  # noqa: PLC0415

    require_range("words", words, 1)
    working = topology.working_nodes
    links = links_past(topology, int(working[0]), working[1:])
    if block_words is None:
        number = int(topology.rates.max()) * (1 if words < 2 * LEAST_PIECE else 2)
        pieces = shares_of(np.array([words]), np.zeros(min(number, words), np.int64))
        lengths = np.repeat(pieces, len(working))
        cut = [(np.tile(working, len(pieces)), lengths)]
        numbers = [1 << bit for bit in range(min(words, 2 * number).bit_length())]
        by_parts = [
            (np.tile(working, few), np.repeat(even_shares(words, few), len(working)))
            for few in numbers
        ]
    else:
        each = np.asarray(block_words)[working]
        cut = by_parts = [
            _pieces(working, each, length) for length in _likely_lengths(topology, each)
        ]
    return _fastest("greedy", topology, links, Collective.ALL_GATHER, None, cut, by_parts)


def greedy_broadcast(topology: Topology, root: int, words: int) -> Schedule:
    """Bring ``words`` words of ``root`` to all working nodes, on all ports, where links differ.

    Raises :class:`.InvalidInput` as :func:`greedy_all_gather`, and if no link differs: then a
    broadcast by trees (:mod:`.trees`) is faster.
    """
    from .passing import links_past  # noqa: PLC0415 - loads compiled code

    topology.require_working("source", root)
    require_range("words", words, 1)
    if not topology.links_differ:
        raise topology.refusal(PACED, "one whose links differ")
    working = topology.working_nodes
    links = links_past(topology, root, working[working != root])
    number = _likely_number(topology, root, words)
    lengths = shares_of(np.array([words]), np.zeros(number, np.int64))
    cut = [(np.full(number, root), lengths)]
    return _fastest(PACED, topology, links, Collective.BROADCAST, root, cut)


def _likely_number(topology: Topology, root: int, words: int) -> int:
    """Return the number of pieces of a broadcast with the fewest cycles, by an estimate.

    In a step the network brings every node as many pieces as the node with the slowest links gets.
    """
    slowest, registers = int(topology.rates.max()), int(topology.registers_of(0).max())
    linked = topology.neighbor != NO_LINK
    together = np.where(linked, slowest // topology.rates, 0)
    into = np.bincount(topology.neighbor[linked], together[linked], topology.nodes).astype(np.int64)
    others = np.setdiff1d(topology.working_nodes, [root])
    at_once = max(1, min(int(together[root].sum()), int(into[others].min(initial=MOST_PIECES))))
    hops = int(hops_from(topology, np.array([root])).max())
    most = max(1, min(words, TRIED_BLOCKS // topology.nodes, MOST_PIECES))

    def cycles(number: int) -> int:
        longest = 1 + -(-words // number)
        return (-(-number // at_once) + hops) * (longest * slowest + registers + ONE_HOP_CYCLES)

    numbers: set[int] = {1, *range(at_once, most + 1, at_once)}
    return min(numbers, key=cycles)


def _fastest(
    name: str,
    topology: Topology,
    links: PathLinks,
    collective: str,
    root: int | None,
    cut: list[Cut],
    by_parts: Sequence[Cut] = (),
) -> Schedule:
    """Return the schedule with the fewest cycles of all tries of these owners and lengths.

    Tries of the owners and lengths ``by_parts`` bring each piece into each part once.
    """
    rates = _rates(topology, links)
    usual = _choices(topology, links, rates, np.zeros(topology.nodes, np.int64))
    found = [made for owners, lengths in cut for made in _tries(topology, usual, owners, lengths)]
    found = [min(found, key=lambda tried: _cycles(tried, rates))]
    fast = rates < rates.max(initial=1)
    part = parts_joined(topology.nodes, links.begins[fast], links.ends[fast])
    if fast.any() and np.unique(part[topology.working_nodes]).size > 1:
        choices = _choices(topology, links, rates, part)
        found += [
            (_gathered(topology, choices, owners, lengths, 0), owners, lengths)
            for owners, lengths in by_parts
            if topology.nodes * len(owners) <= TRIED_BLOCKS
        ]
    made = (_schedule(name, topology, links, collective, root, tried) for tried in found)
    return next(made) if len(found) == 1 else min(made, key=expected_cycles)


def _schedule(
    name: str,
    topology: Topology,
    links: PathLinks,
    collective: str,
    root: int | None,
    tried: Tried,
) -> Schedule:
    """Return the schedule of the moves of a try."""
    moves, owners, lengths = tried
    together: dict[tuple[int, int], list[int]] = {}
    for step, link, block in moves:
        together.setdefault((step, link), []).append(block)
    sends = SendList()
    for (step, link), carried in together.items():
        sends.add(step, links.paths[link], sorted(carried))
    blocks = blocks_for_all(owners, lengths)
    return sends.schedule(name, topology, collective, PortModel.ALL_PORT, root, blocks)


def _rates(topology: Topology, links: PathLinks) -> Numbers:
    """Return the largest rate of the links of each path, shape (paths,)."""
    if topology.link_rate_of is None:
        return np.ones(len(links.paths), np.int64)
    return np.array(
        [
            max(
                int(topology.rates[begin, topology.ports_between(begin, end)])
                for begin, end in pairwise(np.array(path))
            )
            for path in links.paths
        ]
    )


def _likely_lengths(topology: Topology, words: Numbers) -> list[int]:
    """Return piece lengths worth a try for unequal ``words``, the most promising first.

    They are the longest block halved repeatedly. Their order is the estimated time in which all
    pieces reach the node with the fewest links, one over each link in a step.
    """
    into = np.bincount(linked_pairs(topology)[1], minlength=topology.nodes)
    links = max(1, int(into[topology.working_nodes].min()))
    away = int(hops_from(topology, topology.working_nodes[:1]).max())

    def pieces(length: int) -> int:
        return int((-(-words // length)).sum())

    def cycles(length: int) -> int:
        return (-(-pieces(length) // links) + away) * (length + ONE_HOP_CYCLES)

    longest = int(words.max())
    lengths = [max(1, longest >> halved) for halved in range(max(1, longest.bit_length()))]
    few = [length for length in lengths[1:] if pieces(length) * topology.nodes <= TRIED_BLOCKS]
    return sorted([lengths[0], *few], key=cycles)[:MOST_LENGTHS]


def _pieces(working: Numbers, words: Numbers, length: int) -> tuple[Numbers, Numbers]:
    """Return owners and lengths of pieces of at most ``length`` words; an empty block is one."""
    owners = np.repeat(np.arange(len(working)), np.maximum(1, -(-words // length)))
    return working[owners], shares_of(words, owners)


def _tries(
    topology: Topology, choices: _Choices, owners: Numbers, lengths: Numbers
) -> Iterator[Tried]:
    """Yield the moves of pieces with these ``owners`` and ``lengths``, by random tries."""
    cells = topology.nodes * len(owners)
    for seed in range(min(MOST_TRIES, max(1, TRIED_BLOCKS // max(cells, 1)))):
        yield _gathered(topology, choices, owners, lengths, seed), owners, lengths


def _cycles(tried: Tried, rates: Numbers) -> int:
    """Estimate the cycles of moves: each step takes as long as the busiest link."""
    moves, _, lengths = tried
    if not moves:
        return 0
    step, link, block = np.array(moves).T
    busy = np.zeros((step.max() + 1, len(rates)), np.int64)
    np.add.at(busy, (step, link), lengths[block] * rates[link])
    return int((busy.max(axis=1) + ONE_HOP_CYCLES).sum())


class _Choices(NamedTuple):
    """The links that may bring pieces into each node, each once for each piece of a step.

    part
        The part of each node; a piece enters each part once.
    between, within
        Links between parts, and all others.
    short
        The others in a step in which no link between parts brings a piece.
    """

    part: Numbers
    between: LinksInto
    within: LinksInto
    short: LinksInto


def _choices(topology: Topology, links: PathLinks, rates: Numbers, part: Numbers) -> _Choices:
    """Return the choices of all links, where ``part`` is the part of each node."""
    room = rates.max(initial=1) // rates
    between = part[links.begins] != part[links.ends]
    half = np.where(rates < rates.max(initial=1), -(-room // 2), 0) if between.any() else room
    rooms = (np.where(chosen, each, 0) for chosen, each in ((between, room), (~between, room)))
    lists = (_links_into(topology, links, each) for each in (*rooms, np.where(between, 0, half)))
    return _Choices(part, *lists)


def _gathered(
    topology: Topology, choices: _Choices, owners: Numbers, lengths: Numbers, seed: int
) -> list[Move]:
    """Return the moves of one try, until all nodes have all blocks that are not empty."""
    draw = np.random.default_rng(seed)
    part, between, within, short = choices
    # The nodes with the fewest incoming links choose first.
    order = sorted(topology.working_nodes.tolist(), key=lambda node: len(within[node]))
    have = np.tile(lengths == 0, (topology.nodes, 1))
    have[owners, np.arange(len(owners))] = True
    entered = have.copy()
    entered[part[owners], np.arange(len(owners))] = True
    holders = np.ones(len(owners))
    moves: list[Move] = []
    step = 0
    while not have[order].all():
        step += 1
        lots = holders + draw.random(len(owners)) / 2
        missing = ~have
        came = []
        # Pieces that few parts have come first.
        far = lots + topology.nodes * entered.sum(axis=0)
        for node in order if any(between) else ():
            new = missing[node] & ~entered[part[node]]
            for move in _chosen(have, between[node], new, far):
                came.append((node, move))
                missing[node, move[1]] = False
                entered[part[node], move[1]] = True
        into = within if came else short
        for node in order:
            chosen = _chosen(have, into[node], missing[node], lots)
            came += [(node, move) for move in chosen]
        if not came:
            raise topology.refusal("greedy", "one in which every node reaches all others")
        for node, (link, block) in came:
            have[node, block] = True
            holders[block] += 1
            moves.append((step, link, block))
    return moves


def _links_into(topology: Topology, links: PathLinks, room: Numbers) -> LinksInto:
    """Return the links into each node, each with the node at which it begins.

    A link is listed once for each of the ``room`` pieces that it may bring in a step.
    """
    into: LinksInto = [[] for _ in range(topology.nodes)]
    ends = zip(links.begins.tolist(), links.ends.tolist(), room.tolist(), strict=True)
    for link, (begin, end, pieces) in enumerate(ends):
        into[end] += [(link, begin)] * pieces
    return into


def _chosen(
    have: np.ndarray, links: list[tuple[int, int]], missing: np.ndarray, lots: np.ndarray
) -> list[tuple[int, int]]:
    """Choose blocks of ``missing`` for a node: over each of ``links`` the rarest, none twice.

    Blocks that are chosen are no longer ``missing``.
    """
    offers = sorted(
        ((have[source] & missing, link) for link, source in links), key=lambda offer: offer[0].sum()
    )
    chosen = []
    for offer, link in offers:
        left = offer & missing
        if left.any():
            block = int(np.where(left, lots, np.inf).argmin())
            missing[block] = False
            # A block that one node has just chosen is less rare for the next.
            lots[block] += 1
            chosen.append((link, block))
    return chosen


ALGORITHM = Declared(
    Collective.ALL_GATHER,
    "greedy",
    lambda asked: greedy_all_gather(asked.topology, asked.words, asked.block_words),
    networks="any network",
    steps="mostly those of the tightest cut",
    paper="Won et al., TACOS, 2023",
    takes=("all_port",),
    ports=(ALL,),
)

BROADCAST = Declared(
    Collective.BROADCAST,
    PACED,
    rooted(greedy_broadcast),
    networks="networks whose links differ",
    steps="pieces divided by the links of the root, and hops",
    paper="Won et al., TACOS, 2023",
    takes=("all_port",),
    ports=(ALL,),
)
