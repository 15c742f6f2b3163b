"""Jobs: the writes through a network's host port that load a program before a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ..model.base.errors import InvalidInput
from ..model.base.ragged import ranges
from ..model.compare.case import Case, watchdog
from ..model.compare.traffic_case import TrafficCase
from ..model.network.config import NetworkConfig, Timing
from ..model.network.config_file import identity
from ..model.network.port_model import PortModel
from ..model.program.any_program import AnyProgram
from ..model.program.checks import require_held, require_table_room
from ..model.program.circuits.program import CircuitProgram, run_table_words
from ..model.program.memory_words import expected_words, table_words
from ..model.program.program import Program
from ..model.program.slots import Slot, slot_of
from ..rtl.parts.host_map import (
    CONTROLLER_ENTRIES,
    CONTROLLER_SPACE,
    Command,
    ControllerWord,
    EntryField,
    HostSpace,
    nodes_with_ports,
    status_words,
    table_address_bits,
)
from ..rtl.parts.run_entry import word_bits
from .job import Job

_COMMANDS = {
    "space": int(CONTROLLER_SPACE),
    "command": int(ControllerWord.COMMAND),
    "result": int(ControllerWord.RESULT),
    "start": int(Command.START),
    "stop": int(Command.STOP),
}
"""Value of ``Job.controller``; the bench runs program 0, after :data:`.FIRST_PROGRAM` if any."""


def job_of(case: Case) -> Job:
    """Prepare the job that carries out a schedule."""
    program, loads = case.program, case.payload.loads(case.program.config)
    words, limit = case.payload.layout.size, case.limit
    if isinstance(program, CircuitProgram):
        return prepare_circuits(program, loads, read_words=words, cycle_limit=limit, hold=case.hold)
    return prepare(
        program, loads, timing=case.timing, read_words=words, cycle_limit=limit, hold=case.hold
    )


def job_of_traffic(case: TrafficCase, *, read_memories: bool) -> Job:
    """Prepare the job that runs traffic; ``read_memories`` reads all memories afterwards."""
    return prepare(
        case.program,
        [(node, 0, words) for node, words in enumerate(case.words)],
        timing=Timing.SELF_TIMED,
        read_words=case.program.config.message_words if read_memories else 0,
        cycle_limit=watchdog(case.predicted),
        refusal=case.refusal,
    )


def prepare(
    program: Program,
    loads: Sequence[tuple[int, int, npt.NDArray[np.uint64]]],
    *,
    timing: Timing,
    read_words: int,
    cycle_limit: int,
    refusal: npt.NDArray[np.uint16] | None = None,
    hold: npt.NDArray[np.int64] | None = None,
) -> Job:
    """Return the job that loads and runs ``program``.

    ``loads`` are (node, address, words) of the message memories before the start; wide words have
    shape (words, pieces). ``timing`` is "barrier" or "self-timed". ``read_words`` are the words of
    each message memory to read after it.
    ``cycle_limit`` is when the watchdog ends the run, or the controller, if there is one.
    ``refusal`` is a pattern for each node (docs/router.md, section 11). ``hold`` has the cycles for
    which each node's tile holds it, in a network with tile ports.
    """
    require_held(program)
    require_table_room(program)
    config = program.config
    writes = [*_table_writes(program), *_message_writes(config, loads)]
    if config.timed_rows:
        writes += _timing_writes(program, refusal)
    of_nodes = _without_switches(config, np.concatenate(writes))
    directory: Iterator[npt.NDArray[np.uint64]] | tuple[()] = ()
    if config.programs:
        directory = _directory_writes(program, slot_of(program), timing, cycle_limit)
    return Job(
        writes=np.concatenate((of_nodes, *directory)),
        nodes=config.topology.nodes,
        flit_width=config.flit_width,
        step_numbers=1 << config.step_bits,
        mask_words=config.mask_words,
        lanes=config.lanes,
        message_space=HostSpace.MESSAGE,
        read_words=read_words,
        status_space=HostSpace.STATUS,
        status_words=status_words(config),
        barrier=timing == Timing.BARRIER,
        half_duplex=program.half_duplex,
        cycle_limit=cycle_limit,
        barrier_registers=config.barrier_registers,
        controller=_COMMANDS if config.programs else None,
        switches=list(config.topology.switches),
        hold=_hold(config, hold),
    )


def resident_writes(
    program: Program, slot: Slot, timing: Timing, number: int
) -> npt.NDArray[np.uint64]:
    """Return the writes that load a further resident program, with its entry in the directory.

    ``slot`` has the program's addresses in the tables. ``number`` is the number of the entry, 1 or
    more; the entry has no limit.
    """
    tables = np.concatenate([*_table_writes(program, slot.base)])
    entry = _directory_entry(program, slot, timing, limit=0, number=number)
    return np.concatenate((_without_switches(program.config, tables), entry))


def prepare_circuits(
    program: CircuitProgram,
    loads: Sequence[tuple[int, int, npt.NDArray[np.uint64]]],
    *,
    read_words: int,
    cycle_limit: int,
    hold: npt.NDArray[np.int64] | None = None,
) -> Job:
    """Return the job that loads and runs a program of circuits; arguments as for :func:`prepare`.

    ``hold`` counts cycles of the controller's state *starting*. A table with ``table_words`` runs
    is loaded without its end entry, for which there is no room.
    Raises :class:`.InvalidInput` if a table has more runs.
    """
    config = program.config
    _require_room_for_runs(program)
    messages = [_without_switches(config, each) for each in _message_writes(config, loads)]
    directory: Iterator[npt.NDArray[np.uint64]] | tuple[()] = ()
    if config.programs:
        slot = Slot(0, min(int(program.table_sizes.max()), config.table_words))
        directory = _directory_writes(program, slot, Timing.SELF_TIMED, cycle_limit)
    return Job(
        writes=np.concatenate([_entry_writes(program), *messages, *directory]),
        nodes=config.topology.nodes,
        flit_width=config.flit_width,
        step_numbers=0,
        mask_words=0,
        # The status has no words by lane.
        lanes=1,
        message_space=HostSpace.MESSAGE,
        read_words=read_words,
        status_space=HostSpace.STATUS,
        status_words=status_words(config),
        barrier=False,
        half_duplex=program.port_model == PortModel.HALF_DUPLEX,
        cycle_limit=cycle_limit,
        barrier_registers=config.barrier_registers,
        controller=_COMMANDS if config.programs else None,
        switches=list(config.topology.switches),
        hold=_hold(config, hold),
        circuits=True,
    )


def _hold(config: NetworkConfig, cycles: npt.NDArray[np.int64] | None) -> dict[str, int]:
    """Return ``Job.hold``: the cycles for which each tile with a port holds its node."""
    held = np.zeros(config.topology.nodes, dtype=np.int64) if cycles is None else cycles
    return {str(node): int(held[node]) for node in nodes_with_ports(config)}


def _without_switches(
    config: NetworkConfig, writes: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """Return only the writes to nodes with a network interface, so not to switches."""
    if not config.topology.switches:
        return writes
    return writes[~np.isin(writes[:, 0], config.topology.switches)]


_Columns = npt.NDArray[np.integer]


def _writes(
    node: _Columns | int, space: HostSpace, address: _Columns, word: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """Return writes as rows of ``Job.writes``."""
    writes = np.empty((len(word), 4), dtype=np.uint64)
    for place, column in enumerate((node, space, address, word)):
        writes[:, place] = column
    return writes


def _table_writes(program: Program, base: int = 0) -> Iterator[npt.NDArray[np.uint64]]:
    """Yield the writes of every sender's table, and of the steps in which each port receives.

    ``base`` is the address at which the program begins in each table.
    """
    config = program.config
    first, words = table_words(program)
    sizes = np.diff(first)
    node, lane = np.divmod(np.repeat(np.arange(len(sizes)), sizes), config.lanes)
    address = (lane << table_address_bits(config)) + base + ranges(0, sizes)
    yield _writes(node, HostSpace.TABLE, address, words)
    if config.programs:
        # The expected steps are part of each table.
        return
    masks = expected_words(program)
    receiver, place = (column.ravel() for column in np.indices(masks.shape))
    node, lane = np.divmod(receiver, config.lanes)
    yield _writes(node, HostSpace.EXPECTED, lane * config.mask_words + place, masks.ravel())


def _require_room_for_runs(program: CircuitProgram) -> None:
    """Raise :class:`.InvalidInput` for the first node with more runs than its table holds."""
    most, runs = program.config.table_words, np.diff(program.first_entry)
    for node in np.flatnonzero(runs > most)[:1].tolist():
        allowed = f"at most {most} runs long"
        raise InvalidInput.of(f"run table of node {node}", allowed, int(runs[node]))


def _entry_writes(program: CircuitProgram) -> npt.NDArray[np.uint64]:
    """Return the writes of all run tables, the words of each entry in the order of the page."""
    first, words = run_table_words(program)
    sizes, place = np.diff(first), np.arange(words.shape[1])
    entry = ranges(0, sizes)
    held = entry < program.config.table_words
    node = np.repeat(np.arange(program.nodes), sizes)[held]
    address = (entry[held, None] << word_bits(program.config)) + place
    return _writes(
        np.repeat(node, len(place)), HostSpace.TABLE, address.ravel(), words[held].ravel()
    )


def _directory_writes(
    program: AnyProgram, slot: Slot, timing: Timing, limit: int
) -> Iterator[npt.NDArray[np.uint64]]:
    """Yield the writes of the network's identity and of the directory's entry 0."""
    address, word = np.array([ControllerWord.IMAGE]), np.array([identity(program.config)])
    yield _writes(0, CONTROLLER_SPACE, address, word.astype(np.uint64))
    yield _directory_entry(program, slot, timing, limit)


def _directory_entry(
    program: AnyProgram, slot: Slot, timing: Timing, limit: int, number: int = 0
) -> npt.NDArray[np.uint64]:
    """Return the writes of a program's entry in the directory; 0 is no limit."""
    half_duplex = program.port_model == PortModel.HALF_DUPLEX
    fields = {
        EntryField.BASE: slot.base,
        EntryField.WORDS: slot.words,
        EntryField.MODE: int(timing == Timing.BARRIER) | int(half_duplex) << 1,
        EntryField.LIMIT: limit,
    }
    begin = CONTROLLER_ENTRIES + number * len(EntryField)
    addresses = np.array([begin + field for field in fields])
    return _writes(0, CONTROLLER_SPACE, addresses, np.array([*fields.values()], dtype=np.uint64))


def _message_writes(
    config: NetworkConfig, loads: Sequence[tuple[int, int, npt.NDArray[np.uint64]]]
) -> Iterator[npt.NDArray[np.uint64]]:
    """Yield the writes of message memories, wide words piece by piece."""
    for node, first, words in loads:
        begin = np.arange(first, first + len(words)) << config.piece_bits
        address = begin[:, None] + np.arange(config.pieces)
        yield _writes(node, HostSpace.MESSAGE, address.ravel(), words.ravel())


def _timing_writes(
    program: Program, refusal: npt.NDArray[np.uint16] | None
) -> Iterator[npt.NDArray[np.uint64]]:
    """Yield the writes of the packets that each node awaits, and of its refusal pattern."""
    nodes, first = np.arange(program.nodes), program.config.mask_words
    patterns = np.zeros(program.nodes, dtype=np.uint64) if refusal is None else refusal
    columns = program.awaited.astype(np.uint64), patterns.astype(np.uint64)
    for place, words in enumerate(columns, first):
        yield _writes(nodes, HostSpace.EXPECTED, np.full(program.nodes, place), words)
