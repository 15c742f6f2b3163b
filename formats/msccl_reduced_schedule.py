"""MSCCL reductions as schedules: moves between registers, packed into steps."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ..model.base.files import InputFile
from ..model.base.graph_cycles import strong_parts
from ..model.network.port_model import PortModel
from ..model.schedule.blocks import CUSTOM, NO_OWNER, Blocks
from ..model.schedule.ordered import CircleError, OrderedSends, packed_schedule
from ..model.schedule.schedule import Schedule
from .format import Setting
from .msccl_promises import results_of
from .msccl_reducing_execution import ReducingExecution
from .msccl_registers import RegisterError, RegisterMoves, registers_of
from .msccl_xml import Algorithm
from .notes import say
from .ranks import name_on, nodes_of_parts

_IN_A_CIRCLE = "must not have GPUs that send what they hold while it is combined, in a circle"
_NO_EXCHANGE = ", with half-duplex ports"
_APART = (
    "GPUs send what they had at first while they add what comes, so sums are kept apart: "
    "{blocks} blocks in place of {results}, as a custom collective"
)


def reduction_of(
    file: InputFile, algorithm: Algorithm, setting: Setting, nodes: list[int]
) -> Schedule:
    """Return the schedule of the reduction in ``file``, with GPU r on ``nodes[r]``.

    A result is one block, or several if one cannot be (:mod:`.msccl_registers`), which a notice
    says. Raises :class:`.InvalidInput` if both ways fail.
    """
    run = ReducingExecution(algorithm)
    root, results = results_of(algorithm, run)
    errors: list[CircleError | RegisterError] = []
    for apart in (False, True):
        try:
            registers = registers_of(run, results, apart=apart)
            schedule = _scheduled(algorithm, setting, nodes, root, run, registers)
        except (CircleError, RegisterError) as error:
            errors.append(error)
            continue
        if apart:
            say(file, _APART.format(blocks=len(registers.blocks), results=len(results)))
        return schedule
    xml, first = algorithm.xml, errors[0]
    if isinstance(first, RegisterError):
        raise xml.refusal(run.steps[run.row[first.move]].element, first.complaint)
    half = setting.ports is PortModel.HALF_DUPLEX
    raise xml.refusal(xml.root, _IN_A_CIRCLE + half * _NO_EXCHANGE)


def _scheduled(
    algorithm: Algorithm,
    setting: Setting,
    nodes: list[int],
    root: int | None,
    run: ReducingExecution,
    registers: RegisterMoves,
) -> Schedule:
    """Return the schedule of moves between registers; custom if a result has several blocks."""
    name = name_on(setting.topology, algorithm.collective, algorithm.ranks)
    if len({block.result.chunks for block in registers.blocks}) < len(registers.blocks):
        name = CUSTOM
    exchange = setting.ports is not PortModel.HALF_DUPLEX
    return packed_schedule(
        setting.topology,
        name,
        algorithm.name,
        setting.ports,
        None if root is None or name == CUSTOM else nodes[root],
        _blocks(run, registers, setting, nodes, algorithm.operator),
        _Pieces.of(run, registers).sends(run, nodes, exchange=exchange),
    )


def _blocks(
    run: ReducingExecution,
    registers: RegisterMoves,
    setting: Setting,
    nodes: list[int],
    operator: str,
) -> Blocks:
    """Return the blocks: one of a single chunk has an owner, others have contributors."""
    holders = [{run.rank_of(chunk) for chunk in block.result.chunks} for block in registers.blocks]
    alone = [len(ranks) == 1 for ranks in holders]
    owners = [
        nodes[min(ranks)] if single else NO_OWNER
        for ranks, single in zip(holders, alone, strict=True)
    ]
    contributors = nodes_of_parts(setting.topology, nodes, holders)
    return Blocks(
        np.array(owners, np.int32),
        nodes_of_parts(setting.topology, nodes, (block.owed for block in registers.blocks)),
        np.full(len(owners), setting.words, np.int32),
        tuple(() if single else given for given, single in zip(contributors, alone, strict=True)),
        tuple(None if single else operator for single in alone),
    )


@dataclass(frozen=True)
class _Pieces:
    """Sends of the schedule: a send in the file is split into combining and replacing pieces.

    For each piece, ``row`` is its send in the file, ``blocks`` are the blocks that it carries, and
    ``later`` the pieces that must precede it at its target.
    """

    row: list[int]
    combine: list[bool]
    blocks: list[list[int]]
    later: list[set[int]]

    @classmethod
    def of(cls, run: ReducingExecution, registers: RegisterMoves) -> _Pieces:
        """Return the pieces of all sends, in their order."""
        number: dict[tuple[int, bool], int] = {}
        for key in sorted({*zip(run.row, registers.combine, strict=True)}):
            number[key] = len(number)
        piece = [number[key] for key in zip(run.row, registers.combine, strict=True)]
        blocks: list[list[int]] = [[] for _ in number]
        later: list[set[int]] = [set() for _ in number]
        for move, block in enumerate(registers.block):
            blocks[piece[move]].append(block)
            later[piece[move]].update(piece[other] for other in registers.later[move])
        rows, combine = zip(*number, strict=True) if number else ((), ())
        return cls(list(rows), list(combine), blocks, later)

    def sends(self, run: ReducingExecution, nodes: list[int], *, exchange: bool) -> OrderedSends:
        """Return the ordered sends; with ``exchange`` pieces in a circle are one unit.

        Each of the unit changes at its target what another one reads there, and each node sends and
        gets one of them.
        """
        ends = [[end[row] for row in self.row] for end in (run.moves.source, run.moves.target)]
        of_row: defaultdict[int, list[int]] = defaultdict(list)
        for piece, row in enumerate(self.row):
            of_row[row].append(piece)
        units: dict[int, int] = {}
        for part in strong_parts(range(len(self.row)), dict(enumerate(self.later))):
            alone = any(len({end[piece] for piece in part}) < len(part) for end in ends)
            units |= {piece: part[0] if exchange and not alone else piece for piece in part}
        after = [
            {each for other in run.moves.after[row] for each in of_row[other]}
            | {other for other in self.later[piece] if units[other] != units[piece]}
            for piece, row in enumerate(self.row)
        ]
        source, target = ([nodes[rank] for rank in end] for end in ends)
        unit = [units[piece] for piece in range(len(self.row))]
        return OrderedSends(
            source=source,
            target=target,
            blocks=self.blocks,
            after=[sorted(others) for others in after],
            combine=self.combine,
            unit=np.unique(unit, return_inverse=True)[1].tolist(),
        )
