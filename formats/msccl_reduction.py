"""Execution of an MSCCL all-reduce: which GPUs' chunks are in what stands in a slot.

A chunk is here the place b in every GPU's input, and what stands in a slot is its value for some
set of GPUs. Of the values of b that a GPU has, in buffers and scratch, the schedule knows one: that
of b's place in input or output, its *main* value. So what is received is

* *combined*, if it is reduced with the main value, at once ("rrc", "rrs", "rrcs") or from a scratch
  buffer ("r", later "re"),
* a *replacement*, if it is put in place of the main value, at once or by a copy ("cpy").

A send of the schedule combines when it arrives, be that earlier than the "re". So it comes after
all that its target sends of the main value before it is reduced, and a replacement after all that
was combined before, too. Whether the sums are right then is for :meth:`.Schedule.check`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from .msccl_execution import Block, Execution
from .msccl_xml import Algorithm, Slot, Step, Threadblock


class Value(NamedTuple):
    """The content of a slot: the chunks ``place`` of ``ranks``, combined.

    ``pending`` are the sends that brought it to a scratch buffer; none where it is main.
    """

    place: int
    ranks: frozenset[int]
    pending: frozenset[int] = frozenset()


class ReducingExecution(Execution):
    """An all-reduce, executed to its end; its chunks are numbers of ``values``.

    combined
        For each (send, place) whether it is combined at its target, or replaces what is there.
    later
        For each send others that it comes after, besides those in ``moves``.
    """

    def __init__(self, algorithm: Algorithm) -> None:
        self.values: list[Value] = []
        self.combined: dict[tuple[int, int], bool] = {}
        self.later: defaultdict[int, set[int]] = defaultdict(set)
        self._readers: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        self._writers: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        super().__init__(algorithm)

    def _first_chunk(self, rank: int, place: int) -> int:
        return self._numbered(Value(place, frozenset((rank,))))

    def _numbered(self, value: Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def _loaded(self, key: Block, step: Step, first: Slot) -> list[Value]:
        return [self.values[number] for number in self._load(key, step, first)]

    def _carry_out(self, key: Block, step: Step) -> None:
        """Move and reduce the chunks of a step, which need not wait."""
        rank, block = key[0], self._blocks[key]
        if step.kind == "nop":
            return
        if step.receives:
            row, chunks = self._receive(key, step)
            coming = frozenset((row,))
            values = [self.values[chunk]._replace(pending=coming) for chunk in chunks]
        else:
            values = self._loaded(key, step, step.source)
        if step.reduces:
            first = step.target if step.kind == "re" else step.source
            own = self._loaded(key, step, first)
            pairs = zip(own, values, strict=True)
            values = [self._combined(rank, there, value, step) for there, value in pairs]
        if step.stores:
            buffer, offset = step.target
            slots = [(buffer, place) for place in range(offset, offset + step.count)]
            pairs_of_slots = zip(slots, values, strict=True)
            values = [self._put(rank, slot, value) for slot, value in pairs_of_slots]
            self._store(key, step, [self._numbered(value) for value in values])
        if step.sends:
            self._send_values(key, block, step, values)

    def _send_values(self, key: Block, block: Threadblock, step: Step, values: list[Value]) -> None:
        """Send values, all of which must be main."""
        row = len(self.moves.source)
        for value in values:
            if value.pending:
                complaint = "must send what is reduced or in its place, not from a scratch buffer"
                raise self._algorithm.xml.refusal(step.element, complaint)
            self._readers[key[0], value.place].add(row)
        self._send(key, block, step, [self._numbered(value) for value in values])

    def _combined(self, rank: int, there: Value, coming: Value, step: Step) -> Value:
        """The value made of two, of which one is main, or neither yet."""
        refusal = self._algorithm.xml.refusal
        if there.place != coming.place:
            complaint = f"must reduce chunks of one place, not {there.place} and {coming.place}"
            raise refusal(step.element, complaint)
        if twice := there.ranks & coming.ranks:
            raise refusal(step.element, f"must reduce each chunk once, not that of {min(twice)}")
        pending = there.pending | coming.pending
        if not (there.pending and coming.pending):
            for row in sorted(pending):
                self._decide(row, rank, there.place, combined=True)
            pending = frozenset()
        return Value(there.place, there.ranks | coming.ranks, pending)

    def _put(self, rank: int, slot: Slot, value: Value) -> Value:
        """The value once it is in a slot: main, if that is its place in input or output."""
        if slot[0] == "s" or slot[1] != value.place:
            return value
        for row in sorted(value.pending):
            self._decide(row, rank, value.place, combined=False)
        return value._replace(pending=frozenset())

    def _decide(self, row: int, rank: int, place: int, *, combined: bool) -> None:
        """Note what a send does to the main value, and after what it must come."""
        pair = rank, place
        before = self._readers[pair]
        if not combined:
            before = before | self._writers[pair]
            self._writers[pair] = set()
        self.later[row] |= before - {row}
        self.combined[row, place] = combined
        self._writers[pair].add(row)
