"""The rule on reduced blocks: every result has each contribution exactly once.

What a node holds of a block is a *value*: its own contribution, or two values combined. A send
carries the value that its source holds before the step, one that streams the value that it holds
when what it streams has come (:mod:`.streamed_moves`); at its target it is combined with the value
there, or replaces it. So the values are a graph, in which each is made of two earlier ones::

    value       0    1    2    3    4    5      contributions of nodes 0 to 3, then what is combined
    left                        0    2    4
    right                       1    3    5     here 6 = 4 + 5: all four
                              (4)  (5)  (6)

Nothing is guessed and no set of contributors is ever written down, which for a million nodes would
take a terabit a step. A value has a contribution twice exactly if two ways lead from the
contribution to the value; then, where the two part, a value is used twice on the way to one result.
So from every *last* value, one that is used for no other, a mark goes back to the values that it is
made of, and no value may get the same mark twice. 64 last values of each block go back at once, as
the bits of a word. Two nodes that combine the same two values in one step have the same value, so a
reduction to one root has one last value, and so have all nodes after recursive doubling.

With no contribution twice, the contributions of a value can be counted by adding, and a result is
whole if it has as many as there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..base.errors import one_of
from .rules import IntArray, ScheduleError, broken, first_broken, send_name
from .streamed_moves import Moves, require_order

if TYPE_CHECKING:
    from .table import SendTable

NOTHING = -1
"""In place of a value: the node has nothing of the block."""

BITS = 64
"""Marks that go back at once."""


def check_reductions(schedule: SendTable) -> None:
    """Require that in every result of a reduced block each contribution is exactly once.

    A node has its own contribution from step 0 on, and may not send of a block that it has nothing
    of, nor combine with nothing. In one step at most one send may replace what a node has of a
    block, and none may then combine with it, if it is not known by a stream which of them comes
    first: that would decide.
    """
    _check_combining(schedule)
    if not schedule.blocks.reduced.any():
        return
    moves = Moves.of(schedule)
    require_order(schedule, moves)
    values = _Values.of(schedule, moves)
    for begin, end in moves.steps():
        for first, last in moves.rounds(begin, end):
            values.carry_out(first, last)
    values.check_disjoint()
    values.check_whole()


def _check_combining(schedule: SendTable) -> None:
    """Require that what is combined is reduced, by one operator in each send."""
    blocks, sends = schedule.blocks, schedule.block_sends
    combined = schedule.combine[sends]
    place = first_broken(schedule, combined & ~blocks.reduced[schedule.block_ids], sends)
    if place is not None:
        block = schedule.block_ids[place]
        raise broken(schedule, int(sends[place]), f"it combines block {block}, which has an owner")
    names = sorted({name for name in blocks.operator if name is not None})
    numbers = {name: number for number, name in enumerate(names)}
    operator = np.array([numbers.get(name or "", 0) for name in blocks.operator], np.int64)
    of_block = operator[schedule.block_ids]
    first = operator[schedule.block_ids[schedule.block_offsets[:-1]]][sends]
    place = first_broken(schedule, combined & (of_block != first), sends)
    if place is not None:
        two = one_of((names[first[place]], names[of_block[place]]))
        raise broken(schedule, int(sends[place]), f"it combines by one operator alone, not {two}")


@dataclass(frozen=True, eq=False)
class _Combined:
    """Values that were combined at once: ``left`` and ``right`` and the row that did it."""

    first: int
    left: IntArray
    right: IntArray
    move: IntArray


@dataclass(eq=False)
class _Values:
    """The values of all reduced blocks: the contributions, then what is combined, as it is.

    ``held`` has the value of each pair of ``pairs``, ascending; ``origin`` is the pair of each
    contribution, and its value the place there.
    """

    schedule: SendTable
    moves: Moves
    pairs: IntArray
    origin: IntArray
    held: IntArray
    combined: list[_Combined] = field(default_factory=list)
    count: int = 0

    @classmethod
    def of(cls, schedule: SendTable, moves: Moves) -> _Values:
        """The values before step 1."""
        blocks, count = schedule.blocks, len(schedule.blocks)
        reduced = np.flatnonzero(blocks.reduced).tolist()
        holders = [
            np.asarray(blocks.holders(block, schedule.topology), np.int64) * count + block
            for block in reduced
        ]
        origin = _distinct(np.concatenate(holders))
        pairs = _distinct(np.concatenate((origin, moves.source, moves.target)))
        held = np.full(pairs.size, NOTHING, np.int64)
        held[np.searchsorted(pairs, origin)] = np.arange(origin.size)
        return cls(schedule, moves, pairs, origin, held, count=origin.size)

    def carry_out(self, begin: int, end: int) -> None:
        """Change what is held as the rows ``begin`` to ``end``, those of one round, say."""
        moves, rows = self.moves, np.arange(begin, end)
        carried = self.held[np.searchsorted(self.pairs, moves.source[begin:end])]
        for row in rows[carried == NOTHING][:1]:
            raise self._sent_early(int(row))
        place = np.searchsorted(self.pairs, moves.target[begin:end])
        combine = moves.combine[begin:end]
        self.held[place[~combine]] = carried[~combine]
        for row in rows[combine][self.held[place[combine]] == NOTHING][:1]:
            node, block = divmod(int(moves.target[row]), len(self.schedule.blocks))
            complaint = f"it combines with nothing: node {node} has nothing of block {block}"
            raise broken(self.schedule, int(moves.send[row]), complaint)
        self._combine(place[combine], carried[combine], rows[combine])

    def _combine(self, place: IntArray, carried: IntArray, rows: IntArray) -> None:
        """Combine what is ``carried`` with what is held at each ``place``, lower values first."""
        goals = _distinct(place)
        at = np.concatenate((goals, place))
        operand = np.concatenate((self.held[goals], carried))
        move = np.concatenate((np.full(goals.size, NOTHING), rows))
        order = np.lexsort((operand, at))
        at, operand, move = at[order], operand[order], move[order]
        turn = np.arange(at.size) - np.searchsorted(at, at)
        latest = np.full(goals.size, NOTHING)
        for number in range(int(turn.max(initial=0)) + 1):
            now = turn == number
            goal = np.searchsorted(goals, at[now])
            latest[goal] = np.maximum(latest[goal], move[now])
            if number == 0:
                self.held[at[now]] = operand[now]
                continue
            self.held[at[now]] = self._made(self.held[at[now]], operand[now], latest[goal])

    def _made(self, left: IntArray, right: IntArray, move: IntArray) -> IntArray:
        """New values, the same one where the same two are combined."""
        low, high = np.minimum(left, right), np.maximum(left, right)
        _, first, number = np.unique(
            low * np.int64(self.count) + high, return_index=True, return_inverse=True
        )
        made = self.count + number
        self.combined.append(_Combined(self.count, low[first], high[first], move[first]))
        self.count += first.size
        return made

    def _sent_early(self, row: int) -> ScheduleError:
        """Describe a row whose source has nothing of the block."""
        node, block = divmod(int(self.moves.source[row]), len(self.schedule.blocks))
        later = np.flatnonzero(self.moves.target == self.moves.source[row])
        send = int(self.moves.send[row])
        if not later.size:
            return broken(self.schedule, send, f"node {node} never gets block {block}")
        bringer = send_name(self.schedule, int(self.moves.send[later[0]]))
        return broken(self.schedule, send, f"node {node} gets block {block} only by {bringer}")

    def check_disjoint(self) -> None:
        """Require that no value is used twice on the way to one last value."""
        groups = [_Uses.of(batch) for batch in self.combined]
        used = np.zeros(self.count, np.bool_)
        for group in groups:
            used[group.value] = True
        last = np.flatnonzero(~used)
        block = self._blocks()[last]
        order = np.argsort(block, kind="stable")
        last, block = last[order], block[order]
        rank = np.arange(last.size) - np.searchsorted(block, block)
        for first in range(0, int(rank.max(initial=0)) + 1, BITS):
            chosen = (rank >= first) & (rank < first + BITS)
            marks = np.zeros(self.count, np.uint64)
            marks[last[chosen]] = np.uint64(1) << (rank[chosen] - first).astype(np.uint64)
            for group in reversed(groups):
                twice = group.mark(marks)
                if twice is not None:
                    raise self._combined_twice(twice)

    def _blocks(self) -> IntArray:
        """The block of each value."""
        block = np.empty(self.count, np.int64)
        block[: self.origin.size] = self.origin % len(self.schedule.blocks)
        for batch in self.combined:
            block[batch.first : batch.first + batch.left.size] = block[batch.left]
        return block

    def _combined_twice(self, value: int) -> ScheduleError:
        """Describe the first row that combines what a contribution to ``value`` is in already."""
        left, right, move = (
            np.concatenate([getattr(batch, name) for batch in self.combined])
            for name in ("left", "right", "move")
        )
        while value >= self.origin.size:
            value = int(left[value - self.origin.size])
        node, block = divmod(int(self.origin[value]), len(self.schedule.blocks))
        has = np.zeros(self.count, np.bool_)
        has[value] = True
        for batch in self.combined:
            made = slice(batch.first, batch.first + batch.left.size)
            has[made] = has[batch.left] | has[batch.right]
        twice = int(np.argmax(has[left] & has[right]))
        what = f"what node {node} contributes to block {block} is combined twice"
        return broken(self.schedule, int(self.moves.send[move[twice]]), what)

    def check_whole(self) -> None:
        """Require that who is owed a block of any words holds a value of all contributions."""
        blocks, topology = self.schedule.blocks, self.schedule.topology
        size = np.ones(self.count, np.int64)
        for batch in self.combined:
            made = slice(batch.first, batch.first + batch.left.size)
            size[made] = size[batch.left] + size[batch.right]
        whole = np.bincount(self.origin % len(blocks), minlength=len(blocks))
        for block in np.flatnonzero(blocks.reduced & (blocks.words > 0)).tolist():
            owed = blocks.owed[block]
            nodes = np.asarray(topology.working_nodes if owed is None else owed, np.int64)
            pair = nodes * len(blocks) + block
            place = np.minimum(np.searchsorted(self.pairs, pair), self.pairs.size - 1)
            held = np.where(self.pairs[place] == pair, self.held[place], NOTHING)
            lacking = (held == NOTHING) | (size[held] < whole[block])
            for node, value in zip(nodes[lacking][:1], held[lacking][:1], strict=True):
                raise self._left_out(int(node), block, int(value))

    def _left_out(self, node: int, block: int, value: int) -> ScheduleError:
        """Describe what a ``node`` that holds ``value`` of a block lacks."""
        who = f"node {node} is left out"
        if value == NOTHING:
            return ScheduleError(f"{who}: no send brings it block {block}")
        has = np.zeros(self.count, np.bool_)
        has[value] = True
        for batch in reversed(self.combined):
            made = has[batch.first : batch.first + batch.left.size]
            has[batch.left[made]] = True
            has[batch.right[made]] = True
        origin = self.origin[~has[: self.origin.size]]
        lacks = origin[origin % len(self.schedule.blocks) == block][0] // len(self.schedule.blocks)
        return ScheduleError(f"{who}: its block {block} lacks what node {lacks} contributes")


def _distinct(numbers: IntArray) -> IntArray:
    """The numbers that there are, ascending.

    (np.unique hashes them first, which takes ten times as long.)
    """
    ordered = np.sort(numbers)
    return ordered[np.diff(ordered, prepend=NOTHING) > 0]


@dataclass(frozen=True, eq=False)
class _Uses:
    """The values that a batch of combined ones is made of, and for each the ones made of it.

    ``value`` are the values, ascending; those made of value i are ``made[first[i]:first[i + 1]]``.
    """

    value: IntArray
    first: IntArray
    made: IntArray

    @classmethod
    def of(cls, batch: _Combined) -> _Uses:
        made = batch.first + np.tile(np.arange(batch.left.size), 2)
        operand = np.concatenate((batch.left, batch.right))
        order = np.argsort(operand, kind="stable")
        value, first = np.unique(operand[order], return_index=True)
        return cls(value, first, made[order])

    def mark(self, marks: npt.NDArray[np.uint64]) -> int | None:
        """Pass on the marks of what is made; find a value that gets one twice, None if none."""
        if not self.value.size:
            return None
        coming, there = marks[self.made], marks[self.value]
        together = np.bitwise_or.reduceat(coming, self.first) | there
        counted = np.add.reduceat(np.bitwise_count(coming), self.first, dtype=np.int64)
        twice = counted + np.bitwise_count(there) > np.bitwise_count(together)
        marks[self.value] = together
        return int(self.value[np.argmax(twice)]) if twice.any() else None
