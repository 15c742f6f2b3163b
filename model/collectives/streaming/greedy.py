"""All-gather on all ports of any network, faults and all: every link brings something new.

In each step a link brings its end one block that it has not got, of those that its beginning had
before the step; of all such blocks the one that the fewest nodes have, and of equally rare ones one
by lot. (W. Won et al., "TACOS: Topology-Aware Collective Algorithm Synthesizer for Distributed
Machine Learning", 2023, arXiv:2304.05301, with the rarest first.) A node that all wait for, as a
corner of a mesh, gets a new block by each link in every step, which is the best that there is; so
the schedule mostly takes the steps of the tightest cut, or few more. Of some tries the one with the
fewest steps is kept.

A step takes as long as the longest block that moves in it. So long blocks are cut into pieces, and
unequal blocks into pieces that are about as long as each other.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...base.errors import InvalidInput, require_range, with_article
from ...base.pieces import shares_of
from ...network.links import linked_pairs
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from .sends import SendList, blocks_for_all

TRIED_BLOCKS = 1 << 18
"""Blocks at all nodes, in all tries together."""
MOST_TRIES = 4
LEAST_PIECE = 64
"""Words of a block that is worth being cut in two: a step costs about five cycles more."""

STEP_CYCLES = 5
"""What a step costs beside its words, about."""

Move = tuple[int, int, int, int]
"""Step, source, target and block."""


def greedy_all_gather(
    topology: Topology, words: int, block_words: npt.ArrayLike | None = None
) -> Schedule:
    """All-gather of ``words`` words from each working node, on all ports.

    ``block_words`` are those of each node, where they are not equal. Raises :class:`.InvalidInput`
    for a network with switches or nodes that cannot be reached.
    """
    require_range("flits", words, 1)
    if block_words is None:
        pieces = [words] if words < 2 * LEAST_PIECE else [words - words // 2, words // 2]
        owners = np.tile(topology.working_nodes, len(pieces))
        lengths = np.repeat(pieces, len(owners) // len(pieces))
    else:
        owners, lengths = _unequal_pieces(topology, np.asarray(block_words))
    cells = topology.nodes * len(owners)
    tries = min(MOST_TRIES, max(1, TRIED_BLOCKS // max(cells, 1)))
    found = [_gathered(topology, owners, lengths, seed) for seed in range(tries)]
    sends = SendList()
    for step, source, target, block in min(found, key=lambda moves: moves[-1][0] if moves else 0):
        sends.add(step, (source, target), [block])
    blocks = blocks_for_all(owners, lengths)
    ports = PortModel.ALL_PORT
    return sends.schedule("greedy", topology, Collective.ALL_GATHER, ports, None, blocks)


def _unequal_pieces(topology: Topology, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Owner and length of pieces of all nodes' ``words``, about equally long; and one of none.

    Of lengths that halve the longest, that with which all pieces come soonest to the node with the
    fewest links, one by each in a step.
    """
    working = topology.working_nodes
    each = words[working]
    links = np.bincount(linked_pairs(topology)[1], minlength=topology.nodes)[working].min()
    lengths = [int(each.max()) >> halved for halved in range(int(each.max()).bit_length())]

    def cycles(length: int) -> int:
        pieces = int((-(-each // length)).sum())
        return -(-pieces // max(1, int(links))) * (length + STEP_CYCLES)

    length = min(lengths, key=cycles, default=1)
    counts = np.maximum(1, -(-each // length))
    owners = np.repeat(np.arange(len(working)), counts)
    return working[owners], shares_of(each, owners)


def _gathered(topology: Topology, owners: np.ndarray, lengths: np.ndarray, seed: int) -> list[Move]:
    """Blocks that cross each link in each step, until all nodes have all blocks of any words."""
    draw = np.random.default_rng(seed)
    into = _links_into(topology)
    # Who has the fewest ways in chooses first.
    order = sorted(topology.working_nodes.tolist(), key=lambda node: len(into[node]))
    have = np.tile(lengths == 0, (topology.nodes, 1))
    have[owners, np.arange(len(owners))] = True
    holders = np.ones(len(owners))
    moves: list[Move] = []
    step = 0
    while not have[order].all():
        step += 1
        lots = holders + draw.random(len(owners)) / 2
        came = [(node, move) for node in order for move in _chosen(have, into[node], node, lots)]
        if not came:
            allowed = "one without switches in which every node reaches all others"
            raise InvalidInput.of("network for greedy", allowed, with_article(topology.label))
        for node, (source, block) in came:
            have[node, block] = True
            holders[block] += 1
            moves.append((step, source, node, block))
    return moves


def _links_into(topology: Topology) -> list[list[int]]:
    """The nodes from which links lead to each node, each once, ascending."""
    into: list[list[int]] = [[] for _ in range(topology.nodes)]
    begins, ends = linked_pairs(topology)
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        into[end].append(begin)
    return into


def _chosen(
    have: np.ndarray, sources: list[int], node: int, lots: np.ndarray
) -> list[tuple[int, int]]:
    """Blocks for ``node`` from each of ``sources``: the rarest of each, and none twice."""
    missing = ~have[node]
    offers = sorted(
        ((have[source] & missing, source) for source in sources), key=lambda offer: offer[0].sum()
    )
    chosen = []
    for offer, source in offers:
        left = offer & missing
        if left.any():
            block = int(np.where(left, lots, np.inf).argmin())
            missing[block] = False
            # What one node has just chosen is less rare for the next.
            lots[block] += 1
            chosen.append((source, block))
    return chosen
