"""Layout of blocks in the message memories of a network.

If all blocks of a collective fit in one node's memory, the layout is *aligned*: each block has the
same address in every node, in the order of the schedule's list. An all-to-all has a block for each
pair of nodes, and a node handles only few of them. If they do not fit, the layout is *packed*: a
node has its own blocks from address 0 on, followed by the blocks that it receives, in order of
arrival::

    aligned     node 5   | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | ...
    packed      node 5   | 40 | 41 | 42 | ... | 47 || 8 | 9 || 24 | 25 ||
                           its own at the start      step 1    step 2

A node needs only the blocks of its own group, so the first block of each group is at address 0, or
where the blocks of earlier groups with common nodes end::

    groups      node 0   | 0 | 1 | 2 |        node 3   | 3 | 4 | 5 |
    in both     node 6   | 0 | 1 | 2 | 3 | 4 | 5 |

Blocks that stream around a ring are aligned if a window of addresses can wrap with them. Otherwise
every node has them in the order in which it sends them (:mod:`...schedule.stream_runs`), so that no
packet of the ring is cut.

If reduced blocks change halves (:mod:`.halves`), this layout is the lower half of a memory. If they
have copies, the copies follow one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...base.ragged import offsets_of
from ...network.config import NetworkConfig
from ...schedule.blocks import Blocks
from ...schedule.schedule import Schedule
from ...schedule.stream_runs import in_fixed_order, stream_runs
from .halves import Halves


@dataclass(frozen=True)
class Layout:
    """The address of every block in every node that ever holds it.

    ``starts`` has shape (blocks + 1,): where each block begins and the last one ends, if they stand
    one after the other. ``base`` has shape (blocks,): where address 0 lies for the block's group.
    In an aligned layout the address of a block is the difference, at most ``aligned_size``,
    and ``packed`` is None. Otherwise ``packed`` maps ``node * blocks + block`` to an address.
    ``size`` is the largest number of words that a node uses, from address 0 on.
    ``halves`` tells when a block is in the upper half of the memory, or how many copies it has.
    ``in_runs`` tells that blocks are packed in the order in which they stream. ``token`` is the
    address of a word behind all blocks, which sends without words carry on circuits; else None.
    """

    starts: npt.NDArray[np.int64]
    base: npt.NDArray[np.int64]
    aligned_size: int
    packed: dict[int, int] | None
    size: int
    halves: Halves
    in_runs: bool = False
    token: int | None = None

    @classmethod
    def of(cls, schedule: Schedule, message_words: int) -> Layout:
        """Return the layout for ``schedule``, if possible in memories of ``message_words``.

        Blocks that stream have the same address in all nodes if possible, otherwise adjacent ones.
        """
        aligned = cls._aligned(schedule, Halves.of(schedule))
        if schedule.stream.any():
            streamed = _Streamed.of(schedule, aligned.starts, aligned.base[None, :])
            made = aligned
            if streamed.elsewhere.any() and (found := _pack_streams(schedule, aligned.starts)):
                made = replace(aligned, packed=found[0], size=found[1], in_runs=True)
            # A window is at most half of the address range.
            return replace(made, size=max(made.size, streamed.window + 1))
        if aligned.room <= message_words or aligned.halves.copied:
            return aligned
        packed, size = _pack(schedule)
        return replace(aligned, packed=packed, size=size)

    @classmethod
    def of_circuits(cls, schedule: Schedule, message_words: int) -> Layout:
        """Return the layout in a network with circuits, where no block has two places.

        Words are read before others change them (``circuit_times``), and addresses may be cut
        anywhere.
        """
        one_place = Halves(len(schedule.blocks), np.zeros(0, np.int64))
        aligned = cls._aligned(schedule, one_place)
        tokens = bool((schedule.send_words == 0).any())
        packed, size = None, aligned.size
        if size + tokens > message_words:
            packed, size = _pack(schedule)
        token = size if tokens else None
        return replace(aligned, packed=packed, size=size + tokens, token=token)

    @classmethod
    def _aligned(cls, schedule: Schedule, halves: Halves) -> Layout:
        """Return the layout in which all nodes of a group have a block at the same address."""
        starts, groups = block_starts(schedule.blocks), schedule.groups
        group = schedule.blocks.in_groups(groups, schedule.topology)
        # The last group is that of blocks without a group.
        begin = np.full(len(groups) + 1, starts[-1])
        end = np.zeros(len(groups) + 1, np.int64)
        np.minimum.at(begin, group, starts[:-1])
        np.maximum.at(end, group, starts[1:])
        words, used = np.maximum(end - begin, 0), np.zeros(schedule.topology.nodes, np.int64)
        for number, nodes in enumerate(map(list, groups)):
            place = used[nodes].max()
            begin[number] -= place
            used[nodes] = place + words[number]
        size = max(int(words[-1]), int(used.max(initial=0)))
        return cls(starts, begin[group], size, None, size, halves)

    @property
    def room(self) -> int:
        """Words of a memory with room for the layout: halves begin at a power of two.

        (A smaller memory may have room too, if its upper half is large enough: :meth:`fits`.)
        """
        if self.halves.copied:
            return self.size * self.halves.places
        return 2 * power_for(self.size) if self.halves.any else self.size

    def apart(self, config: NetworkConfig) -> int:
        """Return the words between two places of a block in the memories of a network."""
        return self.size if self.halves.copied else upper_half(config)

    def fits(self, config: NetworkConfig) -> bool:
        """Tell whether the memories of a network have room for the layout."""
        if self.halves.copied or not self.halves.any:
            return self.room <= config.message_words
        half = upper_half(config)
        return self.size <= half and half + self.size <= config.message_words

    def limit(self, config: NetworkConfig) -> str:
        """Say the largest ``size`` that the memories of a network have room for."""
        if self.halves.copied or not self.halves.any:
            copies = self.halves.places
            parts = "" if copies == 1 else f" for {copies} copies"
            return f"at most {config.message_words // copies}, the message memory{parts}"
        half = upper_half(config)
        most = min(half, config.message_words - half)
        return f"at most {most}, the upper half of the message memory"

    def aligned_if_within(self, message_words: int) -> Layout:
        """Return the aligned layout if it fits and no block is in a run, otherwise this layout."""
        aligned = replace(self, packed=None, size=self.aligned_size)
        kept = self.packed is None or self.in_runs or aligned.room > message_words
        return self if kept else aligned

    def address(self, node: int, block: int) -> int:
        """Return the address of ``block`` in ``node``; KeyError if the node never has it."""
        if self.packed is None:
            return int(self.starts[block] - self.base[block])
        return self.packed[node * (len(self.starts) - 1) + block]

    def addresses(
        self, nodes: npt.NDArray[np.integer], blocks: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.int64]:
        """Return addresses of ``blocks`` in ``nodes``, pairwise; KeyError if one never has it."""
        if self.packed is None:
            found: npt.NDArray[np.int64] = self.starts[blocks] - self.base[blocks]
            return found
        keys = nodes.astype(np.int64) * (len(self.starts) - 1) + blocks
        places = map(self.packed.__getitem__, keys.tolist())
        return np.fromiter(places, np.int64, len(keys))


def held_words(schedule: Schedule, layout: Layout) -> npt.NDArray[np.bool_]:
    """Mark the words of blocks that a node has at the start or receives.

    Shape (nodes, layout.size). Other words are not part of the run.
    """
    held = np.zeros((schedule.topology.nodes, layout.size), dtype=np.bool_)
    words = schedule.blocks.words.tolist()
    has = list(_at_start(schedule))
    for send, target in enumerate(schedule.target.tolist()):
        has += [(block, target) for block in sent_blocks(schedule, send)]
    for block, node in has:
        address = layout.address(node, block)
        held[node, address : address + words[block]] = True
    return held


def _at_start(schedule: Schedule) -> Iterator[tuple[int, int]]:
    """Yield each block with each node that has a value for the block before step 1."""
    for block in range(len(schedule.blocks)):
        for holder in schedule.blocks.holders(block, schedule.topology):
            yield block, holder


def upper_half(config: NetworkConfig) -> int:
    """Return the address at which the upper half of a message memory begins."""
    return 1 << (config.address_bits - 1)


def power_for(words: int) -> int:
    """Return the least power of two that is at least ``words``."""
    return 1 << max(words - 1, 0).bit_length()


def block_starts(blocks: Blocks) -> npt.NDArray[np.int64]:
    """Return where each of ``blocks`` begins, and where the last ends, in an aligned layout."""
    return offsets_of(blocks.words)


def sent_blocks(schedule: Schedule, send: int) -> list[int]:
    """Return the blocks that ``send`` carries."""
    begin, end = schedule.block_offsets[send], schedule.block_offsets[send + 1]
    carried: list[int] = schedule.block_ids[begin:end].tolist()
    return carried


class _Streamed(NamedTuple):
    """The packets that stream in an aligned layout, and the windows of their addresses.

    ``elsewhere``, shape (nodes,), marks the nodes that send or get a packet whose next block is not
    adjacent and not reached by a window, and their partners. ``window`` is the largest window.
    """

    elsewhere: npt.NDArray[np.bool_]
    window: int

    @classmethod
    def of(
        cls, schedule: Schedule, starts: npt.NDArray[np.int64], base: npt.NDArray[np.int64]
    ) -> _Streamed:
        """Check all packets; ``base``, (nodes, 1) or (1, blocks), is the word at address 0."""
        base = np.broadcast_to(base, (schedule.topology.nodes, len(schedule.blocks)))
        ends, largest = np.stack((schedule.source, schedule.target)), 0
        fixed = in_fixed_order(schedule)
        paired = fixed & (np.diff(schedule.block_offsets) > 1)
        wrong = np.zeros_like(paired)
        # Within a run of ascending blocks each one is adjacent to the next.
        for sends, runs in schedule.runs():
            between = np.flatnonzero((sends[1:] == sends[:-1]) & fixed[sends[1:]])
            send, before, after = sends[between], runs.end[between], runs.first[between + 1]
            back = np.broadcast_to(starts[before] - starts[after], (2, len(send)))
            begin = starts[after] - base[ends[:, send], after]
            window = (back > 1) & (back & (back - 1) == 0) & (begin % np.maximum(back, 1) == 0)
            wrong[send[((back != 0) & ~window).any(axis=0)]] = True
            largest = max(largest, int(back[window].max(initial=0)))
        elsewhere = np.zeros(schedule.topology.nodes, np.bool_)
        while wrong.any():
            elsewhere[ends[:, wrong]] = True
            wrong = paired & elsewhere[ends].any(axis=0) & ~elsewhere[ends].all(axis=0)
        return cls(elsewhere, largest)


def _pack_streams(
    schedule: Schedule, starts: npt.NDArray[np.int64]
) -> tuple[dict[int, int], int] | None:
    """Return the addresses of blocks that cannot all be aligned, and the most words used.

    Every node has its blocks adjacent, in runs if necessary. None if the blocks form no runs.
    """
    schedule.require_listable("a program")
    count, words = len(schedule.blocks), schedule.blocks.words.tolist()
    held = {node * count + block: None for block, node in _at_start(schedule)}
    targets = schedule.target[schedule.block_sends].astype(np.int64)
    held |= dict.fromkeys((targets * count + schedule.block_ids).tolist())
    base = np.full(schedule.topology.nodes, starts[-1])
    keys = np.fromiter(held, np.int64, len(held))
    np.minimum.at(base, keys // count, starts[keys % count])
    streamed = _Streamed.of(schedule, starts, base[:, None])
    runs, disordered = stream_runs(schedule)
    if streamed.elsewhere[sorted(disordered)].any():
        return None
    packed: dict[int, int] = {}
    used = [0] * schedule.topology.nodes
    for key in held:
        node, block = divmod(key, count)
        if not streamed.elsewhere[node]:
            packed[key] = int(starts[block] - base[node])
            used[node] = max(used[node], packed[key] + words[block])
            continue
        for each in () if key in packed else runs.get(key, (key,)):
            packed[each] = used[node]
            used[node] += words[each % count]
    return packed, max(used)


def _pack(schedule: Schedule) -> tuple[dict[int, int], int]:
    """Return the address of each ``node * blocks + block``, and the most words used by a node.

    No address is used for two blocks, so no timing can make a node overwrite a block that it has
    not sent yet.
    """
    schedule.require_listable("a program")
    count, words = len(schedule.blocks), schedule.blocks.words.tolist()
    packed: dict[int, int] = {}
    used = [0] * schedule.topology.nodes
    for block, holder in _at_start(schedule):
        packed[holder * count + block] = used[holder]
        used[holder] += words[block]
    streams = schedule.stream.tolist()
    first, carried = schedule.block_offsets.tolist(), schedule.block_ids.tolist()
    source, target = schedule.source.tolist(), schedule.target.tolist()
    for send in np.argsort(schedule.step, kind="stable").tolist():
        blocks, base = carried[first[send] : first[send + 1]], source[send] * count
        for block in blocks if streams[send] else ():
            # It may come to the sender in this step.
            if base + block not in packed:
                packed[base + block] = used[source[send]]
                used[source[send]] += words[block]
        # In the order of the sender's memory, so that adjacent blocks stay adjacent.
        held = [packed[base + block] for block in blocks]
        node = target[send]
        for place in sorted(range(len(blocks)), key=held.__getitem__):
            key = node * count + blocks[place]
            if key not in packed:
                packed[key] = used[node]
                used[node] += words[blocks[place]]
    return packed, max(used)
