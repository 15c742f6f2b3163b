"""The rule on reduced blocks: every result contains each contribution, and exactly once.

A node holds a *value* of a block: its own contribution, or two values combined. A send carries the
value that its source holds before the step. A send that streams carries the value that its source
holds once the streamed packet has arrived (:mod:`.streamed_moves`). At the target it combines with
the value there or replaces it. So values form a graph: each is made of two earlier ones::

    value       0    1    2    3    4    5      0 to 3: contributions of nodes 0 to 3; then combined
    left                        0    2    4
    right                       1    3    5     here 6 = 4 + 5: all four
                              (4)  (5)  (6)

Sets of contributors are never written down: for a million nodes they would take a terabit per step.
A value contains a contribution twice exactly if two paths lead from the contribution to the value.
At the fork of the two paths, one value is used twice for one result. So each *last* value (used for
no other) sends a mark back to the values that it is made of, and no value may get the same mark
twice. The marks of 64 last values of a block go back at once, as the bits of a word. Two nodes that
combine the same two values in one step have the same value. So a reduction to one root has one last
value, and recursive doubling ends with one last value for all nodes.

If no value contains a contribution twice, the number of contributions of a value is the sum of its
parts', and a result is complete if it has all contributions.

Idempotent operators, such as ``max``, may combine a contribution repeatedly. Then the sets of 64
contributors at a time go forward through all values, and are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.errors import one_of
from ..network.operators import is_idempotent
from .blocks import NO_OWNER
from .canonical import are_neighbours
from .collective import Prefix
from .pairs import PairIndex, Pairs, distinct
from .rules import ScheduleError, broken, first_broken, send_name
from .streamed_moves import Moves, parts_of, require_order
from .table import SendTable

NOTHING = -1
"""No value: the node holds no value of the block."""

UNORDERED = "another send combines at its target in the same step, in no canonical order"

QUICK = 1 << 20
"""Moves for which it pays to load compiled loops."""

BITS = 64
"""Marks that go back at the same time."""


def check_reductions(schedule: SendTable) -> None:
    """Require that every result of a reduced block contains each contribution exactly once.

    With an idempotent operator, a result may contain a contribution more than once.

    A node has its own contribution from step 0. It may not send or combine a block before it has a
    value for the block. In one step at most one send may replace a node's value. No other send may
    then combine with this value in the same step, unless streams fix the order of the two: the
    result would depend on the order.
    """
    _check_combining(schedule)
    if not schedule.blocks.reduced.any() or _is_quickly_proved(schedule):
        return
    try:
        for some in parts_of(schedule):
            _check_some(schedule, some)
    except ScheduleError:
        # A block of a later part may break a rule before.
        _check_some(schedule, None)
        raise


def _is_quickly_proved(schedule: SendTable) -> bool:
    """Tell whether a large schedule has been proved by compiled loops (:mod:`.forests`)."""
    canonical = any(request.canonical for request in schedule.requests)
    if canonical or schedule.block_ids.size < QUICK:
        return False
    # Numba takes long to load, and few schedules are large.
    from .forests import proves_whole  # noqa: PLC0415

    return proves_whole(schedule)


def _check_some(schedule: SendTable, some: tuple[Numbers, Numbers] | None) -> None:
    """Check all reduced blocks, or some, given as for :meth:`.Moves.of`."""
    moves = Moves.of(schedule, some)
    require_order(schedule, moves)
    values = _Values.of(schedule, moves)
    for begin, end in moves.steps():
        for first, last in moves.rounds(begin, end):
            values.carry_out(first, last)
    values.check_disjoint()
    values.check_whole()
    if any(request.canonical for request in schedule.requests):
        values.check_canonical()


def contributions_gained(schedule: SendTable) -> tuple[Moves, Numbers]:
    """Return the moves of reduced blocks, and the contributions that the target gains by each.

    A send that replaces a value gains the contributions that the old value lacks, and so does one
    that combines overlapping values. ``schedule`` must keep the rules of :func:`check_reductions`.
    """
    moves = Moves.of(schedule)
    values = _Values.of(schedule, moves)
    source, target = (values.pairs[ends] for ends in (moves.source, moves.target))
    carried, before, after = (np.empty_like(source) for _ in range(3))
    for begin, end in moves.steps():
        for first, last in moves.rounds(begin, end):
            carried[first:last] = values.held[source[first:last]]
            before[first:last] = values.held[target[first:last]]
            values.carry_out(first, last)
            after[first:last] = values.held[target[first:last]]
    size = np.append(values.sizes(), 0)
    combined = np.minimum(size[carried], size[after] - size[before])
    return moves, np.where(moves.combine, combined, size[carried] - size[before])


def _check_combining(schedule: SendTable) -> None:
    """Require that sends combine reduced blocks only, each send by a single operator."""
    blocks = schedule.blocks
    names = sorted({name for name in blocks.operator if name is not None})
    if blocks.reduced.all() and len(names) < 2:
        return
    sends = schedule.block_sends
    combined = schedule.combine[sends]
    place = first_broken(schedule, combined & ~blocks.reduced[schedule.block_ids], sends)
    if place is not None:
        block = schedule.block_ids[place]
        raise broken(schedule, int(sends[place]), f"it combines block {block}, which has an owner")
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
    """Values combined at one time: operands ``left`` and ``right``, and the row that combines."""

    first: int
    left: Numbers
    right: Numbers
    move: Numbers

    @property
    def made(self) -> slice:
        """The numbers of the combined values."""
        return slice(self.first, self.first + self.left.size)


@dataclass(eq=False)
class _Values:
    """The values of all reduced blocks: first the contributions, then the combined values.

    ``held`` has the value that each pair of ``pairs`` holds; ``origin`` has the pair of each
    contribution, ascending, whose value is its index there. ``unordered`` has the sends that
    combine with a value in the same round as an earlier one.
    """

    schedule: SendTable
    moves: Moves
    pairs: PairIndex
    origin: Pairs
    held: Numbers
    combined: list[_Combined] = field(default_factory=list)
    unordered: list[int] = field(default_factory=list)
    count: int = 0

    @classmethod
    def of(cls, schedule: SendTable, moves: Moves) -> _Values:
        """Return the values before step 1."""
        blocks, topology, count = schedule.blocks, schedule.topology, moves.blocks.size
        holders = [
            np.asarray(blocks.holders(block, topology), np.int64) * count + index
            for index, block in enumerate(moves.blocks.tolist())
            if blocks.owner[block] == NO_OWNER
        ]
        origin = distinct(np.concatenate(holders))
        pairs = PairIndex(topology.nodes * count, (origin, moves.source, moves.target))
        held = np.full(pairs.size, NOTHING, np.int64)
        held[pairs[origin]] = np.arange(origin.size)
        return cls(schedule, moves, pairs, origin, held, count=origin.size)

    def carry_out(self, begin: int, end: int) -> None:
        """Update the held values by the rows ``begin`` to ``end``, which form one round."""
        moves, rows = self.moves, np.arange(begin, end)
        carried = self.held[self.pairs[moves.source[begin:end]]]
        for row in rows[carried == NOTHING][:1]:
            raise self._sent_early(int(row))
        place = self.pairs[moves.target[begin:end]]
        combine = moves.combine[begin:end]
        self.held[place[~combine]] = carried[~combine]
        for row in rows[combine][self.held[place[combine]] == NOTHING][:1]:
            node, block = moves.place(moves.target[row])
            complaint = f"it combines with nothing: node {node} has nothing of block {block}"
            raise broken(self.schedule, int(moves.send[row]), complaint)
        self._combine(place[combine], carried[combine], rows[combine])

    def _combine(self, place: Pairs, carried: Numbers, rows: Numbers) -> None:
        """Combine ``carried`` with the values held at each ``place``, lower values first."""
        order = np.argsort(place, kind="stable")
        goals = place[order]
        if (np.diff(goals) > 0).all():
            self.held[goals] = self._made(self.held[goals], carried[order], rows[order])
            return
        goals = distinct(goals)
        at = np.concatenate((goals, place))
        operand = np.concatenate((self.held[goals], carried))
        move = np.concatenate((np.full(goals.size, NOTHING), rows))
        order = np.lexsort((operand, at))
        at, operand, move = at[order], operand[order], move[order]
        turn = np.arange(at.size) - np.searchsorted(at, at)
        crowded = np.isin(at, at[turn > 1]) & (move != NOTHING)
        self.unordered += self.moves.send[move[crowded]].tolist()
        latest = np.full(goals.size, NOTHING)
        for number in range(int(turn.max(initial=0)) + 1):
            now = turn == number
            goal = np.searchsorted(goals, at[now])
            latest[goal] = np.maximum(latest[goal], move[now])
            if number == 0:
                self.held[at[now]] = operand[now]
                continue
            self.held[at[now]] = self._made(self.held[at[now]], operand[now], latest[goal])

    def _made(self, left: Numbers, right: Numbers, move: Numbers) -> Numbers:
        """Return the combined values; the same two operands give the same value."""
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
        node, block = self.moves.place(self.moves.source[row])
        later = np.flatnonzero(self.moves.target == self.moves.source[row])
        send = int(self.moves.send[row])
        if not later.size:
            return broken(self.schedule, send, f"node {node} never gets block {block}")
        bringer = send_name(self.schedule, int(self.moves.send[later[0]]))
        return broken(self.schedule, send, f"node {node} gets block {block} only by {bringer}")

    def check_disjoint(self) -> None:
        """Require that no last value uses another value twice, except by idempotent operators."""
        twice = self._used_twice(idempotent=False)
        if twice is not None:
            raise self._combined_twice(twice)

    def _used_twice(self, *, idempotent: bool) -> int | None:
        """Return a value that some last value uses twice; None without one.

        Only values combined by ``idempotent`` operators count, or only those by others.
        """
        groups = [_Uses.of(batch) for batch in self.combined]
        used = np.zeros(self.count, np.bool_)
        for group in groups:
            used[group.value] = True
        operators = self.schedule.blocks.operator
        named = (operators[block] for block in self.moves.blocks.tolist())
        counts = np.array([*map(is_idempotent, named)]) == idempotent
        block = self._blocks()
        last = np.flatnonzero(~used & counts[block])
        block = block[last]
        order = np.argsort(block, kind="stable")
        last, block = last[order], block[order]
        rank = np.arange(last.size) - np.searchsorted(block, block)
        for first in range(0, int(rank.max(initial=-1)) + 1, BITS):
            chosen = (rank >= first) & (rank < first + BITS)
            marks = np.zeros(self.count, np.uint64)
            marks[last[chosen]] = np.uint64(1) << (rank[chosen] - first).astype(np.uint64)
            for group in reversed(groups):
                twice = group.mark(marks)
                if twice is not None:
                    return twice
        return None

    def _blocks(self) -> Numbers:
        """Return the index in ``moves.blocks`` of the block of each value."""
        block = np.empty(self.count, np.int64)
        block[: self.origin.size] = self.origin % self.moves.blocks.size
        for batch in self.combined:
            block[batch.made] = block[batch.left]
        return block

    def _combined_twice(self, value: int) -> ScheduleError:
        """Describe the first row that combines two values which share a part of ``value``."""
        left, right, move = (
            np.concatenate([getattr(batch, name) for batch in self.combined])
            for name in ("left", "right", "move")
        )
        while value >= self.origin.size:
            value = int(left[value - self.origin.size])
        node, block = self.moves.place(self.origin[value])
        has = np.zeros(self.count, np.bool_)
        has[value] = True
        for batch in self.combined:
            has[batch.made] = has[batch.left] | has[batch.right]
        twice = int(np.argmax(has[left] & has[right]))
        what = f"what node {node} contributes to block {block} is combined twice"
        return broken(self.schedule, int(self.moves.send[move[twice]]), what)

    def sizes(self) -> Numbers:
        """Return the number of different contributions in each value."""
        if self._used_twice(idempotent=True) is not None:
            return self._sizes_of_sets()
        size = np.ones(self.count, np.int64)
        for batch in self.combined:
            size[batch.made] = size[batch.left] + size[batch.right]
        return size

    def _sizes_of_sets(self) -> Numbers:
        """Count the contributors of each value: 64 of each block at a time."""
        size, rank = np.zeros(self.count, np.int64), self._ranks()
        for first in range(0, int(rank.max()) + 1, BITS):
            chosen = np.flatnonzero((rank >= first) & (rank < first + BITS))
            has = np.zeros(self.count, np.uint64)
            has[chosen] = np.uint64(1) << (rank[chosen] - first).astype(np.uint64)
            for batch in self.combined:
                has[batch.made] = has[batch.left] | has[batch.right]
            size += np.bitwise_count(has)
        return size

    def _ranks(self) -> Numbers:
        """Return for each contribution the number of those to its block by nodes before it."""
        block = self.origin % self.moves.blocks.size
        order = np.lexsort((self.origin, block))
        rank = np.empty(self.origin.size, np.int64)
        rank[order] = np.arange(rank.size) - np.searchsorted(block[order], block[order])
        return rank

    def check_whole(self) -> None:
        """Require that each owed node holds a complete value of each block that has words."""
        blocks, topology = self.schedule.blocks, self.schedule.topology
        size = self.sizes()
        count = self.moves.blocks.size
        whole = np.bincount(self.origin % count, minlength=count)
        for index, block in enumerate(self.moves.blocks.tolist()):
            if blocks.owner[block] != NO_OWNER or not blocks.words[block]:
                continue
            owed = blocks.owed[block]
            nodes = np.asarray(topology.working_nodes if owed is None else owed, np.int64)
            pair = nodes * count + index
            held = np.where(self.pairs.used(pair), self.held[self.pairs[pair]], NOTHING)
            due = whole[index]
            if blocks.prefix[block] is not None:
                due = self._due(block, nodes, np.append(self._last, NOTHING)[held])
            lacking = (held == NOTHING) | (size[held] < due)
            for node, value in zip(nodes[lacking][:1], held[lacking][:1], strict=True):
                raise self._left_out(int(node), block, int(value))

    def _due(self, block: int, nodes: Numbers, last: Numbers) -> Numbers:
        """Return how many contributions a scan owes to each of ``nodes``: one or more.

        Requires that the ``last`` node that contributes to each one's value is not beyond these. A
        value that also has as many contributions then has exactly the right ones.
        """
        holders = np.sort(self.schedule.blocks.holders(block, self.schedule.topology))
        inclusive = self.schedule.blocks.prefix[block] == Prefix.INCLUSIVE
        due = np.searchsorted(holders, nodes, side="right" if inclusive else "left")
        for node in nodes[due == 0][:1]:
            raise ScheduleError(f"node {node} is owed block {block}, but no contribution to it")
        for place in np.flatnonzero(last > holders[due - 1])[:1]:
            what = f"what node {last[place]} contributes to block {block}"
            raise ScheduleError(f"node {nodes[place]} must not get {what}")
        return due

    @cached_property
    def _last(self) -> Numbers:
        """The last node that contributes to each value, once all are combined."""
        last = np.empty(self.count, np.int64)
        last[: self.origin.size] = self.origin // self.moves.blocks.size
        for batch in self.combined:
            last[batch.made] = np.maximum(last[batch.left], last[batch.right])
        return last

    def check_canonical(self) -> None:
        """Require that each value combines two neighbouring intervals of :mod:`.canonical`.

        If two packets combine with one value in the same step, their order depends on the network.
        """
        if self.unordered:
            raise broken(self.schedule, self.unordered[0], UNORDERED)
        count, rank = self.moves.blocks.size, self._ranks()
        ranks = np.bincount(self.origin % count, minlength=count)
        of_value = self._blocks()
        first, end = np.zeros(self.count, np.int64), np.zeros(self.count, np.int64)
        first[: rank.size], end[: rank.size] = rank, rank + 1
        for batch in self.combined:
            made = batch.made
            low = np.where(first[batch.left] < first[batch.right], batch.left, batch.right)
            high = batch.left + batch.right - low
            allowed = are_neighbours(
                (first[low], end[low]), (first[high], end[high]), ranks[of_value[made]]
            )
            for place in np.flatnonzero(~allowed)[:1].tolist():
                raise self._in_another_order(int(batch.move[place]), low[place], high[place])
            first[made], end[made] = first[low], end[high]

    def _in_another_order(self, move: int, *values: np.int64) -> ScheduleError:
        """Describe the first row that combines ``values`` in an order that is not canonical."""
        nodes = (self._contributors(int(value)) for value in values)
        one, other = (", ".join(map(str, each)) for each in nodes)
        complaint = f"it combines the sum of nodes {one} with that of nodes {other}"
        send = int(self.moves.send[move])
        return broken(self.schedule, send, f"{complaint}, which is not the canonical order")

    def _contributors(self, value: int) -> list[int]:
        """Return the nodes whose contributions a value contains, ascending."""
        has = self._parts(value)[: self.origin.size]
        nodes: list[int] = (self.origin[has] // self.moves.blocks.size).tolist()
        return nodes

    def _parts(self, value: int) -> npt.NDArray[np.bool_]:
        """Tell of each value whether ``value`` is made of it."""
        has = np.zeros(self.count, np.bool_)
        has[value] = True
        for batch in reversed(self.combined):
            made = has[batch.made]
            has[batch.left[made]] = True
            has[batch.right[made]] = True
        return has

    def _left_out(self, node: int, block: int, value: int) -> ScheduleError:
        """Describe the contribution that the ``value`` held by ``node`` lacks."""
        who = f"node {node} is left out"
        if value == NOTHING:
            return ScheduleError(f"{who}: no send brings it block {block}")
        parts = self.schedule.blocks.parts(block, node, self.schedule.topology)
        lacks = min({*parts} - {*self._contributors(value)})
        return ScheduleError(f"{who}: its block {block} lacks what node {lacks} contributes")


@dataclass(frozen=True, eq=False)
class _Uses:
    """The operands of a batch of combined values, and for each the values made from it.

    ``value`` has the operands, ascending; ``made[first[i]:first[i + 1]]`` are made from operand i.
    """

    value: Numbers
    first: Numbers
    made: Numbers

    @classmethod
    def of(cls, batch: _Combined) -> _Uses:
        made = batch.first + np.tile(np.arange(batch.left.size), 2)
        operand = np.concatenate((batch.left, batch.right))
        order = np.argsort(operand, kind="stable")
        value, first = np.unique(operand[order], return_index=True)
        return cls(value, first, made[order])

    def mark(self, marks: npt.NDArray[np.uint64]) -> int | None:
        """Pass marks to the operands; return one that gets a mark twice, None without one."""
        if not self.value.size:
            return None
        coming, there = marks[self.made], marks[self.value]
        together = np.bitwise_or.reduceat(coming, self.first) | there
        counted = np.add.reduceat(np.bitwise_count(coming), self.first, dtype=np.int64)
        twice = counted + np.bitwise_count(there) > np.bitwise_count(together)
        marks[self.value] = together
        return int(self.value[np.argmax(twice)]) if twice.any() else None
