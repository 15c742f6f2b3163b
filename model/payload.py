"""What is in the blocks of a schedule when it is carried out: random words, no two alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .compiler import block_addresses
from .config import NetworkConfig
from .schedule import Blocks


@dataclass(frozen=True, eq=False)
class Payload:
    """The words of every block, and where they lie.

    ``addresses`` has shape (blocks + 1,): where each block begins and the last one ends, the same
    in every node. ``words`` has shape (addresses[-1],), uint64: the blocks one after the other.
    """

    blocks: Blocks
    addresses: npt.NDArray[np.int64]
    words: npt.NDArray[np.uint64]

    @classmethod
    def random(cls, blocks: Blocks, config: NetworkConfig, seed: int) -> Payload:
        """Words drawn evenly from all that a flit can carry."""
        addresses = block_addresses(blocks)
        return cls(blocks, addresses, random_words(config, (int(addresses[-1]),), seed))

    def loads(self) -> list[tuple[int, int, npt.NDArray[np.uint64]]]:
        """(node, address, words) of every block at its owner before the start."""
        return [
            (int(owner), int(self.addresses[block]), self._block(block))
            for block, owner in enumerate(self.blocks.owner)
        ]

    def memory(self, config: NetworkConfig) -> npt.NDArray[np.uint64]:
        """The message memories before the start, (nodes, message words): 0 but for the loads."""
        memory = empty_memory(config)
        for node, address, words in self.loads():
            memory[node, address : address + len(words)] = words
        return memory

    def delivered(self, memory: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Which nodes are owed something and hold all of it, word for word: shape (nodes,).

        ``memory`` has shape (nodes, at least addresses[-1]).
        """
        served = np.zeros(len(memory), dtype=bool)
        whole = np.ones(len(memory), dtype=bool)
        for block, owed in enumerate(self.blocks.owed):
            nodes = np.arange(len(memory)) if owed is None else np.array(owed, dtype=int)
            place = slice(self.addresses[block], self.addresses[block + 1])
            served[nodes] = True
            whole[nodes] &= (memory[nodes, place] == self._block(block)).all(axis=1)
        return served & whole

    def _block(self, block: int) -> npt.NDArray[np.uint64]:
        return self.words[self.addresses[block] : self.addresses[block + 1]]


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
