"""The sends of a schedule: which node sends which blocks to which node, when and by which path.

The sends are whole arrays, so that a schedule for a million nodes is made and
checked in seconds. Columns of varying length are flat, with the offset at which each send begins::

    send            0        1            path_nodes[path_offsets[i]:path_offsets[i + 1]]
    path_offsets    0        3        5   is the path of send i, both ends included: here
    path_nodes      0  1  5  5  6         0 -> 1 -> 5 and 5 -> 6
    vcs             0  0     0            one for each link, so send i begins at path_offsets[i] - i
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from ..base.arrays import freeze
from ..base.errors import InvalidInput
from ..base.frames import data_frame
from ..base.notebook import ShowsItself
from ..base.ragged import offsets_of, portions, ranges
from ..network.port_model import PortModel
from ..network.topology import Topology
from .block_runs import BlockRuns
from .blocks import CUSTOM, Blocks
from .requested import Requested
from .same_sends import first_alike, first_of_pairs

if TYPE_CHECKING:
    from pandas import DataFrame


MOST_LISTED = 1 << 26
"""Most blocks that all sends carry together for what lists them one by one: some 3 GB."""


def _no_flags() -> npt.NDArray[np.bool_]:
    return np.zeros(0, np.bool_)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SendTable(ShowsItself):
    """An immutable table of sends and the collective that they carry out.

    The measures of links mean something only if all paths follow links, as
    :meth:`.Schedule.check` requires. Numbers are int32, offsets int64, marks
    bool.

    Attributes
    ----------
    topology
        The network.
    collective
        Name of the collective, or "custom".
    algorithm
        Name of the algorithm.
    port_model
        What a node may do in a step.
    root
        The node at which the collective begins or ends; None if every node is a root.
    blocks
        The blocks: their owners, the nodes that are owed them, and their words.
    step, source, target
        The step of each send, from 1, its sender and its receiver: shape (sends,).
    path_offsets, path_nodes
        The path of send i is ``path_nodes[path_offsets[i]:path_offsets[i + 1]]``, both ends
        included.
    vcs
        The virtual channel of each link of all paths: shape (hops,).
    block_offsets, block_ids
        Send i carries the blocks ``block_ids[block_offsets[i]:block_offsets[i + 1]]``: one or more.
        :class:`.BlockRuns` may stand for the array.
    combine
        True for a send that adds its words to those at its target instead of replacing them: shape
        (sends,). May be left out if no send has the mark.
    stream
        True for a send that may begin before its words are at its source: shape (sends,). May be
        left out if no send has the mark.
    groups
        The nodes of each group; empty for one collective of all nodes.
    timed
        Whether no send waits for the end of a step: each begins in a cycle of a timetable made for
        one network (:mod:`.timetable`).
    circuits
        Whether some sends of a step are one tree, which routers fork or join (:mod:`.trees`).
    requests
        What was asked for: one request of all nodes, one for each group, or none if unknown.

    Raises
    ------
    InvalidInput
        If the shapes do not fit together.
    """

    topology: Topology
    collective: str
    algorithm: str
    port_model: PortModel
    root: int | None
    blocks: Blocks
    step: npt.NDArray[np.int32]
    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    path_offsets: npt.NDArray[np.int64]
    path_nodes: npt.NDArray[np.int32]
    vcs: npt.NDArray[np.int32]
    block_offsets: npt.NDArray[np.int64]
    block_ids: npt.NDArray[np.int32]
    combine: npt.NDArray[np.bool_] = field(default_factory=_no_flags)
    stream: npt.NDArray[np.bool_] = field(default_factory=_no_flags)
    groups: tuple[tuple[int, ...], ...] = ()
    timed: bool = False
    circuits: bool = False
    requests: tuple[Requested, ...] = ()

    def __post_init__(self) -> None:
        freeze(self, "step", "source", "target", "path_nodes", "vcs", dtype=np.int32)
        if not isinstance(self.block_ids, BlockRuns):
            freeze(self, "block_ids", dtype=np.int32)
        freeze(self, "path_offsets", "block_offsets", dtype=np.int64)
        for column in ("combine", "stream"):
            if not getattr(self, column).size:
                object.__setattr__(self, column, np.zeros(self.sends, np.bool_))
        freeze(self, "combine", "stream", dtype=np.bool_)
        object.__setattr__(self, "port_model", PortModel.named(self.port_model))
        for column in ("source", "target", "combine", "stream"):
            _require_size(column, getattr(self, column), self.sends)
        _require_offsets("path_offsets", self.path_offsets, self.path_nodes, self.sends, 2)
        _require_offsets("block_offsets", self.block_offsets, self.block_ids, self.sends, 1)
        _require_size("vcs", self.vcs, self.hops)

    def __repr__(self) -> str:
        what = f"{self.topology.label}, {self.algorithm} {self.collective}"
        return f"<{type(self).__name__}: {what}, {self.sends} sends>"

    def to_pandas(self) -> DataFrame:
        """Return a row for each send, with lists of its path, VCs and blocks.

        Raises :class:`.InvalidInput` without pandas.
        """
        names = ("step", "source", "target", "distances", "send_words", "combine", "stream")
        lists = {
            "path": (self.path_nodes, self.path_offsets),
            "vcs": (self.vcs, self.path_offsets - np.arange(self.sends + 1)),
            "blocks": (self.block_ids, self.block_offsets),
        }
        return data_frame(
            {name: getattr(self, name) for name in names}
            | {
                name: [piece.tolist() for piece in np.split(column, offsets[1:-1])]
                for name, (column, offsets) in lists.items()
            }
        )

    @property
    def sends(self) -> int:
        """Number of sends."""
        return int(self.step.size)

    @cached_property
    def steps(self) -> int:
        """Number of steps: the last step with a send, 0 without sends."""
        return int(self.step.max(initial=0))

    @property
    def hops(self) -> int:
        """Number of hops of all sends together."""
        return int(self.path_nodes.size - self.sends)

    @cached_property
    def forks(self) -> npt.NDArray[np.int64]:
        """The first send of each one's node and step with the same blocks and marks: (sends,).

        Without circuits, each send itself.
        """
        sends = np.arange(self.sends)
        return self._first_alike(sends, self.source) if self.circuits else sends

    @cached_property
    def joins(self) -> npt.NDArray[np.int64]:
        """The first combining send to each one's target, as ``forks``; others themselves."""
        joins = np.arange(self.sends)
        if self.circuits:
            sends = np.flatnonzero(self.combine)
            joins[sends] = self._first_alike(sends, self.target[sends])
        return joins

    def _first_alike(
        self, sends: npt.NDArray[np.int64], ends: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.int64]:
        """Return the first of ``sends`` with the same step, end, blocks and marks as each."""
        keys = self.step[sends].astype(np.int64) * self.topology.nodes + ends
        keys = keys * 4 + 2 * self.combine[sends] + self.stream[sends]
        return first_alike(keys, sends, self.block_offsets, self.block_ids)

    @cached_property
    def trees(self) -> npt.NDArray[np.int64]:
        """The tree of each send, named by its first send: shape (sends,) (:mod:`.trees`)."""
        alone = np.bincount(self.forks, minlength=self.sends)[self.forks] == 1
        return np.where(alone, self.joins, self.forks)

    @cached_property
    def crossings(self) -> npt.NDArray[np.int64]:
        """The hops, but only the first of those of one tree that cross the same link, ascending."""
        if not self.circuits:
            return np.arange(self.hops)
        return first_of_pairs(self.trees[self.hop_sends], self.links)

    @property
    def tcd(self) -> int:
        """Total communication distance: the links that all trees cross together."""
        return int(self.crossings.size) if self.circuits else self.hops

    def with_sends(
        self,
        sends: npt.NDArray[np.int64],
        step: npt.NDArray[np.integer],
        block_offsets: npt.NDArray[np.int64],
        block_ids: npt.NDArray[np.integer],
    ) -> Self:
        """Return the table of these of its ``sends``, in this order; a send may occur repeatedly.

        Paths and marks are kept; the steps and the carried blocks are new.
        """
        nodes = np.diff(self.path_offsets)[sends]
        return replace(
            self,
            step=step.astype(np.int32),
            source=self.source[sends],
            target=self.target[sends],
            path_offsets=offsets_of(nodes),
            path_nodes=self.path_nodes[ranges(self.path_offsets[sends], nodes)],
            vcs=self.vcs[ranges(self.path_offsets[sends] - sends, nodes - 1)],
            block_offsets=block_offsets,
            block_ids=block_ids.astype(np.int32),
            combine=self.combine[sends],
            stream=self.stream[sends],
        )

    def carrying(self, kept: npt.NDArray[np.bool_]) -> Self:
        """Return the table of the sends that carry blocks marked in ``kept``, shape (blocks,).

        Each send carries only these blocks. Sends without a block are left out, and so are steps
        without a send. The list of blocks stays as it is.
        """
        if isinstance(self.block_ids, BlockRuns):
            left = self.block_ids.only(kept).array
            runs = np.searchsorted(self.block_ids.offsets, self.block_offsets)
            before = offsets_of(self.block_ids.kept(kept))[runs]
        else:
            carried = kept[self.block_ids]
            left = self.block_ids[carried]
            before = offsets_of(carried.astype(np.int8))[self.block_offsets]
        if before[-1] == self.block_ids.size:
            return self
        counts = np.diff(before)
        sent = np.flatnonzero(counts)
        _, steps = np.unique(self.step[sent], return_inverse=True)
        return self.with_sends(sent, steps + 1, offsets_of(counts[sent]), left)

    @cached_property
    def unserved(self) -> tuple[int, ...]:
        """The working nodes that neither have nor get anything in a custom collective.

        Any other collective serves every node, except a multicast, whose targets are chosen.
        """
        if self.collective != CUSTOM:
            return ()
        holders = (self.blocks.holders(block, self.topology) for block in range(len(self.blocks)))
        concerned = self.blocks.served(self.topology).union(*holders)
        return tuple(sorted({*self.topology.working_nodes.tolist()} - concerned))

    @property
    def distances(self) -> npt.NDArray[np.int64]:
        """Links that each send crosses, shape (sends,)."""
        return np.diff(self.path_offsets) - 1

    @property
    def longest_per_step(self) -> npt.NDArray[np.int64]:
        """Links that the longest send of each step crosses, shape (steps,)."""
        longest = np.zeros(self.steps + 1, dtype=np.int64)
        np.maximum.at(longest, self.step, self.distances)
        return longest[1:]

    @property
    def hop_sends(self) -> npt.NDArray[np.int64]:
        """The send that each hop belongs to, shape (hops,)."""
        return np.repeat(np.arange(self.sends), self.distances)

    @property
    def block_sends(self) -> npt.NDArray[np.int64]:
        """The send that carries each entry of ``block_ids``."""
        return np.repeat(np.arange(self.sends), np.diff(self.block_offsets))

    def carried(self, sends: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the blocks of these ``sends``, one after the other."""
        begins, ends = self.block_offsets[sends], self.block_offsets[sends + 1]
        if isinstance(self.block_ids, BlockRuns):
            return self.block_ids.of_pieces(begins, ends).array
        return self.block_ids[ranges(begins, ends - begins)]

    def require_listable(self, purpose: str) -> None:
        """Raise :class:`.InvalidInput` if sends carry too many blocks for a ``purpose``."""
        if self.block_ids.size > MOST_LISTED:
            allowed = f"at most {MOST_LISTED} (a smaller network helps)"
            count = self.block_ids.size
            raise InvalidInput.of(f"blocks of all sends together for {purpose}", allowed, count)

    def runs(self) -> Iterator[tuple[npt.NDArray[np.int64], BlockRuns]]:
        """Yield runs of carried blocks and the send of each run, a part of the sends at a time."""
        whole = isinstance(self.block_ids, BlockRuns)
        for first, end in [(0, self.sends)] if whole else portions(self.block_offsets):
            offsets = self.block_offsets[first : end + 1]
            blocks = self.block_ids if whole else self.block_ids[offsets[0] : offsets[-1]]
            runs = BlockRuns.of(blocks, offsets - offsets[0])
            yield (
                np.searchsorted(offsets, offsets[0] + runs.offsets[:-1], "right") + first - 1,
                runs,
            )

    @cached_property
    def send_words(self) -> npt.NDArray[np.int64]:
        """Words that each send carries, shape (sends,)."""
        words, before = np.zeros(self.sends, np.int64), offsets_of(self.blocks.words)
        for sends, runs in self.runs():
            np.add.at(words, sends, before[runs.end] - before[runs.first])
        return words

    @property
    def hop_ends(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The nodes at which each hop begins and ends, shapes (hops,)."""
        begins = np.ones(self.path_nodes.size, dtype=bool)
        begins[self.path_offsets[1:] - 1] = False
        ends = np.ones(self.path_nodes.size, dtype=bool)
        ends[self.path_offsets[:-1]] = False
        return self.path_nodes[begins], self.path_nodes[ends]

    @cached_property
    def links(self) -> npt.NDArray[np.int64]:
        """The directed link of each hop as ``node * ports + port``, shape (hops,)."""
        begins, ends = self.hop_ends
        ports = self.topology.ports_between(begins, ends)
        return begins.astype(np.int64) * self.topology.ports + ports

    @property
    def send_rates(self) -> npt.NDArray[np.int64]:
        """The largest rate of the links of each send, shape (sends,): flits come this far apart."""
        if self.topology.link_rate_of is None or not self.sends:
            return np.ones(self.sends, np.int64)
        firsts = self.path_offsets[:-1] - np.arange(self.sends)
        return np.maximum.reduceat(self.topology.rates.ravel()[self.links], firsts)

    def latencies(self, hop_cycles: int) -> npt.NDArray[np.int64]:
        """Return the cycles of each hop, shape (hops,): ``hop_cycles`` unless its link differs."""
        return 1 + self.topology.registers_of(hop_cycles - 1).ravel()[self.links]

    def send_latencies(self, hop_cycles: int) -> npt.NDArray[np.int64]:
        """Return the cycles of each send's way, shape (sends,): all its :meth:`latencies`."""
        if self.topology.link_registers_of is None:
            return hop_cycles * self.distances
        firsts = self.path_offsets - np.arange(self.sends + 1)
        ways: npt.NDArray[np.int64] = np.diff(offsets_of(self.latencies(hop_cycles))[firsts])
        return ways

    @property
    def links_used(self) -> int:
        """Number of directed links that at least one send crosses."""
        used = np.zeros(self.topology.nodes * self.topology.ports, np.bool_)
        used[self.links] = True
        return int(np.count_nonzero(used))

    @cached_property
    def pairs_sharing_links(self) -> int:
        """Pairs of trees of one step that share a directed link, whether on one VC or on two."""
        sends = self.hop_sends[self.crossings]
        keys = self.step[sends] * np.int64(self.topology.nodes * self.topology.ports)
        keys += self.links[self.crossings]
        order = np.argsort(keys, kind="stable")
        _, begins, counts = np.unique(keys[order], return_index=True, return_counts=True)
        shared = np.stack((begins, begins + counts), axis=1)[counts > 1].tolist()
        groups = (sorted({*sends[order[begin:end]].tolist()}) for begin, end in shared)
        return len({pair for group in groups for pair in combinations(group, 2)})

    @property
    def largest_link_load(self) -> int:
        """The largest number of trees that cross one directed link in one step, on any VC."""
        step = self.step[self.hop_sends[self.crossings]].astype(np.int64)
        keys = step * (self.topology.nodes * self.topology.ports) + self.links[self.crossings]
        return int(np.unique(keys, return_counts=True)[1].max(initial=0))


def _require_size(column: str, array: npt.NDArray[np.generic], size: int) -> None:
    if array.size != size:
        raise InvalidInput.of(column, f"{size} long", array.size)


def _require_offsets(
    column: str,
    offsets: npt.NDArray[np.int64],
    values: npt.NDArray[np.integer],
    sends: int,
    least: int,
) -> None:
    """Require that ``offsets`` cut ``values`` into ``sends`` pieces of at least ``least`` each."""
    _require_size(column, offsets, sends + 1)
    if offsets[0] != 0 or offsets[-1] != values.size or (np.diff(offsets) < least).any():
        raise InvalidInput.of(
            column,
            f"ascending from 0 to {values.size} by at least {least}",
            f"from {offsets[0]} to {offsets[-1]} by {np.diff(offsets).min(initial=least)} or more",
        )
