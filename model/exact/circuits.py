"""Runs of circuits in closed form: cycles and traffic of a program, without its words.

The tables say in which cycles every output names what. A run sets no flag if each input register
holds a word in exactly the cycles in which its node names it. So the cycles are compared as
intervals: of entries, and not of words::

    node 0   output 1 takes input 0    cycles 4 to 1027
    link                                  + 1
    node 1   register 2 holds a word   cycles 5 to 1028    = those in which node 1 names it

If that is so for all registers, then by induction over cycles every named word is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.errors import InvalidInput
from ..network.topology import NO_LINK
from ..program.circuit_checks import check_circuits
from ..program.circuits import CircuitProgram
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

    All-port networks and switches are declined, too.

    Custom operators are allowed, because words do not matter.
    """
    if program.config.all_port or program.config.topology.switches:
        raise Declined("the network has all ports or switches")
    try:
        check_circuits(program)
    except InvalidInput as error:
        raise Declined(str(error)) from error
    taken, sums = _outputs(program)
    topology = program.config.topology
    own = _spans(program, _sending(program), np.zeros(len(program.duration), np.int64), ROUTER)
    if _meet(taken, sums):
        raise Declined("a sum meets a word at an output")
    left = _joined(taken, sums)
    at_memory = left.key % topology.ports == 0
    if program.half_duplex and _meet(_Spans(*(part[at_memory] for part in left)), own):
        raise Declined("a node sends and receives at once")
    arrivals = _joined(_arrivals(program, left), own)
    if not _same(arrivals, _joined(*_named(program))):
        raise Declined("a word is not where a run expects it")
    words = np.bincount(left.key, left.end - left.begin, topology.neighbor.size)
    counts = words.astype(np.int64).reshape(topology.neighbor.shape)
    return ClosedRun(program.cycles, counts)


def _spans(
    program: CircuitProgram, chosen: npt.NDArray[np.bool_], port: Numbers, late: int
) -> _Spans:
    """Return the spans of the ``chosen`` entries, each ``late`` cycles later.

    The key is ``node * ports + port``, with the node of the entry.
    """
    entry = np.flatnonzero(chosen)
    begin = program.entry_begin[entry] + late
    key = program.entry_node[entry] * program.config.topology.ports + port[entry]
    return _Spans(key, begin, begin + program.duration[entry])


def _sending(program: CircuitProgram) -> npt.NDArray[np.bool_]:
    """Tell which entries read a word to be sent."""
    joined = (program.operator > 0) & ((program.first == 1) | (program.second == 1))
    return np.asarray((program.codes[:, 1:] == 1).any(axis=1) | joined)


def _outputs(program: CircuitProgram) -> tuple[_Spans, _Spans]:
    """Return when each output sends the word of an input, and when it sends a sum."""
    taken, sums = [], []
    for output in range(program.config.topology.ports):
        code, port = program.codes[:, output], np.full(len(program.duration), output)
        is_sum = code == 1 + output
        taken.append(_spans(program, (code > 0) & ~is_sum, port, ROUTER))
        sums.append(_spans(program, is_sum, port, ROUTER + 1))
    return _joined(*taken), _joined(*sums)


def _named(program: CircuitProgram) -> Iterator[_Spans]:
    """Yield when each input register is named."""
    for output in range(program.config.topology.ports):
        code = program.codes[:, output]
        yield _spans(program, (code > 0) & (code != 1 + output), code - 1, ROUTER)
    for column in (program.first, program.second):
        yield _spans(program, program.operator > 0, column - 1, ROUTER)


def _arrivals(program: CircuitProgram, left: _Spans) -> _Spans:
    """Return when the registers of links hold a word."""
    topology, late = program.config.topology, 1 + program.config.link_registers
    linked = topology.neighbor != NO_LINK
    ends = np.where(linked, topology.neighbor * topology.ports + topology.peer, 0).ravel()
    by_link = left.key % topology.ports > 0
    key, begin, end = (part[by_link] for part in left)
    return _Spans(ends[key].astype(np.int64), begin + late, end + late)


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
