"""The order of moves within a step: what streams goes on after what it streams has come.

A *move* is one block of one send. A move of a send that streams carries what its node has once the
same block of the feeder (:mod:`.streams`) is in it; any other carries what was there before the
step. So each move has at most one that is *ahead* of it, and that one another::

    0 ──a──► 1 ──b──► 2 ──c──► 3 ──d──► 2        a is ahead of b, b of c, c of d

Words keep to that one by one: word i of b leaves when word i of a has been written. Whatever else
comes to a node for a block that it streams must keep to it too, and be ahead of what leaves or
behind it: d may replace what node 2 has, because every word of d was a word of c before. Of moves
of which none is ahead of the other nobody knows which word comes first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .rules import IntArray, broken, first_broken, send_name
from .streams import streams_of
from .table import SendTable

FIRST = -1
"""In place of a move ahead: what is carried was there before the step."""


class Moves(NamedTuple):
    """Blocks that move: a row for each, by step, and in a step by how many moves are ahead.

    ``source`` and ``target`` are pairs of a node and a block, ``node * blocks + block``; ``ahead``
    is the row of the move ahead, or ``FIRST``, and ``depth`` the number of all that are.
    """

    send: IntArray
    step: IntArray
    source: IntArray
    target: IntArray
    combine: npt.NDArray[np.bool_]
    ahead: IntArray
    depth: IntArray

    @classmethod
    def of(cls, schedule: SendTable) -> Moves:
        """The moves of all reduced blocks; streams must wait for nothing but what comes."""
        kept = schedule.blocks.reduced[schedule.block_ids]
        send, block = schedule.block_sends[kept], schedule.block_ids[kept].astype(np.int64)
        count = np.int64(len(schedule.blocks))
        ahead = _ahead(schedule, send, block)
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
        )

    def steps(self) -> list[tuple[int, int]]:
        """The rows of each step, as the first and the one behind the last."""
        return self._runs(np.diff(self.step, prepend=0) != 0, 0, len(self.step))

    def rounds(self, begin: int, end: int) -> list[tuple[int, int]]:
        """The rows of one step, those of one depth together."""
        return self._runs(np.diff(self.depth[begin:end], prepend=FIRST) != 0, begin, end)

    @staticmethod
    def _runs(new: npt.NDArray[np.bool_], begin: int, end: int) -> list[tuple[int, int]]:
        begins = (begin + np.flatnonzero(new)).tolist()
        return list(zip(begins, [*begins, end][1:], strict=True))

    def returning(self) -> tuple[IntArray, IntArray]:
        """The rows by which a block comes back, and for each the one by which it had left.

        What leaves does so as it was before the step; the words that come back are made of those.
        """
        jump = np.append(self.ahead, FIRST)
        first = np.arange(len(self.ahead))
        for _ in range(int(self.depth.max(initial=0)).bit_length()):
            first = np.where(jump[first] == FIRST, first, jump[first])
            jump = np.where(jump[jump] == FIRST, jump, jump[jump])
        back = np.flatnonzero((self.depth > 0) & (self.source[first] == self.target))
        return back, first[back]

    def numbers(self, ends: IntArray) -> IntArray:
        """Step and pair of each row as one number, for ``source`` or ``target``."""
        pairs = 1 + max(int(self.source.max(initial=0)), int(self.target.max(initial=0)))
        numbers: IntArray = self.step * pairs + ends
        return numbers

    def in_order(self, one: IntArray, other: IntArray) -> npt.NDArray[np.bool_]:
        """Tell of rows, two at a time, whether one of the two is ahead of the other."""
        low = np.where(self.depth[one] < self.depth[other], one, other)
        high = np.where(low == one, other, one)
        up = self.depth[high] - self.depth[low]
        jump = np.append(self.ahead, FIRST)
        while up.any():
            high = np.where(up % 2 == 1, jump[high], high)
            jump, up = jump[jump], up // 2
        same: npt.NDArray[np.bool_] = high == low
        return same


def _ahead(schedule: SendTable, send: IntArray, block: IntArray) -> IntArray:
    """The place among moves of the one that each move streams, or ``FIRST``."""
    streams = streams_of(schedule)
    feeder = np.full(schedule.sends, FIRST)
    feeder[streams.send] = streams.feeder
    count = np.int64(len(schedule.blocks))
    keys = send * count + block
    order = np.argsort(keys, kind="stable")
    sought = np.where(feeder[send] == FIRST, FIRST, feeder[send] * count + block)
    place = np.minimum(np.searchsorted(keys[order], sought), max(len(keys) - 1, 0))
    found: IntArray = np.where(keys[order][place] == sought, order[place], FIRST)
    return found


def _depths(ahead: IntArray) -> IntArray:
    """How many moves are ahead of each; no circle of them may be."""
    jump = np.append(ahead, FIRST)
    depth = (jump != FIRST).astype(np.int64)
    while (jump != FIRST).any():
        depth, jump = depth + np.where(jump == FIRST, 0, depth[jump]), jump[jump]
    depths: IntArray = depth[:-1]
    return depths


def require_order(schedule: SendTable, moves: Moves) -> None:
    """Require that of what comes and goes for a block in a step it is known what is first.

    Where a send replaces what is there, all that come for the block come one behind the other. A
    node that streams a block sends it in no other way in that step, and whatever else comes for it
    is ahead of what leaves or behind.
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
    """Require that what is replaced is not touched at any other time of its step."""
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
        node, block = divmod(int(moves.target[other]), len(schedule.blocks))
        name = send_name(schedule, int(moves.send[one]))
        complaint = f"node {node} gets block {block} in the same step by {name}, and one of the"
        raise broken(schedule, int(moves.send[other]), f"{complaint} two replaces it")


def _require(
    schedule: SendTable,
    moves: Moves,
    wrong: npt.NDArray[np.bool_],
    one: IntArray,
    other: IntArray,
    does: str,
) -> None:
    """Refuse the first of the streaming rows ``one`` that is ``wrong`` beside the ``other``."""
    place = first_broken(schedule, wrong, moves.send[one])
    if place is not None:
        block = moves.source[one[place]] % len(schedule.blocks)
        same = send_name(schedule, int(moves.send[other[place]]))
        complaint = f"it streams block {block}, which {does} {same}"
        raise broken(schedule, int(moves.send[one[place]]), complaint)


def _meeting(moves: Moves, streaming: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """Each of the rows ``streaming`` beside each other row that has its source among ``ends``."""
    keys = moves.numbers(ends)
    order = np.argsort(keys, kind="stable")
    sought = moves.numbers(moves.source)[streaming]
    low = np.searchsorted(keys[order], sought)
    number = np.searchsorted(keys[order], sought, side="right") - low
    one = np.repeat(streaming, number)
    first = np.repeat(np.cumsum(number) - number, number)
    other = order[np.repeat(low, number) + np.arange(len(one)) - first]
    apart = (other != one) & (other != moves.ahead[one])
    return one[apart], other[apart]
