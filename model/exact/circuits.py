"""Runs of circuits in closed form: cycles and traffic of a program, without its words.

The tables say in which cycles every output names what. A run sets no flag if each input register
holds a word in exactly the cycles in which its node names it. So the cycles are compared as
intervals: of entries, and not of words::

    node 0   output 1 takes input 0    cycles 4 to 1027
    link                                  + 1
    node 1   register 2 holds a word   cycles 5 to 1028    = those in which node 1 names it

If that is so for all registers, then by induction over cycles every named word is there.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.errors import InvalidInput
from ..program.circuits.checks import check_circuits
from ..program.circuits.program import SUM, CircuitProgram
from .declined import Declined

ROUTER = 2
"""Cycles from an entry to its router's words; a sum leaves one cycle later."""


class ClosedRun(NamedTuple):
    """A run without a flag.

    ``link_flits`` counts the words that leave each output: shape (nodes, ports); column 0 is
    deliveries.
    """

    cycles: int
    link_flits: Numbers


class _Spans(NamedTuple):
    """Spans of cycles: a row for each, in which ``key`` is active from ``begin`` to ``end`` - 1."""

    key: Numbers
    begin: Numbers
    end: Numbers


def closed_run(program: CircuitProgram) -> ClosedRun:
    """Return the cycles and the traffic of ``program``; raise :class:`.Declined` if it sets a flag.

    Custom operators are allowed, because words do not matter.
    """
    try:
        check_circuits(program)
    except InvalidInput as error:
        raise Declined(str(error)) from error
    if (_ejects(program) & _of_switch(program)).any():
        raise Declined("a switch delivers a word")
    taken, sums = _outputs(program)
    nodes, places = program.nodes, _places(program)
    own = _joined(*_sending(program))
    if _meet(taken, sums):
        raise Declined("a sum meets a word at an output")
    left = _joined(taken, sums)
    at_memory = ~_by_link(program, left)
    delivered = _Spans(*(part[at_memory] for part in left))
    if program.half_duplex and _meet(_of_nodes(delivered, places), _of_nodes(own, places)):
        raise Declined("a node sends and receives at once")
    arrivals = _joined(_arrivals(program, left), own)
    if not _same(arrivals, _joined(*_named(program))):
        raise Declined("a word is not where a run expects it")
    words = np.bincount(left.key, left.end - left.begin, nodes * places)
    counts = words.astype(np.int64).reshape(nodes, places)
    ports = program.config.topology.ports
    counts[:, 0] += counts[:, ports:].sum(axis=1)
    return ClosedRun(program.cycles, counts[:, :ports])


def _places(program: CircuitProgram) -> int:
    """Return how many input registers a node has, and how many ways out.

    Link ports have their own numbers. The memory is number 0; all-port, the lanes follow the ports.
    """
    config = program.config
    return config.topology.ports + (config.lanes if config.all_port else 0)


def _lane(program: CircuitProgram, lane: int) -> int:
    """Return the number of a lane's register and of its ejection; lanes count from 1."""
    config = program.config
    return config.topology.ports - 1 + lane if config.all_port else 0


def _of_switch(program: CircuitProgram) -> npt.NDArray[np.bool_]:
    """Tell which entries are those of switches, which have no memory."""
    return np.isin(program.entry_node, program.config.topology.switches)


def _ejects(program: CircuitProgram) -> npt.NDArray[np.bool_]:
    """Tell which entries deliver a word."""
    ejections = program.ejections if program.config.all_port else program.codes[:, :1]
    return np.asarray((ejections > 0).any(axis=1))


def _of_nodes(spans: _Spans, places: int) -> _Spans:
    """Return the spans by node."""
    return spans._replace(key=spans.key // places)


def _by_link(program: CircuitProgram, left: _Spans) -> npt.NDArray[np.bool_]:
    """Tell which words leave by a link, and not to a memory."""
    place = left.key % _places(program)
    return np.asarray((place > 0) & (place < program.config.topology.ports))


def _spans(
    program: CircuitProgram, chosen: npt.NDArray[np.bool_], port: Numbers, late: int
) -> _Spans:
    """Return the spans of the ``chosen`` entries, each ``late`` cycles later.

    The key is ``node * places + port``, with the node of the entry.
    """
    entry = np.flatnonzero(chosen)
    begin = program.entry_begin[entry] + late
    key = program.entry_node[entry] * _places(program) + port[entry]
    return _Spans(key, begin, begin + program.duration[entry])


def _sending(program: CircuitProgram) -> Iterator[_Spans]:
    """Yield when the register of each lane holds a word that was read to be sent."""
    config, own = program.config, program.codes[:, 1:] == 1
    joined = (program.operator > 0) & ((program.first == 1) | (program.second == 1))
    for lane in range(1, config.lanes + 1):
        sends = own[:, lane - 1] if config.all_port else own.any(axis=1)
        sends = (sends | joined if lane == 1 else sends) & ~_of_switch(program)
        yield _spans(program, sends, np.full(len(sends), _lane(program, lane)), ROUTER)


def _ways_out(program: CircuitProgram) -> Iterator[tuple[int, Numbers, npt.NDArray[np.bool_]]]:
    """Yield each way out: its number, the register it takes in each entry or -1, where the sum."""
    config = program.config
    for output in range(int(config.all_port), config.topology.ports):
        code = program.codes[:, output]
        is_sum = code == 1 + output
        own = _lane(program, output)
        register = np.where(code == 1, own, code - 1)
        yield output, np.where(is_sum, -1, register), is_sum
    for column, ejection in enumerate(program.ejections.T):
        register = np.where(ejection == 1, 1 + column, -1)
        yield _lane(program, 1 + column), register, ejection == SUM


def _outputs(program: CircuitProgram) -> tuple[_Spans, _Spans]:
    """Return when each way out sends the word of a register, and when it sends a sum."""
    taken, sums = [], []
    for number, register, is_sum in _ways_out(program):
        place = np.full(len(program.duration), number)
        taken.append(_spans(program, register >= 0, place, ROUTER))
        sums.append(_spans(program, is_sum, place, ROUTER + 1))
    return _joined(*taken), _joined(*sums)


def _named(program: CircuitProgram) -> Iterator[_Spans]:
    """Yield when each input register is named."""
    for _, register, _ in _ways_out(program):
        yield _spans(program, register >= 0, register, ROUTER)
    for column in (program.first, program.second):
        register = np.where(column == 1, _lane(program, 1), column - 1)
        yield _spans(program, program.operator > 0, register, ROUTER)


def _arrivals(program: CircuitProgram, left: _Spans) -> _Spans:
    """Return when the registers of links hold a word."""
    topology, late = program.config.topology, 1 + program.config.link_registers
    places, by_link = _places(program), _by_link(program, left)
    key, begin, end = (part[by_link] for part in left)
    node, port = np.divmod(key, places)
    there = topology.neighbor[node, port].astype(np.int64) * places + topology.peer[node, port]
    return _Spans(there, begin + late, end + late)


def _joined(*parts: _Spans) -> _Spans:
    """Return all spans together."""
    return _Spans(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _merged(spans: _Spans, cycles: int) -> tuple[Numbers, Numbers]:
    """Return where runs of active cycles begin and end, with all keys on one axis."""
    begin, end = spans.key * cycles + spans.begin, spans.key * cycles + spans.end
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], np.maximum.accumulate(end[order])
    new = np.ones(len(begin), np.bool_)
    new[1:] = begin[1:] > end[:-1]
    return begin[new], np.append(end[:-1][new[1:]], end[-1:])


def _last(*spans: _Spans) -> int:
    """Return a number of cycles that no span reaches."""
    return 1 + max(int(each.end.max(initial=0)) for each in spans)


def _same(one: _Spans, other: _Spans) -> bool:
    """Tell whether the same keys are active in the same cycles."""
    cycles = _last(one, other)
    pairs = zip(_merged(one, cycles), _merged(other, cycles), strict=True)
    return all(np.array_equal(here, there) for here, there in pairs)


def _meet(one: _Spans, other: _Spans) -> bool:
    """Tell whether a key is active in both in the same cycle."""
    cycles = _last(one, other)
    (begin, end), (low, high) = _merged(one, cycles), _merged(other, cycles)
    if not len(low):
        return False
    # The first span of the other that ends after each one begins.
    place = np.minimum(np.searchsorted(high, begin, side="right"), len(low) - 1)
    return bool(((low[place] < end) & (high[place] > begin)).any())
