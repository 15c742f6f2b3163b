"""Execution of an MSCCL reduction: which chunks are combined in what stands in a slot.

What stands in a slot is a *value*, made of a chunk of the GPU's own input, of what other GPUs have
sent, or of both. A *move* is a value on its way, one chunk of a send. So a value says which moves
it needs at its GPU, whatever buffers and copies it came by::

    GPU 0      s  i[0]                      move 0: chunk i[0] of GPU 0
    GPU 1      rrc  i[0] with what comes    value: its own i[0], and move 0
               s  i[0]                      move 1: chunks i[0] of GPUs 0 and 1

How a node's memory gets to hold these values, one after the other, is for :mod:`.msccl_registers`.
"""

from __future__ import annotations

from typing import NamedTuple

from .msccl_execution import Block, Execution
from .msccl_xml import NOBODY, Algorithm, Step

State = tuple[int, frozenset[int]]
"""The parts of a value: the GPU's own chunk, if it is in it, and the moves that are."""


class Value(NamedTuple):
    """The content of a slot: ``chunks``, each of another GPU's input, combined.

    ``own`` is the one of them that is of its own GPU's input and was never away (-1: none);
    ``moves`` brought the others.
    """

    chunks: frozenset[int]
    own: int
    moves: frozenset[int]

    @property
    def state(self) -> State:
        """The parts that it is made of; its chunks follow from them."""
        return self.own, self.moves


class ReducingExecution(Execution):
    """A reduction, executed to its end; what slots hold are numbers of ``values``.

    values
        Values in the order in which they were made.
    moved
        For each move the number of the value that it carries.
    row
        For each move its send. ``steps`` has the step of each send, for refusals.
    """

    def __init__(self, algorithm: Algorithm) -> None:
        self.values: list[Value] = []
        self.moved: list[int] = []
        self.row: list[int] = []
        self.steps: list[Step] = []
        super().__init__(algorithm)

    def _first_chunk(self, rank: int, place: int) -> int:
        chunk = super()._first_chunk(rank, place)
        return self._numbered(Value(frozenset((chunk,)), chunk, frozenset()))

    def _numbered(self, value: Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def _receive(self, key: Block, step: Step) -> list[int]:
        arrived = []
        for move in super()._receive(key, step):
            chunks = self.values[self.moved[move]].chunks
            arrived.append(self._numbered(Value(chunks, NOBODY, frozenset((move,)))))
        return arrived

    def _reduce(self, key: Block, step: Step, chunks: list[int]) -> list[int]:
        there = self._load(key, step, step.target if step.kind == "re" else step.source)
        return [self._combined(*pair, step) for pair in zip(there, chunks, strict=True)]

    def _combined(self, one: int, other: int, step: Step) -> int:
        """The value made of two, in which no GPU may have a part twice."""
        left, right = self.values[one], self.values[other]
        refusal = self._algorithm.xml.refusal
        if twice := left.chunks & right.chunks:
            rank = self.rank_of(min(twice))
            raise refusal(step.element, f"must reduce each chunk once, not that of {rank}")
        ranks = {self.rank_of(chunk) for chunk in left.chunks}
        if both := ranks & {self.rank_of(chunk) for chunk in right.chunks}:
            complaint = f"must reduce one chunk of each gpu, not two of gpu {min(both)}"
            raise refusal(step.element, complaint)
        own = max(left.own, right.own)
        moves = left.moves | right.moves
        return self._numbered(Value(left.chunks | right.chunks, own, moves))

    def _send(self, key: Block, step: Step, chunks: list[int]) -> None:
        moves = range(len(self.moved), len(self.moved) + len(chunks))
        self.moved += chunks
        self.row += [len(self.steps)] * len(chunks)
        self.steps.append(step)
        super()._send(key, step, list(moves))
