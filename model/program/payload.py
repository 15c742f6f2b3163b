"""Content of the blocks of a schedule when it is carried out: random words, no two alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..network.config import NetworkConfig
from ..network.topology import Topology
from ..schedule.table import Blocks
from .compiler import Compiled
from .layout import Layout

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Payload:
    """The words of every block, and where they lie.

    ``words`` has shape (layout.starts[-1],), uint64: the blocks one after the other.
    """

    blocks: Blocks
    layout: Layout
    words: Words

    @classmethod
    def random(cls, compiled: Compiled, seed: int) -> Payload:
        """Words drawn evenly from all that a flit can carry."""
        blocks, layout = compiled.schedule.blocks, compiled.layout
        shape = (int(layout.starts[-1]),)
        return cls(blocks, layout, random_words(compiled.program.config, shape, seed))

    def loads(self) -> list[tuple[int, int, Words]]:
        """(node, address, words) of every block at its owner before the start."""
        return [
            (owner, self.layout.address(owner, block), self._block(block))
            for block, owner in enumerate(self.blocks.owner.tolist())
        ]

    def memory(self, config: NetworkConfig) -> Words:
        """The message memories before the start, (nodes, message words): 0 but for the loads."""
        memory = empty_memory(config)
        for node, address, words in self.loads():
            memory[node, address : address + len(words)] = words
        return memory

    def delivered(self, memory: Words, topology: Topology) -> npt.NDArray[np.bool_]:
        """Nodes that are owed something and hold all of it, word for word: shape (nodes,), bool.

        ``memory`` has shape (nodes, at least layout.size).
        """
        everyone = topology.working_nodes.tolist()
        served = np.zeros(len(memory), dtype=bool)
        whole = np.ones(len(memory), dtype=bool)
        for block, owed in enumerate(self.blocks.owed):
            words = self._block(block)
            for node in everyone if owed is None else owed:
                address = self.layout.address(node, block)
                held = memory[node, address : address + len(words)]
                served[node] = True
                whole[node] &= bool((held == words).all())
        return served & whole

    def _block(self, block: int) -> Words:
        return self.words[self.layout.starts[block] : self.layout.starts[block + 1]]


def empty_memory(config: NetworkConfig) -> npt.NDArray[np.uint64]:
    """Message memories that hold 0 everywhere, shape (nodes, message words)."""
    return np.zeros((config.topology.nodes, config.message_words), dtype=np.uint64)


def random_words(
    config: NetworkConfig, shape: tuple[int, ...], seed: int
) -> npt.NDArray[np.uint64]:
    """Words drawn evenly from all that a flit can carry."""
    largest = np.iinfo(np.uint64).max >> (64 - config.flit_width)
    draw = np.random.default_rng(seed)
    return draw.integers(0, largest, shape, dtype=np.uint64, endpoint=True)
