"""One run for a page: its program, its flits, its memories, and its errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..model.base.arrays import Numbers
from ..model.base.texts import counted
from ..model.network.config import NetworkConfig
from ..model.program.any_program import AnyProgram
from ..model.program.circuits.file import RUN_FIELDS
from ..model.program.circuits.program import CircuitProgram
from ..model.program.memory.layout import Layout
from ..model.program.memory_words import row_begins, table_words
from ..model.program.node_table import row_remarks
from ..model.program.program import Program
from ..model.program.row import NO_START
from ..model.run.following import follow, follow_words, moving_cycles
from ..model.run.hops import Hops, expected_hops
from ..model.run.run import Run
from ..model.run.standstill import standstill
from ..model.run.trace import Trace
from ..model.schedule.reduction import contributions_gained
from ..model.schedule.schedule import Schedule
from .first_target import first_target
from .flits import MOST_FLITS, StepTimes, pack_flits, pack_loads
from .packing import Pack

if TYPE_CHECKING:
    from ..model.bounds.cycles import CycleBound

MOST_ROWS = 1 << 18
"""Most program rows on a page."""

MOST_WORDS = 1 << 20
"""Most words of all memories together on a page."""


@dataclass(frozen=True)
class Watched:
    """A run to show, with its program and schedule.

    ``schedule``, ``layout`` and ``bound`` are None for a program without them. ``waiting`` has a
    line for each node that has not finished or has set a flag; ``tables`` are shown unchanged.
    ``has_status`` is False if only the trace is known, without stalled flits of nodes.
    """

    name: str
    title: str
    timing: str
    program: AnyProgram
    run: Run
    schedule: Schedule | None = None
    layout: Layout | None = None
    waiting: Sequence[str] = ()
    tables: Sequence[dict[str, Any]] = ()
    bound: CycleBound | None = None
    has_status: bool = True


def pack_run(pack: Pack, watched: Watched, room: int) -> dict[str, Any]:
    """Pack a run, with every flit if there are at most ``room``."""
    program, run = watched.program, watched.run
    end = shown_cycles(run, program.config)
    notes: list[str] = []
    few = len(run.trace) <= room
    circuits = isinstance(program, CircuitProgram)
    hops = expected_hops(program) if few and isinstance(program, Program) else None
    followed = trace = loads = None
    times = StepTimes.of_run(run)
    if isinstance(program, Program) and hops is not None:
        followed = follow(program, run.trace, hops)
        times = StepTimes.of_flits(program, run.trace, followed)
    elif few and circuits:
        followed = follow_words(program.config, run.trace)
    if followed is not None:
        trace = pack_flits(pack, program.config, run.trace, followed, end)
    else:
        loads = pack_loads(pack, program.config, run.trace, times, end)
        notes.append(_summary_note(run.trace, loads["width"]))
    return {
        "name": watched.name,
        "title": watched.title,
        "timing": watched.timing,
        "collective": _collective(watched),
        "about": _about(watched),
        "root": None if watched.schedule is None else watched.schedule.root,
        "cycles": end,
        "finished": run.finished,
        "steps": {"first": times.first, "end": times.end},
        "trace": trace,
        "loads": loads,
        "timeline": None,
        "stalled": pack.column(_stalled(watched)) if watched.has_status else None,
        "flags": {str(node): run.flag_names(node) for node in np.flatnonzero(run.flags).tolist()},
        "waiting": list(watched.waiting),
        "program": _program(pack, program, hops, notes) if isinstance(program, Program) else None,
        "run_tables": _run_tables(pack, program) if isinstance(program, CircuitProgram) else None,
        "held": pack.column(_held(watched)),
        "contributions": _contributions(pack, watched) if followed is not None else None,
        "deadlock": _deadlock(watched),
        "memory": _memory(pack, watched, notes),
        "origins": _origins(pack, watched),
        "tables": list(watched.tables),
        "notes": notes,
    }


def _collective(watched: Watched) -> str | None:
    """Return the name of the schedule's collective, or "traffic"; None for another program."""
    if watched.schedule is not None:
        return watched.schedule.collective
    program = watched.program
    timed = isinstance(program, Program) and (program.start != NO_START).any()
    return "traffic" if timed else None


def _about(watched: Watched) -> list[str]:
    """Return sentences on the schedule: its first target, and its cycles beside their bound."""
    lines = [] if watched.schedule is None else [first_target(watched.schedule)]
    bound, run = watched.bound, watched.run
    # Broken hardware may end before the bound.
    if bound is not None and run.finished and 0 < bound.value <= run.cycles:
        lines.append(
            f"No schedule takes fewer than {counted(bound.value, 'cycle')}: {bound.reason}. "
            f"This schedule takes {run.cycles} cycles, {bound.times(run.cycles)} times as many."
        )
    return [*filter(None, lines)]


def _stalled(watched: Watched) -> Numbers:
    """Return the stalled flits of each node, including those that wait at the end."""
    waiting: Numbers = standstill(watched.program, watched.run).stalled
    return watched.run.stalled_flits + waiting


def shown_cycles(run: Run, config: NetworkConfig) -> int:
    """Return the cycles that a page shows: all, or until no flit moves, on links included."""
    return max(1, run.cycles if run.finished else moving_cycles(config, run.trace))


def _summary_note(trace: Trace, width: int) -> str:
    bins = "each cycle" if width == 1 else f"every {width} cycles"
    return (
        f"The trace has {len(trace):,} rows. A page shows each of at most {MOST_FLITS:,}, of all "
        f"its runs together, so that of this run it counts the flits of each link in {bins}."
    )


def _program(pack: Pack, program: Program, hops: Hops | None, notes: list[str]) -> Any:
    """Return the rows of all nodes; None if there are too many."""
    rows = len(program.step)
    if hops is None or rows > MOST_ROWS:
        only = f"of at most {MOST_ROWS:,} rows" if rows > MOST_ROWS else "whose flits are shown"
        notes.append(f"The program's {rows:,} rows are left out: a page has those of a run {only}.")
        return None
    routes = program.routes
    names = ("first_row", "step", "source_address", "target_address", "length", "continued")
    columns = {name: getattr(program, name) for name in (*names, "route")}
    columns["start"] = np.where(program.start == NO_START, 0, program.start + 1)
    columns["target"] = hops.target + 1
    columns["first_segment"] = routes.first
    columns |= {"port": routes.port, "hops": routes.hops, "vc": routes.vc}
    columns |= {"first_receive": program.first_receive, "receive_step": program.receive_step}
    columns["receive_port"] = program.receive_port
    columns["header_flits"] = program.header_flits
    texts, columns["remark"] = _remarks(program)
    packed = {name: pack.column(column) for name, column in columns.items()}
    control = program.config.table.control_words
    return {**packed, "table": pack.words(_table(program)), "control": control, "remarks": texts}


def _run_tables(pack: Pack, program: CircuitProgram) -> dict[str, Any]:
    """Return the entries of all run tables: columns, and the codes of an entry one by one."""
    names = ("first_entry", *RUN_FIELDS)
    return {name: pack.column(getattr(program, name).ravel()) for name in names}


def _table(program: Program) -> npt.NDArray[np.uint64]:
    """Return the words of all rows: first control words, second ones, ..., header flits.

    Each is XORed with the previous one. Rows differ in few bits, so the result takes a tenth of the
    space.
    """
    begins = row_begins(program)
    _, words = table_words(program)
    control = words[begins + np.arange(program.config.table.control_words)[:, None]]
    table = np.append(control, program.header)
    table[1:] ^= table[:-1].copy()
    return table


def _remarks(program: Program) -> tuple[list[str], Numbers]:
    """Return the different remarks on rows, and the number of each row's remark."""
    names = ("continued", "operator", "stream", "lead", "window")
    kinds = np.stack([getattr(program, name).astype(np.int64) for name in names], axis=1)
    _, first, remark = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    return [", ".join(row_remarks(program, row)) for row in first.tolist()], remark.reshape(-1)


def _held(watched: Watched) -> Numbers:
    """Return the words of blocks that each node has at the start; 0 without a schedule."""
    nodes = watched.program.nodes
    if watched.schedule is None:
        return np.zeros(nodes, dtype=np.int64)
    blocks = watched.schedule.blocks
    plain = ~blocks.reduced
    held = np.bincount(blocks.owner[plain], blocks.words[plain], nodes).astype(np.int64)
    for block in np.flatnonzero(blocks.reduced).tolist():
        held[list(blocks.holders(block, watched.schedule.topology))] += blocks.words[block]
    return held


_MOST_OWED = 1 << 24


def _contributions(pack: Pack, watched: Watched) -> Any:
    """Return the contributions that nodes have and get; None for a run that combines nothing.

    None for a scan, too: its nodes get different numbers of contributions.
    Each counts once for each word. Only blocks that a node is owed count, but all blocks if it is
    owed none.
    """
    schedule, program = watched.schedule, watched.program
    if schedule is None or not (schedule.blocks.reduced & ~schedule.blocks.scanned).all():
        return None
    nodes, blocks, topology = program.nodes, schedule.blocks, schedule.topology
    if not schedule.sends or nodes * len(blocks) > _MOST_OWED:
        return None
    working = topology.working_nodes.tolist()
    counted, start = np.zeros((2, nodes, len(blocks)), dtype=np.int64)
    for block in range(len(blocks)):
        owed = blocks.owed[block]
        counted[working if owed is None else list(owed), block] = 1
        start[list(blocks.holders(block, topology)), block] = 1
    owed_none = ~counted.any(axis=1)
    counted[owed_none] = 1
    of = start.sum(axis=0)
    shown = {
        "start": pack.column((start * counted) @ blocks.words),
        "goal": pack.column((of * counted) @ blocks.words * np.isin(np.arange(nodes), working)),
        "of": int(of.max()),
        "owed": pack.column(~owed_none),
    }
    if isinstance(program, CircuitProgram):
        layout, marks = watched.layout, np.repeat(counted + 2 * start, blocks.words, axis=1)
        if layout is None or layout.packed is not None or marks.size > MOST_WORDS:
            return None
        marks = _by_address(marks, layout)
        return {**shown, "size": layout.size, "marks": pack.column(marks.ravel())}
    moves, gained = contributions_gained(schedule)
    target, moved = np.divmod(moves.target, len(blocks))
    gain = gained * blocks.words[moved] * counted[target, moved]
    by_send = np.bincount(moves.send, gain, schedule.sends).astype(np.int64)
    words = np.bincount(schedule.block_sends, blocks.words[schedule.block_ids], schedule.sends)
    return {
        **shown,
        "gained": pack.column(np.maximum(by_send, 0)[program.route]),
        "words": pack.column(words.astype(np.int64)[program.route]),
    }


def _by_address(words: Numbers, layout: Layout) -> Numbers:
    """Return marks of all blocks' words by address: shape (nodes, words) to (nodes, size)."""
    found = np.zeros((layout.size, len(words)), words.dtype)
    address = np.arange(words.shape[1]) - np.repeat(layout.base, np.diff(layout.starts))
    np.maximum.at(found, address, words.T)
    return found.T


def _deadlock(watched: Watched) -> Any:
    """Return the circle of waiting packets and what would free them; None without one."""
    found = standstill(watched.program, watched.run)
    if not found.circle:
        return None
    ports = watched.program.config.topology.ports
    waits = [
        {
            "row": wait.row + 1,
            "other": wait.other + 1,
            "held": [wait.held.node * ports + wait.held.port, wait.held.vc],
            "wanted": [wait.wanted.node * ports + wait.wanted.port, wait.wanted.vc],
            "why": wait.why.name.lower(),
        }
        for wait in found.circle
    ]
    return {"waits": waits, "remedies": found.remedies()}


def _memory(pack: Pack, watched: Watched, notes: list[str]) -> Any:
    """Return the message memories after the run, up to the last used word; None if too large."""
    memory = watched.run.memory
    if watched.layout is not None:
        memory = memory[:, : watched.layout.size]
    else:
        used = np.flatnonzero(memory.any(axis=(0, *range(2, memory.ndim))))
        memory = memory[:, : int(used.max(initial=-1)) + 1]
    if memory.size > MOST_WORDS:
        allowed = f"a page has at most {MOST_WORDS:,}"
        notes.append(f"The {memory.size:,} words of the memories are left out: {allowed}.")
        return None
    return {"size": memory.shape[1], **pack.words(memory.reshape(-1, *memory.shape[2:]))}


def _origins(pack: Pack, watched: Watched) -> Any:
    """Return for each row the owner of its first word; None unless several blocks are aligned.

    The owner of a reduced block is the first node that is owed it.
    """
    schedule, layout, program = watched.schedule, watched.layout, watched.program
    if schedule is None or layout is None or not isinstance(program, Program):
        return None
    if layout.packed is not None or len(schedule.blocks) < 2:
        return None
    address = program.source_address
    if layout.halves.any:
        address = address % layout.apart(program.config)
    first = schedule.block_ids[schedule.block_offsets[program.route]]
    place = layout.base[first] + address
    goals = [owed[0] if owed else 0 for owed in schedule.blocks.owed]
    owner = np.where(schedule.blocks.reduced, goals, schedule.blocks.owner)
    block = np.searchsorted(layout.starts[:-1], place, side="right") - 1
    return pack.column(owner[block])
