"""Content of the blocks of a schedule in a run: random words."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..base.arrays import Words
from ..network.config import NetworkConfig
from ..network.topology import Topology
from ..schedule.blocks import NO_OWNER, Blocks
from .compiler import Compiled
from .memory.layout import Layout


@dataclass(frozen=True, eq=False)
class Payload:
    """The words of every block, and their addresses.

    ``words`` has shape (layout.starts[-1],), uint64: the blocks one after the other, as the owed
    nodes must hold them at the end. For a reduced block, ``contributions[block]`` has the values of
    its contributors, shape (contributors, words of the block), and ``holders[block]`` their nodes.
    Only for a custom operator, ``results`` has the words of each (node, block) at the end: they
    depend on the order (``model/compare/combined.py``), and ``words`` is 0 there. ``tokens`` are
    the nodes that send tokens on circuits: a word of 0 at the address ``Layout.token``.
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
        contributions, holders = {}, {}
        operators = {operator.name: operator for operator in config.operators}
        begins = np.cumsum(blocks.words) - blocks.words
        for block, name in enumerate(blocks.operator):
            if name is None:
                continue
            nodes = blocks.holders(block, schedule.topology)
            own = _drawn(draw, config, (len(nodes), int(blocks.words[block])))
            if messages is not None:
                own = messages[:, begins[block] : begins[block] + blocks.words[block]]
            known = operators[name].built_in
            result = operators[name].reduce(own, config.flit_width) if known else 0
            words[layout.starts[block] : layout.starts[block + 1]] = result
            contributions[block], holders[block] = own, nodes
        empty = schedule.source[schedule.send_words == 0] if layout.token is not None else ()
        tokens = tuple(np.unique(empty).tolist())
        return cls(blocks, layout, words, contributions, holders, tokens=tokens)

    def loads(self, config: NetworkConfig) -> list[tuple[int, int, Words]]:
        """Return (node, address, words) for all words that nodes have before the start.

        Each owner has its block, and each contributor its value, at the block's own address. If the
        block changes halves an odd number of times, the value is in the upper half of the memory
        instead; if the block has copies, it is in each of them.
        """
        owned = [
            (owner, self.layout.address(owner, block), self._block(block))
            for block, owner in enumerate(self.blocks.owner.tolist())
            if owner != NO_OWNER
        ]
        apart, halves = self.layout.apart(config), self.layout.halves
        for block, nodes in self.holders.items():
            every = np.array(nodes)
            highest = halves.place(every, np.full(len(nodes), block), np.zeros(1, np.int64))
            own = zip(nodes, highest.tolist(), self.contributions[block], strict=True)
            owned += [
                (node, self.layout.address(node, block) + apart * place, words)
                for node, high, words in own
                for place in range(0 if halves.copied else high, high + 1)
            ]
        if self.layout.token is not None:
            owned += [(node, self.layout.token, np.zeros(1, np.uint64)) for node in self.tokens]
        return owned

    def memory(self, config: NetworkConfig) -> Words:
        """Return the message memories before the start, (nodes, message words); others are 0."""
        memory = empty_memory(config)
        for node, address, words in self.loads(config):
            memory[node, address : address + len(words)] = words
        return memory

    def delivered(self, memory: Words, topology: Topology) -> npt.NDArray[np.bool_]:
        """Mark the owed nodes that hold all their blocks, word for word: shape (nodes,), bool.

        ``memory`` has shape (nodes, at least layout.size).
        """
        everyone = topology.working_nodes.tolist()
        served = np.zeros(len(memory), dtype=bool)
        whole = np.ones(len(memory), dtype=bool)
        for block, owed in enumerate(self.blocks.owed):
            nodes = everyone if owed is None else owed
            served[list(nodes)] = True
            # No send brings a block of no words, and it need not have an address.
            for node in nodes if self.blocks.words[block] else ():
                words = self.results.get((node, block), self._block(block))
                address = self.layout.address(node, block)
                held = memory[node, address : address + len(words)]
                whole[node] &= bool((held == words).all())
        return served & whole

    def _block(self, block: int) -> Words:
        return self.words[self.layout.starts[block] : self.layout.starts[block + 1]]


def empty_memory(config: NetworkConfig) -> npt.NDArray[np.uint64]:
    """Return message memories of zeros, shape (nodes, message words)."""
    return np.zeros((config.topology.nodes, config.message_words), dtype=np.uint64)


def random_words(
    config: NetworkConfig, shape: tuple[int, ...], seed: int
) -> npt.NDArray[np.uint64]:
    """Draw words uniformly from all values of a flit."""
    return _drawn(np.random.default_rng(seed), config, shape)


def _drawn(draw: np.random.Generator, config: NetworkConfig, shape: tuple[int, ...]) -> Words:
    largest = np.iinfo(np.uint64).max >> (64 - config.flit_width)
    return draw.integers(0, largest, shape, dtype=np.uint64, endpoint=True)
