"""Content of the blocks of a schedule in a run: random words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, chain

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers, Words, words_differ
from ..base.ragged import offsets_of, portions, ranges
from ..network.config import NetworkConfig
from ..network.topology import Topology
from ..schedule.blocks import NO_OWNER, Blocks
from .compiler import Compiled
from .memory.layout import Layout

_Pieces = tuple[Numbers, Numbers, npt.NDArray[np.integer], Words]
"""Nodes, addresses and lengths of pieces of memory, and their words in turn."""


@dataclass(frozen=True, eq=False)
class Payload:
    """The words of every block, and their addresses.

    ``words`` has shape (layout.starts[-1],), uint64: the blocks one after the other, as the owed
    nodes must hold them at the end. The pieces of wide words (docs/router.md, section 25) are a
    last axis of each array. For a reduced block, ``contributions[block]`` has the values of
    its contributors, shape (contributors, words of the block), and ``holders[block]`` their nodes.
    ``results`` has the words of each (node, block) at the end that differ from node to node: those
    of a scan, and those of a custom operator, which depend on the order
    (``model/compare/combined.py``); with the latter, ``words`` is 0. ``tokens`` are the nodes that
    send tokens on circuits: a word of 0 at the address ``Layout.token``.
    """

    blocks: Blocks
    layout: Layout
    words: Words
    contributions: dict[int, Words]
    holders: dict[int, tuple[int, ...]]
    results: dict[tuple[int, int], Words] = field(default_factory=dict)
    tokens: tuple[int, ...] = ()

    @classmethod
    def random(cls, compiled: Compiled, seed: int, messages: Words | None = None) -> Payload:
        """Draw words uniformly from all values of a flit, and compute the expected results.

        ``messages`` replaces the drawn contributions of a reduction whose blocks together are its
        message: shape (contributors, words of the message), contributors by ascending node.
        """
        schedule, layout, program = compiled
        blocks, config = schedule.blocks, program.config
        words = random_words(config, (int(layout.starts[-1]),), seed)
        draw = np.random.default_rng((seed, 1))
        contributions, holders, results = {}, {}, {}
        operators = {operator.name: operator for operator in config.operators}
        begins = np.cumsum(blocks.words) - blocks.words
        everyone = tuple(schedule.topology.working_nodes.tolist())
        for block, name in enumerate(blocks.operator):
            if name is None:
                continue
            listed = blocks.contributors[block]
            nodes = everyone if listed is None else listed
            own = _drawn(draw, config, (len(nodes), int(blocks.words[block])))
            if messages is not None:
                own = messages[:, begins[block] : begins[block] + blocks.words[block]]
            known = operators[name].built_in
            result = operators[name].reduce(own, config.narrow_width) if known else 0
            words[layout.starts[block] : layout.starts[block + 1]] = result
            contributions[block], holders[block] = own, nodes
            if known and blocks.prefix[block] is not None:
                combine = partial(operators[name].combine, bits=config.narrow_width)
                sums = list(accumulate(own[np.argsort(nodes)], combine))
                owed = blocks.owed[block]
                for node in schedule.topology.working_nodes.tolist() if owed is None else owed:
                    parts = blocks.parts(block, node, schedule.topology)
                    results[node, block] = sums[len(parts) - 1]
        empty = schedule.source[schedule.send_words == 0] if layout.token is not None else ()
        tokens = tuple(np.unique(empty).tolist())
        return cls(blocks, layout, words, contributions, holders, results, tokens)

    def loads(self, config: NetworkConfig) -> list[tuple[int, int, Words]]:
        """Return (node, address, words) for all words that nodes have before the start.

        Each owner has its block, and each contributor its value, at the block's own address. If the
        block changes halves an odd number of times, the value is in the upper half of the memory
        instead; if the block has copies, it is in each of them.
        """
        return [
            (node, address, words[begin : begin + length])
            for nodes, addresses, lengths, words in self._loads(config)
            for node, address, length, begin in zip(
                nodes.tolist(),
                addresses.tolist(),
                lengths.tolist(),
                (np.cumsum(lengths) - lengths).tolist(),
                strict=True,
            )
        ]

    def _loads(self, config: NetworkConfig) -> Iterator[_Pieces]:
        """Yield blocks with an owner, then the values of each reduced block, then the tokens."""
        owned = np.flatnonzero(self.blocks.owner != NO_OWNER)
        owners, lengths = self.blocks.owner[owned].astype(np.int64), self.blocks.words[owned]
        begins = self.layout.starts[owned]
        words = self.words[ranges(begins, lengths)]
        yield owners, self.layout.addresses(owners, owned), lengths, words
        apart, halves = self.layout.apart(config), self.layout.halves
        for block, holders in self.holders.items():
            nodes, blocks = np.array(holders, np.int64), np.full(len(holders), block)
            highest = halves.place(nodes, blocks, np.zeros(1, np.int64))
            addresses, values = self.layout.addresses(nodes, blocks), self.contributions[block]
            for place in range(int(highest.max(initial=0)) + 1):
                there = highest >= place if halves.copied else highest == place
                long = np.full(np.count_nonzero(there), values.shape[1])
                words = values[there].reshape(-1, *values.shape[2:])
                yield nodes[there], addresses[there] + apart * place, long, words
        if self.layout.token is not None:
            every = np.ones(len(self.tokens), np.int64)
            words = np.zeros(config.words_shape(len(every)), np.uint64)
            yield np.array(self.tokens, np.int64), every * self.layout.token, every, words

    def memory(self, config: NetworkConfig) -> Words:
        """Return the message memories before the start, (nodes, message words); others are 0."""
        memory = empty_memory(config)
        for nodes, addresses, lengths, words in self._loads(config):
            memory[np.repeat(nodes, lengths), ranges(addresses, lengths)] = words
        return memory

    def delivered(self, memory: Words, topology: Topology) -> npt.NDArray[np.bool_]:
        """Mark the owed nodes that hold all their blocks, word for word: shape (nodes,), bool.

        ``memory`` has shape (nodes, at least layout.size).
        """
        everyone = topology.working_nodes.tolist()
        owed = [everyone if nodes is None else nodes for nodes in self.blocks.owed]
        served = np.zeros(len(memory), dtype=bool)
        served[[*self.blocks.served(topology)]] = True
        counts = np.array([*map(len, owed)], np.int64)
        # No send brings a block of no words, and it need not have an address.
        counts[self.blocks.words == 0] = 0
        for first, end in portions(offsets_of(counts * self.blocks.words)):
            blocks = np.repeat(np.arange(first, end), counts[first:end])
            lists = (owed[block] for block in range(first, end) if counts[block])
            nodes = np.fromiter(chain.from_iterable(lists), np.int64, len(blocks))
            lengths = self.blocks.words[blocks]
            places = ranges(self.layout.addresses(nodes, blocks), lengths)
            every = np.repeat(nodes, lengths)
            expected = self._expected(nodes, blocks, lengths)
            served[every[words_differ(memory[every, places], expected)]] = False
        return served

    def _expected(self, nodes: Numbers, blocks: Numbers, lengths: npt.NDArray[np.int32]) -> Words:
        """Return the words that ``nodes`` must hold of ``blocks`` at the end, pair after pair."""
        if not self.results:
            return self.words[ranges(self.layout.starts[blocks], lengths)]
        pairs = zip(nodes.tolist(), blocks.tolist(), strict=True)
        each = (self.results.get((node, block), self._block(block)) for node, block in pairs)
        return np.concatenate((self.words[:0], *each))

    def _block(self, block: int) -> Words:
        return self.words[self.layout.starts[block] : self.layout.starts[block + 1]]


def empty_memory(config: NetworkConfig) -> npt.NDArray[np.uint64]:
    """Return message memories of zeros, shape (nodes, message words), and pieces of wide words."""
    shape = config.words_shape(config.topology.nodes, config.message_words)
    return np.zeros(shape, dtype=np.uint64)


def random_words(
    config: NetworkConfig, shape: tuple[int, ...], seed: int
) -> npt.NDArray[np.uint64]:
    """Draw words uniformly from all values of a flit: ``shape``, and pieces of wide words."""
    return _drawn(np.random.default_rng(seed), config, shape)


def _drawn(draw: np.random.Generator, config: NetworkConfig, shape: tuple[int, ...]) -> Words:
    largest = np.iinfo(np.uint64).max >> (64 - config.narrow_width)
    shape = config.words_shape(*shape)
    return draw.integers(0, largest, shape, dtype=np.uint64, endpoint=True)
