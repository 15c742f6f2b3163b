"""Blocks: the data of a collective, with the nodes that have and that get each block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..base.arrays import freeze
from ..base.errors import InvalidInput, require_range
from ..network.topology import Topology
from .collective import Prefix

CUSTOM = "custom"

NO_OWNER = -1
"""The owner of a reduced block, which no node has before all contributions are combined."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of a collective: which node has each at the start, and which must end up with it.

    ``owner`` and ``words`` have shape (blocks,), int32: the node that has the block before step 1,
    and the block's length in words. ``owed[block]`` lists the nodes that must end up with it, None
    for every working node (neither faulty nor a switch).

    A *reduced* block has the owner ``NO_OWNER``. ``contributors[block]`` then lists the nodes that
    have a value of their own for it before step 1, None for every working node.
    ``operator[block]`` names the operator that combines all these values: one of ``BUILT_IN``
    (``model/network/operators.py``) or a custom one of the network. For any other block
    ``operator`` is None and ``contributors`` empty. Both may be left out if no block is reduced.

    An owed node gets all contributions to a reduced block, unless ``prefix[block]`` names fewer. It
    is None for most blocks, and may be left out if it is for all.

    ``group``, shape (blocks,), int32, numbers the group of each block: needed if groups share
    nodes, otherwise it may be left out (:meth:`in_groups`).
    """

    owner: npt.NDArray[np.int32]
    owed: tuple[tuple[int, ...] | None, ...]
    words: npt.NDArray[np.int32]
    contributors: tuple[tuple[int, ...] | None, ...] = ()
    operator: tuple[str | None, ...] = ()
    prefix: tuple[Prefix | None, ...] = ()
    group: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    def __post_init__(self) -> None:
        freeze(self, "owner", "words", "group", dtype=np.int32)
        if not self.operator and not self.contributors:
            object.__setattr__(self, "contributors", ((),) * len(self.owner))
            object.__setattr__(self, "operator", (None,) * len(self.owner))
        if not self.prefix:
            object.__setattr__(self, "prefix", (None,) * len(self.owner))
        if not len(self.owner) == len(self.owed) == len(self.words):
            raise InvalidInput.of(
                "owner, owed and words of the blocks",
                "equally long",
                f"{len(self.owner)}, {len(self.owed)} and {len(self.words)} long",
            )
        lengths = [*map(len, (self.contributors, self.operator, self.prefix))]
        if {*lengths} != {len(self.owner)}:
            raise InvalidInput.of(
                "contributors, operator and prefix of the blocks",
                f"{len(self.owner)} long",
                f"{lengths[0]}, {lengths[1]} and {lengths[2]} long",
            )
        for block in np.flatnonzero(self.reduced != [name is not None for name in self.operator]):
            allowed = "one of a reduced block, which has no owner, and none of any other"
            raise InvalidInput.of(f"operator of block {block}", allowed, self.operator[block])
        for block in np.flatnonzero(self.scanned & ~self.reduced):
            allowed = "none, as it has an owner"
            raise InvalidInput.of(f"prefix of block {block}", allowed, self.prefix[block])
        if self.group.size not in (0, len(self)):
            raise InvalidInput.of("group of the blocks", f"{len(self)} long", self.group.size)

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self.owner)

    @property
    def reduced(self) -> npt.NDArray[np.bool_]:
        """Tell for each block whether it is combined from contributions: shape (blocks,)."""
        reduced: npt.NDArray[np.bool_] = self.owner == NO_OWNER
        return reduced

    @property
    def scanned(self) -> npt.NDArray[np.bool_]:
        """Tell for each block whether owed nodes get fewer than all contributions: (blocks,)."""
        return np.array([each is not None for each in self.prefix], np.bool_)

    def holders(self, block: int, topology: Topology) -> tuple[int, ...]:
        """Return the nodes with a value of ``block`` before step 1: its owner or contributors."""
        if self.owner[block] != NO_OWNER:
            return (int(self.owner[block]),)
        contributors = self.contributors[block]
        return tuple(topology.working_nodes.tolist()) if contributors is None else contributors

    def parts(self, block: int, node: int, topology: Topology) -> tuple[int, ...]:
        """Return the nodes whose values of ``block`` are combined in what ``node`` is owed."""
        holders, prefix = self.holders(block, topology), self.prefix[block]
        if prefix is None:
            return holders
        end = node + (prefix == Prefix.INCLUSIVE)
        return tuple(holder for holder in holders if holder < end)

    def in_groups(
        self, groups: Sequence[tuple[int, ...]], topology: Topology
    ) -> npt.NDArray[np.int64]:
        """Return the group of each block, shape (blocks,): -1 for none, 0 if there are no groups.

        If ``group`` is left out, it is the group of the nodes that have the block.
        """
        if not groups:
            return np.zeros(len(self), np.int64)
        if self.group.size:
            return self.group.astype(np.int64)
        group = np.full(topology.nodes, -1)
        for number, nodes in enumerate(groups):
            group[list(nodes)] = number
        holders = [self.holders(block, topology)[:1] for block in range(len(self))]
        return np.array([group[nodes[0]] if nodes else -1 for nodes in holders], np.int64)

    def served(self, topology: Topology) -> set[int]:
        """Return the nodes of ``topology`` that must end up with some block."""
        if None in self.owed:
            return set(topology.working_nodes.tolist())
        return {node for owed in self.owed for node in owed or ()}

    def some(self, kept: npt.NDArray[np.bool_]) -> Blocks:
        """Return the blocks marked in ``kept``, shape (blocks,)."""
        if kept.all():
            return self
        return self.chosen(np.flatnonzero(kept))

    def chosen(self, numbers: npt.NDArray[np.int64]) -> Blocks:
        """Return the blocks with these ``numbers``, in this order; numbers may occur repeatedly."""
        chosen = numbers.tolist()
        return Blocks(
            self.owner[numbers],
            tuple(self.owed[block] for block in chosen),
            self.words[numbers],
            tuple(self.contributors[block] for block in chosen),
            tuple(self.operator[block] for block in chosen),
            tuple(self.prefix[block] for block in chosen),
            self.group[numbers] if self.group.size else self.group,
        )

    @classmethod
    def of_broadcast(cls, root: int, words: int) -> Blocks:
        """Return one block of ``words`` words that ``root`` owes to every node."""
        require_range("words", words, 1)
        return cls(np.array([root], np.int32), (None,), np.array([words], np.int32))

    @classmethod
    def reduced_to(
        cls, owed: tuple[tuple[int, ...] | None, ...], words: npt.ArrayLike, operator: str
    ) -> Blocks:
        """Return blocks to which every node contributes, each owed to the nodes of ``owed``."""
        lengths = np.broadcast_to(np.asarray(words, np.int32), (len(owed),))
        for length in lengths[lengths < 0][:1]:
            require_range("words", int(length), 0)
        owner = np.full(len(owed), NO_OWNER, np.int32)
        return cls(owner, owed, lengths, (None,) * len(owed), (operator,) * len(owed))
