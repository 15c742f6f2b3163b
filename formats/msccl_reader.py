"""MSCCL XML as a schedule: its moves on a network, packed into steps."""

from collections.abc import Callable, Iterable
from itertools import chain

import numpy as np

from ..model.base.files import InputFile
from ..model.schedule.blocks import Blocks
from ..model.schedule.collective import Collective
from ..model.schedule.ordered import OrderedSends, packed_schedule
from ..model.schedule.schedule import Schedule
from .format import Setting
from .msccl_execution import Execution
from .msccl_reduced_schedule import reduction_of
from .msccl_xml import Algorithm, read_algorithm
from .ranks import name_on, nodes_of_parts, nodes_of_ranks

Owed = dict[int, set[int]]
"""For each chunk that is a block, the GPUs that are owed it."""


def read_msccl(file: InputFile, setting: Setting) -> Schedule:
    """Return the schedule of an algorithm; GPU r is the r-th working node of the network.

    A chunk is a block of ``setting.words`` words; reductions add. Raises :class:`.InvalidInput`
    with file and line if the file is wrong or its collective's promise is not kept.
    """
    algorithm = read_algorithm(file)
    nodes = nodes_of_ranks(setting.topology, algorithm.ranks, f"{algorithm.xml.name}: ngpus")
    if algorithm.reduces:
        return reduction_of(file, algorithm, setting, nodes)
    run = Execution(algorithm)
    root, owed = _promise(algorithm, run)
    number = {chunk: block for block, chunk in enumerate(owed)}
    blocks = Blocks(
        np.array([nodes[run.rank_of(chunk)] for chunk in owed], np.int32),
        nodes_of_parts(setting.topology, nodes, owed.values()),
        np.full(len(owed), setting.words, np.int32),
    )
    sends = OrderedSends(
        source=[nodes[rank] for rank in run.moves.source],
        target=[nodes[rank] for rank in run.moves.target],
        blocks=[[number[chunk] for chunk in chunks] for chunks in run.moves.chunks],
        after=run.moves.after,
    )
    return packed_schedule(
        setting.topology,
        name_on(setting.topology, algorithm.collective, algorithm.ranks),
        algorithm.name,
        setting.ports,
        None if root is None else nodes[root],
        blocks,
        sends,
    )


def _promise(algorithm: Algorithm, run: Execution) -> tuple[int | None, Owed]:
    """Return the root, if any, and who is owed which chunk; refuse a missing chunk."""
    ranks, chunks = range(algorithm.ranks), algorithm.chunks
    match algorithm.collective:
        case Collective.ALL_GATHER:
            _require_outputs(algorithm, run, lambda rank: range(chunks))
            return None, {chunk: set(ranks) for chunk in range(chunks)}
        case Collective.ALL_TO_ALL:
            each = chunks // algorithm.ranks
            _require_outputs(algorithm, run, lambda rank: _row(rank * each, each, chunks))
            return None, {chunk: {chunk % chunks // each} for chunk in range(chunks * len(ranks))}
        case Collective.BROADCAST:
            root = run.outputs[0].get(0, 0) // chunks
            _require_outputs(algorithm, run, lambda rank: range(root * chunks, (root + 1) * chunks))
            return root, {chunk: set(ranks) for chunk in range(root * chunks, (root + 1) * chunks)}
    return None, _delivered(algorithm, run)


def _row(begin: int, each: int, chunks: int) -> Iterable[int]:
    """Return chunks ``begin`` to ``begin + each - 1`` of each input."""
    ranks = range(chunks // each)
    return (source * chunks + begin + place for source in ranks for place in range(each))


def _require_outputs(
    algorithm: Algorithm, run: Execution, expected: Callable[[int], Iterable[int]]
) -> None:
    """Require that each GPU's output holds its ``expected`` chunks in order."""
    for rank, output in enumerate(run.outputs):
        for place, chunk in enumerate(expected(rank)):
            if output.get(place) != chunk:
                found = _chunk_name(run, output.get(place))
                wanted = f"end as {_chunk_name(run, chunk)}, not as {found}"
                complaint = f"o[{place}] of gpu {rank} must {wanted}"
                root = algorithm.xml.root
                raise algorithm.xml.refusal(root, f"{root.attrib['coll']}: {complaint}")
    wanted_chunks = {chunk for rank in range(algorithm.ranks) for chunk in expected(rank)}
    for chunks in run.moves.chunks:
        for chunk in set(chunks) - wanted_chunks:
            complaint = f"{_chunk_name(run, chunk)} must stay there, as no output has it"
            raise algorithm.xml.refusal(algorithm.xml.root, complaint)


def _chunk_name(run: Execution, chunk: int | None) -> str:
    if chunk is None:
        return "nothing"
    return f"i[{chunk % run.stride}] of gpu {run.rank_of(chunk)}"


def _delivered(algorithm: Algorithm, run: Execution) -> Owed:
    """Owe every sent chunk to the other GPUs whose output has it."""
    owed: Owed = {chunk: set() for chunk in sorted({*chain(*run.moves.chunks)})}
    for rank, output in enumerate(run.outputs):
        for chunk in output.values():
            if run.rank_of(chunk) != rank:
                owed[chunk].add(rank)
    if not owed:
        raise algorithm.xml.refusal(algorithm.xml.root, "must send something")
    return owed
