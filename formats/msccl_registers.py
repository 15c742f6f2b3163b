"""Blocks for an MSCCL reduction: each node's memory holds one value of a block at a time.

A block is a result, and its *register* at a GPU is that GPU's one value of it: at first the GPU's
own chunk, if it is in the result. What arrives is combined with the register or replaces it. From
the moves of an execution (:mod:`.msccl_reduction`) follows which values a register must hold one
after the other; those to be sent, and that of an output at the end::

    {own}             sent: all that is combined later must come after that
    {own, move 3}     by combining move 3
    {move 7}          by replacing all with move 7, which comes after all before
    {move 7, move 8}  by combining move 8

Where GPUs send what they had at first while they add what comes, all to all, one register is not
enough. Then results are *kept apart*: for each set of GPUs whose moves depend on each other, there
is a block of its own, with all contributions of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

from .msccl_reduction import ReducingExecution, State
from .msccl_results import Result
from .msccl_xml import NOBODY


class RegisterError(Exception):
    """Values that no register can hold one after the other; ``move`` is one of them on its way."""

    def __init__(self, move: int, complaint: str) -> None:
        super().__init__(complaint)
        self.move = move
        self.complaint = complaint


@dataclass(frozen=True)
class Block:
    """A result, and the GPUs that are owed this block of it."""

    result: Result
    owed: frozenset[int]


@dataclass
class Registers:
    """Moves as what is done to registers.

    ``block`` has the number of each move's block, ``combine`` tells whether it is combined at its
    target, and ``later`` are the moves that it comes after there.
    """

    blocks: list[Block]
    block: list[int]
    combine: list[bool]
    later: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))


def registers_of(run: ReducingExecution, results: list[Result], *, apart: bool) -> Registers:
    """The registers of a reduction; raises :class:`RegisterError`.

    ``apart`` has results kept apart.
    """
    _require_used(run, results)
    groups = _Groups(run, results, apart=apart)
    registers = Registers(groups.blocks, groups.of_move, [True] * len(run.moved))
    made: dict[State, int] = {}
    for place, value in enumerate(run.values):
        made.setdefault(value.state, place)
    own = [
        {run.rank_of(chunk): chunk for chunk in block.result.chunks} for block in registers.blocks
    ]
    for (number, rank), wanted in _states(run, registers).items():
        block = registers.blocks[number]
        order = sorted(wanted, key=made.__getitem__)
        if rank in block.owed and order[-1] != block.result.values[rank].state:
            raise RegisterError(wanted[order[-1]][0], _TWO_PARTS)
        register = _Register(registers, own[number].get(rank, NOBODY))
        register.hold({key: wanted[key] for key in order})
    return registers


def _states(
    run: ReducingExecution, registers: Registers
) -> dict[tuple[int, int], dict[State, list[int]]]:
    """The states that the register of each (block, GPU) must have, each with the moves of it."""
    states: defaultdict[tuple[int, int], defaultdict[State, list[int]]]
    states = defaultdict(lambda: defaultdict(list))
    for move, number in enumerate(run.moved):
        at = registers.block[move], run.moves.source[run.row[move]]
        states[at][run.values[number].state].append(move)
    for number, block in enumerate(registers.blocks):
        for rank in block.owed:
            states[number, rank].setdefault(block.result.values[rank].state, [])
    return {at: dict(wanted) for at, wanted in states.items()}


def _require_used(run: ReducingExecution, results: list[Result]) -> None:
    """Require that all that arrives is in what is sent or owed."""
    values = chain(
        (run.values[number] for number in run.moved),
        chain.from_iterable(result.values.values() for result in results),
    )
    used = frozenset().union(*{value.moves for value in values})
    for move in range(len(run.moved)):
        if move not in used:
            raise RegisterError(move, "must send what is used for an output")


class _Groups:
    """The blocks of moves: those of one group depend on each other, or on the same result."""

    def __init__(self, run: ReducingExecution, results: list[Result], *, apart: bool) -> None:
        moves = len(run.moved)
        self._parent = list(range(moves + len(results)))
        for move, number in enumerate(run.moved):
            self._join(move, run.values[number].moves)
        for place, result in enumerate(results, moves):
            for value in result.values.values():
                self._join(min(value.moves, default=place) if apart else place, value.moves)
        self.blocks: list[Block] = []
        block_of: dict[int, int] = {}
        for place, result in enumerate(results, moves):
            owed: defaultdict[int, set[int]] = defaultdict(set)
            for rank, value in result.values.items():
                root = self._root(min(value.moves, default=place))
                if root in block_of:
                    raise RegisterError(min(value.moves), _TWO_RESULTS)
                owed[root].add(rank)
            for root, ranks in owed.items():
                block_of[root] = len(self.blocks)
                self.blocks.append(Block(result, frozenset(ranks)))
        self.of_move = [block_of[self._root(move)] for move in range(moves)]

    def _root(self, move: int) -> int:
        """The move that stands for the group of a move."""
        while self._parent[move] != move:
            self._parent[move] = self._parent[self._parent[move]]
            move = self._parent[move]
        return move

    def _join(self, move: int, others: Iterable[int]) -> None:
        """Make one group of those of a move and of others."""
        root = self._root(move)
        for other in others:
            self._parent[self._root(other)] = root


_TWO_RESULTS = "must send what is in one result, not in two of different chunks"
_TWO_PARTS = "must send the one part of a result that its gpu has, not another one that it had"


class _Register:
    """The register of a block at a GPU, as it changes: from its own chunk on, or from nothing."""

    def __init__(self, registers: Registers, own: int) -> None:
        self._registers = registers
        self._state: State = own, frozenset()
        self._readers: set[int] = set()
        self._arrived: set[int] = set()

    def hold(self, wanted: dict[State, list[int]]) -> None:
        """Hold the ``wanted`` values, each sent by some moves, one after the other."""
        for state, moves in wanted.items():
            if state != self._state:
                self._change(state, moves)
            self._readers.update(moves)

    def _change(self, state: State, readers: list[int]) -> None:
        """Let moves arrive, so that the register holds a later state.

        They come after all that was sent of it before, and so after all that arrived before.
        """
        (own, moves), (own_before, before) = state, self._state
        new = sorted(moves - before)
        if own == own_before and before < moves and (own != NOBODY or before):
            first: set[int] = set()
        elif own == NOBODY and not moves & self._arrived:
            first = {new[0]}
            self._registers.combine[new[0]] = False
        else:
            raise RegisterError([*readers, *sorted(moves)][0], _TWO_PARTS)
        for move in new:
            self._registers.later[move] |= (self._readers | first) - {move}
        self._arrived.update(new)
        self._state = state
