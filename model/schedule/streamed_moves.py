"""The order of moves within a step: a streamed word leaves after it has arrived.

A *move* is one block of one send. A send that streams forwards the block of its feeder
(:mod:`.streams`) as it arrives; any other send carries the block as it was before the step. So each
move has at most one move directly *ahead*, which may have one ahead in turn::

    0 ──a──► 1 ──b──► 2 ──c──► 3 ──d──► 2        a is ahead of b, b of c, c of d

The order holds for each word: word i of b leaves when word i of a has been written. Any other move
of the same block into a node must be ahead of the leaving move or behind it. Here d may replace the
block of node 2, because each word of d was a word of c before. If neither of two moves is ahead of
the other, it is unknown which word arrives first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from .pairs import PairIndex, meetings
from .rules import broken, first_broken, send_name
from .streams import streams_of
from .table import SendTable

FIRST = -1
"""No move ahead: the move carries the block as it was before the step."""

AT_ONCE = 1 << 19
"""Moves at a time, about: some 100 MB."""
MOST_PARTS = 255


class Moves(NamedTuple):
    """Moves of blocks: a row for each, by step, and within a step by depth.

    ``source`` and ``target`` are pairs of a node and a block, ``node * count + index``, where index
    is that of the block among the ``count`` ascending numbers ``blocks``; ``ahead`` is the row of
    the move ahead, or ``FIRST``; ``depth`` counts the chain of moves ahead.
    """

    send: Numbers
    step: Numbers
    source: Numbers
    target: Numbers
    combine: npt.NDArray[np.bool_]
    ahead: Numbers
    depth: Numbers
    blocks: Numbers

    @classmethod
    def of(cls, schedule: SendTable, some: tuple[Numbers, Numbers] | None = None) -> Moves:
        """Return the moves of all reduced blocks; the order must have no circle.

        With ``some``, only those of some blocks: their numbers, and the indices of ``block_ids``
        that are theirs, both ascending. Without, ``blocks`` has all blocks.
        """
        every = np.arange(len(schedule.blocks))
        blocks, entries = some or (
            every,
            np.flatnonzero(schedule.blocks.reduced[schedule.block_ids]),
        )
        send = np.searchsorted(schedule.block_offsets, entries, side="right") - 1
        index = np.zeros(len(schedule.blocks), np.int64)
        index[blocks] = np.arange(blocks.size)
        block = index[schedule.block_ids[entries]]
        count = np.int64(blocks.size)
        ahead = _ahead(schedule, send, block, count)
        depth = _depths(ahead)
        order = np.lexsort((depth, schedule.step[send]))
        place = np.empty(len(order) + 1, np.int64)
        place[order], place[FIRST] = np.arange(len(order)), FIRST
        send, block = send[order], block[order]
        return cls(
            send=send,
            step=schedule.step[send].astype(np.int64),
            source=schedule.source[send] * count + block,
            target=schedule.target[send] * count + block,
            combine=schedule.combine[send],
            ahead=place[ahead[order]],
            depth=depth[order],
            blocks=blocks,
        )

    def place(self, pair: np.integer) -> tuple[int, int]:
        """Return the node and the block of a pair."""
        node, index = divmod(int(pair), self.blocks.size)
        return node, int(self.blocks[index])

    def steps(self) -> list[tuple[int, int]]:
        """Return the rows of each step, as (first, end)."""
        return self._runs(np.diff(self.step, prepend=0) != 0, 0, len(self.step))

    def rounds(self, begin: int, end: int) -> list[tuple[int, int]]:
        """Return the rows of one step, one range (first, end) for each depth."""
        return self._runs(np.diff(self.depth[begin:end], prepend=FIRST) != 0, begin, end)

    @staticmethod
    def _runs(new: npt.NDArray[np.bool_], begin: int, end: int) -> list[tuple[int, int]]:
        begins = (begin + np.flatnonzero(new)).tolist()
        return list(zip(begins, [*begins, end][1:], strict=True))

    def returning(self) -> tuple[Numbers, Numbers]:
        """Return the rows that bring a block back to a node, and the rows by which it left there.

        A block leaves as it was before the step; the returning words are made from those words.
        """
        jump = np.append(self.ahead, FIRST)
        first = np.arange(len(self.ahead))
        for _ in range(int(self.depth.max(initial=0)).bit_length()):
            first = np.where(jump[first] == FIRST, first, jump[first])
            jump = np.where(jump[jump] == FIRST, jump, jump[jump])
        back = np.flatnonzero((self.depth > 0) & (self.source[first] == self.target))
        return back, first[back]

    def numbers(self, ends: Numbers) -> Numbers:
        """Return the step and the pair of each row as one number, for ``source`` or ``target``."""
        pairs = 1 + max(int(self.source.max(initial=0)), int(self.target.max(initial=0)))
        numbers: Numbers = self.step * pairs + ends
        return numbers

    def in_order(self, one: Numbers, other: Numbers) -> npt.NDArray[np.bool_]:
        """Tell for pairs of rows whether one row of the pair is ahead of the other."""
        low = np.where(self.depth[one] < self.depth[other], one, other)
        high = np.where(low == one, other, one)
        up = self.depth[high] - self.depth[low]
        jump = np.append(self.ahead, FIRST)
        while up.any():
            high = np.where(up % 2 == 1, jump[high], high)
            jump, up = jump[jump], up // 2
        same: npt.NDArray[np.bool_] = high == low
        return same


def parts_of(schedule: SendTable) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield some reduced blocks, and the indices of ``block_ids`` with them, until all were some.

    Rules on blocks hold for all if they hold for each part, which takes less memory.
    """
    reduced = np.flatnonzero(schedule.blocks.reduced)
    parts = min(1 + int(schedule.block_ids.size) // AT_ONCE, int(reduced.size), MOST_PARTS)
    part = np.full(len(schedule.blocks), parts, np.uint8)
    part[reduced] = np.arange(reduced.size) * parts // reduced.size
    of_entry = part[schedule.block_ids]
    for number in range(parts):
        yield np.flatnonzero(part == number), np.flatnonzero(of_entry == number)


def _ahead(schedule: SendTable, send: Numbers, block: Numbers, count: np.int64) -> Numbers:
    """Return the index of the move that each move streams, or ``FIRST``."""
    streams = streams_of(schedule)
    if not streams.send.size:
        return np.full(send.size, FIRST)
    feeder = np.full(schedule.sends, FIRST)
    feeder[streams.send] = streams.feeder
    index = PairIndex(schedule.sends * int(count), (keys := send * count + block,))
    move = np.full(index.size, FIRST)
    move[index[keys]] = np.arange(send.size)
    sought = feeder[send] * count + block
    awaited = (feeder[send] != FIRST) & index.used(sought)
    found: Numbers = np.where(awaited, move[index[sought]], FIRST)
    return found


def _depths(ahead: Numbers) -> Numbers:
    """Return the number of moves ahead of each; they must not form a circle."""
    jump = np.append(ahead, FIRST)
    depth = (jump != FIRST).astype(np.int64)
    while (jump != FIRST).any():
        depth, jump = depth + np.where(jump == FIRST, 0, depth[jump]), jump[jump]
    depths: Numbers = depth[:-1]
    return depths


def require_order(schedule: SendTable, moves: Moves) -> None:
    """Require a known order of all moves of a block into and out of a node in one step.

    If one of the moves into a node replaces the block, all of them must form one chain. A node that
    streams a block sends it in no other way in that step. Any other move of that block into the
    node is ahead of the streamed move or behind it.
    """
    if not len(moves.step):
        return
    _require_one_order(schedule, moves)
    streaming = np.flatnonzero(moves.ahead != FIRST)
    one, other = _meeting(moves, streaming, moves.source)
    _require(schedule, moves, moves.ahead[other] == FIRST, one, other, "leaves as it was before by")
    one, other = _meeting(moves, streaming, moves.target)
    _require(schedule, moves, ~moves.in_order(one, other), one, other, "comes at any time by")


def _require_one_order(schedule: SendTable, moves: Moves) -> None:
    """Require that a replaced block is written by moves of one chain only."""
    keys = moves.numbers(moves.target)
    order = np.lexsort((moves.depth, keys))
    again = keys[order][1:] == keys[order][:-1]
    if not again.any():
        return
    replaced = np.isin(keys, keys[~moves.combine])
    again &= replaced[order[1:]] & ~moves.in_order(order[1:], order[:-1])
    later = np.maximum(order[1:], order[:-1])
    place = first_broken(schedule, again, moves.send[later])
    if place is not None:
        one, other = sorted(order[place : place + 2].tolist(), key=lambda row: int(moves.send[row]))
        node, block = moves.place(moves.target[other])
        name = send_name(schedule, int(moves.send[one]))
        complaint = f"node {node} gets block {block} in the same step by {name}, and one of the"
        raise broken(schedule, int(moves.send[other]), f"{complaint} two replaces it")


def _require(
    schedule: SendTable,
    moves: Moves,
    wrong: npt.NDArray[np.bool_],
    one: Numbers,
    other: Numbers,
    does: str,
) -> None:
    """Refuse the first of the streaming rows ``one`` that is ``wrong``, and name row ``other``."""
    place = first_broken(schedule, wrong, moves.send[one])
    if place is not None:
        _, block = moves.place(moves.source[one[place]])
        same = send_name(schedule, int(moves.send[other[place]]))
        complaint = f"it streams block {block}, which {does} {same}"
        raise broken(schedule, int(moves.send[one[place]]), complaint)


def _meeting(moves: Moves, streaming: Numbers, ends: Numbers) -> tuple[Numbers, Numbers]:
    """Pair each ``streaming`` row with every other row whose ``ends`` equal its source."""
    place, other = meetings(moves.numbers(ends), moves.numbers(moves.source)[streaming])
    one = streaming[place]
    apart = (other != one) & (other != moves.ahead[one])
    return one[apart], other[apart]
