"""The cycle model of circuits: docs/router.md, section 23.

Every node walks through its run table. The entry that is current in cycle c reads a word in cycle
c, switches the router in cycle c + 2, and says in cycle c + 3 where an arrived word is written (one
cycle later for a sum, and one cycle later in a network with operators)::

    cycle t of a node   sending: entry of t    router: entry of t - 2    sums: entry of t - 3

A node with nothing but idle runs before it sleeps until its next entry or until a word arrives.
"""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput
from ..base.loops import Int, compiled_loop, inlined, spill
from ..network.config import NetworkConfig
from ..network.topology import NO_LINK
from ..program.circuits.program import FIRST_CYCLE, LANE_COLUMNS, CircuitProgram
from ..program.circuits.program import SUM as CIRCUIT_SUM
from ..run.run import Ending, EndState, Prediction
from ..run.trace import Trace
from .combine import combined
from .control import Control
from .pieces import MovedWords

LOST_WORD, MISSING_WORD, BAD_ROUTE = 1 << 0, 1 << 2, 1 << 3
SEND_AND_RECEIVE, BAD_ROW, BAD_WRITE = 1 << 5, 1 << 6, 1 << 7

NONE = -1
"""The number of an entry where none is current."""
SUM = -1
"""The code of a way out that takes the sum."""
NEVER = np.iinfo(np.int64).max

_AS_THEY_ARE = ("first_entry", "duration", *LANE_COLUMNS)
"""Columns of a program that the loop reads."""

_AGES = 4
"""Entries that still act: those of the current cycle and of the three before."""

_WRITES = 3
"""Words on their way to a memory: one arrives at place 1, with operators at place 2."""


class _Tables(NamedTuple):
    """Everything that is fixed during a run. Shapes as in :class:`.CircuitProgram`.

    Registers of a router are numbered: first those of its lanes, then the inputs of its links. So
    are ways out: first the ejections of its lanes, then the outputs of its links. ``codes`` has
    what each way out takes, ``first`` and ``second`` what is joined: 0 for nothing, 1 + a register,
    or ``SUM``. Invalid codes are 0, and ``wrong`` marks the entries that have any. ``target`` has
    the number of the link input, ``node * links + input - 1``, that each output feeds, and
    ``NO_LINK`` where there is no link: shape (nodes * links,). ``idle`` is true for an entry that
    does nothing, ``sends`` for a lane that reads words: shape (entries, lanes).
    """

    lanes: int
    links: int
    link_registers: int
    message_words: int
    table_words: int
    address_mask: int
    cycles_to_finish: int
    half_duplex: bool
    flit_width: int
    operator_count: int
    operators: npt.NDArray[np.int64]
    own_operators: npt.NDArray[np.int64]
    lane_widths: npt.NDArray[np.int64]
    notes: npt.NDArray[np.uint64]
    target: npt.NDArray[np.int64]
    first_entry: npt.NDArray[np.int64]
    duration: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int64]
    wrong: npt.NDArray[np.bool_]
    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    operator: npt.NDArray[np.int64]
    send_address: npt.NDArray[np.int64]
    receive_address: npt.NDArray[np.int64]
    receive: npt.NDArray[np.int64]
    idle: npt.NDArray[np.bool_]
    sends: npt.NDArray[np.bool_]


class _Rows(NamedTuple):
    """Columns of a :class:`.Trace`; empty if no trace is recorded."""

    cycle: npt.NDArray[np.int64]
    node: npt.NDArray[np.int32]
    port: npt.NDArray[np.int16]
    data: npt.NDArray[np.uint64]


class _Registers(NamedTuple):
    """The registers that change during a run, for each node.

    ``entry`` and ``begun`` have shape (nodes, 4): the entries that were current in this cycle and
    in the three before, and the cycle in which each became current. ``until`` is the last cycle of
    the current entry, and at the end of a table the number of the end entry. ``fetched`` and
    ``there`` have shape (nodes, lanes, 2): the words that were read one and two cycles ago. The
    latter is in the lane's register. ``link_word`` and ``link_there`` have shape (R + 2, nodes *
    links): the input registers of the cycles to come, in a ring. ``arriving`` counts the words of
    each node in it. ``writing`` has shape (nodes, lanes, 3): the entry whose word is written at the
    end of this cycle, of the next one and of the one after. The other columns of a write have the
    same shape; ``stored`` is the word that was in the memory when the write's word arrived.
    ``named`` marks the registers that a router's entry names in this cycle: shape (lanes + links,).
    """

    entry: npt.NDArray[np.int64]
    begun: npt.NDArray[np.int64]
    until: npt.NDArray[np.int64]
    ended: npt.NDArray[np.int64]
    asleep_until: npt.NDArray[np.int64]
    fetched: npt.NDArray[np.uint64]
    there: npt.NDArray[np.bool_]
    sum_word: npt.NDArray[np.uint64]
    sum_there: npt.NDArray[np.bool_]
    link_word: npt.NDArray[np.uint64]
    link_there: npt.NDArray[np.bool_]
    arriving: npt.NDArray[np.int64]
    writing: npt.NDArray[np.int64]
    write_address: npt.NDArray[np.int64]
    write_word: npt.NDArray[np.uint64]
    stored: npt.NDArray[np.uint64]
    memory: npt.NDArray[np.uint64]
    flags: npt.NDArray[np.uint8]
    named: npt.NDArray[np.bool_]


def run_circuits(
    program: CircuitProgram,
    memory: npt.NDArray[np.uint64],
    *,
    cycle_limit: int | None = None,
    record_trace: bool = True,
    control: Control | None = None,
) -> Prediction:
    """Run ``program`` from reset until all nodes are finished.

    ``memory`` holds the message memories before the run, shape (nodes, message words), and is not
    changed. ``cycle_limit`` is when a run with a flag is given up; None means a cycle after which
    nothing happens. ``record_trace`` False saves the memory of a trace. ``control`` holds the
    settings of a controller and of tiles; None: none. A tile holds all nodes in the first cycles of
    *starting*, so that cycle 0 comes later. The tables may be wrong in any way; the flags show it.

    Raises :class:`.InvalidInput` for a table that is too long, or a memory of another form.
    """
    config, control = program.config, control or Control()
    control.check(config)
    entries = np.diff(program.first_entry)
    for node in np.flatnonzero(entries > config.table_words)[:1].tolist():
        allowed = f"at most {config.table_words} (table words)"
        raise InvalidInput.of(f"entries of node {node}", allowed, int(entries[node]))
    # A register's word is joined once in a cycle, and a delivered word combined once.
    words = MovedWords(config, memory, _most_words(program) + int(program.duration.sum()))
    tables = _tables(program, words, control.slot_words or config.table_words)
    busy = np.add.reduceat(np.append(program.duration, 0), program.first_entry[:-1])
    busy[entries == 0] = 0
    last = int(busy.max(initial=0)) + FIRST_CYCLE + config.link_registers + 2 * _AGES
    most = max(last, control.limit) if cycle_limit is None else cycle_limit
    late = _held_too_long(config, control)
    limit = min(most, control.limit - 1) if control.limit else most
    if late is not None:
        most = limit = 0
    trace = Trace.empty(_most_words(program) if record_trace else 0)
    rows = _Rows(trace.cycle, trace.node, trace.port, trace.data)
    registers = _reset(program, words.memory)
    finished, cycles, left, flagged, culprit, _ = _simulate(tables, registers, rows, limit)
    if flagged <= cycles and limit < most:
        # The run failed before its limit; the hardware goes on, and so does the model.
        words.forget()
        registers = _reset(program, words.memory)
        finished, cycles, left, flagged, culprit, _ = _simulate(tables, registers, rows, most)
    if finished:
        ending = Ending(EndState.DONE, cycles, None)
    elif flagged <= cycles:
        ending = Ending(EndState.FAILED, flagged, culprit)
    else:
        unfinished = registers.ended > cycles - tables.cycles_to_finish
        first = int(np.argmax(unfinished)) if late is None else late
        ending = Ending(EndState.TIMED_OUT, cycles, first)
    number = np.where(registers.ended < NEVER, registers.until, registers.entry[:, 0])
    found = Prediction(
        finished=bool(finished),
        cycles=cycles,
        memory=registers.memory,
        trace=trace.first_rows(left if record_trace else 0),
        flags=registers.flags,
        stalled_flits=np.zeros(config.topology.nodes, np.int64),
        step=np.maximum(number - program.first_entry[:-1], 0),
        arrived=np.zeros((config.topology.nodes, config.lanes, 0), np.bool_),
        received=np.zeros(config.topology.nodes, np.int64),
        step_ends=np.zeros(0, np.int64),
        ending=ending,
        circuits=True,
    )
    return words.restored(found)


def _held_too_long(config: NetworkConfig, control: Control) -> int | None:
    """Return the lowest node whose tile holds it beyond the limit; None if none does."""
    if control.hold is None or not control.limit:
        return None
    # ``hold`` passes a register, and those on the way to the controller.
    delay = 1 + -(-config.barrier_registers // 2)
    seen = control.hold - 1 + delay >= config.barrier_registers + 1 + control.limit
    late = np.flatnonzero(seen & (control.hold > 0))
    return int(late[0]) if len(late) else None


def _tables(program: CircuitProgram, words: MovedWords, most_entries: int) -> _Tables:
    """Return the tables as the loop reads them; a table has room for ``most_entries``."""
    config, topology = program.config, program.config.topology
    lanes, links = config.lanes, topology.ports - 1
    neighbor, peer = topology.neighbor[:, 1:], topology.peer[:, 1:]
    target = np.where(neighbor != NO_LINK, neighbor.astype(np.int64) * links + peer - 1, NO_LINK)
    of_switch = np.isin(program.entry_node, topology.switches)
    codes, wrong = _ways_out(program, of_switch)
    joins = (program.operator > 0) & (program.operator <= len(config.operators))
    wrong |= (program.operator > len(config.operators)) | (
        (codes == SUM).any(axis=1) & (program.operator == 0)
    )
    joined = np.stack((program.first, program.second), axis=1) * joins[:, None]
    wrong |= (joined > topology.ports).any(axis=1)
    joined[joined > topology.ports] = 0
    # Link inputs stand behind the registers of the lanes.
    joined = np.where(joined > 1, joined + lanes - 1, joined)
    sends = np.stack([(codes == 1 + lane).any(axis=1) for lane in range(lanes)], axis=1)
    sends[:, 0] |= (joined == 1).any(axis=1)
    sends[of_switch] = False
    # Numba would compile again for views, read-only arrays and columns in another order.
    columns: dict[str, Any] = {
        name: np.array(getattr(program, name), order="C") for name in _AS_THEY_ARE
    }
    return _Tables(
        lanes=lanes,
        links=links,
        link_registers=config.link_registers,
        message_words=config.message_words,
        table_words=most_entries,
        address_mask=(1 << config.address_bits) - 1,
        cycles_to_finish=5 if config.operators else 3,
        half_duplex=program.port_model == "half-duplex",
        operator_count=len(config.operators),
        **words.operators,
        target=target.ravel(),
        codes=codes,
        wrong=wrong,
        first=joined[:, 0].copy(),
        second=joined[:, 1].copy(),
        operator=program.operator * joins,
        idle=(codes == 0).all(axis=1) & ~joins & ~wrong,
        sends=sends,
        **columns,
    )


def _ways_out(
    program: CircuitProgram, of_switch: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return the codes of all ways out, and which entries have an invalid one.

    ``of_switch`` marks the entries of switches, which have no way to a memory.
    """
    config, ports = program.config, program.config.topology.ports
    lanes, links = config.lanes, ports - 1
    outputs = program.codes[:, 1:]
    own = np.where(outputs == 1, 1 + np.arange(links) if config.all_port else 1, 0)
    out = np.where(outputs > 1, outputs - 1 + lanes, own)
    out[outputs == 2 + np.arange(links)] = SUM
    if config.all_port:
        taken, most = program.ejections, CIRCUIT_SUM if config.operators else 1
        into = np.where(taken == 1, 1 + lanes + np.arange(lanes), np.where(taken == 2, SUM, 0))
    else:
        taken, most = program.codes[:, :1], ports
        into = np.where(taken == 1, SUM, taken)
    invalid = (taken > most) | of_switch[:, None] & (taken > 0)
    into[invalid] = 0
    out[outputs > ports] = 0
    wrong = np.asarray((outputs > ports).any(axis=1) | invalid.any(axis=1))
    return np.concatenate((into, out), axis=1), wrong


def _reset(program: CircuitProgram, memory: npt.NDArray[np.uint64]) -> _Registers:
    """Return the registers as they are after reset."""
    config = program.config
    nodes, lanes, links = config.topology.nodes, config.lanes, config.topology.ports - 1
    slots = config.link_registers + 2

    def of_node(kind: Any, *further: int, value: int = 0) -> Any:
        return np.full((nodes, *further), value, kind)

    return _Registers(
        entry=of_node(np.int64, _AGES, value=NONE),
        begun=of_node(np.int64, _AGES),
        until=of_node(np.int64, value=FIRST_CYCLE - 1),
        ended=of_node(np.int64, value=int(NEVER)),
        asleep_until=of_node(np.int64, value=FIRST_CYCLE),
        fetched=of_node(np.uint64, lanes, 2),
        there=of_node(np.bool_, lanes, 2),
        sum_word=of_node(np.uint64),
        sum_there=of_node(np.bool_),
        link_word=np.zeros((slots, nodes * links), np.uint64),
        link_there=np.zeros((slots, nodes * links), np.bool_),
        arriving=np.zeros((slots, nodes), np.int64),
        writing=of_node(np.int64, lanes, _WRITES, value=NONE),
        write_address=of_node(np.int64, lanes, _WRITES),
        write_word=of_node(np.uint64, lanes, _WRITES),
        stored=of_node(np.uint64, lanes, _WRITES),
        memory=memory.copy(),
        flags=of_node(np.uint8),
        named=np.zeros(lanes + links, np.bool_),
    )


def _most_words(program: CircuitProgram) -> int:
    """Return a number of words that leave routers which no run of the program exceeds."""
    named = (program.codes != 0).sum(axis=1) + (program.ejections != 0).sum(axis=1)
    return int((named * program.duration).sum())


@inlined
def _next_entry(net: _Tables, now: _Registers, node: Int, cycle: Int) -> None:
    """Let the entries grow a cycle older, and make the next one current if its time has come."""
    for age in range(_AGES - 1, 0, -1):
        now.entry[node, age] = now.entry[node, age - 1]
        now.begun[node, age] = now.begun[node, age - 1]
    if now.ended[node] != NEVER or cycle <= now.until[node]:
        return
    first = net.first_entry[node]
    following = first if now.entry[node, 0] == NONE else now.entry[node, 0] + 1
    missing = following - first == net.table_words
    if missing or following == net.first_entry[node + 1] or net.duration[following] == 0:
        if missing:
            now.flags[node] |= BAD_ROW
        now.ended[node], now.until[node] = cycle, following
        now.entry[node, 0] = NONE
        return
    now.entry[node, 0], now.begun[node, 0] = following, cycle
    now.until[node] = cycle + net.duration[following] - 1


@inlined
def _fetch(net: _Tables, now: _Registers, node: Int, cycle: Int) -> None:
    """Read the words that are in the registers of the lanes two cycles later."""
    entry = now.entry[node, 0]
    for lane in range(net.lanes):
        now.fetched[node, lane, 1] = now.fetched[node, lane, 0]
        now.there[node, lane, 1] = now.there[node, lane, 0]
        now.there[node, lane, 0] = False
        if entry == NONE or not net.sends[entry, lane]:
            continue
        address = net.send_address[entry, lane] + cycle - now.begun[node, 0]
        address &= net.address_mask
        if address >= net.message_words:
            now.flags[node] |= BAD_ROW
            continue
        now.fetched[node, lane, 0] = now.memory[node, address]
        now.there[node, lane, 0] = True


@inlined
def _holds(net: _Tables, now: _Registers, node: Int, code: Int, slot: Int) -> bool:
    """Tell whether the register that ``code`` names holds a word."""
    if code <= net.lanes:
        return bool(now.there[node, code - 1, 1])
    return bool(now.link_there[slot, node * net.links + code - net.lanes - 1])


@inlined
def _held(net: _Tables, now: _Registers, node: Int, code: Int, slot: Int) -> np.uint64:
    """Return the word in the register that ``code`` names."""
    if code <= net.lanes:
        return np.uint64(now.fetched[node, code - 1, 1])
    return np.uint64(now.link_word[slot, node * net.links + code - net.lanes - 1])


@inlined
def _name(net: _Tables, now: _Registers, node: Int, code: Int, slot: Int) -> None:
    """Mark the register that ``code`` names, and flag an empty one."""
    if not _holds(net, now, node, code, slot):
        now.flags[node] |= MISSING_WORD
    now.named[code - 1] = True


@inlined
def _join(net: _Tables, now: _Registers, node: Int, slot: Int) -> None:
    """Make the sum of the next cycle."""
    entry = now.entry[node, 2]
    now.sum_there[node] = False
    if entry == NONE or net.operator[entry] == 0:
        return
    first, second = net.first[entry], net.second[entry]
    if first:
        _name(net, now, node, first, slot)
    if second:
        _name(net, now, node, second, slot)
    if not (first and second):
        return
    if _holds(net, now, node, first, slot) and _holds(net, now, node, second, slot):
        x, y = _held(net, now, node, first, slot), _held(net, now, node, second, slot)
        operator = net.operator[entry] - 1
        now.sum_word[node], now.sum_there[node] = combined(net, operator, x, y), True


@inlined
def _deliver(
    net: _Tables, now: _Registers, node: Int, lane: Int, cycle: Int, age: Int, word: np.uint64
) -> None:
    """Take the word that leaves by the ejection of ``lane``, by the entry of ``age``."""
    entry = now.entry[node, age]
    stage = 2 if net.operator_count else 1
    place = cycle - age - now.begun[node, age]
    address = (net.receive_address[entry, lane] + place) & net.address_mask
    now.writing[node, lane, stage], now.write_address[node, lane, stage] = entry, address
    now.write_word[node, lane, stage] = word
    if address < net.message_words:
        now.stored[node, lane, stage] = now.memory[node, address]
    for sender in range(net.lanes):
        if net.half_duplex and now.there[node, sender, 1]:
            now.flags[node] |= SEND_AND_RECEIVE


@inlined
def _write(net: _Tables, now: _Registers, node: Int) -> None:
    """Write the words whose time has come at the end of this cycle; the others come nearer."""
    for lane in range(net.lanes):
        entry = now.writing[node, lane, 0]
        if entry != NONE and net.receive[entry, lane] > 0:
            address, operator = now.write_address[node, lane, 0], net.receive[entry, lane] - 1
            if address >= net.message_words or operator > net.operator_count:
                now.flags[node] |= BAD_WRITE
            elif operator:
                x, y = now.stored[node, lane, 0], now.write_word[node, lane, 0]
                now.memory[node, address] = combined(net, operator - 1, x, y)
            else:
                now.memory[node, address] = now.write_word[node, lane, 0]
        for stage in range(_WRITES - 1):
            now.writing[node, lane, stage] = now.writing[node, lane, stage + 1]
            now.write_address[node, lane, stage] = now.write_address[node, lane, stage + 1]
            now.write_word[node, lane, stage] = now.write_word[node, lane, stage + 1]
            now.stored[node, lane, stage] = now.stored[node, lane, stage + 1]
        now.writing[node, lane, _WRITES - 1] = NONE


@inlined
def _sleep(net: _Tables, now: _Registers, node: Int) -> None:
    """Put the node to sleep if nothing of it can act before its next entry.

    A node stays awake for four cycles after an entry that acts. By then all its words are written,
    except a sum: the node waits for that write too.
    """
    busy = False
    for lane in range(net.lanes):
        busy = busy or now.writing[node, lane, 0] != NONE
    for age in range(_AGES):
        entry = now.entry[node, age]
        busy = busy or (entry != NONE and not net.idle[entry])
    if not busy:
        ended = now.ended[node] != NEVER
        now.asleep_until[node] = NEVER if ended else now.until[node] + 1


@inlined
def _leave(net: _Tables, now: _Registers, node: Int, way: Int, slot: Int) -> tuple[Int, np.uint64]:
    """Return the age of the entry that lets a word leave by ``way``, and the word.

    The age is 0 if no word leaves.
    """
    entry, before = now.entry[node, 2], now.entry[node, 3]
    code = net.codes[entry, way] if entry != NONE else 0
    if code > 0:
        _name(net, now, node, code, slot)
    if before != NONE and net.codes[before, way] == SUM and now.sum_there[node]:
        if code > 0:
            now.flags[node] |= BAD_ROUTE
        return 3, now.sum_word[node]
    if code > 0 and _holds(net, now, node, code, slot):
        return 2, _held(net, now, node, code, slot)
    return 0, np.uint64(0)


@inlined
def _flag_lost(net: _Tables, now: _Registers, node: Int, slot: Int) -> None:
    """Flag a word in a register that nothing names, and clear the marks."""
    for code in range(1, net.lanes + net.links + 1):
        if not now.named[code - 1] and _holds(net, now, node, code, slot):
            now.flags[node] |= LOST_WORD
        now.named[code - 1] = False


@inlined
def _send(net: _Tables, now: _Registers, node: Int, port: Int, slot: Int, word: np.uint64) -> None:
    """Put a word that leaves by a link into the register at its other end, at place ``slot``."""
    target = net.target[node * net.links + port - 1]
    if target != NO_LINK:
        now.link_word[slot, target] = word
        now.link_there[slot, target] = True
        now.arriving[slot, target // net.links] += 1


@inlined
def _route(net: _Tables, now: _Registers, trace: _Rows, node: Int, cycle: Int, words: Int) -> Int:
    """Let the words of this cycle leave the router; return ``words`` and their number."""
    slots = net.link_registers + 2
    if now.entry[node, 2] != NONE and net.wrong[now.entry[node, 2]]:
        now.flags[node] |= BAD_ROUTE
    for way in range(net.lanes + net.links):
        age, word = _leave(net, now, node, way, cycle % slots)
        if age == 0:
            continue
        port = max(0, way + 1 - net.lanes)
        if len(trace.cycle):
            trace.cycle[words], trace.node[words] = cycle, node
            trace.port[words], trace.data[words] = port, word
        words += 1
        if port:
            _send(net, now, node, port, (cycle + 1 + net.link_registers) % slots, word)
        else:
            _deliver(net, now, node, way, cycle, age, word)
    return words


@inlined
def _clear(net: _Tables, now: _Registers, node: Int, slot: Int) -> None:
    """Empty the link inputs of this cycle."""
    for link in range(net.links):
        now.link_there[slot, node * net.links + link] = False
    now.arriving[slot, node] = 0


@inlined
def _run(
    net: _Tables, now: _Registers, trace: _Rows, limit: int
) -> tuple[bool, int, int, int, int]:
    """Simulate to the end or to cycle ``limit``.

    Return whether all nodes finished, the cycle, the words that left routers, the first cycle in
    which a flag is seen, and the lowest node that has it.
    """
    slots = net.link_registers + 2
    running = len(now.ended)
    words: Int = 0
    finished_at, flagged, culprit = NEVER, NEVER, 0
    cycle = latest_end = 0
    while cycle < min(limit, finished_at):
        slot = cycle % slots
        for node in range(len(now.ended)):
            if cycle < now.asleep_until[node] and now.arriving[slot, node] == 0:
                continue
            _next_entry(net, now, node, cycle)
            if now.ended[node] == cycle:
                running, latest_end = running - 1, cycle
            words = _route(net, now, trace, node, cycle, words)
            _join(net, now, node, slot)
            _flag_lost(net, now, node, slot)
            _fetch(net, now, node, cycle)
            _write(net, now, node)
            _clear(net, now, node, slot)
            _sleep(net, now, node)
            if now.flags[node] and flagged == NEVER:
                flagged, culprit = cycle + 1, node
        cycle += 1
        if flagged != NEVER:
            finished_at = NEVER
        elif running == 0:
            finished_at = latest_end + net.cycles_to_finish
    return cycle == finished_at, cycle, int(words), flagged, culprit


def _compiled_from(sources: int) -> Callable[[_Tables, _Registers, _Rows, int], Any]:
    """Compile the loop and cache it; Numba compiles anew if this file or ``sources`` changes."""

    @compiled_loop
    def simulate(
        net: _Tables, now: _Registers, trace: _Rows, limit: int
    ) -> tuple[bool, int, int, int, int, int]:
        return *_run(spill(net), spill(now), spill(trace), limit), sources

    return simulate


_simulate = _compiled_from(zlib.crc32(Path(__file__).with_name("combine.py").read_bytes()))
