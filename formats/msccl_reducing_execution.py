"""Execution of an MSCCL reduction: which chunks are combined in each slot.

A slot holds a *value*: a chunk of the GPU's own input, data from other GPUs, or both combined. A
*move* is a value on its way, one chunk of a send. So a value states which moves it needs at its
GPU, independent of buffers and copies::

    GPU 0      s  i[0]                      move 0: chunk i[0] of GPU 0
    GPU 1      rrc  i[0] with arriving data value: its own i[0], and move 0
               s  i[0]                      move 1: chunks i[0] of GPUs 0 and 1

:mod:`.msccl_registers` decides how a node's memory holds these values one after the other.
"""

from typing import NamedTuple

from ..model.network.operators import is_idempotent
from .msccl_execution import Block, Execution
from .msccl_xml import NOBODY, Algorithm, Step

State = tuple[int, frozenset[int]]
"""Parts of a value: the GPU's own chunk, if included, and the included moves."""


class Value(NamedTuple):
    """Content of a slot: ``chunks``, each of another GPU's input, combined.

    ``own`` is the chunk that comes from the GPU's own input without a move (-1: none); ``moves``
    brought the others.
    """

    chunks: frozenset[int]
    own: int
    moves: frozenset[int]

    @property
    def state(self) -> State:
        """The parts of the value; its chunks follow from them."""
        return self.own, self.moves


class ReducingExecution(Execution):
    """A reduction, executed to its end; slots hold indices into ``values``.

    values
        Values in the order of their creation.
    moved
        For each move, the index of its value.
    row
        For each move, its send. ``steps`` has the step of each send, for error messages.
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
        """Return the value of two combined; refuse a GPU's contribution twice, unless it may be."""
        left, right = self.values[one], self.values[other]
        refusal = self._algorithm.xml.refusal
        twice = left.chunks & right.chunks
        if twice and not is_idempotent(self._algorithm.operator):
            rank = self.rank_of(min(twice))
            raise refusal(step.element, f"must reduce each chunk once, not that of {rank}")
        ranks = {self.rank_of(chunk) for chunk in left.chunks - twice}
        if both := ranks & {self.rank_of(chunk) for chunk in right.chunks - twice}:
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
