"""The words that a collective must move: from which node to which others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import Numbers
from ..network.topology import Topology
from ..schedule.blocks import Blocks
from .hops import UNREACHED


@dataclass(frozen=True, eq=False)
class Demand:
    """Words that must get from their owners to other nodes.

    ``to_all`` has shape (nodes,): the words that each node has for every other working node.
    ``source``, ``target`` and ``words`` are columns: words of one node for one other. ``several``
    lists words for some nodes: (source, targets, words). No node is its own target.
    """

    nodes: int
    working: Numbers
    to_all: Numbers
    source: Numbers
    target: Numbers
    words: Numbers
    several: tuple[tuple[int, tuple[int, ...], int], ...]

    @classmethod
    def of(cls, topology: Topology, blocks: Blocks) -> Demand:
        """Return the demand of the blocks of a schedule; no block may be reduced."""
        working = topology.working_nodes
        to_all = np.zeros(topology.nodes, np.int64)
        single: list[tuple[int, int, int]] = []
        several = []
        rows = zip(blocks.owner.tolist(), blocks.owed, blocks.words.tolist(), strict=True)
        for owner, owed, words in rows:
            if not words or (owed is not None and not {*owed} - {owner}):
                continue
            if owed is not None and len(owed) == 1:
                single += [(owner, node, words) for node in owed if node != owner]
            elif owed is None or np.isin(working, (*owed, owner)).all():
                to_all[owner] += words
            elif targets := tuple(sorted({*owed} - {owner})):
                several.append((owner, targets, words))
        source, target, count = np.array(single, np.int64).reshape(-1, 3).T
        return cls(topology.nodes, working, to_all, source, target, count, tuple(several))

    @property
    def owners(self) -> Numbers:
        """The nodes that have words for others, ascending."""
        listed = [owner for owner, _, _ in self.several]
        return np.unique(np.concatenate((np.flatnonzero(self.to_all), self.source, listed))).astype(
            np.int64
        )

    def between(self, owners: Numbers) -> Numbers:
        """Return the words of each of ``owners`` (ascending) for each node: (owners, nodes)."""
        found = np.zeros((len(owners), self.nodes), np.int64)
        found[:, self.working] = self.to_all[owners][:, np.newaxis]
        rows = np.searchsorted(owners, self.source)
        known = np.append(owners, UNREACHED)[rows] == self.source
        np.add.at(found, (rows[known], self.target[known]), self.words[known])
        row_of = {node: row for row, node in enumerate(owners.tolist())}
        for owner, targets, words in self.several:
            if owner in row_of:
                found[row_of[owner], list(targets)] += words
        found[np.arange(len(owners)), owners] = 0
        return found

    def received(self) -> Numbers:
        """Return the words that each node must receive: shape (nodes,)."""
        total = np.zeros(self.nodes, np.int64)
        total[self.working] = self.to_all.sum() - self.to_all[self.working]
        np.add.at(total, self.target, self.words)
        for _, targets, words in self.several:
            total[list(targets)] += words
        return total

    def sent(self) -> Numbers:
        """Return the words that each node must send, each word counted once: shape (nodes,)."""
        total = self.to_all * (len(self.working) > 1)
        np.add.at(total, self.source, self.words)
        for owner, _, words in self.several:
            total[owner] += words
        return total
