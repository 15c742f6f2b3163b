"""Blocks of an MSCCL reduction: a node's memory holds one value of a block at a time.

A block is a result. Its *register* at a GPU is that GPU's one value of the block: first the GPU's
own chunk, if the result includes it. An arriving value is combined with the register or replaces
it. The moves of an execution (:mod:`.msccl_reducing_execution`) decide which values a register must
hold in turn: those that are sent, and finally the output's value::

    {own}             sent: every later combination must come after that
    {own, move 3}     by combining move 3
    {move 7}          by replacing all with move 7, which comes after all before
    {move 7, move 8}  by combining move 8

One register is not enough if all GPUs exchange initial values while they add arriving values.
Results are then *kept apart*: each set of GPUs whose moves depend on each other has its own block,
with its own contributions.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

from .msccl_promises import Result
from .msccl_reducing_execution import ReducingExecution, State
from .msccl_xml import NOBODY


class RegisterError(Exception):
    """Values that no register can hold in turn; ``move`` carries one of them."""

    def __init__(self, move: int, complaint: str) -> None:
        super().__init__(complaint)
        self.move = move
        self.complaint = complaint


@dataclass(frozen=True)
class Block:
    """A result, and the GPUs that are owed this block of the result."""

    result: Result
    owed: frozenset[int]


@dataclass
class RegisterMoves:
    """Moves as operations on registers.

    ``block`` has the number of each move's block; ``combine`` is true if the move is combined at
    its target; ``later`` has the moves that must precede it there.
    """

    blocks: list[Block]
    block: list[int]
    combine: list[bool]
    later: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))


def registers_of(run: ReducingExecution, results: list[Result], *, apart: bool) -> RegisterMoves:
    """Return the registers of a reduction; raise :class:`RegisterError` if there are none.

    ``apart`` keeps results apart.
    """
    _require_used(run, results)
    groups = _Groups(run, results, apart=apart)
    registers = RegisterMoves(groups.blocks, groups.of_move, [True] * len(run.moved))
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
    run: ReducingExecution, registers: RegisterMoves
) -> dict[tuple[int, int], dict[State, list[int]]]:
    """Return each register's needed states by (block, GPU), with the moves that send them."""
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
    """Require that every arriving move is part of a sent or owed value."""
    values = chain(
        (run.values[number] for number in run.moved),
        chain.from_iterable(result.values.values() for result in results),
    )
    used = frozenset().union(*{value.moves for value in values})
    for move in range(len(run.moved)):
        if move not in used:
            raise RegisterError(move, "must send what is used for an output")


class _Groups:
    """Blocks of moves: a group's moves depend on each other or on the same result."""

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
        """Return the representative move of a move's group."""
        while self._parent[move] != move:
            self._parent[move] = self._parent[self._parent[move]]
            move = self._parent[move]
        return move

    def _join(self, move: int, others: Iterable[int]) -> None:
        """Join the groups of a move and of the others."""
        root = self._root(move)
        for other in others:
            self._parent[self._root(other)] = root


_TWO_RESULTS = "must send what is in one result, not in two of different chunks"
_TWO_PARTS = "must send the one part of a result that its gpu has, not another one that it had"


class _Register:
    """The changing value of a block at a GPU: at first its own chunk, or nothing."""

    def __init__(self, registers: RegisterMoves, own: int) -> None:
        self._registers = registers
        self._state: State = own, frozenset()
        self._readers: set[int] = set()
        self._arrived: set[int] = set()

    def hold(self, wanted: dict[State, list[int]]) -> None:
        """Hold the ``wanted`` values in turn; each is sent by some moves."""
        for state, moves in wanted.items():
            if state != self._state:
                self._change(state, moves)
            self._readers.update(moves)

    def _change(self, state: State, readers: list[int]) -> None:
        """Let moves arrive that change the register to a later state.

        They must follow all earlier sends of the register, and so all earlier arrivals.
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
